import type { Clock } from '../clock.ts';
import { timestamp } from '../clock.ts';
import type { Brake } from '../directory/brake.ts';
import type { DirectoryContext } from '../directory/context.ts';
import type { Link } from '../directory/resource-view.ts';
import { DomainError } from '../errors.ts';
import { admitted } from '../http/surface.ts';
import type { Touched } from '../requests/record.ts';
import type { IgnoredAttribute } from '../resource/normalise.ts';
import type { Configurations } from '../settings/configuration.ts';
import type { ScimSource } from '../sources/source-store.ts';

export const scimBase = '/api/v2/scim/v2';

/** A correction of what a client got wrong: which rule, and where. */
export interface Repair {
  /** Stable code, as the console counts it. */
  readonly code: string;
  /** The attribute or text that was mended; never its value. */
  readonly what: string;
  /** What came and what it became, where one value took the place of another; masked before they are written. */
  readonly from?: unknown;
  readonly to?: unknown;
  /** Of a Bulk: the operation, from 1. */
  readonly operation?: number;
}

/** What came of a Bulk: how many operations there were, were done and failed, and which ones failed first. */
export interface BulkSummary {
  readonly operations: number;
  readonly succeeded: number;
  readonly failed: number;
  /** At most 20. */
  readonly failures: readonly {
    readonly operation: number;
    readonly method: string | undefined;
    readonly path: string | undefined;
    readonly status: number;
    readonly refusal: string;
  }[];
}

/** What the request log will say of a call besides its outcome. */
export interface Trace {
  readonly repairs: Repair[];
  readonly ignored: (IgnoredAttribute & { readonly operation?: number })[];
  /** What the request named, changed or made, once that is known. */
  readonly touched: Touched[];
  /** The body as it came, and what the repairs made of it or of its parts; masked before they are written. */
  body: unknown;
  readonly decoded: unknown[];
  /** The bytes of the body: all there is to show of one that is no JSON. */
  unread: Uint8Array | undefined;
  /** Why the call was refused, as the client was told. */
  refusal: string | undefined;
  bulk: BulkSummary | undefined;
  /** What the brake found: worth a warning, and told once the request is answered. */
  brake: { readonly kind: 'alarm' | 'held'; readonly count: number } | undefined;
}

/** Everything that is bound to one SCIM request. */
export interface ScimCall {
  readonly source: ScimSource;
  readonly isCompat: boolean;
  readonly context: DirectoryContext;
  readonly link: Link;
  readonly base: string;
  readonly trace: Trace;
  readonly query: URLSearchParams;
}

const traces = new WeakMap<Request, Trace>();

export function traceOf(request: Request): Trace {
  const known = traces.get(request);
  if (known !== undefined) return known;
  const trace = newTrace();
  traces.set(request, trace);
  return trace;
}

export function newTrace(): Trace {
  return {
    repairs: [],
    ignored: [],
    touched: [],
    body: undefined,
    decoded: [],
    unread: undefined,
    refusal: undefined,
    bulk: undefined,
    brake: undefined,
  };
}

/** Makes the call that a request stands for: `const call = await open(request)`. */
export type OpenCall = (request: Request) => Promise<ScimCall>;

export function callOpener(configurations: Configurations, clock: Clock): OpenCall {
  return async (request) => {
    const admission = admitted(request);
    const { principal, requestId, baseUrl } = admission;
    if (principal.kind !== 'source' || principal.source.kind !== 'scim') {
      throw new DomainError(
        'unauthenticated',
        'Send the token of a SCIM source as "Authorization: Bearer TOKEN".',
      );
    }
    const { source } = principal;
    const base = baseUrl + scimBase;
    const trace = traceOf(request);
    return {
      source,
      isCompat: source.settings.dialect === 'compat',
      base,
      link: (resourceType, id) => `${base}/${resourceType}s/${id}`,
      trace,
      query: queryOf(request.url),
      context: {
        actor: { kind: 'source', id: source.id },
        sourceId: source.id,
        scope: source.settings.scope,
        unknownReferences: source.settings.unknownMembers,
        requestId,
        runId: null,
        configuration: await configurations.at(principal.configurationVersion),
        base,
        now: timestamp(clock),
        brake: brakeOf(source, trace),
        get signal() {
          return admission.signal;
        },
      },
    };
  };
}

function brakeOf({ name, settings }: ScimSource, trace: Trace): Brake {
  return {
    sourceName: name,
    limit: settings.brakeLimit,
    alarm: settings.brakeAlarm,
    note: (event) => {
      trace.brake = event;
    },
  };
}

/** Nobody writes into the query of a call. */
const noQuery = new URLSearchParams();

function queryOf(url: string): URLSearchParams {
  const mark = url.indexOf('?');
  return mark === -1 ? noQuery : new URLSearchParams(url.slice(mark + 1));
}
