import { type Selectable, sql } from 'kysely';
import type { Reader, Tx } from '../storage/database.ts';
import type { ImportRunTable } from '../storage/schema.ts';
import { statement } from '../storage/statement.ts';
import type { ApplyPhase, Counts, RunOrigin, RunStatus } from './imports.ts';
import { activeStatuses, noCounts } from './imports.ts';
import type { ImportOptions } from './options.ts';
import { type DatedEvent, insertEvent } from './run-event-store.ts';

export type RunRow = Selectable<ImportRunTable>;

/** A run as the processor works on it. */
export interface Run {
  readonly id: number;
  readonly sourceId: number;
  readonly status: RunStatus;
  readonly origin: RunOrigin;
  readonly dryRun: boolean;
  readonly phase: ApplyPhase | undefined;
  readonly cursor: number;
  readonly done: number;
  readonly document: string | undefined;
  readonly sha256: string;
  readonly bytes: number;
  readonly users: number;
  readonly groups: number;
  readonly options: ImportOptions | undefined;
  readonly phases: PhaseTotals;
  readonly counts: Counts;
  readonly warnings: readonly string[];
  readonly firstUserId: number;
  readonly firstGroupId: number;
  readonly fence: number;
  readonly attempts: number;
}

/** Plan rows that wait for each phase. */
export type PhaseTotals = Partial<Record<ApplyPhase, number>>;

export function toRun(row: RunRow): Run {
  return {
    id: row.id,
    sourceId: row.source_id,
    status: row.status as RunStatus,
    origin: row.origin as RunOrigin,
    dryRun: row.dry_run === 1,
    phase: (row.phase as ApplyPhase | null) ?? undefined,
    cursor: row.cursor,
    done: row.done,
    document: row.document ?? undefined,
    sha256: row.sha256,
    bytes: row.bytes,
    users: row.users,
    groups: row.groups,
    options: row.options === null ? undefined : (JSON.parse(row.options) as ImportOptions),
    phases: row.phases === null ? {} : (JSON.parse(row.phases) as PhaseTotals),
    counts: JSON.parse(row.counts) as Counts,
    warnings: JSON.parse(row.warnings) as string[],
    firstUserId: row.first_user_id ?? 0,
    firstGroupId: row.first_group_id ?? 0,
    fence: row.fence,
    attempts: row.attempts,
  };
}

export interface NewRun {
  readonly sourceId: number;
  readonly origin: RunOrigin;
  readonly dryRun: boolean;
  readonly document: string;
  readonly archive: string;
  readonly sha256: string;
  /** See `circumstancesOf`. */
  readonly circumstances: string;
  readonly bytes: number;
  readonly users: number;
  readonly groups: number;
  readonly warnings: readonly string[];
  /** What the file was called where it came from. */
  readonly file?: string | undefined;
  /** Under which it was taken from a drop folder. */
  readonly ticket?: string | undefined;
  readonly now: string;
}

