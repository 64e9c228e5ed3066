import {
  keepPreviousData,
  QueryClient,
  type UseQueryResult,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';

const base = `${document.documentElement.dataset.base ?? ''}/api/admin/v1`;

/** A refusal of the API, or its silence (`status` 0). The message may be shown. */
export class Refused extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

interface AskOptions {
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

/** Asks the API. Everything but GET is a change, and has a body if only an empty one. Throws Refused. */
export async function ask<T>(method: Method, path: string, { body, signal }: AskOptions = {}): Promise<T> {
  const response = await reach(path, {
    method,
    cache: 'no-store',
    redirect: 'error',
    ...(signal === undefined ? {} : { signal }),
    ...(method === 'GET' ? {} : change(body)),
  });
  const answer = await response.json().catch(() => undefined);
  if (response.ok) return answer as T;
  const message = (answer as { message?: string } | undefined)?.message;
  throw new Refused(response.status, message ?? `The service answered with status ${response.status}.`);
}

function change(body: unknown) {
  const headers = { 'content-type': 'application/json', 'x-rollcall': '1' };
  return { headers, body: JSON.stringify(body ?? {}) };
}

async function reach(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(base + path, init);
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new Refused(0, 'The service cannot be reached. Look whether it runs, then try again.');
  }
}

/** What was asked is kept for a moment; a refusal is final, and silence is tried again once. */
export function makeClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 2_000,
        refetchOnWindowFocus: false,
        retry: (failures, error) => error instanceof Refused && error.status === 0 && failures < 1,
        retryDelay: 500,
      },
    },
  });
}

interface LookOptions {
  /** Milliseconds between two looks, for a page that moves. */
  readonly every?: number | false;
  readonly enabled?: boolean;
}

/** Reads a path of the API for the component, and cancels the request when nobody waits for it any more. */
export function useLook<T>(
  path: string,
  { every = false, enabled = true }: LookOptions = {},
): UseQueryResult<T> {
  return useQuery<T>({
    queryKey: [path],
    queryFn: ({ signal }) => ask<T>('GET', path, { signal }),
    refetchInterval: every,
    enabled,
    placeholderData: keepPreviousData,
  });
}

/** A change; once it is made, whatever is shown is read again. */
export function useChange<T, V = void>(send: (value: V) => Promise<T>) {
  const client = useQueryClient();
  return useMutation<T, Error, V>({
    mutationFn: send,
    onSettled: () => client.invalidateQueries({ queryKey: [] }),
  });
}

/** `?a=1` of the parameters that are given. */
export function queryOf(params: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(params).filter(([, value]) => value !== undefined && value !== '');
  if (given.length === 0) return '';
  return `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
}
