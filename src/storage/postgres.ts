import { Kysely, PostgresDialect } from 'kysely';
import { Pool, types } from 'pg';
import { toStorageError } from './constraints.ts';
import { asTx, type Database, type Tx } from './database.ts';
import { LocksFirst } from './row-lock.ts';
import type { Tables } from './schema.ts';

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`. */
  readonly url: string;
  /** Where a lost connection, idle or in use, is noted; without a listener it would end the process. */
  readonly onConnectionError?: (error: Error) => void;
}

const connectionsMax = 16;
const attemptsMax = 8;
const statementTimeoutMs = 30_000;

export function openPostgres(options: PostgresOptions): Database {
  const pool = new Pool({
    connectionString: options.url,
    max: connectionsMax,
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: statementTimeoutMs,
    types: {
      getTypeParser: (oid, format) =>
        oid === types.builtins.INT8 ? Number : types.getTypeParser(oid, format),
    },
  });
  const note = options.onConnectionError ?? (() => undefined);
  pool.on('error', note);
  // The pool listens to idle connections only; the query on one in use fails by itself.
  pool.on('connect', (client) => client.on('error', note));
  return new PostgresDatabase(new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) }));
}

class PostgresDatabase implements Database {
  readonly dialect = 'postgres';
  readonly read: Kysely<Tables>;
  readonly migrator: Kysely<unknown>;

  constructor(db: Kysely<Tables>) {
    this.read = db;
    this.migrator = db as unknown as Kysely<unknown>;
  }

  async write<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const locks = new LocksFirst();
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.read.transaction().execute(async (transaction) => {
          const tx = asTx(transaction);
          await locks.take(tx);
          return work(tx);
        });
      } catch (error) {
        if (attempt >= attemptsMax || !wasNotCommitted(error)) throw toStorageError(error);
      }
    }
  }

  /** Durable at once: here the sync is not what takes the time. */
  writeStep<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.write(work);
  }

  isAwaited(): boolean {
    return true;
  }

  lendTurn(hold: (wanted: Promise<void>) => Promise<void>): Promise<void> {
    return hold(new Promise(() => undefined));
  }

  async close(): Promise<void> {
    await this.read.destroy();
  }
}

/** Serialization failure and deadlock: PostgreSQL has undone the transaction and asks for it to be run again. */
function wasNotCommitted(error: unknown): boolean {
  const code = (error as { code?: string } | null)?.code;
  return code === '40001' || code === '40P01';
}
