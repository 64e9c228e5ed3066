import type { Database } from './database.ts';

const keptMs = 5_000;

/** Whether the database takes writes: tried for real, but not more often than every few seconds. */
export class Heartbeat {
  readonly #database: Database;
  #triedMs = Number.NEGATIVE_INFINITY;
  #outcome: Promise<boolean> = Promise.resolve(false);

  constructor(database: Database) {
    this.#database = database;
  }

  isWritable(): Promise<boolean> {
    if (performance.now() - this.#triedMs > keptMs) {
      this.#triedMs = performance.now();
      this.#outcome = this.#try();
    }
    return this.#outcome;
  }

  async #try(): Promise<boolean> {
    try {
      // Writes a row as it stands: a commit and a sync like any other, and nothing has changed.
      await this.#database.write((tx) =>
        tx
          .updateTable('sequence')
          .set((value) => ({ next: value.ref('next') }))
          .where('name', '=', 'User')
          .execute(),
      );
      return true;
    } catch {
      return false;
    }
  }
}
