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
    change: statement<Ids, { id: number }>((db, place) =>
      rowsOf(db, table, place('ids')).forNoKeyUpdate().skipLocked(),
    ),
    keep: statement<Ids, { id: number }>((db, place) =>
      rowsOf(db, table, place('ids')).forShare().skipLocked(),
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
 * and rows in the order of their ids: two transactions that wait for each other cost a second. So it waits for its turn
 * only while nothing is locked that comes later, and is `lockInPassing` otherwise.
 */
export async function lockRows(tx: Tx, table: Lockable, ids: readonly number[]): Promise<void> {
  if (!isPostgres(tx) || ids.length === 0) return;
  const held = locksOf.get(tx);
  if (held?.isAfterAll(table, ids) === false) return lockInPassing(tx, table, ids);
  held?.note(table, ids);
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
export function lockInPassing(tx: Tx, table: Lockable, ids: readonly number[]): Promise<void> {
  return lockOrGiveUp(tx, table, { ids, purpose: 'change' });
}

/**
 * Keeps rows as they are, which `tx` refers to and does not change: others may do the same at the same time. What was
 * read of them before may have changed until then. Gives up rather than wait out of order.
 */
export function keepInPassing(tx: Tx, table: Lockable, ids: readonly number[]): Promise<void> {
  return lockOrGiveUp(tx, table, { ids, purpose: 'keep' });
}

async function lockOrGiveUp(
  tx: Tx,
  table: Lockable,
  { ids, purpose }: { readonly ids: readonly number[]; readonly purpose: 'change' | 'keep' },
): Promise<void> {
  if (!isPostgres(tx) || ids.length === 0) return;
  locksOf.get(tx)?.note(table, ids);
  const parameters = { ids: JSON.stringify(ids) };
  const locked = await locks[table][purpose](tx, parameters);
  // Fewer are locked than were asked for: are the others held, or are there none?
  if (locked.length < ids.length && (await locks[table].look(tx, parameters)).length > locked.length) {
    throw new RowsBusy(table);
  }
}

/**
 * Says that `tx` is about to hold what others ask for last of all, with rows of theirs locked: it must wait for no row
 * any more. `lockRows` then gives up as `lockInPassing` does.
 */
export function waitNoMore(tx: Tx): void {
  locksOf.get(tx)?.end();
}

const locksOf = new WeakMap<Tx, LocksFirst>();

/** Every row that the attempts at a transaction have wanted locked, for the next one to begin with, all in order. */
export class LocksFirst {
  readonly #ids = new Map<Lockable, Set<number>>();
  /** Of the present attempt: the last table in order of which rows are locked, and the highest id there. */
  #last: readonly [table: number, id: number] = [-1, 0];

  note(table: Lockable, ids: readonly number[]): void {
    const noted = this.#ids.get(table) ?? new Set();
    for (const id of ids) noted.add(id);
    this.#ids.set(table, noted);
    const place = lockables.indexOf(table);
    const [lastTable, lastId] = this.#last;
    if (place < lastTable) return;
    this.#last = [place, highest(ids, place === lastTable ? lastId : 0)];
  }

  /** From now on every row comes too late to be waited for. */
  end(): void {
    this.#last = [lockables.length, 0];
  }

  isAfterAll(table: Lockable, ids: readonly number[]): boolean {
    const place = lockables.indexOf(table);
    const [lastTable, lastId] = this.#last;
    return place > lastTable || (place === lastTable && ids.every((id) => id > lastId));
  }

  async take(tx: Tx): Promise<void> {
    this.#last = [-1, 0];
    locksOf.set(tx, this);
    for (const table of lockables) await lockRows(tx, table, [...(this.#ids.get(table) ?? [])]);
  }
}

function highest(ids: readonly number[], start: number): number {
  return ids.reduce((most, id) => Math.max(most, id), start);
}
