// The `fetch` of a connector: http and https to hosts that may be asked, and nothing else.
// A name is resolved once and connected to by that address, so that a second answer of the name server changes nothing; TLS
// still verifies the name. Every redirection is a new request under the same rules.

import { isIP } from 'node:net';
import { DomainError } from '../errors.ts';
import { connectionFault, isNeverConnected, isPassingFault } from './connection-fault.ts';
import { type AddressRules, canonicalHost, permittedAddresses } from './resolve-host.ts';
import { boundedBody } from './response-body.ts';

export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

export interface FetchOptions extends AddressRules {
  /** Ends every request and body when the run is cancelled. */
  readonly signal: AbortSignal;
  /** Until the headers of the answer: reports are computed while one waits. Default 5 minutes. */
  readonly headersMsMax?: number;
  /** Between two pieces of a body. Default 60 seconds. */
  readonly silenceMsMax?: number;
  /** From the request to the end of the body. Default 30 minutes. */
  readonly totalMsMax?: number;
  /** Of one body after decompression. Default 1 GiB: a file; whoever reads JSON bounds it lower. */
  readonly bodyBytesMax?: number;
}

const redirectsMax = 5;
const redirectStatuses = new Set([301, 302, 303, 307, 308]);
/** What another origin may see after a redirection: nothing that could be a key. */
const harmlessHeaders = new Set(['accept', 'accept-language', 'user-agent']);

interface Step {
  readonly url: URL;
  readonly method: string;
  readonly headers: Headers;
  readonly body: RequestInit['body'];
}

/**
 * A `fetch` that takes text or bytes as a body, `tls: { ca }` for a private authority, and `redirect`. Its errors are
 * sentences for the administrator: `forbidden`, `invalidValue`, `unavailable` (with `retryAfterSeconds` when the connection
 * broke), `payloadTooLarge`.
 */
export function createFetch(options: FetchOptions): Fetch {
  return async (url, init = {}) => {
    let step = firstStep(url, init);
    for (let redirects = 0; redirects <= redirectsMax; redirects++) {
      const response = await request(step, init, options);
      const target = response.headers.get('location');
      const isFollowed = redirectStatuses.has(response.status) && target !== null;
      if (!isFollowed || init.redirect === 'manual') return response;
      await response.body?.cancel();
      if (init.redirect === 'error') throw refused(step.url, 'answers with a redirection');
      step = nextStep(step, target, response.status);
    }
    throw refused(step.url, `redirects more than ${redirectsMax} times`);
  };
}

function firstStep(url: string | URL, init: RequestInit): Step {
  const { method = 'GET', headers, body } = init;
  if (body instanceof ReadableStream)
    throw new DomainError('invalidValue', 'The body of a request is text or bytes, not a stream.');
  return {
    url: checkUrl(URL.parse(String(url))),
    method: method.toUpperCase(),
    headers: new Headers(headers),
    body: body ?? null,
  };
}

function checkUrl(url: URL | null): URL {
  if (url === null) throw new DomainError('invalidValue', 'The address of the source is not a URL.');
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new DomainError('forbidden', `Connectors ask http and https addresses only, not ${url.protocol}`);
  if (url.username !== '' || url.password !== '')
    throw new DomainError(
      'invalidValue',
      `The address of ${url.host} holds a name or password; they belong into the fields for them.`,
    );
  return url;
}

/** RFC 9110 §15.4, stricter: no key crosses to another origin, no body does, and TLS is not left. */
function nextStep(step: Step, target: string, status: number): Step {
  const url = checkUrl(URL.parse(target, step.url));
  if (step.url.protocol === 'https:' && url.protocol === 'http:')
    throw refused(step.url, 'redirects from https to http');
  const isSame = url.origin === step.url.origin;
  const headers = new Headers([...step.headers].filter(([name]) => isSame || harmlessHeaders.has(name)));
  const becomesGet = status === 303 || (status < 303 && step.method === 'POST');
  if (!becomesGet || step.method === 'HEAD') {
    if (!isSame && step.body !== null) throw refused(step.url, 'redirects a request with a body elsewhere');
    return { ...step, url, headers };
  }
  for (const name of ['content-type', 'content-length']) headers.delete(name);
  return { url, method: 'GET', headers, body: null };
}

function refused(url: URL, what: string): DomainError {
  return new DomainError('forbidden', `${url.origin} ${what}, which connectors do not follow.`);
}

