// The gate stands in front of every surface: it reads host and path once, finds the surface, authenticates before the
// body is read, and hands on a rebuilt request. It never decides what a source may do; that is the domain's.
// Why it stands in front of the framework is told in ARCHITECTURE.md, "Boundaries".

import { isIP } from 'node:net';
import { DomainError } from '../errors.ts';
import type { Log } from '../log.ts';
import { canonicalTarget } from './canonical-path.ts';
import { bareHost, type HostRules, isLoopback } from './hosts.ts';
import type { RequestLimits } from './limits.ts';
import type { HttpMetrics } from './metrics.ts';
import { refusalOf } from './refusal.ts';
import { admit, type Principal, type RequestFacts, type Surface } from './surface.ts';

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

export class Gate {
  readonly #options: GateOptions;
  readonly #surfaces: readonly Surface[];

  constructor(options: GateOptions) {
    this.#options = options;
    // The longest base first: "/api/v2/scim/v2" before "".
    this.#surfaces = options.surfaces.toSorted((a, b) => b.base.length - a.base.length);
    for (const surface of options.surfaces) checkRoutes(surface);
  }

  /** Answers one request. Never rejects. */
  async handle(request: Request, listener: Listener): Promise<Response> {
    const startedMs = performance.now();
    const peer = listener.requestIP(request)?.address ?? '';
    const clientAddress = this.#clientAddress(request.headers, peer);
    const requestId = this.#requestId(request.headers);
    let surface = this.#surfaceOf('/');
    let facts: RequestFacts = {
      path: '',
      requestId,
      clientAddress,
      baseUrl: '',
      origin: '',
      isSecure: false,
    };
    const admission: Admission = { principal: undefined };
    let response: Response;
    try {
      const { path: asked, query } = canonicalTarget(request.url);
      const path = this.#fullPath(asked);
      surface = this.#surfaceOf(path);
      facts = { ...facts, path, ...this.#origin(request, peer) };
      this.#checkHost(request.headers.get('host'));
      response = await this.#admit(request, listener, { surface, facts, query, admission });
    } catch (error) {
      // A path that was refused belongs to nobody, but its answer should have the form that its sender reads.
      if (facts.path === '') surface = this.#surfaceOf(this.#fullPath(rawPath(request.url)));
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
      const admitted = admit(rebuilt(request, facts.path + query), { ...facts, principal, standFor });
      return await surface.handle(admitted);
    } finally {
      leave();
    }
  }

  #enter(principal: Principal): () => void {
    if (principal.kind !== 'source') return () => undefined;
    const { source } = principal;
    return this.#options.limits.enter(source.id, source.kind === 'scim' ? source.settings.rateLimit : 0);
  }

  #surfaceOf(path: string): Surface {
    const found = this.#surfaces.find(({ base }) => isUnder(path, base));
    if (found === undefined) throw new Error('no surface answers for the root');
    return found;
  }

  #fullPath(path: string): string {
    if (this.#surfaceOf(path).base !== '') return path;
    const short = this.#surfaces.find(({ shortBase }) => shortBase !== undefined && isUnder(path, shortBase));
    return short?.shortBase === undefined ? path : short.base + path.slice(short.shortBase.length);
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

  #checkHost(host: string | null): void {
    if (host !== null && this.#options.hosts.allowed.has(bareHost(host))) return;
    throw new DomainError(
      'misdirected',
      'The service does not answer under this host name; set publicUrl or allowedHosts to the name that clients use.',
    );
  }

  #origin(request: Request, peer: string): Pick<RequestFacts, 'baseUrl' | 'origin' | 'isSecure'> {
    const { hosts, publicUrl } = this.#options;
    const forwarded = hosts.isTrustedProxy(peer) ? request.headers.get('x-forwarded-proto') : null;
    const scheme =
      forwarded?.toLowerCase() === 'https' || request.url.startsWith('https:') ? 'https' : 'http';
    const reached = `${scheme}://${request.headers.get('host') ?? ''}`;
    return {
      baseUrl: publicUrl ?? reached,
      origin: originOf(reached, publicUrl),
      isSecure: scheme === 'https' || (isLoopback(peer) && forwarded === null),
    };
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
    const { requestId, path, clientAddress } = facts;
    const { method } = request;
    const { status } = response;
    this.#options.metrics.observe({
      surface: surface.name,
      method,
      status,
      durationSeconds: durationMs / 1_000,
    });
    const fields = {
      requestId,
      method,
      path,
      status,
      durationMs: Math.round(durationMs * 100) / 100,
      clientAddress,
    };
    this.#options.log.debug(fields, 'request');
  }
}

function isUnder(path: string, base: string): boolean {
  return path === base || path.startsWith(`${base}/`);
}

/** The path as it came, for nothing but the form of a refusal. */
function rawPath(url: string): string {
  const [, path = ''] = /^[^/]*\/\/[^/?#]*([^?#]*)/.exec(url) ?? [];
  return `/${path.split('/').filter(Boolean).join('/')}`;
}

/** A proxy on this machine that is not known as one hides TLS; the public URL under its own host tells of it. */
function originOf(reached: string, publicUrl: string | undefined): string {
  const here = URL.parse(reached);
  const published = publicUrl === undefined ? null : URL.parse(publicUrl);
  const isPublished = published !== null && published.host === here?.host;
  return (isPublished ? published.origin : here?.origin) ?? '';
}

/** The framework sees one fixed host and the path that was checked: nothing is left to read in two ways. */
function rebuilt(request: Request, target: string): Request {
  const { method, headers, signal } = request;
  const hasBody = method !== 'GET' && method !== 'HEAD' && request.body !== null;
  return new Request(internalOrigin + target, {
    method,
    headers,
    signal,
    ...(hasBody ? { body: request.body } : {}),
  });
}

/** A route outside its surface would be reached under another surface's authentication, or none. */
function checkRoutes(surface: Surface): void {
  const stray = surface.routes.find(({ path }) => !isUnder(path, surface.base));
  if (stray === undefined) return;
  throw new Error(`the route ${stray.method} ${stray.path} is outside the surface ${surface.name}`);
}
