// The gate stands in front of every surface: it reads host and path once, finds the surface, authenticates before the
// body is read, and hands on a rebuilt request. It never decides what a source may do; that is the domain's.
// Why it stands in front of the framework is told in ARCHITECTURE.md, "Boundaries".

import { isIP } from 'node:net';
import { DomainError } from '../errors.ts';
import type { Log } from '../log.ts';
import { canonicalTarget } from './canonical-path.ts';
import { type HostRules, isLoopback } from './hosts.ts';
import type { RequestLimits } from './limits.ts';
import type { HttpMetrics } from './metrics.ts';
import { ReachedAddresses, type Scheme } from './reached-address.ts';
import { refusalOf } from './refusal.ts';
import { admit, type GateRequest, type Principal, type RequestFacts, type Surface } from './surface.ts';

/** What the gate needs of the listener. */
export interface Listener {
  requestIP(request: Request): { readonly address: string } | null;
  timeout(request: Request, seconds: number): void;
}

export interface GateOptions {
  readonly surfaces: readonly Surface[];
  readonly hosts: HostRules;
  readonly limits: RequestLimits;
  readonly metrics: HttpMetrics;
  readonly log: Log;
  /** Absolute address for links, when it is configured; else that by which the client came. */
  readonly publicUrl: string | undefined;
  readonly createRequestId: () => string;
}

/** What became known of a request on its way in; a refusal tells as much of it as there is. */
interface Admission {
  principal: Principal | undefined;
}

interface Asked {
  readonly surface: Surface;
  readonly facts: RequestFacts;
  readonly admission: Admission;
}

const internalOrigin = 'http://rollcall.internal';
/** The longest that the runtime has. */
const manyRequestsTimeoutSeconds = 255;
const requestIdForm = /^[\w.:-]{1,128}$/;

/** Where a request goes, as its canonical path says. */
interface Place {
  readonly surface: Surface;
  /** Under the surface's base, whichever of its bases the client wrote. */
  readonly path: string;
}

export class Gate {
  readonly #options: GateOptions;
  readonly #surfaces: readonly Surface[];
  readonly #reached: ReachedAddresses;

  constructor(options: GateOptions) {
    this.#options = options;
    // The longest base first: "/api/v2/scim/v2" before "".
    this.#surfaces = options.surfaces.toSorted((a, b) => b.base.length - a.base.length);
    this.#reached = new ReachedAddresses(options.hosts, options.publicUrl);
    for (const surface of options.surfaces) checkRoutes(surface);
  }

  /** Answers one request. Never rejects. */
  async handle(request: Request, listener: Listener): Promise<Response> {
    const startedMs = performance.now();
    const { headers } = request;
    const peer = listener.requestIP(request)?.address ?? '';
    const clientAddress = this.#clientAddress(headers, peer);
    const requestId = this.#requestId(headers);
    let surface: Surface | undefined;
    let facts: RequestFacts = { ...unknownFacts, requestId, clientAddress };
    const admission: Admission = { principal: undefined };
    let response: Response;
    try {
      const target = canonicalTarget(request.url);
      const place = this.#placeOf(target.path);
      const { path } = place;
      surface = place.surface;
      const { isSecure, scheme } = this.#security(request, peer);
      const address = this.#reached.addressOf(scheme, headers.get('host'));
      const { baseUrl, origin, isAllowed } = address;
      facts = { path, requestId, clientAddress, baseUrl, origin, isSecure };
      if (!isAllowed) throw misdirected();
      response = await this.#admit(request, listener, { surface, facts, query: target.query, admission });
    } catch (error) {
      // A path that was refused belongs to nobody, but its answer should have the form that its sender reads.
      surface ??= this.#placeOf(rawPath(request.url)).surface;
      response = this.#refuse(error, request, { surface, facts, admission, startedMs });
    }
    response.headers.set('x-request-id', requestId);
    response.headers.set('x-content-type-options', 'nosniff');
    this.#note(request, response, { surface, facts, startedMs });
    return response;
  }

