import { Database as Sqlite } from 'bun:sqlite';
import { closeSync, fsyncSync, openSync, rmSync } from 'node:fs';
import { DomainError } from '../errors.ts';

const problemsMax = 10;

/** What SQLite finds wrong with the file at `path`, at most ten sentences; none when it is sound. */
export function integrityProblems(path: string): string[] {
  const sqlite = new Sqlite(path, { readonly: true, strict: true });
  try {
    sqlite.run('PRAGMA busy_timeout = 2000');
    const rows = sqlite.query(`PRAGMA quick_check(${problemsMax})`).values() as [string][];
    const found = rows.map(([text]) => text).filter((text) => text !== 'ok');
    const orphans = sqlite.query('PRAGMA foreign_key_check').values().length;
    return orphans === 0 ? found : [...found, `${orphans} rows refer to others that are not there`];
  } finally {
    sqlite.close();
  }
}

/**
 * Writes a consistent copy of the database at `from`, which may be in use, to a new file (0600) and onto the disk, and
 * checks that copy. Throws when there is a file at `to`, or when the copy is not sound; then nothing is left at `to`.
 */
export function copyDatabase(from: string, to: string): void {
  // An empty file, made here so that it belongs to nobody else from the first byte on.
  closeSync(openSync(to, 'wx', 0o600));
  try {
    vacuumInto(from, to);
    syncPath(to);
    const [problem] = integrityProblems(to);
    if (problem !== undefined) throw new DomainError('internal', `The copy is not sound: ${problem}.`);
  } catch (error) {
    rmSync(to, { force: true });
    throw error;
  }
}

/**
 * Brings what the write-ahead log of a database holds into its file, and empties the log. False for a file that is no
 * sound database; throws `unavailable` while somebody reads from it.
 */
export function foldLog(path: string): boolean {
  const sqlite = new Sqlite(path, { readwrite: true, strict: true });
  try {
    sqlite.run('PRAGMA busy_timeout = 2000');
    const [[isBusy]] = sqlite.query('PRAGMA wal_checkpoint(TRUNCATE)').values() as [[number]];
    if (isBusy === 0) return true;
  } catch {
    return false;
  } finally {
    sqlite.close();
  }
  throw new DomainError('unavailable', 'Another program reads the database; end it, and try again.');
}

function vacuumInto(from: string, to: string): void {
  const sqlite = new Sqlite(from, { readonly: true, strict: true });
  try {
    sqlite.run('PRAGMA busy_timeout = 2000');
    sqlite.query('VACUUM INTO ?').run(to);
  } finally {
    sqlite.close();
  }
}

/** Makes the contents of a file, or the names in a folder, last. Windows keeps the names by other means. */
export function syncPath(path: string, kind: 'file' | 'folder' = 'file'): void {
  if (kind === 'folder' && process.platform === 'win32') return;
  const descriptor = openSync(path, kind === 'file' ? 'r+' : 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
