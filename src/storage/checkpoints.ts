import type { Database as Sqlite } from 'bun:sqlite';

/** Of the log, in pages: SQLite's own measure of when a commit brings it into the database. */
const pagesOfCommit = 1_000;
/** After this, whoever borrowed turns has had the time to bring in what it wrote. */
const lentForMs = 2_000;
const pauseMs = 1_000;
/** Pages: the log then ends where nobody else writes, so that it can begin anew. */
const pagesMax = 16_384;

/**
 * When the write-ahead log is brought into the database. The commit that does it waits for a sync more, and so would every
 * request on its thread: as long as turns are lent, the borrower does it, between two turns.
 */
export class Checkpoints {
  readonly #sqlite: Sqlite;
  readonly #isBorrower: boolean;
  #lentMs = Number.NEGATIVE_INFINITY;
  #isByCommit = true;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isDue = false;
  #isInTransaction = false;
  #isLong = false;

  constructor(sqlite: Sqlite, isBorrower: boolean) {
    this.#sqlite = sqlite;
    this.#isBorrower = isBorrower;
  }

  /** The owner of the write queue lends a turn. */
  lending(): void {
    this.#lentMs = performance.now();
  }

  /** Comes right before a transaction begins. */
  beforeBegin(): void {
    this.#isInTransaction = true;
    const isByCommit = !this.#isBorrower && performance.now() - this.#lentMs > lentForMs;
    if (isByCommit === this.#isByCommit) return;
    this.#sqlite.run(`PRAGMA wal_autocheckpoint = ${isByCommit ? pagesOfCommit : 0}`);
    this.#isByCommit = isByCommit;
  }

  /** A transaction has ended; a turn has not been given back yet. */
  ended(): void {
    this.#isInTransaction = false;
    if (!this.#isBorrower) return;
    if (this.#isLong) this.#run();
    this.#timer ??= setTimeout(() => this.#onTime(), pauseMs);
  }

  /** Nobody waits for this process now. */
  idle(): void {
    if (this.#isDue) this.#run();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #onTime(): void {
    this.#timer = undefined;
    if (this.#isInTransaction) this.#isDue = true;
    else this.#run();
  }

  /**
   * What others write meanwhile, or read from the log, stays in it until the next time. So does everything when the disk
   * is full or fails: nothing is lost by that, and the next commit that needs the disk says so.
   */
  #run(): void {
    this.#isDue = false;
    try {
      const found = this.#sqlite.query('PRAGMA wal_checkpoint(PASSIVE)').get() as CheckpointRow | null;
      const { log = 0, checkpointed = 0 } = found ?? {};
      this.#isLong = log > pagesMax && checkpointed < log;
    } catch {
      this.#isLong = false;
    }
  }
}

interface CheckpointRow {
  readonly log: number;
  readonly checkpointed: number;
}