  async #admit(
    request: Request,
    listener: Listener,
    { surface, facts, query, admission }: Asked & { readonly query: string },
  ): Promise<Response> {
    const principal = await surface.authenticate(request.headers, facts);
    admission.principal = principal;
    // Only now: a stranger must not hold a connection for as long as an upload may.
    listener.timeout(request, surface.idleTimeoutSeconds);
    const leave = this.#enter(principal);
    const standFor = (requests: number): void => {
      if (principal.kind === 'source') this.#options.limits.charge(principal.source.id, requests - 1);
      listener.timeout(request, manyRequestsTimeoutSeconds);
    };
    try {
      const admitted: GateRequest = {
        ...facts,
        principal,
        standFor,
        get signal() {
          return request.signal;
        },
      };
      return await surface.handle(admit(rebuilt(request, facts.path + query), admitted));
    } finally {
      leave();
    }
  }

  #enter(principal: Principal): () => void {
    if (principal.kind !== 'source') return () => undefined;
    const { source } = principal;
    return this.#options.limits.enter(source.id, source.kind === 'scim' ? source.settings.rateLimit : 0);
  }

  #placeOf(path: string): Place {
    const surface = this.#surfaces.find(({ base }) => isUnder(path, base));
    if (surface === undefined) throw new Error('no surface answers for the root');
    if (surface.base !== '') return { surface, path };
    const short = this.#surfaces.find(({ shortBase }) => shortBase !== undefined && isUnder(path, shortBase));
    if (short?.shortBase === undefined) return { surface, path };
    return { surface: short, path: short.base + path.slice(short.shortBase.length) };
  }

  /** Behind a proxy that is trusted, the address that it says it was reached from; a client can write any before it. */
  #clientAddress(headers: Headers, peer: string): string {
    if (!this.#options.hosts.isTrustedProxy(peer)) return peer;
    const said = headers.get('x-forwarded-for')?.split(',').at(-1)?.trim() ?? '';
    return isIP(said) === 0 ? peer : said;
  }

  #requestId(headers: Headers): string {
    const given = headers.get('x-request-id');
    return given !== null && requestIdForm.test(given) ? given : this.#options.createRequestId();
  }

  #security(request: Request, peer: string): { readonly isSecure: boolean; readonly scheme: Scheme } {
    const isProxied = this.#options.hosts.isTrustedProxy(peer);
    const forwarded = isProxied ? request.headers.get('x-forwarded-proto') : null;
    const isTls = forwarded?.toLowerCase() === 'https' || request.url.startsWith('https:');
    const isSecure = isTls || (isLoopback(peer) && forwarded === null);
    return { isSecure, scheme: isTls ? 'https' : 'http' };
  }

  /** Refused before any surface saw it: nobody else will say so. */
  #refuse(
    error: unknown,
    request: Request,
    { surface, facts, admission, startedMs }: Asked & { readonly startedMs: number },
  ): Response {
    const refused = refusalOf(error);
    const { requestId, path, clientAddress } = facts;
    const response = surface.refuse(refused, facts);
    const fields = { requestId, method: request.method, path, status: response.status, clientAddress };
    if (refused.kind === 'internal') this.#options.log.error({ ...fields, err: error }, 'request failed');
    else this.#options.log.info({ ...fields, refusal: refused.detail }, 'request refused');
    surface.noteRefused?.({
      request,
      facts,
      principal: admission.principal,
      error: refused,
      status: response.status,
      durationMs: performance.now() - startedMs,
    });
    return response;
  }

  #note(
    request: Request,
    response: Response,
    { surface, facts, startedMs }: { surface: Surface; facts: RequestFacts; startedMs: number },
  ): void {
    const durationMs = performance.now() - startedMs;
    const { method } = request;
    const { status } = response;
    const { metrics, log } = this.#options;
    metrics.observe(surface.name, method, status, durationMs / 1_000);
    if (!log.writesDebug) return;
    const { requestId, path, clientAddress } = facts;
    const rounded = Math.round(durationMs * 100) / 100;
    log.debug({ requestId, method, path, status, durationMs: rounded, clientAddress }, 'request');
  }
}

const unknownFacts = { path: '', baseUrl: '', origin: '', isSecure: false } as const;

function misdirected(): DomainError {
  return new DomainError(
    'misdirected',
    'The service does not answer under this host name; set publicUrl or allowedHosts to the name that clients use.',
  );
}

/** Compared in place: no text is made for each request. */
function isUnder(path: string, base: string): boolean {
  return path.startsWith(base) && (path.length === base.length || path[base.length] === '/');
}

/** The path as it came, for nothing but the form of a refusal. */
function rawPath(url: string): string {
  const [, path = ''] = /^[^/]*\/\/[^/?#]*([^?#]*)/.exec(url) ?? [];
  return `/${path.split('/').filter(Boolean).join('/')}`;
}

/** The framework sees one fixed host and the path that was checked: nothing is left to read in two ways. */
function rebuilt(request: Request, target: string): Request {
  const { method, headers } = request;
  const url = internalOrigin + target;
  if (method === 'GET' || method === 'HEAD') return new Request(url, { method, headers });
  const { body } = request;
  return new Request(url, body === null ? { method, headers } : { method, headers, body });
}

/** A route outside its surface would be reached under another surface's authentication, or none. */
function checkRoutes(surface: Surface): void {
  const stray = surface.routes.find(({ path }) => !isUnder(path, surface.base));
  if (stray === undefined) return;
  throw new Error(`the route ${stray.method} ${stray.path} is outside the surface ${surface.name}`);
}
