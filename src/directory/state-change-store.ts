import type { Reader } from '../storage/database.ts';
import { inNumbers } from '../storage/list-parameter.ts';
import { statement } from '../storage/statement.ts';

interface StateChangeRow {
  readonly resource_id: number;
  readonly run_id: number | null;
}

const selectLastChanges = statement<{ ids: string }, StateChangeRow>((db, place) =>
  db
    .selectFrom('journal')
    .select(['resource_id', 'run_id'])
    .where('seq', 'in', (last) =>
      last
        .selectFrom('journal')
        .select((select) => select.fn.max('seq').as('seq'))
        .where('resource_type', '=', 'User')
        .where('resource_id', 'in', inNumbers(db, place('ids')))
        .where('action', 'in', ['create', 'deactivate', 'reactivate', 'archive'])
        .groupBy('resource_id'),
    ),
);

/** Those of the users whose present state this import run has brought about, and nobody since. */
export async function findUsersLastEndedBy(
  db: Reader,
  runId: number,
  userIds: readonly number[],
): Promise<Set<number>> {
  if (userIds.length === 0) return new Set();
  const rows = await selectLastChanges(db, { ids: JSON.stringify(userIds) });
  return new Set(rows.filter((row) => row.run_id === runId).map((row) => row.resource_id));
}
