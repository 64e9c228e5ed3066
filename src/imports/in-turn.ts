import type { Database } from '../storage/database.ts';

/**
 * The database, written by one run at a time: batches that shared a turn would keep requests waiting for both of them.
 * Whoever asked first goes first, so that no run is kept waiting by another.
 */
export function inTurn(database: Database): Database {
  if (database.dialect !== 'sqlite') return database;
  const { dialect, read, migrator } = database;
  let last: Promise<unknown> = Promise.resolve();
  return {
    dialect,
    read,
    migrator,
    lendTurn: (hold) => database.lendTurn(hold),
    write: (work) => {
      const mine = last.then(() => database.write(work));
      last = mine.catch(() => undefined);
      return mine;
    },
    close: () => database.close(),
  };
}
