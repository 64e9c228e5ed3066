import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DomainError } from '../errors.ts';

/** Where things lie in the data folder. */
export interface DataFolder {
  readonly path: string;
  readonly database: string;
  readonly secretKey: string;
  readonly drop: string;
  readonly archive: string;
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
    drop: join(path, 'drop'),
    archive: join(path, 'archive'),
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
