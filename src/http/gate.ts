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
import {
  admit,
  type GateRequest,
  type Principal,
  type Recognised,
  type RequestFacts,
  type Surface,
} from './surface.ts';

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

/** A request, and what became known of it on its way in; a refusal tells as much of it as there is. */
interface Visit {
  readonly request: Request;
  readonly listener: Listener;
  readonly startedMs: number;
  readonly peer: string;
  surface: Surface | undefined;
  facts: RequestFacts;
  principal: Principal | undefined;
}

/** What is asked, and of whom. */
interface Asked {
  readonly surface: Surface;
  /** With its leading "?", or ''. */
  readonly query: string;
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

  /** Answers one request, some of them without waiting. Neither throws nor rejects. */
  handle(request: Request, listener: Listener): Response | Promise<Response> {
    const visit = this.#begin(request, listener);
    try {
      const answer = this.#admit(visit, this.#locate(visit));
      if (answer instanceof Response) return this.#noted(visit, answer);
      return answer.then(
        (response) => this.#finish(visit, response),
        (error: unknown) => this.#finish(visit, this.#refuse(visit, error)),
      );
    } catch (error) {
      return this.#finish(visit, this.#refuse(visit, error));
    }
  }

  #begin(request: Request, listener: Listener): Visit {
    const startedMs = performance.now();
    const { headers } = request;
    const peer = listener.requestIP(request)?.address ?? '';
    const requestId = this.#requestId(headers);
    const clientAddress = this.#clientAddress(headers, peer);
    return {
      request,
      listener,
      startedMs,
      peer,
      surface: undefined,
      facts: { ...unknownFacts, requestId, clientAddress },
      principal: undefined,
    };
  }

  /** Finds out where the request goes, and under which name it came. */
  #locate(visit: Visit): Asked {
    const { request, peer } = visit;
    const { requestId, clientAddress } = visit.facts;
    const target = canonicalTarget(request.url);
    const { surface, path } = this.#placeOf(target.path);
    visit.surface = surface;
    const { isSecure, scheme } = this.#security(request, peer);
    const { baseUrl, origin, isAllowed } = this.#reached.addressOf(scheme, request.headers.get('host'));
    visit.facts = { path, requestId, clientAddress, baseUrl, origin, isSecure };
    if (!isAllowed) throw misdirected();
    return { surface, query: target.query };
  }

  #admit(visit: Visit, asked: Asked): Response | Promise<Response> {
    const { request, facts } = visit;
    const { surface, query } = asked;
    const known = surface.recognise?.({ request, facts, query });
    if (known !== undefined) return this.#pass(visit, asked, known);
    const authenticated = surface.authenticate(request.headers, facts);
    return authenticated.then((principal) => this.#pass(visit, asked, { principal }));
  }

  #pass(
    visit: Visit,
    { surface, query }: Asked,
    { principal, answer }: Recognised,
  ): Response | Promise<Response> {
    const { request, listener, facts } = visit;
    visit.principal = principal;
    // Only now: a stranger must not hold a connection for as long as an upload may.
    listener.timeout(request, surface.idleTimeoutSeconds);
    const leave = this.#enter(principal);
    let later: Promise<Response> | undefined;
    try {
      const response = answer?.(headersOfAll(facts));
      if (response !== undefined) return response;
      later = surface.handle(admit(rebuilt(request, facts.path + query), this.#admitted(visit, principal)));
    } finally {
      if (later === undefined) leave();
    }
    return later.finally(leave);
  }

  #admitted({ request, listener, facts }: Visit, principal: Principal): GateRequest {
    const standFor = (requests: number): void => {
      if (principal.kind === 'source') this.#options.limits.charge(principal.source.id, requests - 1);
      listener.timeout(request, manyRequestsTimeoutSeconds);
    };
    return {
      ...facts,
      principal,
      standFor,
      get signal() {
        return request.signal;
      },
    };
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
  #refuse(visit: Visit, error: unknown): Response {
    const { request, facts, principal, startedMs } = visit;
    // A path that was refused belongs to nobody, but its answer should have the form that its sender reads.
    visit.surface ??= this.#placeOf(rawPath(request.url)).surface;
    const { surface } = visit;
    const refused = refusalOf(error);
    const { requestId, path, clientAddress } = facts;
    const response = surface.refuse(refused, facts);
    const { status } = response;
    const fields = { requestId, method: request.method, path, status, clientAddress };
    if (refused.kind === 'internal') this.#options.log.error({ ...fields, err: error }, 'request failed');
    else this.#options.log.info({ ...fields, refusal: refused.logDetail }, 'request refused');
    const durationMs = performance.now() - startedMs;
    surface.noteRefused?.({ request, facts, principal, error: refused, status, durationMs });
    return response;
  }

  #finish(visit: Visit, response: Response): Response {
    for (const [name, value] of Object.entries(headersOfAll(visit.facts))) response.headers.set(name, value);
    return this.#noted(visit, response);
  }

  #noted({ request, surface, facts, startedMs }: Visit, response: Response): Response {
    const durationMs = performance.now() - startedMs;
    const { method } = request;
    const { status } = response;
    const { metrics, log } = this.#options;
    metrics.observe(surface?.name ?? '', method, status, durationMs / 1_000);
    if (!log.writesDebug) return response;
    const { requestId, path, clientAddress } = facts;
    const rounded = Math.round(durationMs * 100) / 100;
    log.debug({ requestId, method, path, status, durationMs: rounded, clientAddress }, 'request');
    return response;
  }
}

const unknownFacts = { path: '', baseUrl: '', origin: '', isSecure: false } as const;

function headersOfAll({ requestId }: RequestFacts) {
  return { 'x-request-id': requestId, 'x-content-type-options': 'nosniff' };
}

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
