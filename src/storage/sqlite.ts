import { type SQLQueryBindings, Database as Sqlite, type Statement } from 'bun:sqlite';
import { closeSync, openSync } from 'node:fs';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import { DomainError } from '../errors.ts';
import { Checkpoints } from './checkpoints.ts';
import { toStorageError } from './constraints.ts';
import { asTx, type Database, type LentTurn, type TakeTurn, type Tx } from './database.ts';
import type { Tables } from './schema.ts';
import type { DirectAdapter } from './statement.ts';
import { type TransactionControl, WriteQueue } from './write-queue.ts';

export interface SqliteOptions {
  readonly path: string;
  /** How the right to write is had when another process owns the queue; absent where this process owns it. */
  readonly takeTurn?: TakeTurn;
  /** Called once after a failure that leaves the state of the disk unknown. */
  readonly onFatal?: (error: unknown) => void;
  /** How long a write waits while another process keeps the database locked, milliseconds. */
  readonly lockWaitMsMax?: number;
}

type Pragma = readonly [name: string, value: string | number, readBack?: number];

/** Set explicitly and read back: a build of SQLite with other defaults must not change what a 2xx promises. */
const commonPragmas: readonly Pragma[] = [
  ['trusted_schema', 0],
  ['cell_size_check', 1],
  ['mmap_size', 0],
  // KiB, negative: enough for the upper levels of every index of a large directory, and for a thousand members at once.
  ['cache_size', -16 * 1024],
];
const writerPragmas: readonly Pragma[] = [
  // While it opens; a transaction then waits for its turn without SQLite's help.
  ['busy_timeout', 2_000],
  ['journal_mode', 'wal'],
  ['synchronous', 'full', 2],
  ['foreign_keys', 1],
  ['secure_delete', 'fast', 2],
  ['journal_size_limit', 64 * 1024 * 1024],
  // Each job runs in a savepoint, whose old pages would otherwise go to a temporary file, two system calls a page.
  ['temp_store', 'memory', 2],
];
const readerPragmas: readonly Pragma[] = [
  ['busy_timeout', 2_000],
  ['query_only', 1],
];

const statementsMax = 512;
const defaultLockWaitMsMax = 10_000;

export function openSqlite(options: SqliteOptions): Database {
  createPrivately(options.path);
  const writer = openConnection(options.path, writerPragmas);
  const reader = openConnection(options.path, readerPragmas);
  return new SqliteDatabase(writer, reader, options);
}

/** Personal data is for the owner of the file alone, whatever the folder allows. SQLite's own files take after this one. */
function createPrivately(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch {
    // It is there already, as its owner wants it, or SQLite will say what is wrong with the path.
  }
}

class SqliteDatabase implements Database {
  readonly dialect = 'sqlite';
  readonly read: Kysely<Tables>;
  readonly migrator: Kysely<unknown>;
  readonly #writer: Kysely<Tables>;
  readonly #control: SqliteTransactions;
  readonly #queue: WriteQueue;
  readonly #connections: readonly Sqlite[];

  constructor(writer: Sqlite, reader: Sqlite, options: SqliteOptions) {
    this.read = new Kysely<Tables>({ dialect: dialectOn(reader) });
    this.#writer = new Kysely<Tables>({ dialect: dialectOn(writer) });
    this.migrator = this.#writer as unknown as Kysely<unknown>;
    this.#connections = [reader, writer];
    this.#control = new SqliteTransactions(writer, options);
    this.#queue = new WriteQueue(this.#control, options.onFatal ?? (() => undefined));
  }

  write<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#write(work, true);
  }

  writeStep<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#write(work, false);
  }

  async #write<T>(work: (tx: Tx) => Promise<T>, isPromised: boolean): Promise<T> {
    try {
      return await this.#queue.run(() => work(asTx(this.#writer)), isPromised);
    } catch (error) {
      throw toStorageError(error);
    }
  }

  isAwaited(): boolean {
    return this.#queue.isAwaited || this.#control.isTurnWanted;
  }

  lendTurn(hold: (wanted: Promise<void>) => Promise<void>): Promise<void> {
    return this.#queue.lend((wanted) => {
      this.#control.lending();
      return hold(wanted);
    });
  }

  async close(): Promise<void> {
    await this.#queue.close();
    this.#control.checkpoints.stop();
    await this.read.destroy();
    await this.#writer.destroy();
    // Kysely lets go of a connection only if it has ever used it.
    for (const connection of this.#connections) connection.close();
  }
}

