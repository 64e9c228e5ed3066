import { sql } from 'kysely';
import type { Reader, Tx } from '../storage/database.ts';
import { statement } from '../storage/statement.ts';
import { laterModified } from './touch-store.ts';

const selectAny = statement<{ source: number }, { id: number }>((db, place) =>
  db
    .selectFrom('pending_reference')
    .select('id')
    .where('source_id', '=', place('source'))
    .limit(sql<number>`1`),
);

/** Whether anything waits at all: spares every other write the search. */
export async function hasPending(db: Reader, sourceId: number): Promise<boolean> {
  return (await selectAny(db, { source: sourceId })).length > 0;
}

/** Of a user whose row is locked. */
export async function setManager(
  tx: Tx,
  { userId, managerId, now }: { readonly userId: number; readonly managerId: number; readonly now: string },
): Promise<void> {
  await tx
    .updateTable('user')
    .set((value) => ({
      manager_id: managerId,
      modified: laterModified(now),
      version: value('version', '+', 1),
    }))
    .where('id', '=', userId)
    .where('state', '<>', 'archived')
    .execute();
}