export async function insertRun(tx: Tx, run: NewRun): Promise<number> {
  const { sourceId, origin, dryRun, document, archive, sha256, circumstances, ...rest } = run;
  const { bytes, users, groups, warnings, file, ticket, now } = rest;
  const { id } = await tx
    .insertInto('import_run')
    .values({
      source_id: sourceId,
      status: 'queued',
      origin,
      dry_run: dryRun ? 1 : 0,
      cursor: 0,
      done: 0,
      pace_done: 0,
      ticket: ticket ?? null,
      document,
      archive,
      sha256,
      circumstances,
      bytes,
      users,
      groups,
      counts: JSON.stringify(noCounts),
      warnings: JSON.stringify(warnings),
      fence: 0,
      attempts: 0,
      created: now,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await insertEvent(tx, id, { kind: 'queued', ...(file === undefined ? {} : { file }) }, now);
  return id;
}

export async function findRun(db: Reader, id: number): Promise<RunRow | undefined> {
  return db.selectFrom('import_run').selectAll().where('id', '=', id).executeTakeFirst();
}

export async function listRuns(
  db: Reader,
  { sourceId, limit }: { readonly sourceId?: number | undefined; readonly limit: number },
): Promise<RunRow[]> {
  return db
    .selectFrom('import_run')
    .selectAll()
    .$if(sourceId !== undefined, (runs) => runs.where('source_id', '=', sourceId ?? 0))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

/** Unless they had begun to be applied: what was done by then stays. */
const endedWithoutEffect = ['failed', 'cancelled', 'rejected', 'superseded'] as const satisfies RunStatus[];

/** The newest run of the source that has changed the directory, or may yet do so. */
export async function findLatestEffectiveRun(db: Reader, sourceId: number): Promise<RunRow | undefined> {
  return db
    .selectFrom('import_run')
    .selectAll()
    .where('source_id', '=', sourceId)
    .where('dry_run', '=', 0)
    .where(({ or, eb }) =>
      or([eb('status', 'not in', [...endedWithoutEffect]), eb('applied_from', 'is not', null)]),
    )
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** Runs of the source that have been applied, newest first; with `beforeId` only earlier ones than that. */
export async function listCompletedRuns(
  db: Reader,
  sourceId: number,
  limit: number,
  beforeId?: number,
): Promise<RunRow[]> {
  return db
    .selectFrom('import_run')
    .selectAll()
    .where('source_id', '=', sourceId)
    .where('dry_run', '=', 0)
    .where('status', 'in', ['completed', 'completed-with-errors'])
    .$if(beforeId !== undefined, (runs) => runs.where('id', '<', beforeId ?? 0))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

/** How many users the last full document of the source had that was applied; undefined when there was none. */
export async function findLastFullUsers(db: Reader, sourceId: number): Promise<number | undefined> {
  const row = await db
    .selectFrom('import_run')
    .select('users')
    .where('source_id', '=', sourceId)
    .where('dry_run', '=', 0)
    .where('status', 'in', ['completed', 'completed-with-errors'])
    .where('options', 'like', `${fullOptions}%`)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.users;
}

/** With what the stored options of a full document begin: `mode` is the first of them. */
const fullOptions = '{"mode":"full",';

/** Whether a file that was taken from a drop folder under this ticket has its run. */
export async function isTicketUsed(db: Reader, ticket: string): Promise<boolean> {
  const row = await db.selectFrom('import_run').select('id').where('ticket', '=', ticket).executeTakeFirst();
  return row !== undefined;
}

export async function findAwaitingRun(db: Reader, sourceId: number): Promise<number | undefined> {
  const row = await db
    .selectFrom('import_run')
    .select('id')
    .where('source_id', '=', sourceId)
    .where('status', '=', 'awaiting-approval')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.id;
}

/** A run of the source that something keeps from going on, if there is one. */
export async function findInterruptedRun(db: Reader, sourceId: number): Promise<RunRow | undefined> {
  return db
    .selectFrom('import_run')
    .selectAll()
    .where('source_id', '=', sourceId)
    .where('status', 'in', ['planning', 'applying'])
    .where('retry_at', 'is not', null)
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
}

/** Whether a later document of the source waits to change the directory. */
export async function hasLaterActive(
  db: Reader,
  { id, sourceId }: { readonly id: number; readonly sourceId: number },
): Promise<boolean> {
  const row = await db
    .selectFrom('import_run')
    .select('id')
    .where('source_id', '=', sourceId)
    .where('id', '>', id)
    .where('dry_run', '=', 0)
    .where('status', 'in', [...activeStatuses])
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Names in `drop/` that some run still needs. */
export async function listDocumentsInUse(db: Reader): Promise<string[]> {
  const rows = await db
    .selectFrom('import_run')
    .select('document')
    .where('document', 'is not', null)
    .execute();
  return rows.flatMap((row) => (row.document === null ? [] : [row.document]));
}

/** Names in `archive/` that some run still has. */
export async function listArchivesInUse(db: Reader): Promise<string[]> {
  const rows = await db.selectFrom('import_run').select('archive').where('archive', 'is not', null).execute();
  return rows.flatMap((row) => (row.archive === null ? [] : [row.archive]));
}

export interface Lease {
  readonly owner: string;
  readonly now: string;
  readonly until: string;
  /** What befell the run before, and is not written down yet. */
  readonly untold?: (runId: number) => DatedEvent | undefined;
}

/**
 * Claims the oldest run that is due, and of each source only its oldest. One UPDATE: of two processors that try at
 * once one gets it, because the condition on the lease is looked at again when the row is free.
 */
export async function claimRun(tx: Tx, { owner, now, until, untold }: Lease): Promise<Run | undefined> {
  const due = tx
    .selectFrom('import_run as due')
    .select('due.id')
    .where('due.status', 'in', [...activeStatuses])
    .where((is) => is.or([is('due.lease_until', 'is', null), is('due.lease_until', '<=', now)]))
    .where((is) => is.or([is('due.retry_at', 'is', null), is('due.retry_at', '<=', now)]))
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('import_run as earlier')
            .select('earlier.id')
            .whereRef('earlier.source_id', '=', 'due.source_id')
            .whereRef('earlier.id', '<', 'due.id')
            .where('earlier.status', 'in', [...activeStatuses]),
        ),
      ),
    )
    .orderBy('due.id')
    .limit(1);
  const row = await tx
    .updateTable('import_run')
    .set((value) => ({
      lease_owner: owner,
      lease_until: until,
      fence: value('fence', '+', 1),
      retry_at: null,
      pace_from: now,
      // A plan is made from its beginning every time.
      pace_done: value.case().when('status', '=', 'applying').then(value.ref('done')).else(0).end(),
      status: value.case().when('status', '=', 'queued').then('planning').else(value.ref('status')).end(),
      started: value.fn.coalesce('started', value.val(now)),
    }))
    .where('id', '=', due)
    .where((is) => is.or([is('lease_until', 'is', null), is('lease_until', '<=', now)]))
    .returningAll()
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const before = untold?.(row.id);
  if (before !== undefined) {
    const { at, ...event } = before;
    await insertEvent(tx, row.id, event, at);
  }
  await insertEvent(tx, row.id, { kind: 'claimed' }, now);
  return toRun(row);
}

/** Voids the leases of processors that are known to be dead. */
export async function releaseLeases(tx: Tx): Promise<void> {
  await tx
    .updateTable('import_run')
    .set({ lease_owner: null, lease_until: null, retry_at: null })
    .where('status', 'in', [...activeStatuses])
    .execute();
}

/** Another processor has claimed the run, or someone has ended it: whoever sees this stops working on it. */
export class LeaseLost extends Error {
  constructor(runId: number) {
    super(`the run ${runId} is no longer ours`);
    this.name = 'LeaseLost';
  }
}

export interface Claim {
  readonly id: number;
  readonly fence: number;
}

interface Advance extends Record<string, unknown> {
  readonly id: number;
  readonly fence: number;
  readonly phase: string | null;
  readonly cursor: number;
  readonly done: number;
  readonly counts: string;
  readonly warnings: string;
  readonly until: string;
}

const advanceRow = statement<Advance, { id: number }>((db, place) =>
  db
    .updateTable('import_run')
    .set({
      phase: place('phase'),
      cursor: place('cursor'),
      done: place('done'),
      counts: place('counts'),
      warnings: place('warnings'),
      lease_until: place('until'),
      attempts: sql<number>`0`,
      // What had interrupted it no longer does.
      message: sql<null>`null`,
    })
    .where('id', '=', place('id'))
    .where('fence', '=', place('fence'))
    .returning('id'),
);

export interface Progress {
  readonly phase: ApplyPhase | undefined;
  readonly cursor: number;
  readonly done: number;
  readonly counts: Counts;
  readonly warnings: readonly string[];
}

/** Records how far the run is and renews the lease, in the transaction of the batch. Throws LeaseLost. */
export async function advanceRun(
  tx: Tx,
  { id, fence }: Claim,
  { phase, cursor, done, counts, warnings }: Progress,
  until: string,
): Promise<void> {
  const texts = { counts: JSON.stringify(counts), warnings: JSON.stringify(warnings) };
  const rows = await advanceRow(tx, { id, fence, phase: phase ?? null, cursor, done, until, ...texts });
  if (rows.length === 0) throw new LeaseLost(id);
}

export type RunChange = Partial<
  Pick<
    RunRow,
    | 'status'
    | 'phase'
    | 'cursor'
    | 'done'
    | 'pace_from'
    | 'pace_done'
    | 'document'
    | 'options'
    | 'planned'
    | 'phases'
    | 'counts'
    | 'warnings'
    | 'first_user_id'
    | 'first_group_id'
    | 'message'
    | 'lease_owner'
    | 'lease_until'
    | 'attempts'
    | 'retry_at'
    | 'applied_from'
    | 'finished'
  >
>;

/** Changes the run if it is still under this claim. Throws LeaseLost. */
export async function updateClaimedRun(tx: Tx, { id, fence }: Claim, change: RunChange): Promise<void> {
  const row = await tx
    .updateTable('import_run')
    .set(change)
    .where('id', '=', id)
    .where('fence', '=', fence)
    .returning('id')
    .executeTakeFirst();
  if (row === undefined) throw new LeaseLost(id);
}

/** Moves a run out of one of the states `from`; the new fence stops whoever works on it. False when it is in another. */
export async function moveRun(
  tx: Tx,
  id: number,
  from: readonly RunStatus[],
  change: RunChange,
): Promise<boolean> {
  const row = await tx
    .updateTable('import_run')
    .set({ ...change, lease_owner: null, lease_until: null })
    .set((value) => ({ fence: value('fence', '+', 1) }))
    .where('id', '=', id)
    .where('status', 'in', [...from])
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** A run takes the place of earlier ones of its source that wait for approval. Returns their ids. */
export async function supersedeAwaiting(
  tx: Tx,
  { sourceId, runId, now }: { readonly sourceId: number; readonly runId: number; readonly now: string },
): Promise<number[]> {
  const rows = await tx
    .updateTable('import_run')
    .set({ status: 'superseded', finished: now, message: `Import ${runId} took its place.` })
    .where('source_id', '=', sourceId)
    .where('id', '<', runId)
    .where('status', '=', 'awaiting-approval')
    .returning('id')
    .execute();
  return rows.map((row) => row.id);
}

/** Settled runs whose document in `drop/` has not been removed yet. */
export async function listSettledDocuments(db: Reader): Promise<{ id: number; document: string }[]> {
  const rows = await db
    .selectFrom('import_run')
    .select(['id', 'document'])
    .where('document', 'is not', null)
    .where('status', 'not in', [...activeStatuses, 'awaiting-approval'])
    .execute();
  return rows.flatMap(({ id, document }) => (document === null ? [] : [{ id, document }]));
}

export async function forgetDocument(tx: Tx, id: number): Promise<void> {
  await tx.updateTable('import_run').set({ document: null }).where('id', '=', id).execute();
}

/** Runs of the source, newest first, that still have an archived copy or a plan. */
export async function listArchived(db: Reader, sourceId: number): Promise<RunRow[]> {
  return db
    .selectFrom('import_run')
    .selectAll()
    .where('source_id', '=', sourceId)
    .where('archive', 'is not', null)
    .orderBy('id', 'desc')
    .execute();
}

export async function forgetArchive(tx: Tx, id: number): Promise<void> {
  await tx.updateTable('import_run').set({ archive: null }).where('id', '=', id).execute();
}