class SqliteTransactions implements TransactionControl {
  readonly #sqlite: Sqlite;
  readonly checkpoints: Checkpoints;
  readonly #takeTurn: TakeTurn | undefined;
  readonly #lockWaitMsMax: number;
  #hasBegun = false;
  #isSynced = true;
  /** Whether a step may stand in the log that no sync has followed; a process that was killed may have left one, too. */
  #mayOweSync = true;
  #turn: LentTurn | undefined;

  constructor(sqlite: Sqlite, options: SqliteOptions) {
    const { takeTurn, onFatal = () => undefined, lockWaitMsMax = defaultLockWaitMsMax } = options;
    this.#sqlite = sqlite;
    this.#takeTurn = takeTurn;
    this.checkpoints = new Checkpoints(sqlite, { isBorrower: takeTurn !== undefined, onFatal });
    this.#lockWaitMsMax = lockWaitMsMax;
  }

  /** Of a turn that another process has lent. */
  get isTurnWanted(): boolean {
    return this.#turn?.isWanted === true;
  }

  async begin(isPromised: boolean): Promise<void> {
    if (this.checkpoints.failure !== undefined) throw this.checkpoints.failure;
    this.#turn = await this.#takeTurn?.();
    // The owner, or whoever had the turn before, may have left a step.
    if (this.#turn !== undefined) this.#mayOweSync = true;
    this.#sleepNever();
    this.#syncAtCommit(isPromised);
    this.checkpoints.beforeBegin(isPromised);
    await beginImmediate(this.#sqlite, this.#lockWaitMsMax);
  }

  /** SQLite's own busy handler would sleep on this thread and stop every other request. */
  #sleepNever(): void {
    if (!this.#hasBegun) setPragma(this.#sqlite, ['busy_timeout', 0]);
    this.#hasBegun = true;
  }

  /** The log is one: the next commit that is synced carries all of those before it onto the disk. */
  #syncAtCommit(isPromised: boolean): void {
    if (isPromised === this.#isSynced) return;
    setPragma(this.#sqlite, isPromised ? ['synchronous', 'full', 2] : ['synchronous', 'normal', 1]);
    this.#isSynced = isPromised;
  }

  /** The other process may leave steps that nobody has synced. */
  lending(): void {
    this.#mayOweSync = true;
    this.checkpoints.lending();
  }

  commit(): void {
    if (this.#isSynced && this.#mayOweSync) this.#touch();
    this.#sqlite.run('COMMIT');
    this.#mayOweSync = !this.#isSynced;
    this.#end();
  }

  /**
   * SQLite syncs nothing for a commit that has changed no page. What it found may be a step's, which has to be durable before
   * anybody is told of it: the same number written again is a change of the first page.
   */
  #touch(): void {
    const { user_version } = this.#sqlite.query('PRAGMA user_version').get() as { user_version: number };
    this.#sqlite.run(`PRAGMA user_version = ${user_version}`);
  }

  rollback(): void {
    try {
      if (this.#sqlite.inTransaction) this.#sqlite.run('ROLLBACK');
    } finally {
      this.#end();
    }
  }

  savepoint(): void {
    this.#sqlite.run('SAVEPOINT job');
  }

  releaseSavepoint(): void {
    this.#sqlite.run('RELEASE job');
  }

  rollbackSavepoint(): void {
    this.#sqlite.run('ROLLBACK TO job');
    this.#sqlite.run('RELEASE job');
  }

  #end(): void {
    this.checkpoints.ended();
    this.#turn?.giveBack();
    this.#turn = undefined;
    this.checkpoints.idle();
  }
}

/** Opens a transaction as the one writer; while another process is that, waits without stopping the event loop. */
async function beginImmediate(sqlite: Sqlite, waitMsMax: number): Promise<void> {
  const deadline = performance.now() + waitMsMax;
  for (let waitMs = 1; ; waitMs = Math.min(waitMs * 2, 20)) {
    try {
      sqlite.run('BEGIN IMMEDIATE');
      return;
    } catch (error) {
      if (!isBusy(error)) throw error;
      if (performance.now() > deadline) throw lockTimeout(error);
      await Bun.sleep(waitMs);
    }
  }
}

function lockTimeout(cause: unknown): DomainError {
  const detail = 'Another process has kept the database locked; send the request again.';
  return new DomainError('unavailable', detail, { cause, retryAfterSeconds: 2 });
}

function isBusy(error: unknown): boolean {
  return (error as { code?: string } | null)?.code?.startsWith('SQLITE_BUSY') === true;
}

function openConnection(path: string, pragmas: readonly Pragma[]): Sqlite {
  const sqlite = new Sqlite(path, { create: true, strict: true });
  // busy_timeout stands first: some of the others read the file, which another process may be preparing.
  for (const pragma of [...pragmas, ...commonPragmas]) setPragma(sqlite, pragma);
  return sqlite;
}

function setPragma(sqlite: Sqlite, [name, value, readBack]: Pragma): void {
  sqlite.run(`PRAGMA ${name} = ${value}`);
  const row = sqlite.query(`PRAGMA ${name}`).get() as Record<string, unknown> | null;
  const found = Object.values(row ?? {})[0];
  if (found !== (readBack ?? value)) throw new Error(`SQLite kept ${name} at ${found} instead of ${value}`);
}

/** SQLite runs DDL in transactions; Kysely's own adapter says otherwise because other drivers pool connections. */
class TransactionalSqliteAdapter extends SqliteAdapter implements DirectAdapter {
  readonly run: DirectAdapter['run'];
  readonly isInTransaction: DirectAdapter['isInTransaction'];

  constructor(sqlite: Sqlite, connection: CachingConnection) {
    super();
    this.run = (text, parameters) => connection.run(text, parameters);
    this.isInTransaction = () => sqlite.inTransaction;
  }

  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

function dialectOn(sqlite: Sqlite) {
  const connection = new CachingConnection(sqlite);
  return {
    createAdapter: () => new TransactionalSqliteAdapter(sqlite, connection),
    createDriver: () => new SqliteDriver(sqlite, connection),
    createIntrospector: (db: Kysely<unknown>) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

/** Kysely's driver over one connection that is already open, with each statement prepared once. */
class SqliteDriver implements Driver {
  readonly #connection: CachingConnection;

  constructor(
    readonly sqlite: Sqlite,
    connection: CachingConnection,
  ) {
    this.#connection = connection;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection;
  }

  /** For migrations; every other write goes through the queue. */
  async beginTransaction(): Promise<void> {
    this.sqlite.run('PRAGMA busy_timeout = 0');
    await beginImmediate(this.sqlite, defaultLockWaitMsMax);
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('COMMIT'));
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('ROLLBACK'));
  }

  async releaseConnection(): Promise<void> {}

  async destroy(): Promise<void> {
    this.#connection.finalize();
    this.sqlite.close();
  }
}

interface Prepared {
  readonly statement: Statement;
  readonly hasRows: boolean;
}

function preparedOn(sqlite: Sqlite, text: string): Prepared {
  const statement = sqlite.prepare(text);
  return { statement, hasRows: statement.columnNames.length > 0 };
}

class CachingConnection implements DatabaseConnection {
  readonly #sqlite: Sqlite;
  readonly #statements = new Map<string, Prepared>();

  constructor(sqlite: Sqlite) {
    this.#sqlite = sqlite;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { statement, hasRows } = this.#prepare(query.sql);
    const parameters = query.parameters as SQLQueryBindings[];
    if (hasRows) return { rows: statement.all(...parameters) as R[] };
    const { changes, lastInsertRowid } = statement.run(...parameters);
    return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
  }

  run<R>(text: string, parameters: readonly unknown[]): readonly R[] {
    const { statement, hasRows } = this.#prepare(text);
    if (hasRows) return statement.all(...(parameters as SQLQueryBindings[])) as R[];
    statement.run(...(parameters as SQLQueryBindings[]));
    return [];
  }

  async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    for (const row of this.#sqlite.prepare(query.sql).iterate(...(query.parameters as SQLQueryBindings[]))) {
      yield { rows: [row as R] };
    }
  }

  finalize(): void {
    for (const { statement } of this.#statements.values()) statement.finalize();
    this.#statements.clear();
  }

  #prepare(text: string): Prepared {
    const known = this.#statements.get(text);
    // Which is unused for longest counts only when one has to go.
    if (known !== undefined && this.#statements.size < statementsMax) return known;
    const prepared = known ?? preparedOn(this.#sqlite, text);
    // Re-inserted at the end: the first key of the map then becomes the one unused for longest.
    this.#statements.delete(text);
    this.#statements.set(text, prepared);
    if (this.#statements.size > statementsMax) this.#evictOldest();
    return prepared;
  }

  #evictOldest(): void {
    for (const [text, { statement }] of this.#statements) {
      statement.finalize();
      this.#statements.delete(text);
      return;
    }
  }
}
