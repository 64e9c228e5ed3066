import { type Insertable, type Selectable, sql } from 'kysely';
import { bulkInsert } from '../storage/bulk-insert.ts';
import type { Reader, Tx } from '../storage/database.ts';
import { inNumbers, inTexts } from '../storage/list-parameter.ts';
import type { ImportPlanTable } from '../storage/schema.ts';
import { statement } from '../storage/statement.ts';
import type { ApplyPhase, PlanAction } from './imports.ts';
import type { PhaseTotals } from './run-store.ts';

export type PlanRow = Selectable<ImportPlanTable>;
export type NewPlanRow = Insertable<ImportPlanTable>;

/** Adds rows to the plan; every row says all columns. */
export const insertPlanRows: (tx: Tx, rows: readonly NewPlanRow[]) => Promise<void> = bulkInsert(
  'import_plan',
  [
    'run_id',
    'seq',
    'kind',
    'record_id',
    'line',
    'action',
    'phase',
    'resource_id',
    'ordinal',
    'name_key',
    'chain',
    'former_id',
    'payload',
    'sealed_password',
    'changed',
    'digest',
  ],
);

const deletedAtOnce = 5_000;

/** Deletes some rows of the run's plan; false once there are none. */
export async function deletePlanRows(tx: Tx, runId: number): Promise<boolean> {
  return deleteSome(tx, 'import_plan', runId);
}

export async function deleteIssues(tx: Tx, runId: number): Promise<boolean> {
  return deleteSome(tx, 'import_issue', runId);
}

async function deleteSome(tx: Tx, table: 'import_plan' | 'import_issue', runId: number): Promise<boolean> {
  const last = await tx
    .selectFrom(table)
    .select('seq')
    .where('run_id', '=', runId)
    .orderBy('seq')
    .limit(1)
    .offset(deletedAtOnce - 1)
    .executeTakeFirst();
  await tx
    .deleteFrom(table)
    .where('run_id', '=', runId)
    .$if(last !== undefined, (rows) => rows.where('seq', '<=', last?.seq ?? 0))
    .execute();
  return last !== undefined;
}

type Waiting = { run: number; phase: string; after: number; limit: number };

const selectWaiting = statement<Waiting, PlanRow>((db, place) =>
  db
    .selectFrom('import_plan')
    .selectAll()
    .where('run_id', '=', place('run'))
    .where('phase', '=', place('phase'))
    .where('seq', '>', place('after'))
    .orderBy('seq')
    .limit(sql<number>`${place('limit')}`),
);

/** The next rows that wait for `phase`, in the order of the plan. */
export async function listWaiting(
  db: Reader,
  runId: number,
  { phase, after, limit }: { readonly phase: ApplyPhase; readonly after: number; readonly limit: number },
): Promise<PlanRow[]> {
  return selectWaiting(db, { run: runId, phase, after, limit });
}

