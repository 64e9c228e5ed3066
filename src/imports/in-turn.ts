import type { Database, Tx } from '../storage/database.ts';

/**
 * The database, written by one run at a time: batches that shared a turn would keep requests waiting for both of them.
 * Whoever asked first goes first, so that no run is kept waiting by another.
 */
export function inTurn(database: Database): Database {
  if (database.dialect !== 'sqlite') return database;
  const { dialect, read, migrator } = database;
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  const queued =
    (write: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>) =>
    <T>(work: (tx: Tx) => Promise<T>): Promise<T> => {
      waiting += 1;
      const mine = last.then(() => {
        waiting -= 1;
        return write(work);
      });
      last = mine.catch(() => undefined);
      return mine;
    };
  return {
    dialect,
    read,
    migrator,
    isAwaited: () => waiting > 0 || database.isAwaited(),
    lendTurn: (hold) => database.lendTurn(hold),
    write: queued((work) => database.write(work)),
    writeStep: queued((work) => database.writeStep(work)),
    close: () => database.close(),
  };
}
