import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DomainError } from '../errors.ts';

/** Where things lie in the data folder. */
export interface DataFolder {
  readonly path: string;
  readonly database: string;
  readonly secretKey: string;
  /** The request log, a SQLite file of its own. */
  readonly requests: string;
  readonly drop: string;
  readonly archive: string;
  /** Made by whoever wants files to be taken from it. */
  readonly inbox: string;
  /** Held by the process that serves. */
  readonly serveLock: string;
  /** Held while the database is opened for the first time or its tables are changed. */
  readonly migrationLock: string;
  /** The address under which the service was last started here. */
  readonly servedAddress: string;
}

export function dataFolder(path: string): DataFolder {
  return {
    path,
    database: join(path, 'rollcall.db'),
    secretKey: join(path, 'secret.key'),
    requests: join(path, 'requests.db'),
    drop: join(path, 'drop'),
    archive: join(path, 'archive'),
    inbox: join(path, 'inbox'),
    serveLock: join(path, 'serve.lock'),
    migrationLock: join(path, 'migration.lock'),
    servedAddress: join(path, 'served-address'),
  };
}

/** Makes the folder, for its owner alone, unless it is there. Throws a sentence when it cannot be made. */
export function makeDataFolder(path: string): DataFolder {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    const { code } = error as { code?: string };
    const reason = code === 'EEXIST' || code === 'ENOTDIR' ? 'a file is in its place' : code;
    throw new DomainError('unavailable', `The data folder ${path} cannot be made: ${reason}.`, {
      cause: error,
    });
  }
  return dataFolder(path);
}

/** The folder of a command that only looks: a mistyped path must not leave an empty folder behind. */
export function requireDataFolder(path: string): DataFolder {
  if (existsSync(path)) return dataFolder(path);
  const hint = '"rollcall serve" or "rollcall source create" makes one; --data names another';
  throw new DomainError('notFound', `There is no data folder at ${path}; ${hint}.`);
}

/** SQLite would say only that it cannot open a file. Throws a sentence that names what cannot be written. */
export function requireWritable({ path, database, serveLock, migrationLock }: DataFolder): void {
  requireAccess(path, 'data folder', constants.W_OK | constants.X_OK);
  for (const file of [database, serveLock, migrationLock]) {
    if (existsSync(file)) requireAccess(file, 'file', constants.W_OK);
  }
}

function requireAccess(path: string, what: string, mode: number): void {
  try {
    accessSync(path, mode);
  } catch (cause) {
    const detail = `The ${what} ${path} cannot be written; make it writable for the user that runs rollcall.`;
    throw new DomainError('unavailable', detail, { cause });
  }
}

/** A service with its data in PostgreSQL leaves the folder without a database, and a command may not know of it. */
export function noDatabase({ path }: DataFolder): DomainError {
  const detail = `There is no database in ${path}; if the service uses PostgreSQL, name it with --database.`;
  return new DomainError('notFound', detail);
}
