// Reads the request log from beside: the file of a running server or of one that is stopped. It never writes.
// A page looks at a bounded number of rows, so that no question keeps a server busy; `next` says where to go on.

import { Database as Sqlite } from 'bun:sqlite';
import { existsSync } from 'node:fs';
import { DomainError } from '../errors.ts';
import { idAt, type RequestRecord, type Touched } from './record.ts';
import { currentVersion, versionOf } from './request-file.ts';

/** Which requests; every condition that is given must hold. */
export interface RequestQuery {
  readonly sourceId?: number;
  /** Requests that name this resource, or any resource by one of `names` in body or query. */
  readonly about?: {
    readonly resourceType: Touched['resourceType'];
    readonly resourceId?: number;
    readonly name?: string;
    /** Requests that are known to have changed it, whatever they name: a push of a group changes its members. */
    readonly changedBy?: readonly { readonly sourceId: number; readonly requestId: string }[];
  };
  /** First and last status. */
  readonly status?: readonly [from: number, to: number];
  readonly method?: string;
  readonly requestId?: string;
  readonly sinceMs?: number;
  readonly hasRepairs?: boolean;
}

export interface PageOptions {
  /** Only requests that were answered before this id: `next` of the page before. */
  readonly before?: number;
  readonly limit: number;
  readonly withBodies?: boolean;
}

/** A record as it was kept. */
export interface LoggedRequest extends Omit<RequestRecord, 'timeMs' | 'isAtGate'> {
  readonly id: number;
  /** RFC 3339, UTC: when it came. */
  readonly time: string;
}

export interface RequestPage {
  /** Newest first. There may be fewer than asked for, or none, although `next` says that there are older ones. */
  readonly requests: readonly LoggedRequest[];
  /** Undefined at the end of the log. */
  readonly next: number | undefined;
}

export interface RepairCount {
  readonly sourceId: number;
  readonly code: string;
  readonly attribute: string;
  readonly count: number;
  /** The days of the first and last of them, as YYYY-MM-DD. */
  readonly firstDay: string;
  readonly lastDay: string;
}

interface Row {
  readonly id: number;
  readonly source: number | null;
  readonly status: number;
  readonly resource_type: 'User' | 'Group' | null;
  readonly resource_id: number | null;
  readonly time: number;
  readonly duration: number;
  readonly method: string;
  readonly path: string;
  readonly query: string | null;
  readonly client: string;
  readonly request_id: string;
  readonly name: string | null;
  readonly refusal: string | null;
  readonly touched: string | null;
  readonly repairs: string | null;
  readonly ignored: string | null;
  readonly bulk: string | null;
  readonly body?: string | null;
  readonly decoded?: string | null;
}

/** A few milliseconds of work: the console asks in the process that answers requests. */
const rowsScannedMax = 10_000;
const limitMax = 1_000;
const repairRowsMax = 1_000;
const dayMs = 24 * 60 * 60 * 1_000;

/** Every condition is written out; one that is not asked for has a null parameter and holds always. */
const conditions = `
  ($source is null or source = $source)
  and ($statusFrom is null or status between $statusFrom and $statusTo)
  and ($method is null or method = $method)
  and ($requestId is null or request_id = $requestId)
  and ($repaired is null or repairs is not null)
  and ($type is null or (resource_type = $type and resource_id = $resource) or instr(touched, $touched) > 0
    or name = $name collate nocase or instr(lower(query), $quoted) > 0
    or (source || ':' || request_id) in (select value from json_each($changes)))`;

export class RequestReader implements Disposable {
  readonly #sqlite: Sqlite;

  /** Throws `notFound` when there is no log yet, `unavailable` when it cannot be read. */
  constructor(path: string) {
    if (!existsSync(path)) {
      throw new DomainError('notFound', `There is no request log at ${path} yet; the service begins one.`);
    }
    this.#sqlite = inWords(path, () => openBeside(path));
  }

