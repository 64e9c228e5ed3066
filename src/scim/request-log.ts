import type { Clock } from '../clock.ts';
import { admitted, type RefusedRequest, type RequestFacts } from '../http/surface.ts';
import { type Log, namesSecret } from '../log.ts';
import type { LoggedBulk, LoggedRepair, RequestRecord, Touched } from '../requests/record.ts';
import type { RequestLog } from '../requests/request-log.ts';
import { isObject } from '../resource/value.ts';
import type { ScimSource } from '../sources/source-store.ts';
import type { SourceActivity } from './activity.ts';
import { type BulkSummary, type Repair, scimBase, type Trace, traceOf } from './call.ts';
import {
  masked,
  maskedBytes,
  maskedJson,
  maskedQuery,
  maskedRefusal,
  maskedText,
  mayQuoteSecret,
} from './mask.ts';

const bodyCharactersMax = 64 * 1_024;
const repairCharactersMax = 200;
const textCharactersMax = 1_000;
const nameCharactersMax = 200;
const entriesMax = 50;
const touchedMax = 2_000;

export interface CallLogParts {
  readonly requests: RequestLog;
  readonly activity: SourceActivity;
  readonly clock: Clock;
  readonly log: Log;
}

export interface ReadAtOnce {
  readonly source: ScimSource;
  readonly facts: RequestFacts;
  /** Without its question mark. */
  readonly query: string;
  readonly touched: readonly Touched[];
  readonly durationMs: number;
}

/**
 * Says of each SCIM request what came, what it was mended to, what was left out and what came of it. It answers "what
 * did the identity provider send for this user". Refusals are told on standard error as well.
 */
export class CallLog {
  readonly #parts: CallLogParts;

  constructor(parts: CallLogParts) {
    this.#parts = parts;
  }

  /** A request that the surface has answered. */
  handled(request: Request, status: number, durationMs: number): void {
    const { principal, path, requestId, clientAddress } = admitted(request);
    const { requests, activity, clock } = this.#parts;
    const trace = traceOf(request);
    const source =
      principal.kind === 'source' && principal.source.kind === 'scim' ? principal.source : undefined;
    const nowMs = clock().getTime();
    const address = addressOf(path, queryOf(request.url));
    const record: RequestRecord = {
      timeMs: nowMs - durationMs,
      durationMs: rounded(durationMs),
      sourceId: source?.id ?? null,
      method: request.method,
      ...address,
      status,
      clientAddress,
      requestId,
      touched: trace.touched.length > 0 ? trace.touched.slice(0, touchedMax) : touchedBy(path),
      name: nameIn(request.method, trace.body),
      ...findingsOf(trace, address),
      ...bodiesOf(source, trace),
      isAtGate: false,
    };
    requests.append(record);
    if (source !== undefined) {
      activity.request(source.id, nowMs);
      for (const { code } of trace.repairs) activity.repaired(source.id, code);
    }
    this.#say(record);
    if (trace.brake !== undefined && source !== undefined) this.#warn(source, trace.brake, record);
  }

  /** A read that was answered at once: nothing in it was mended, left out or refused. */
  readAtOnce({ source, facts, query, touched, durationMs }: ReadAtOnce): void {
    const { requests, activity, clock } = this.#parts;
    const nowMs = clock().getTime();
    const record: RequestRecord = {
      timeMs: nowMs - durationMs,
      durationMs: rounded(durationMs),
      sourceId: source.id,
      method: 'GET',
      path: facts.path.slice(scimBase.length),
      query: query === '' ? null : maskedQuery(query, textCharactersMax),
      status: 200,
      clientAddress: facts.clientAddress,
      requestId: facts.requestId,
      touched,
      name: null,
      refusal: null,
      repairs: none,
      ignored: none,
      bulk: null,
      body: null,
      decoded: null,
      isAtGate: false,
    };
    requests.append(record);
    activity.request(source.id, nowMs);
    this.#say(record);
  }

  /** What a refused request would have ended was undone with it: then only that the source is held is true. */
  #warn(
    source: ScimSource,
    { kind, count }: NonNullable<Trace['brake']>,
    { status, requestId }: RequestRecord,
  ): void {
    if (kind === 'alarm' && status >= 400) return;
    const { brakeAlarm, brakeLimit } = source.settings;
    const fields = { requestId, source: source.id, sourceName: source.name, count, brakeAlarm, brakeLimit };
    this.#parts.log.warn(fields, brakeMessages[kind]);
  }

  /** A request that the gate has refused before the surface saw it. Only so many of these are kept. */
  refused({ request, facts, principal, error, status, durationMs }: RefusedRequest): void {
    const { requests, activity, clock } = this.#parts;
    const sourceId = principal?.kind === 'source' ? principal.source.id : null;
    const nowMs = clock().getTime();
    if (sourceId !== null) activity.request(sourceId, nowMs);
    if (!activity.mayLogRefusal(sourceId, nowMs)) return;
    const address = addressOf(facts.path || (URL.parse(request.url)?.pathname ?? ''), queryOf(request.url));
    requests.append({
      timeMs: nowMs - durationMs,
      durationMs: rounded(durationMs),
      sourceId,
      method: request.method.slice(0, 20),
      ...address,
      status,
      clientAddress: facts.clientAddress,
      requestId: facts.requestId,
      touched: touchedBy(facts.path),
      name: null,
      refusal: maskedRefusal(
        error.logDetail,
        mayQuoteSecret([error.logDetail], { ...address, body: undefined }),
      ),
      repairs: none,
      ignored: none,
      bulk: null,
      body: null,
      decoded: null,
      isAtGate: true,
    });
  }

  /** Standard error is for what somebody should look at; everything is in the request log. */
  #say(record: RequestRecord): void {
    const { log } = this.#parts;
    const isRefusal = record.status >= 400 || (record.bulk?.failed ?? 0) > 0;
    if (!isRefusal && !log.isEnabled('debug')) return;
    const { requestId, sourceId: source, method, status, durationMs, clientAddress, refusal } = record;
    const fields = {
      ...{ requestId, source, method, path: scimBase + record.path, status, durationMs, clientAddress },
      ...(record.repairs.length > 0 ? { repairs: record.repairs.map(withoutValues) } : {}),
      ...(record.ignored.length > 0 ? { ignored: record.ignored } : {}),
      ...(record.bulk === null ? {} : { bulk: record.bulk }),
      ...(refusal === null ? {} : { refusal }),
    };
    if (isRefusal) log.info(fields, 'scim');
    else log.debug(fields, 'scim');
  }
}

