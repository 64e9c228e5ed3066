import type { ScimObject } from '../resource/value.ts';
import type { Reader } from '../storage/database.ts';
import type { JournalTable, ResourceTypeName } from '../storage/schema.ts';

/** One row of the journal, with the names that make it readable. */
export interface HistoryEntry {
  readonly seq: number;
  /** RFC 3339, UTC. */
  readonly time: string;
  readonly actor: {
    readonly kind: JournalTable['actor_kind'];
    readonly id: number | null;
    /** Of the source or the account; null when it is gone, and for the system. */
    readonly name: string | null;
  };
  readonly requestId: string | null;
  /** The import run that made the change. */
  readonly importId: number | null;
  readonly action: string;
  readonly before: ScimObject | null;
  readonly after: ScimObject | null;
}

export interface HistoryPage {
  /** Newest first. */
  readonly changes: readonly HistoryEntry[];
  /** Give it as `before` for the page after this one; undefined at the end. */
  readonly next: number | undefined;
}

export interface HistoryQuery {
  readonly resourceType: ResourceTypeName;
  readonly resourceId: number;
  readonly before?: number;
  readonly limit: number;
}

const limitMax = 1_000;

/** What has become of one resource, whatever its state is now. */
export async function listHistory(db: Reader, query: HistoryQuery): Promise<HistoryPage> {
  const { resourceType, resourceId, before = Number.MAX_SAFE_INTEGER } = query;
  const limit = Math.min(Math.max(1, query.limit), limitMax);
  const rows = await db
    .selectFrom('journal')
    .leftJoin('source', (join) =>
      join.onRef('source.id', '=', 'journal.actor_id').on('journal.actor_kind', '=', 'source'),
    )
    .leftJoin('admin_account', (join) =>
      join.onRef('admin_account.id', '=', 'journal.actor_id').on('journal.actor_kind', '=', 'administrator'),
    )
    .selectAll('journal')
    .select(['source.name as source_name', 'admin_account.name as account_name'])
    .where('resource_type', '=', resourceType)
    .where('resource_id', '=', resourceId)
    .where('seq', '<', before)
    .orderBy('seq', 'desc')
    .limit(limit + 1)
    .execute();
  const changes = rows.slice(0, limit).map((row) => ({
    seq: row.seq,
    time: row.time,
    actor: { kind: row.actor_kind, id: row.actor_id, name: row.source_name ?? row.account_name },
    requestId: row.request_id,
    importId: row.run_id,
    action: row.action,
    before: row.before === null ? null : (JSON.parse(row.before) as ScimObject),
    after: row.after === null ? null : (JSON.parse(row.after) as ScimObject),
  }));
  return { changes, next: rows.length > limit ? changes.at(-1)?.seq : undefined };
}

/** A request of a source, by the id that its answer had. */
export interface SourceRequest {
  readonly sourceId: number;
  readonly requestId: string;
}

/** The requests that changed the resource, whatever they were sent to; of many the newest thousand changes. */
export async function listChangingRequests(
  db: Reader,
  resourceType: ResourceTypeName,
  resourceId: number,
): Promise<SourceRequest[]> {
  const rows = await db
    .selectFrom('journal')
    .select(['actor_id', 'request_id'])
    .where('resource_type', '=', resourceType)
    .where('resource_id', '=', resourceId)
    .where('actor_kind', '=', 'source')
    .orderBy('seq', 'desc')
    .limit(limitMax)
    .execute();
  return rows.flatMap(({ actor_id: sourceId, request_id: requestId }) =>
    sourceId === null || requestId === null ? [] : [{ sourceId, requestId }],
  );
}

/** One whom a person may mean by an id or a name. */
export interface NamedResource {
  readonly id: number;
  readonly name: string;
  readonly state: string;
}

const namedMax = 20;

/** The resource with this id, whatever its state. */
export async function findNamedById(
  db: Reader,
  resourceType: ResourceTypeName,
  id: number,
): Promise<NamedResource | undefined> {
  const row =
    resourceType === 'User'
      ? await db
          .selectFrom('user')
          .select(['id', 'user_name as name', 'state'])
          .where('id', '=', id)
          .executeTakeFirst()
      : await db
          .selectFrom('group_')
          .select(['id', 'display_name as name', 'state'])
          .where('id', '=', id)
          .executeTakeFirst();
  return row;
}

/** Those of this userName or displayName as canonical key: whoever is there first, then who was, the newest first. */
export async function listNamedByKey(
  db: Reader,
  resourceType: ResourceTypeName,
  key: string,
): Promise<NamedResource[]> {
  const rows: NamedResource[] =
    resourceType === 'User'
      ? await db
          .selectFrom('user')
          .select(['id', 'user_name as name', 'state'])
          .where('user_name_key', '=', key)
          .orderBy('id', 'desc')
          .limit(namedMax)
          .execute()
      : await db
          .selectFrom('group_')
          .select(['id', 'display_name as name', 'state'])
          .where('display_name_key', '=', key)
          .orderBy('id', 'desc')
          .limit(namedMax)
          .execute();
  const isGone = ({ state }: NamedResource) => (state === 'archived' || state === 'deleted' ? 1 : 0);
  return rows.toSorted((a, b) => isGone(a) - isGone(b));
}
