import type { Tx } from './database.ts';
import { waitNoMore } from './row-lock.ts';
import type { ResourceTypeName } from './schema.ts';
import { statement } from './statement.ts';

const advance = statement<{ name: ResourceTypeName; count: number }, { next: number }>((db, place) =>
  db
    .updateTable('sequence')
    .set((value) => ({ next: value('next', '+', place('count')) }))
    .where('name', '=', place('name'))
    .returning('next'),
);

/**
 * Reserves `count` consecutive ids and returns the first. One sequence for each resource type, so that an id is never
 * used again (RFC 7643 §3.1), and an import knows the ids of the people it is about to create.
 */
export async function reserveIds(tx: Tx, name: ResourceTypeName, count: number): Promise<number> {
  waitNoMore(tx);
  const [row] = await advance(tx, { name, count });
  if (row === undefined) throw new Error(`the sequence ${name} is missing`);
  return row.next - count;
}
