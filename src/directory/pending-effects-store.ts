import type { Reader, Tx } from '../storage/database.ts';
import { inNumbers, isPostgres } from '../storage/list-parameter.ts';
import { statement } from '../storage/statement.ts';

const selectAny = statement<{ source: number }, { id: number }>((db, place) =>
  db.selectFrom('pending_reference').select('id').where('source_id', '=', place('source')).limit(1),
);

/** Whether anything waits at all: spares every other write the search. */
export async function hasPending(db: Reader, sourceId: number): Promise<boolean> {
  return (await selectAny(db, { source: sourceId })).length > 0;
}

export async function setManager(
  tx: Tx,
  { userId, managerId, now }: { readonly userId: number; readonly managerId: number; readonly now: string },
): Promise<void> {
  await tx
    .updateTable('user')
    .set((value) => ({ manager_id: managerId, modified: now, version: value('version', '+', 1) }))
    .where('id', '=', userId)
    .where('state', '<>', 'archived')
    .execute();
}

/** Counts a change of the groups' members. */
export async function touchGroups(tx: Tx, groupIds: readonly number[], now: string): Promise<void> {
  if (groupIds.length === 0) return;
  await tx
    .updateTable('group_')
    .set((value) => ({ modified: now, version: value('version', '+', 1) }))
    .where('id', 'in', inNumbers(tx, JSON.stringify(groupIds)))
    .execute();
}

/**
 * The same for groups that users join or leave by an attribute of theirs. On PostgreSQL a group that another transaction
 * is changing is passed over: waiting for it, with a user's row locked, could end in a deadlock, and that transaction
 * gives the group another version anyhow.
 */
export async function touchGroupsInPassing(tx: Tx, groupIds: readonly number[], now: string): Promise<void> {
  if (groupIds.length === 0 || !isPostgres(tx)) return touchGroups(tx, groupIds, now);
  const free = await tx
    .selectFrom('group_')
    .select('id')
    .where('id', 'in', inNumbers(tx, JSON.stringify(groupIds)))
    .orderBy('id')
    .forNoKeyUpdate()
    .skipLocked()
    .execute();
  await touchGroups(
    tx,
    free.map((group) => group.id),
    now,
  );
}