async function request(step: Step, init: RequestInit, options: FetchOptions): Promise<Response> {
  const { url } = step;
  const { tls }: BunFetchRequestInit = init;
  const watch = startWatch(url.origin, init.signal ?? undefined, options);
  const fault = (error: unknown) => watch.reason() ?? asFault(error, url.origin);
  try {
    const addresses = await permittedAddresses(url.hostname, options);
    const response = await askAny(step, addresses, { signal: watch.signal, tls });
    watch.alive();
    const bytesMax = options.bodyBytesMax ?? 1024 ** 3;
    const bounds = { bytesMax, alive: watch.alive, done: watch.done, fault, where: url.origin };
    return rebuilt(response, boundedBody(response, bounds), url);
  } catch (error) {
    watch.done();
    throw fault(error);
  }
}

function asFault(error: unknown, where: string): unknown {
  if (error instanceof DomainError) return error;
  const again = isPassingFault(error) ? { retryAfterSeconds: 1 } : {};
  return new DomainError('unavailable', connectionFault(error, where), { cause: error, ...again });
}

interface Transport {
  readonly signal: AbortSignal;
  readonly tls: BunFetchRequestInit['tls'];
}

/** The addresses of a host one after the other, until one takes the connection. */
async function askAny(step: Step, addresses: readonly string[], transport: Transport): Promise<Response> {
  let last: unknown;
  for (const address of addresses) {
    try {
      return await ask(step, address, transport);
    } catch (error) {
      if (!isNeverConnected(error)) throw error;
      last = error;
    }
  }
  throw last;
}

/** Connects to the address; Host and the name that TLS verifies remain those of the URL. */
function ask(step: Step, address: string, { signal, tls }: Transport): Promise<Response> {
  const target = new URL(step.url);
  target.hash = '';
  target.hostname = isIP(address) === 6 ? `[${address}]` : address;
  const headers = new Headers(step.headers);
  headers.set('host', step.url.host);
  headers.set('accept-encoding', 'gzip');
  const name = canonicalHost(step.url.hostname);
  return fetch(target, {
    method: step.method,
    headers,
    body: step.body ?? null,
    redirect: 'manual',
    decompress: false,
    signal,
    timeout: false,
    proxy: '',
    tls: {
      ...(tls?.ca === undefined ? {} : { ca: tls.ca }),
      ...(isIP(name) === 0 ? { serverName: name } : {}),
    },
  } as BunFetchRequestInit);
}

/** The answer as the URL's own, without the encoding that has been taken off. */
function rebuilt(response: Response, body: ReadableStream<Uint8Array> | null, url: URL): Response {
  const headers = new Headers(response.headers);
  if (headers.has('content-encoding'))
    for (const name of ['content-encoding', 'content-length']) headers.delete(name);
  const { status, statusText } = response;
  const answer = new Response(body, { status, statusText, headers });
  Object.defineProperty(answer, 'url', { value: url.href });
  return answer;
}

interface Watch {
  readonly signal: AbortSignal;
  readonly alive: () => void;
  readonly done: () => void;
  /** Why the request was ended from this side, if it was. */
  readonly reason: () => unknown;
}

/** Ends a request whose answer does not begin, falls silent, or takes too long altogether. */
function startWatch(where: string, own: AbortSignal | undefined, options: FetchOptions): Watch {
  const { headersMsMax = 300_000, silenceMsMax = 60_000, totalMsMax = 1_800_000 } = options;
  const late = new AbortController();
  const end = (what: string) => late.abort(new DomainError('unavailable', `${where} ${what}.`));
  const total = setTimeout(
    () => end(`did not finish its answer within ${totalMsMax / 1000} s`),
    totalMsMax,
  ).unref();
  let silence = setTimeout(() => end(`did not answer within ${headersMsMax / 1000} s`), headersMsMax).unref();
  const signal = AbortSignal.any([options.signal, late.signal, ...(own === undefined ? [] : [own])]);
  return {
    signal,
    alive() {
      clearTimeout(silence);
      silence = setTimeout(
        () => end(`fell silent for ${silenceMsMax / 1000} s within its answer`),
        silenceMsMax,
      );
    },
    done() {
      clearTimeout(total);
      clearTimeout(silence);
    },
    reason: () => (signal.aborted ? signal.reason : undefined),
  };
}