  /** The newest requests first. */
  page(query: RequestQuery, { before, limit, withBodies = false }: PageOptions): RequestPage {
    const bounded = Math.min(Math.max(1, limit), limitMax);
    const window = { $before: before ?? Number.MAX_SAFE_INTEGER, $since: idAt(query.sinceMs ?? 0) };
    const scanned = `select * from request where id < $before and id >= $since order by id desc limit ${rowsScannedMax}`;
    const rows = this.#select(`from (${scanned}) as request`, withBodies, {
      ...parametersOf(query),
      ...window,
      $limit: bounded,
    });
    const last = rows.at(-1);
    const next = rows.length === bounded && last !== undefined ? last.id : this.#endOfScan(scanned, window);
    return { requests: rows.map(toRequest), next };
  }

  /** Those answered after `after`, oldest first, at most a thousand: what a reader that follows the log has not seen. */
  later(query: RequestQuery, after: number, withBodies = false): LoggedRequest[] {
    const newer = 'select * from request where id > $after order by id';
    const parameters = { ...parametersOf(query), $after: after, $limit: limitMax };
    return this.#select(`from (${newer}) as request`, withBodies, parameters).map(toRequest);
  }

  /** The id of the newest request; 0 in an empty log. */
  newest(): number {
    const row = this.#sqlite.query('select max(id) as id from request').get() as { id: number | null };
    return row.id ?? 0;
  }

  /** How often each repair was needed since a day, the most frequent first; at most a thousand rows. */
  repairs(sinceMs: number, sourceId?: number): RepairCount[] {
    const rows = this.#sqlite
      .query(
        `select source, code, attribute, sum(count) as count, min(day) as first, max(day) as last from repair_count
         where day >= $day and ($source is null or source = $source)
         group by source, code, attribute order by source, sum(count) desc, code, attribute limit ${repairRowsMax}`,
      )
      .all({ day: Math.floor(sinceMs / dayMs), source: sourceId ?? null }) as CountRow[];
    return rows.map(({ source, code, attribute, count, first, last }) => ({
      sourceId: source,
      code,
      attribute,
      count,
      firstDay: dayText(first),
      lastDay: dayText(last),
    }));
  }

  #select(from: string, withBodies: boolean, parameters: Record<string, string | number | null>): Row[] {
    const joined = withBodies ? `${from} left join body using (id)` : from;
    const bodies = withBodies ? ', body, decoded' : '';
    const order = from.includes('$after') ? 'asc' : 'desc';
    const text = `select request.*${bodies} ${joined} where ${conditions} order by request.id ${order} limit $limit`;
    return this.#sqlite.query(text).all(unmarked(parameters)) as Row[];
  }

  /** The page was not filled: the next one begins where the scan ended, if it did not end with the log. */
  #endOfScan(
    scanned: string,
    window: { readonly $before: number; readonly $since: number },
  ): number | undefined {
    const row = this.#sqlite
      .query(`select min(id) as last, count(*) as count from (${scanned.replace('*', 'id')})`)
      .get(unmarked(window)) as { last: number | null; count: number };
    return row.count < rowsScannedMax ? undefined : (row.last ?? undefined);
  }

  [Symbol.dispose](): void {
    this.#sqlite.close();
  }
}

interface CountRow {
  readonly source: number;
  readonly code: string;
  readonly attribute: string;
  readonly count: number;
  readonly first: number;
  readonly last: number;
}

/** A log in WAL mode has files beside it that even a reader writes; the content is protected by `query_only`. */
function openBeside(path: string): Sqlite {
  const sqlite = new Sqlite(path, { create: false, readwrite: true, strict: true });
  try {
    sqlite.run('pragma busy_timeout = 2000');
    sqlite.run('pragma query_only = 1');
    const version = versionOf(sqlite);
    if (version === currentVersion) return sqlite;
    throw new DomainError(
      'unavailable',
      `The request log at ${path} is of another release; start the service.`,
    );
  } catch (error) {
    sqlite.close();
    throw error;
  }
}

function inWords(path: string, open: () => Sqlite): Sqlite {
  try {
    return open();
  } catch (error) {
    if (error instanceof DomainError) throw error;
    const { message } = error as { message?: string };
    throw new DomainError('unavailable', `The request log at ${path} cannot be read: ${message}.`, {
      cause: error,
    });
  }
}

function parametersOf(query: RequestQuery): Record<string, string | number | null> {
  const { sourceId, about, status, method, requestId, hasRepairs } = query;
  const id = about?.resourceId ?? null;
  const name = about?.name ?? null;
  return {
    $source: sourceId ?? null,
    $statusFrom: status?.[0] ?? null,
    $statusTo: status?.[1] ?? null,
    $method: method ?? null,
    $requestId: requestId ?? null,
    $repaired: hasRepairs === true ? 1 : null,
    $type: about?.resourceType ?? null,
    $resource: id,
    $touched: id === null ? null : `,${about?.resourceType}:${id},`,
    $changes: JSON.stringify(about?.changedBy?.map((each) => `${each.sourceId}:${each.requestId}`) ?? []),
    $name: name,
    // As a filter has it: a bare text would find "ann" in "hannah".
    $quoted: name === null ? null : `"${name.toLowerCase()}"`,
  };
}

/** `strict` connections name parameters without the mark that the statement has. */
function unmarked(
  parameters: Record<string, string | number | null>,
): Record<string, string | number | null> {
  return Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name.slice(1), value]));
}

function toRequest(row: Row): LoggedRequest {
  return {
    id: row.id,
    time: new Date(row.time).toISOString(),
    durationMs: row.duration,
    sourceId: row.source,
    method: row.method,
    path: row.path,
    query: row.query,
    status: row.status,
    clientAddress: row.client,
    requestId: row.request_id,
    touched: touchedOf(row),
    name: row.name,
    refusal: row.refusal,
    repairs: row.repairs === null ? [] : JSON.parse(row.repairs),
    ignored: row.ignored === null ? [] : JSON.parse(row.ignored),
    bulk: row.bulk === null ? null : JSON.parse(row.bulk),
    body: row.body ?? null,
    decoded: row.decoded ?? null,
  };
}

function touchedOf({ resource_type, resource_id, touched }: Row): Touched[] {
  if (touched === null) {
    return resource_type === null || resource_id === null
      ? []
      : [{ resourceType: resource_type, resourceId: resource_id }];
  }
  const names = touched.split(',').filter((text) => text !== '');
  return names.map((text) => {
    const [resourceType, id] = text.split(':');
    return { resourceType: resourceType === 'Group' ? 'Group' : 'User', resourceId: Number(id) };
  });
}

function dayText(day: number): string {
  return new Date(day * dayMs).toISOString().slice(0, 10);
}
