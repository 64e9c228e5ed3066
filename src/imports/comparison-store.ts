import { sql } from 'kysely';
import type { Reader } from '../storage/database.ts';
import { inNumbers, inTexts } from '../storage/list-parameter.ts';

export const differences = ['added', 'removed', 'changed'] as const;
/** What distinguishes a later document from an earlier one in respect of one record. */
export type Difference = (typeof differences)[number];

export interface ComparedRuns {
  readonly sourceId: number;
  readonly laterId: number;
  readonly earlierId: number;
}

/** Outcomes that leave somebody otherwise than they were. */
const changing = ['create', 'update', 'reactivate', 'disable', 'archive'];

function differing(db: Reader, runs: ComparedRuns, difference: Difference) {
  if (difference === 'changed') return changedRecords(db, runs);
  const { laterId, earlierId } = runs;
  const [here, there] = difference === 'added' ? [laterId, earlierId] : [earlierId, laterId];
  return db
    .selectFrom('import_plan as here')
    .select('here.record_id')
    .where('here.run_id', '=', here)
    .where('here.kind', '=', 'user')
    .where('here.record_id', 'is not', null)
    .where(({ not, exists }) => not(exists(sameRecord(db, there))))
    .groupBy('here.record_id');
}

/** In both, and written by the later run or one in between. */
function changedRecords(db: Reader, { sourceId, laterId, earlierId }: ComparedRuns) {
  return db
    .selectFrom('import_plan as here')
    .select('here.record_id')
    .where('here.run_id', 'in', runsUpTo(db, { sourceId, laterId, earlierId }))
    .where('here.kind', '=', 'user')
    .where('here.action', 'in', changing)
    .where('here.record_id', 'is not', null)
    .where(({ exists }) => exists(sameRecord(db, earlierId)))
    .where(({ exists }) => exists(sameRecord(db, laterId)))
    .groupBy('here.record_id');
}

function sameRecord(db: Reader, runId: number) {
  return db
    .selectFrom('import_plan as there')
    .select(sql<number>`1`.as('one'))
    .where('there.run_id', '=', runId)
    .where('there.kind', '=', 'user')
    .where('there.record_id', '=', sql.ref<string>('here.record_id'));
}

function runsUpTo(db: Reader, { sourceId, laterId, earlierId }: ComparedRuns) {
  return db
    .selectFrom('import_run')
    .select('id')
    .where('source_id', '=', sourceId)
    .where('id', '>', earlierId)
    .where('id', '<=', laterId)
    .where((is) =>
      is.or([
        is('id', '=', laterId),
        is.and([is('dry_run', '=', 0), is('status', 'in', ['completed', 'completed-with-errors'])]),
      ]),
    );
}

export async function countDiffering(
  db: Reader,
  runs: ComparedRuns,
  difference: Difference,
): Promise<number> {
  const { count } = await db
    .selectFrom(differing(db, runs, difference).as('differing'))
    .select((select) => select.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

export interface DifferingQuery {
  readonly difference: Difference;
  /** The last record of the page before; empty for the first page. */
  readonly after: string;
  readonly limit: number;
}

/** Record ids, in the order of the database. */
export async function listDiffering(
  db: Reader,
  runs: ComparedRuns,
  { difference, after, limit }: DifferingQuery,
): Promise<string[]> {
  const rows = await differing(db, runs, difference)
    .where('here.record_id', '>', after)
    .orderBy('here.record_id')
    .limit(limit)
    .execute();
  return rows.map((row) => row.record_id ?? '');
}

/** Names of the attributes that the runs have changed, by record. */
export async function listChangedNames(
  db: Reader,
  runs: ComparedRuns,
  recordIds: readonly string[],
): Promise<Map<string, Set<string>>> {
  const rows = await db
    .selectFrom('import_plan')
    .select(['record_id', 'changed'])
    .where('run_id', 'in', runsUpTo(db, runs))
    .where('kind', '=', 'user')
    .where('action', 'in', changing)
    .where('record_id', 'in', inTexts(db, JSON.stringify(recordIds)))
    .execute();
  const names = new Map<string, Set<string>>();
  for (const { record_id, changed } of rows) {
    const known = names.get(record_id ?? '') ?? new Set();
    for (const name of JSON.parse(changed ?? '[]') as string[]) known.add(name);
    names.set(record_id ?? '', known);
  }
  return names;
}

/** What these users are called now, whatever their state. */
export async function findUserNames(db: Reader, ids: readonly number[]) {
  return db
    .selectFrom('user')
    .select(['id', 'user_name', 'display_name'])
    .where('id', 'in', inNumbers(db, JSON.stringify(ids)))
    .execute();
}
