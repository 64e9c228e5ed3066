import { Database as Sqlite } from 'bun:sqlite';

/** Held for as long as the process lives: the kernel lets go of it when the process ends, however it ends. */
export interface InstanceLock {
  release(): void;
}

/**
 * Takes the lock at `path`, or returns undefined when a live process holds it. It is an exclusive transaction on a
 * SQLite file of its own, so there is never a stale lock to delete by hand.
 */
export function takeInstanceLock(path: string): InstanceLock | undefined {
  const sqlite = new Sqlite(path, { create: true });
  try {
    sqlite.run('PRAGMA busy_timeout = 0');
    sqlite.run('BEGIN EXCLUSIVE');
  } catch (error) {
    sqlite.close();
    if ((error as { code?: string }).code?.startsWith('SQLITE_BUSY') === true) return undefined;
    throw error;
  }
  return { release: () => sqlite.close() };
}
