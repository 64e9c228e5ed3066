import type { Kysely } from 'kysely';
import type { Tx } from './database.ts';
import { inNumbers, isPostgres } from './list-parameter.ts';
import type { Tables } from './schema.ts';
import { statement } from './statement.ts';

const lockables = ['source', 'group_', 'user'] as const;
type Lockable = (typeof lockables)[number];

type Ids = { ids: string };

function rowsOf(db: Kysely<Tables>, table: Lockable, ids: unknown) {
  return db.selectFrom(table).select('id').where('id', 'in', inNumbers(db, ids)).orderBy('id');
}

function statementsOf(table: Lockable) {
  return {
    wait: statement<Ids, { id: number }>((db, place) => rowsOf(db, table, place('ids')).forNoKeyUpdate()),
    skip: statement<Ids, { id: number }>((db, place) =>
      rowsOf(db, table, place('ids')).forNoKeyUpdate().skipLocked(),
    ),
    look: statement<Ids, { id: number }>((db, place) => rowsOf(db, table, place('ids'))),
  } as const;
}

const locks = {
  source: statementsOf('source'),
  group_: statementsOf('group_'),
  user: statementsOf('user'),
} as const;

/**
 * Keeps other transactions from changing these rows until `tx` ends, so that what is read next is what is changed.
 * PostgreSQL runs writers side by side; SQLite has one, and nothing to lock. Groups are locked before users,
 * and rows in the order of their ids: two transactions that wait for each other cost a second.
 */
export async function lockRows(tx: Tx, table: Lockable, ids: readonly number[]): Promise<void> {
  if (!isPostgres(tx) || ids.length === 0) return;
  locksOf.get(tx)?.note(table, ids);
  await locks[table].wait(tx, { ids: JSON.stringify(ids) });
}

/**
 * Another transaction holds rows that `tx` cannot wait for, as it has locked rows that come after them. `Database.write`
 * runs the work again, as after a serialization failure, whose code this bears, and locks them in order first.
 */
class RowsBusy extends Error {
  readonly code = '40001';

  constructor(table: Lockable) {
    super(`Rows of ${table} are being changed by another transaction`);
    this.name = 'RowsBusy';
  }
}

/** Locks rows of which it turns out late that they change too. Gives up rather than wait out of order. */
export async function lockInPassing(tx: Tx, table: Lockable, ids: readonly number[]): Promise<void> {
  if (!isPostgres(tx) || ids.length === 0) return;
  locksOf.get(tx)?.note(table, ids);
  const parameters = { ids: JSON.stringify(ids) };
  const { skip, look } = locks[table];
  const locked = await skip(tx, parameters);
  // Fewer are locked than were asked for: are the others held, or are there none?
  if (locked.length < ids.length && (await look(tx, parameters)).length > locked.length) {
    throw new RowsBusy(table);
  }
}

const locksOf = new WeakMap<Tx, LocksFirst>();

/** Every row that the attempts at a transaction have wanted locked, for the next one to begin with, all in order. */
export class LocksFirst {
  readonly #ids = new Map<Lockable, Set<number>>();

  note(table: Lockable, ids: readonly number[]): void {
    const noted = this.#ids.get(table) ?? new Set();
    for (const id of ids) noted.add(id);
    this.#ids.set(table, noted);
  }

  async take(tx: Tx): Promise<void> {
    for (const table of lockables) await lockRows(tx, table, [...(this.#ids.get(table) ?? [])]);
    locksOf.set(tx, this);
  }
}
