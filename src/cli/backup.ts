import { constants, copyFileSync, existsSync, linkSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Config } from '../config/options.ts';
import { DomainError } from '../errors.ts';
import { migrateToLatest } from '../storage/migrate.ts';
import { openSqlite } from '../storage/sqlite.ts';
import { copyDatabase, foldLog, integrityProblems, syncPath } from '../storage/sqlite-copy.ts';
import { type DataFolder, makeDataFolder, requireDataFolder } from './data-folder.ts';
import { takeServeLock } from './locks.ts';

/** Copies the database of the folder to `target`; other processes may use it meanwhile. Returns the copy's bytes. */
export function backUp(config: Config, target: string): { readonly file: string; readonly bytes: number } {
  requireSqlite(config);
  const folder = requireDataFolder(config.data);
  if (!existsSync(folder.database)) throw nothingThere(folder.database);
  const file = resolve(target);
  try {
    copyDatabase(folder.database, file);
    syncPath(dirname(file), 'folder');
  } catch (error) {
    throw toSentence(error, file);
  }
  return { file, bytes: statSync(file).size };
}

export interface Restored {
  /** Where the database that was there before is now. */
  readonly former: string | undefined;
}

/**
 * Puts a backup in the place of the folder's database, brought to this release. The former database is kept beside it.
 * Throws while something serves the folder; whatever it throws, the former database stays in its place.
 */
export async function restore(config: Config, source: string, now: Date): Promise<Restored> {
  requireSqlite(config);
  const file = resolve(source);
  requireSound(file);
  const folder = makeDataFolder(config.data);
  const lock = await takeServeLock(folder);
  if (lock === undefined) {
    throw new DomainError(
      'unavailable',
      `The data folder ${folder.path} is being served; stop the service first.`,
    );
  }
  try {
    const prepared = await prepare(file, `${folder.database}.restoring`);
    return { former: swap(folder, prepared, now) };
  } finally {
    lock.release();
  }
}

/** A copy in the data folder, with its tables brought to this release: only what works takes the place. */
async function prepare(file: string, place: string): Promise<string> {
  removeDatabase(place);
  copyDatabase(file, place);
  const database = openSqlite({ path: place });
  try {
    await migrateToLatest(database);
  } catch (error) {
    await database.close();
    removeDatabase(place);
    throw error;
  }
  await database.close();
  syncPath(place);
  return place;
}

/** The former database has two names before the new one takes the first of them, in one step. */
function swap(folder: DataFolder, prepared: string, now: Date): string | undefined {
  const former = `${folder.database}.before-${now.toISOString().replaceAll(/[:.]/g, '-')}`;
  const isThere = existsSync(folder.database);
  if (isThere) keep(folder.database, former);
  syncPath(folder.path, 'folder');
  for (const ending of ['-wal', '-shm']) rmSync(folder.database + ending, { force: true });
  renameSync(prepared, folder.database);
  syncPath(folder.path, 'folder');
  return isThere ? former : undefined;
}

function keep(database: string, former: string): void {
  const [log, formerLog] = [`${database}-wal`, `${former}-wal`];
  try {
    // Of a database that is not sound nobody knows what belongs to it, and opening it may remove its log.
    if (existsSync(log)) giveName(log, formerLog);
    if (foldLog(database)) rmSync(formerLog, { force: true });
    giveName(database, former);
  } catch (error) {
    throw toSentence(error, former);
  }
}

/** A second name, or where the file system knows none, a copy. Throws when there is a file of that name. */
function giveName(path: string, name: string): void {
  try {
    linkSync(path, name);
  } catch (error) {
    if ((error as { code?: string }).code === 'EEXIST') throw error;
    copyFileSync(path, name, constants.COPYFILE_EXCL);
    syncPath(name);
  }
}

function removeDatabase(path: string): void {
  for (const ending of ['', '-wal', '-shm']) rmSync(path + ending, { force: true });
}

function requireSqlite({ database }: Config): void {
  if (database === undefined) return;
  const detail = 'The data is in PostgreSQL; use its own tools (pg_dump, pg_restore) to back it up.';
  throw new DomainError('notImplemented', detail);
}

function requireSound(file: string): void {
  if (!existsSync(file)) throw nothingThere(file);
  let problem: string | undefined;
  try {
    [problem] = integrityProblems(file);
  } catch (error) {
    problem = error instanceof Error ? error.message : String(error);
  }
  if (problem === undefined) return;
  throw new DomainError('invalidValue', `The backup ${file} is not sound: ${problem}.`);
}

function nothingThere(path: string): DomainError {
  return new DomainError('notFound', `There is no database at ${path}.`);
}

function toSentence(error: unknown, file: string): unknown {
  const { code } = error as { code?: string };
  if (code === 'EEXIST')
    return new DomainError('invalidValue', `There is a file at ${file} already; name another.`);
  if (code === undefined || !/^E[A-Z]+$/.test(code)) return error;
  return new DomainError('unavailable', `The file ${file} cannot be written: ${code}.`, { cause: error });
}