const brakeMessages = {
  alarm: 'a source has ended unusually many users, groups or memberships within an hour',
  held: 'a source would end more than it may within an hour: its deactivations and deletions are held until released',
} as const;

const none = [] as const;

/** What the surface had to say of the request; every text that may be the client's is masked. */
function findingsOf(
  { repairs, ignored, refusal, bulk, body }: Trace,
  { query }: { readonly query: string | null },
): Pick<RequestRecord, 'refusal' | 'repairs' | 'ignored' | 'bulk'> {
  const details = [refusal, ...(bulk?.failures ?? []).map((failure) => failure.refusal)];
  const mayQuote = mayQuoteSecret(details, { query, body });
  return {
    refusal: refusal === undefined ? null : maskedRefusal(refusal, mayQuote),
    repairs: repairs.length === 0 ? none : repairs.slice(0, entriesMax).map(toLogged),
    ignored: ignored.length === 0 ? none : ignored.slice(0, entriesMax).map(toShownIgnored),
    bulk: bulk === undefined ? null : toShownBulk(bulk, mayQuote),
  };
}

function rounded(durationMs: number): number {
  return Math.round(durationMs * 100) / 100;
}

function queryOf(url: string): string {
  const mark = url.indexOf('?');
  return mark === -1 ? '' : url.slice(mark + 1);
}

function addressOf(path: string, query: string): { readonly path: string; readonly query: string | null } {
  const below = path.startsWith(scimBase) ? path.slice(scimBase.length) || '/' : path;
  return {
    path: namesSecret(below) ? masked : below.slice(0, textCharactersMax),
    query: query === '' ? null : maskedQuery(query, textCharactersMax),
  };
}

const resourcePath = /\/(User|Group)s\/([1-9]\d{0,14})$/;

/** The resource in the path: also of a request that came no further than that. */
function touchedBy(path: string): readonly Touched[] {
  const found = resourcePath.exec(path);
  return found === null
    ? none
    : [{ resourceType: found[1] === 'Group' ? 'Group' : 'User', resourceId: Number(found[2]) }];
}

/** A create that is refused has no id: the name is all by which anybody will look for it. */
function nameIn(method: string, body: unknown): string | null {
  if ((method !== 'POST' && method !== 'PUT') || !isObject(body)) return null;
  const name = body.userName ?? body.displayName;
  return typeof name === 'string' ? maskedText(name, nameCharactersMax) : null;
}

function toLogged({ code, what, from, to, operation }: Repair): LoggedRepair {
  const attribute = maskedText(what, repairCharactersMax);
  const isSecret = namesSecret(what);
  return {
    code,
    attribute,
    ...(from === undefined ? {} : { from: isSecret ? masked : shown(from) }),
    ...(to === undefined ? {} : { to: isSecret ? masked : shown(to) }),
    ...(operation === undefined ? {} : { operation }),
  };
}

function shown(value: unknown): string {
  return maskedJson(value, repairCharactersMax) ?? '';
}

function toShownIgnored({ attribute, ...others }: Trace['ignored'][number]) {
  return { ...others, attribute: maskedText(attribute, repairCharactersMax) };
}

function toShownBulk({ failures, ...counts }: BulkSummary, mayQuote: boolean): LoggedBulk {
  const shown = failures.map(({ path, refusal, ...others }) => ({
    ...others,
    path: path === undefined ? undefined : maskedText(path, repairCharactersMax),
    refusal: maskedRefusal(refusal, mayQuote),
  }));
  return { ...counts, failures: shown };
}

function withoutValues({ from: _from, to: _to, attribute: what, ...others }: LoggedRepair) {
  return { ...others, what };
}

function bodiesOf(source: ScimSource | undefined, trace: Trace): Pick<RequestRecord, 'body' | 'decoded'> {
  if (source?.settings.logBodies !== true) return { body: null, decoded: null };
  const { body, unread, decoded } = trace;
  return {
    body:
      body === undefined && unread !== undefined
        ? maskedBytes(unread, bodyCharactersMax)
        : (maskedJson(body, bodyCharactersMax) ?? null),
    decoded: maskedJson(decoded.length > 1 ? decoded : decoded[0], bodyCharactersMax) ?? null,
  };
}
