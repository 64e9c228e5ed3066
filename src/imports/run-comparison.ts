import { DomainError } from '../errors.ts';
import type { Reader } from '../storage/database.ts';
import {
  type ComparedRuns,
  countDiffering,
  type Difference,
  type DifferingQuery,
  findUserNames,
  listChangedNames,
  listDiffering,
} from './comparison-store.ts';
import type { ImportOptions } from './options.ts';
import { findPlannedRecords, type PlannedRecord } from './plan-store.ts';
import { findRun, listCompletedRuns, type RunRow } from './run-store.ts';

/** How the document of a run differs from that of an earlier run of its source. */
export interface RunComparison extends ComparedRuns {
  /** Nobody counts as removed by a delta: it names only some people. */
  readonly isDelta: boolean;
  readonly counts: Readonly<Record<Difference, number>>;
}

/** Somebody in whom two documents differ. */
export interface ComparedPerson {
  readonly recordId: string;
  /** Null where the record has led to nobody, as one in error. */
  readonly userId: number | null;
  readonly userName: string | null;
  readonly displayName: string | null;
  /** Attributes that were changed since the earlier run. */
  readonly changed: readonly string[];
}

const runsLookedAt = 200;

/**
 * Compares the run with `earlierId`, else with the one that was completed before it (for a full document: the last full
 * one). Throws `notFound`, and `invalidValue` where there is nothing to compare.
 */
export async function compareRuns(db: Reader, id: number, earlierId?: number): Promise<RunComparison> {
  const later = await requirePlanned(db, id);
  const earlier = earlierId === undefined ? await previousOf(db, later) : await requirePlanned(db, earlierId);
  if (earlier.source_id !== later.source_id || earlier.id >= later.id) {
    const detail = `Import ${earlier.id} is not an earlier import of the same source; name the later one first.`;
    throw new DomainError('invalidValue', detail);
  }
  const runs = { sourceId: later.source_id, laterId: later.id, earlierId: earlier.id };
  const isDelta = isDeltaRun(later);
  const counts = {
    added: await countDiffering(db, runs, 'added'),
    removed: isDelta ? 0 : await countDiffering(db, runs, 'removed'),
    changed: await countDiffering(db, runs, 'changed'),
  };
  return { ...runs, isDelta, counts };
}

async function requirePlanned(db: Reader, id: number): Promise<RunRow> {
  const run = await findRun(db, id);
  if (run === undefined) throw new DomainError('notFound', `There is no import with the id ${id}.`);
  if (run.planned === null)
    throw new DomainError(
      'invalidValue',
      `Import ${id} is ${run.status} and has no complete plan to compare.`,
    );
  if (run.archive !== null) return run;
  const detail = `The records of import ${id} are not kept any more (setting archiveRunsKept).`;
  throw new DomainError('invalidValue', detail);
}

async function previousOf(db: Reader, later: RunRow): Promise<RunRow> {
  const isFull = !isDeltaRun(later);
  const completed = await listCompletedRuns(db, later.source_id, runsLookedAt, later.id);
  const found = completed.find((run) => run.archive !== null && !(isFull && isDeltaRun(run)));
  if (found !== undefined) return found;
  const detail = `There is no earlier import of the source to compare import ${later.id} with.`;
  throw new DomainError('invalidValue', detail);
}

function isDeltaRun({ options }: RunRow): boolean {
  return (JSON.parse(options ?? '{}') as Partial<ImportOptions>).mode === 'delta';
}

/** The people of one difference, in the order of their records. */
export async function listCompared(
  db: Reader,
  comparison: RunComparison,
  query: DifferingQuery,
): Promise<ComparedPerson[]> {
  if (query.difference === 'removed' && comparison.isDelta) return [];
  const recordIds = await listDiffering(db, comparison, query);
  if (recordIds.length === 0) return [];
  const runId = query.difference === 'removed' ? comparison.earlierId : comparison.laterId;
  const userIds = await findUserIds(db, runId, recordIds);
  const names = new Map((await findUserNames(db, [...userIds.values()])).map((user) => [user.id, user]));
  const isChanged = query.difference === 'changed';
  const changes = isChanged ? await listChangedNames(db, comparison, recordIds) : undefined;
  return recordIds.map((recordId) => {
    const user = names.get(userIds.get(recordId) ?? 0);
    return {
      recordId,
      userId: user?.id ?? null,
      userName: user?.user_name ?? null,
      displayName: user?.display_name ?? null,
      changed: [...(changes?.get(recordId) ?? [])].toSorted(),
    };
  });
}

/** Of two records with one id the first counted, and the other is an issue. */
async function findUserIds(
  db: Reader,
  runId: number,
  recordIds: readonly string[],
): Promise<Map<string, number>> {
  const firstId = (await findRun(db, runId))?.first_user_id ?? null;
  const idOf = ({ resource_id, ordinal, action }: PlannedRecord): number | null =>
    resource_id ?? (action === 'create' && ordinal !== null && firstId !== null ? firstId + ordinal : null);
  const ids = new Map<string, number>();
  for (const row of await findPlannedRecords(db, runId, recordIds)) {
    const id = idOf(row);
    const isBetter = row.action !== 'issue' || !ids.has(row.record_id ?? '');
    if (id !== null && isBetter) ids.set(row.record_id ?? '', id);
  }
  return ids;
}