export async function countWaiting(db: Reader, runId: number, phase: ApplyPhase): Promise<number> {
  const row = await db
    .selectFrom('import_plan')
    .select((select) => select.fn.countAll<number>().as('count'))
    .where('run_id', '=', runId)
    .where('phase', '=', phase)
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

/** The rows of the chain after `after`; none when that was the last. */
export async function listNextChain(db: Reader, runId: number, after: number): Promise<PlanRow[]> {
  return db
    .selectFrom('import_plan')
    .selectAll()
    .where('run_id', '=', runId)
    .where('chain', '=', (plan) =>
      plan
        .selectFrom('import_plan')
        .select((select) => select.fn.min('chain').as('chain'))
        .where('run_id', '=', runId)
        .where('chain', '>', after),
    )
    .orderBy('seq')
    .execute();
}

export interface PlannedRecord {
  readonly record_id: string | null;
  readonly resource_id: number | null;
  readonly ordinal: number | null;
  readonly action: string;
}

const selectByRecordIds = statement<{ run: number; ids: string }, PlannedRecord>((db, place) =>
  db
    .selectFrom('import_plan')
    .select(['record_id', 'resource_id', 'ordinal', 'action'])
    .where('run_id', '=', place('run'))
    .where('kind', '=', 'user')
    .where('record_id', 'in', inTexts(db, place('ids'))),
);

/** The users that these records of the run stand for. */
export async function findPlannedRecords(
  db: Reader,
  runId: number,
  recordIds: readonly string[],
): Promise<PlannedRecord[]> {
  return recordIds.length === 0 ? [] : selectByRecordIds(db, { run: runId, ids: JSON.stringify(recordIds) });
}

/** The user rows of the run that matched these users. */
export async function findRowsOfUsers(db: Reader, runId: number, userIds: readonly number[]) {
  if (userIds.length === 0) return [];
  return db
    .selectFrom('import_plan')
    .select(['seq', 'resource_id', 'name_key', 'phase', 'action'])
    .where('run_id', '=', runId)
    .where('kind', '=', 'user')
    .where('resource_id', 'in', inNumbers(db, JSON.stringify(userIds)))
    .execute();
}

/** Sets the phase for which rows wait; a chain too, when they are part of one. */
export async function moveRows(
  tx: Tx,
  runId: number,
  {
    seqs,
    phase,
    chain,
  }: { readonly seqs: readonly number[]; readonly phase: ApplyPhase; readonly chain?: number },
): Promise<void> {
  if (seqs.length === 0) return;
  await tx
    .updateTable('import_plan')
    .set({ phase, ...(chain === undefined ? {} : { chain }) })
    .where('run_id', '=', runId)
    .where('seq', 'in', inNumbers(tx, JSON.stringify(seqs)))
    .execute();
}

/** Says what has become of rows, which may still wait for a phase. */
export async function setAction(
  tx: Tx,
  runId: number,
  seqs: readonly number[],
  action: PlanAction,
): Promise<void> {
  if (seqs.length === 0) return;
  await tx
    .updateTable('import_plan')
    .set({ action })
    .where('run_id', '=', runId)
    .where('seq', 'in', inNumbers(tx, JSON.stringify(seqs)))
    .execute();
}

/** The row is done in another way than it was planned. */
export async function settleRow(tx: Tx, runId: number, seq: number, action: PlanAction): Promise<void> {
  await tx
    .updateTable('import_plan')
    .set({ action, phase: null, sealed_password: null })
    .where('run_id', '=', runId)
    .where('seq', '=', seq)
    .execute();
}

export async function updateRow(
  tx: Tx,
  runId: number,
  seq: number,
  change: Partial<NewPlanRow>,
): Promise<void> {
  await tx
    .updateTable('import_plan')
    .set(change)
    .where('run_id', '=', runId)
    .where('seq', '=', seq)
    .execute();
}

export async function clearPasswords(tx: Tx, runId: number, seqs: readonly number[]): Promise<void> {
  await tx
    .updateTable('import_plan')
    .set({ sealed_password: null })
    .where('run_id', '=', runId)
    .where('seq', 'in', inNumbers(tx, JSON.stringify(seqs)))
    .execute();
}

/** Takes what was to be written, passwords included, out of rows after `after`; returns the last one looked at. */
export async function clearPayloads(
  tx: Tx,
  runId: number,
  after: number,
  limit: number,
): Promise<number | undefined> {
  const rows = await tx
    .selectFrom('import_plan')
    .select(['seq', 'payload'])
    .where('run_id', '=', runId)
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(limit)
    .execute();
  const seqs = rows.filter((row) => row.payload !== null).map((row) => row.seq);
  if (seqs.length > 0) {
    await tx
      .updateTable('import_plan')
      .set({ payload: null, sealed_password: null })
      .where('run_id', '=', runId)
      .where('seq', 'in', inNumbers(tx, JSON.stringify(seqs)))
      .execute();
  }
  return rows.at(-1)?.seq;
}

/** Rows that matched a user whom this source knew by another `@id`. */
export async function listRelinked(
  db: Reader,
  runId: number,
  after: number,
  limit: number,
): Promise<PlanRow[]> {
  return db
    .selectFrom('import_plan')
    .selectAll()
    .where('run_id', '=', runId)
    .where('former_id', 'is not', null)
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(limit)
    .execute();
}

/** Groups that were to be created and are there under another id: by ordinal. */
export async function findMatchedGroups(db: Reader, runId: number): Promise<ReadonlyMap<number, number>> {
  const rows = await db
    .selectFrom('import_plan')
    .select(['ordinal', 'resource_id'])
    .where('run_id', '=', runId)
    .where('kind', '=', 'group')
    .where('resource_id', 'is not', null)
    .where('ordinal', 'is not', null)
    .execute();
  return new Map(rows.map(({ ordinal, resource_id }) => [ordinal ?? 0, resource_id ?? 0]));
}

/** Ids of users whom the run was to create and could not. */
export async function listFailedOrdinals(db: Reader, runId: number, after: number, limit: number) {
  const rows = await db
    .selectFrom('import_plan')
    .select(['seq', 'ordinal'])
    .where('run_id', '=', runId)
    .where('kind', '=', 'user')
    .where('action', '=', 'failed')
    .where('ordinal', 'is not', null)
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(limit)
    .execute();
  return rows.map(({ seq, ordinal }) => ({ seq, ordinal: ordinal ?? 0 }));
}

/** The users whom the run has created, changed or made active again, in pages by `seq`. */
export async function listWritten(db: Reader, runId: number, after: number, limit: number) {
  return db
    .selectFrom('import_plan')
    .select(['seq', 'record_id', 'resource_id', 'ordinal'])
    .where('run_id', '=', runId)
    .where('kind', '=', 'user')
    .where('action', 'in', ['create', 'update', 'reactivate'])
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(limit)
    .execute();
}

/** The users whom the run was to disable, in pages by `seq`. */
export async function listDisabled(
  db: Reader,
  runId: number,
  { after, limit }: { readonly after: number; readonly limit: number },
) {
  return db
    .selectFrom('import_plan')
    .select(['seq', 'resource_id'])
    .where('run_id', '=', runId)
    .where('kind', 'in', ['user', 'absent'])
    .where('action', '=', 'disable')
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(limit)
    .execute();
}

export type PlannedRow = Pick<
  PlanRow,
  'seq' | 'kind' | 'record_id' | 'line' | 'action' | 'resource_id' | 'ordinal' | 'changed'
>;

/** Rows of the plan, done or not, in pages by `seq`. */
export async function listPlanned(
  db: Reader,
  runId: number,
  {
    after,
    limit,
    action,
  }: { readonly after: number; readonly limit: number; readonly action?: PlanAction | undefined },
): Promise<PlannedRow[]> {
  return db
    .selectFrom('import_plan')
    .select(['seq', 'kind', 'record_id', 'line', 'action', 'resource_id', 'ordinal', 'changed'])
    .where('run_id', '=', runId)
    .where('seq', '>', after)
    .$if(action !== undefined, (rows) => rows.where('action', '=', action ?? ''))
    .orderBy('seq')
    .limit(limit)
    .execute();
}

export interface Tally {
  readonly kind: string;
  readonly action: string;
  readonly phase: string | null;
  readonly count: number;
}

/** How many rows of each kind, action and phase the plan has. */
export async function tallyPlan(db: Reader, runId: number): Promise<Tally[]> {
  const rows = await db
    .selectFrom('import_plan')
    .select(['kind', 'action', 'phase'])
    .select((select) => select.fn.countAll<number>().as('count'))
    .where('run_id', '=', runId)
    .groupBy(['kind', 'action', 'phase'])
    .execute();
  return rows.map((row) => ({ ...row, count: Number(row.count) }));
}

export function phaseTotals(tally: readonly Tally[]): PhaseTotals {
  const totals: PhaseTotals = {};
  for (const { phase, count } of tally) {
    if (phase !== null) totals[phase as ApplyPhase] = (totals[phase as ApplyPhase] ?? 0) + count;
  }
  return totals;
}
