import type { DomainError } from '../errors.ts';
import type { Session } from '../security/sessions.ts';
import type { Source } from '../sources/source-store.ts';
import type { Operation } from './operation.ts';

/** On whose behalf a request is answered. */
export type Principal =
  | { readonly kind: 'public' }
  | {
      readonly kind: 'source';
      readonly source: Source;
      /** Of the configuration, at the moment at which the source was recognised. */
      readonly configurationVersion: string;
    }
  | { readonly kind: 'administrator'; readonly session: Session };

/** What the gate has found out about a request before anything else sees it. */
export interface RequestFacts {
  /** Canonical path: no empty segments, no trailing slash. */
  readonly path: string;
  /** The client's X-Request-Id when it is plain and short, else a new one; echoed in the answer. */
  readonly requestId: string;
  readonly clientAddress: string;
  /** Scheme and host under which the client reached us, for absolute links. */
  readonly baseUrl: string;
  /** Scheme and host in the address bar of a browser that came this way, as an Origin header has them; '' for unknown. */
  readonly origin: string;
  /** TLS, or a peer from which plain HTTP is not overheard: loopback, or a trusted proxy that speaks TLS. */
  readonly isSecure: boolean;
}

export interface GateRequest extends RequestFacts {
  readonly principal: Principal;
  /**
   * The request stands for so many: they all count against the rate of the source, though none of them is refused, and
   * the connection may be silent for longer.
   */
  readonly standFor: (requests: number) => void;
  /** Says that nobody waits for the answer any more. Made when it is asked for: few requests need it. */
  readonly signal: AbortSignal;
}

/** Path before every path of ours in a browser that came this way: a proxy may have put the service under one; else ''. */
export function basePath({ baseUrl, origin }: RequestFacts): string {
  const url = URL.parse(baseUrl);
  return url !== null && url.origin === origin ? url.pathname.replace(/\/+$/, '') : '';
}

/** A route as the framework knows it. */
export interface Route {
  readonly method: string;
  readonly path: string;
  /** What is published of it; a route for every method, which only refuses, has none. */
  readonly operation?: Operation;
}

/** One door of the service: everything under `base`, with its own authentication and its own error body. */
export interface Surface {
  readonly name: string;
  /** Path prefix, matched segment by segment; '' for the root. */
  readonly base: string;
  /** A shorter prefix that clients use for `base`; everything under it that no other surface has is read as under `base`. */
  readonly shortBase?: string;
  readonly routes: readonly Route[];
  /** Seconds without a byte after which the connection is closed; larger where bodies are long. */
  readonly idleTimeoutSeconds: number;
  authenticate(headers: Headers, facts: RequestFacts): Promise<Principal>;
  /** As `authenticate`, for a caller who is known without waiting; undefined for every other one, also one to refuse. */
  recognise?(asked: AskedAtOnce): Recognised | undefined;
  handle(request: Request): Promise<Response>;
  /** The surface's own body for a refusal that never reached its handlers. */
  refuse(error: DomainError, facts: RequestFacts): Response;
  /** Is told of each refusal that never reached its handlers. */
  noteRefused?(refused: RefusedRequest): void;
}

/** A request from which nobody has read anything yet. */
export interface AskedAtOnce {
  readonly request: Request;
  readonly facts: RequestFacts;
  /** Of the request, with its leading "?"; or ''. */
  readonly query: string;
}

/** A caller who was known without waiting. */
export interface Recognised {
  readonly principal: Principal;
  /**
   * Answers at once, as `handle` would later, with `headers` on the answer, which every answer of the service has;
   * absent, or undefined, where `handle` is to answer. Nothing may be waited for before it is called.
   */
  readonly answer?: (headers: Readonly<Record<string, string>>) => Response | undefined;
}

/** A request that the gate refused in the name of a surface. */
export interface RefusedRequest {
  readonly request: Request;
  readonly facts: RequestFacts;
  /** Who it was, when that was known already. */
  readonly principal: Principal | undefined;
  readonly error: DomainError;
  readonly status: number;
  readonly durationMs: number;
}

const gateRequests = new WeakMap<Request, GateRequest>();

/** For the gate alone: ties what it knows to the request that the surface sees. */
export function admit(request: Request, facts: GateRequest): Request {
  gateRequests.set(request, facts);
  return request;
}

/** What the gate knows of this request. A request that did not come through the gate is a defect, not a guest. */
export function admitted(request: Request): GateRequest {
  const facts = gateRequests.get(request);
  if (facts === undefined) throw new Error('a request reached a handler without passing the gate');
  return facts;
}
