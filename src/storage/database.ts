// The database behind every store: one way to read, one way to write, whichever engine holds the data.
// It never knows what a table means; stores hold the SQL, domain methods open the transaction.
// How a write becomes durable is told in docs/adr/0003-write-path.md.

import type { Kysely } from 'kysely';
import type { Tables } from './schema.ts';

export type Dialect = 'sqlite' | 'postgres';

/** A connection for queries. It sees what has been committed, and refuses to write. */
export type Reader = Kysely<Tables>;

declare const inTransaction: unique symbol;

/** A connection inside an open transaction. Only `Database.write` makes one. */
export type Tx = Kysely<Tables> & { readonly [inTransaction]: true };

export interface Database {
  readonly dialect: Dialect;
  readonly read: Reader;
  /** For `migrate.ts` alone: a connection that may change tables, before anything else is running. */
  readonly migrator: Kysely<unknown>;

  /**
   * Runs `work` in a transaction and resolves once that is durable. `work` may wait for queries on its
   * `tx` and for nothing else: on SQLite other writers stand behind it.
   */
  write<T>(work: (tx: Tx) => Promise<T>): Promise<T>;

  /**
   * The same for a step of long work that nobody has been promised: it is atomic, but a loss of power may undo it, with
   * everything after it and nothing before it. It is durable with the next `write` of anybody,
   * also of one that changes nothing.
   */
  writeStep<T>(work: (tx: Tx) => Promise<T>): Promise<T>;

  /**
   * Whether somebody else waits for the right to write: a transaction that could go on should end. Known between two
   * turns of the event loop. Always true on PostgreSQL, where nobody knows who waits for a row.
   */
  isAwaited(): boolean;

  /**
   * Lends the right to write to another process until the promise of `hold` settles; `wanted` resolves once somebody
   * waits for it. No-op on PostgreSQL.
   */
  lendTurn(hold: (wanted: Promise<void>) => Promise<void>): Promise<void>;

  /** Waits for the writes under way, then lets go of the files and connections. */
  close(): Promise<void>;
}

/** The right to write, lent by whoever owns the write queue. */
export interface LentTurn {
  /** Whether somebody waits for it to be given back. */
  readonly isWanted: boolean;
  giveBack(): void;
}

/** Asks for the right to write. */
export type TakeTurn = () => Promise<LentTurn>;

/** Opens the transaction type: engines call it with the connection on which they have begun one. */
export function asTx(connection: Kysely<Tables>): Tx {
  return connection as Tx;
}
