import type { Tx } from './database.ts';
import { inNumbers, isPostgres } from './list-parameter.ts';
import { statement } from './statement.ts';

type Lockable = 'user' | 'group_' | 'source';

function lockOf(table: Lockable) {
  return statement<{ ids: string }, { id: number }>((db, place) =>
    db
      .selectFrom(table)
      .select('id')
      .where('id', 'in', inNumbers(db, place('ids')))
      .orderBy('id')
      .forNoKeyUpdate(),
  );
}

const locks = { user: lockOf('user'), group_: lockOf('group_'), source: lockOf('source') } as const;

/**
 * Keeps other transactions from changing these rows until `tx` ends, so that what is read next is what is changed.
 * PostgreSQL runs writers side by side; SQLite has one, and nothing to lock. Groups are locked before users,
 * and rows in the order of their ids: two transactions that wait for each other cost a second.
 */
export async function lockRows(tx: Tx, table: Lockable, ids: readonly number[]): Promise<void> {
  if (!isPostgres(tx) || ids.length === 0) return;
  await locks[table](tx, { ids: JSON.stringify(ids) });
}
