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
  await locks[table].wait(tx, { ids: JSON.stringify(ids) });
}

/**
 * Rows that another transaction holds, and that `tx` cannot wait for, as it has locked rows that come after them.
 * `Database.write` runs the work again with these locked first; it bears the code of a serialization failure.
 */
export class RowsBusy extends Error {
  readonly code = '40001';

  constructor(
    readonly table: Lockable,
    readonly ids: readonly number[],
  ) {
    super(`Rows of ${table} are being changed by another transaction`);
    this.name = 'RowsBusy';
  }
}

/** Locks rows of which it turns out late that they change too. Throws `RowsBusy` rather than wait out of order. */
export async function lockInPassing(tx: Tx, table: Lockable, ids: readonly number[]): Promise<void> {
  if (!isPostgres(tx) || ids.length === 0) return;
  const parameters = { ids: JSON.stringify(ids) };
  const { skip, look } = locks[table];
  const locked = new Set((await skip(tx, parameters)).map((row) => row.id));
  if (locked.size === ids.length) return;
  const busy = (await look(tx, parameters)).map((row) => row.id).filter((id) => !locked.has(id));
  if (busy.length > 0) throw new RowsBusy(table, busy);
}

/** What a transaction could not lock in passing, for its next attempt to begin with. */
export class LocksFirst {
  readonly #ids = new Map<Lockable, Set<number>>();

  note(error: unknown): void {
    if (!(error instanceof RowsBusy)) return;
    this.#ids.set(error.table, (this.#ids.get(error.table) ?? new Set()).union(new Set(error.ids)));
  }

  async take(tx: Tx): Promise<void> {
    for (const table of lockables) await lockRows(tx, table, [...(this.#ids.get(table) ?? [])]);
  }
}
