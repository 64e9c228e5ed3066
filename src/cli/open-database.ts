import { existsSync } from 'node:fs';
import type { Config } from '../config/options.ts';
import { DomainError } from '../errors.ts';
import type { Database, TakeTurn } from '../storage/database.ts';
import { isUpToDate, migrateToLatest } from '../storage/migrate.ts';
import { type DataFolder, noDatabase } from './data-folder.ts';
import { alone, isServed } from './locks.ts';

export interface OpenOptions {
  /** How the right to write is had when the server owns the queue. */
  readonly takeTurn?: TakeTurn;
  /** Called for each connection to a database server that was lost, idle or in use. */
  readonly onConnectionError?: (error: Error) => void;
  /** Called once after a failure that leaves the state of the disk unknown. */
  readonly onFatal?: (error: unknown) => void;
  /** True for a command: it leaves the tables as they are while a server works on them. */
  readonly isBesideServer?: boolean;
  /** Called with the names of the migrations that were needed. */
  readonly onMigrated?: (names: readonly string[]) => void;
}

/** How long a server may take to make its tables, once it has the folder. */
const serverStartMsMax = 10_000;
const pollMs = 50;

/** Opens the database of the configuration with its tables as this release wants them. */
export async function openDatabase(
  config: Config,
  folder: DataFolder,
  options: OpenOptions = {},
): Promise<Database> {
  if (config.database !== undefined) return openServer(config.database, options);
  const deadline = performance.now() + serverStartMsMax;
  for (;;) {
    const database = await openFile(folder, options);
    if (database !== undefined) return database;
    if (isElsewhere(folder)) throw noDatabase(folder);
    if (performance.now() > deadline) throw existsSync(folder.database) ? olderServer() : noDatabase(folder);
    await Bun.sleep(pollMs);
  }
}

/**
 * Several commands may begin on an empty folder at once: one makes the tables while the others wait. Undefined when the
 * tables are not those of this release and are a server's to change: one that is starting is about to do so.
 */
async function openFile(folder: DataFolder, options: OpenOptions): Promise<Database | undefined> {
  const { isBesideServer = false, onMigrated = () => undefined, takeTurn, onFatal } = options;
  const sqliteOptions = { ...(takeTurn && { takeTurn }), ...(onFatal && { onFatal }) };
  const { openSqlite } = await import('../storage/sqlite.ts');
  const open = () =>
    alone(folder.migrationLock, async () => {
      if (isBesideServer && !existsSync(folder.database) && isServed(folder)) return undefined;
      const database = openSqlite({ path: folder.database, ...sqliteOptions });
      const mayChange = () => !isBesideServer || !isServed(folder);
      return upToDate(database, { mayChange, onMigrated });
    });
  return inWords(folder.database, open);
}

/** Whether the folder is served without a database in it, by a service that is past its start: it has announced itself. */
function isElsewhere({ database, servedAddress }: DataFolder): boolean {
  return !existsSync(database) && existsSync(servedAddress);
}

interface Change {
  readonly mayChange: () => boolean;
  readonly onMigrated: (names: readonly string[]) => void;
}

/** The database with its tables up to date; closed, and undefined, when they may not be changed. */
async function upToDate(
  database: Database,
  { mayChange, onMigrated }: Change,
): Promise<Database | undefined> {
  try {
    if (await isUpToDate(database)) return database;
    if (mayChange()) {
      onMigrated(await migrateToLatest(database));
      return database;
    }
  } catch (error) {
    await database.close().catch(() => undefined);
    throw error;
  }
  await database.close();
  return undefined;
}

/** Tables must not change under a service that knows only the former ones. */
function olderServer(): DomainError {
  const detail = 'The database needs an upgrade and an older rollcall is serving it; stop that one first.';
  return new DomainError('unavailable', detail);
}

/** An error of SQLite says what happened, and this adds to which file. */
async function inWords<T>(path: string, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    const { code, message } = error as { code?: string; message?: string };
    if (code?.startsWith('SQLITE_') !== true) throw error;
    throw new DomainError('unavailable', `${path} cannot be opened: ${message}.`, { cause: error });
  }
}

async function openServer(url: string, options: OpenOptions): Promise<Database> {
  const { onMigrated = () => undefined, onConnectionError } = options;
  const { openPostgres } = await import('../storage/postgres.ts');
  const database = openPostgres({ url, ...(onConnectionError && { onConnectionError }) });
  try {
    return (await upToDate(database, { mayChange: () => true, onMigrated })) ?? database;
  } catch (error) {
    throw cannotReach(url, error);
  }
}

/** Names the server and says what it answered; never the address as a whole, which holds the password. */
function cannotReach(url: string, error: unknown): unknown {
  const { code, message } = rootOf(error) as { code?: string; message?: string };
  const isConnection = /^(E[A-Z]+|08.{3}|28.{3}|3D000|57P03)$/.test(code ?? '');
  if (!isConnection) return error;
  const host = URL.parse(url)?.host ?? '';
  return new DomainError('unavailable', `The database at ${host} cannot be used: ${message || code}.`, {
    cause: error,
  });
}

/** A failure while tables are looked at comes wrapped. */
function rootOf(error: unknown): unknown {
  return error instanceof Error && error.cause instanceof Error ? rootOf(error.cause) : error;
}
