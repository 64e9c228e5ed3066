// Walks all resources of an endpoint, by startIndex (RFC 7644 §3.4.2.4) or by cursor (RFC 9865).
// A list that changes while it is walked shifts: somebody then comes twice, or not at all. A walk counts when the total stood
// still and everybody came; otherwise it is repeated once, and then it is an error.

import type { ConnectorContext } from '../../src/connectors/contract.ts';
import type { HttpSource } from '../../src/connectors/http-source.ts';
import { DomainError } from '../../src/errors.ts';

export interface Endpoint {
  /** Absolute, as `https://example.com/scim/v2/Users`. */
  readonly url: string;
  readonly filter: string | undefined;
  readonly pageSize: number;
  readonly byCursor: boolean;
  /** For sentences: `users`. */
  readonly what: string;
}

export type Resource = Readonly<Record<string, unknown>> & { readonly id: string };

const resourcesMax = 5_000_000;
const walksMax = 2;

/** Every resource once. Throws one sentence when they do not all come. */
export async function* walk(
  source: HttpSource,
  endpoint: Endpoint,
  log: ConnectorContext['log'],
): AsyncGenerator<Resource> {
  const yielded = new Set<string>();
  for (let attempt = 1; ; attempt++) {
    const state: WalkState = { seen: new Set(), totals: new Set(), fault: undefined };
    const pages = endpoint.byCursor
      ? pagesByCursor(source, endpoint, state)
      : pagesByIndex(source, endpoint, state);
    for await (const resources of pages)
      for (const resource of resources) {
        if (yielded.has(resource.id)) continue;
        yielded.add(resource.id);
        yield resource;
      }
    const fault = faultOf(endpoint, state);
    if (fault === undefined) return;
    if (attempt === walksMax) throw fault;
    log.warn(`${fault.message} Reading them once more.`);
  }
}

/** The first page, for a look: how many there are, and the resources of it. */
export async function firstPage(source: HttpSource, endpoint: Endpoint): Promise<Page> {
  return getPage(source, endpoint, endpoint.byCursor ? { cursor: '' } : { startIndex: '1' });
}

interface WalkState {
  readonly seen: Set<string>;
  /** Every total that a page named. */
  readonly totals: Set<number>;
  /** Why the walk could not be finished. */
  fault: DomainError | undefined;
}

export interface Page {
  readonly resources: readonly Resource[];
  /** Not every server names it when it gives cursors. */
  readonly total: number | undefined;
  readonly nextCursor: string | undefined;
}

async function* pagesByIndex(
  source: HttpSource,
  endpoint: Endpoint,
  state: WalkState,
): AsyncGenerator<readonly Resource[]> {
  let startIndex = 1;
  for (;;) {
    const { resources, total = 0 } = await getPage(source, endpoint, { startIndex: String(startIndex) });
    note(endpoint, state, { resources, total });
    yield resources;
    startIndex += resources.length;
    if (resources.length === 0 || startIndex > total) return;
  }
}

async function* pagesByCursor(
  source: HttpSource,
  endpoint: Endpoint,
  state: WalkState,
): AsyncGenerator<readonly Resource[]> {
  const cursors = new Set<string>();
  let cursor: string | undefined = '';
  while (cursor !== undefined) {
    let page: Page;
    try {
      page = await getPage(source, endpoint, { cursor });
    } catch (error) {
      // A cursor that has expired (RFC 9865 §2.3): only another walk helps.
      if (cursor === '' || !(error instanceof DomainError) || error.kind !== 'invalidValue') throw error;
      state.fault = error;
      return;
    }
    note(endpoint, state, page);
    yield page.resources;
    cursor = page.nextCursor;
    if (cursor !== undefined && cursors.has(cursor)) throw repeats(endpoint);
    if (cursor !== undefined) cursors.add(cursor);
  }
}

function note(
  endpoint: Endpoint,
  { seen, totals }: WalkState,
  { resources, total }: Omit<Page, 'nextCursor'>,
): void {
  if (total !== undefined) totals.add(total);
  const before = seen.size;
  for (const { id } of resources) seen.add(id);
  if (resources.length > 0 && seen.size === before) throw repeats(endpoint);
  if (seen.size > resourcesMax)
    throw new DomainError('limitExceeded', `The server has more than ${resourcesMax} ${endpoint.what}.`);
}

function faultOf({ what }: Endpoint, { seen, totals, fault }: WalkState): DomainError | undefined {
  if (fault !== undefined || totals.size === 0) return fault;
  const [total = 0] = totals;
  if (totals.size === 1 && seen.size === total) return undefined;
  const numbers =
    totals.size === 1 ? `${total} ${what}` : `from ${Math.min(...totals)} to ${Math.max(...totals)} ${what}`;
  return new DomainError(
    'unavailable',
    `The server says that it has ${numbers}, and gives ${seen.size}: the list changes while it is read, or is not whole.`,
  );
}

function repeats({ url, what }: Endpoint): DomainError {
  return new DomainError(
    'unavailable',
    `${new URL(url).origin} gives the same page of ${what} twice. Try the other kind of "paging".`,
  );
}

async function getPage(
  source: HttpSource,
  { url, filter, pageSize, what }: Endpoint,
  position: Readonly<Record<string, string>>,
): Promise<Page> {
  const target = new URL(url);
  const parameters = { ...position, count: String(pageSize), ...(filter === undefined ? {} : { filter }) };
  for (const [name, value] of Object.entries(parameters)) target.searchParams.set(name, value);
  const { body } = await source.get(target);
  const { Resources = [], totalResults, nextCursor } = (body ?? {}) as Readonly<Record<string, unknown>>;
  const isList =
    Array.isArray(Resources) &&
    (Resources.length > 0 || totalResults !== undefined || nextCursor !== undefined);
  if (!isList) throw noList(target, what);
  return {
    resources: Resources.map((each) => toResource(each, what)),
    total: Number.isSafeInteger(totalResults) ? (totalResults as number) : undefined,
    nextCursor: typeof nextCursor === 'string' && nextCursor !== '' ? nextCursor : undefined,
  };
}

function toResource(each: unknown, what: string): Resource {
  const { id } = (each ?? {}) as { readonly id?: unknown };
  if (typeof id === 'string' && id !== '') return each as Resource;
  if (typeof id === 'number') return { ...(each as Resource), id: String(id) };
  throw new DomainError('invalidValue', `The server gives one of the ${what} without an id.`);
}

function noList({ origin, pathname }: URL, what: string): DomainError {
  return new DomainError(
    'invalidValue',
    `${origin} answers ${pathname} with something that is no list of ${what} (RFC 7644 §3.4.2). Check baseUrl.`,
  );
}
