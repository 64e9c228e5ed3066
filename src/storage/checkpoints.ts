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
 * request on its thread: as long as turns are lent, the borrower does it, between two turns. After a step that was not
 * synced no commit does it: the sync of the log is then the first for its pages, and SQLite tells nobody when the one
 * within a commit fails.
 */
export class Checkpoints {
  readonly #sqlite: Sqlite;
  readonly #isBorrower: boolean;
  readonly #onFatal: (error: unknown) => void;
  #failure: unknown;
  #lentMs = Number.NEGATIVE_INFINITY;
  #isByCommit = true;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isDue = false;
  #isInTransaction = false;
  #isPromised = true;
  #isLong = false;

  constructor(sqlite: Sqlite, { isBorrower, onFatal }: CheckpointsOptions) {
    this.#sqlite = sqlite;
    this.#isBorrower = isBorrower;
    this.#onFatal = onFatal;
  }

  /** Why nothing may be acknowledged any more: nobody knows which commits have reached the disk. */
  get failure(): unknown {
    return this.#failure;
  }

  /** The owner of the write queue lends a turn. */
  lending(): void {
    this.#lentMs = performance.now();
  }

  /** Comes right before a transaction begins, whose commit is synced if it `isPromised`. */
  beforeBegin(isPromised: boolean): void {
    this.#isInTransaction = true;
    this.#isPromised = isPromised;
    const isByCommit = isPromised && !this.#isBorrower && performance.now() - this.#lentMs > lentForMs;
    if (isByCommit === this.#isByCommit) return;
    this.#sqlite.run(`PRAGMA wal_autocheckpoint = ${isByCommit ? pagesOfCommit : 0}`);
    this.#isByCommit = isByCommit;
  }

  /** A transaction has ended; a turn has not been given back yet. */
  ended(): void {
    this.#isInTransaction = false;
    if (this.#isPromised && !this.#isBorrower) return;
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
   * What others write meanwhile, or read from the log, stays in it until the next time. So does everything when the disk is
   * full: nothing is lost by that, and the next commit that needs room says so. Any other failure may be of the sync,
   * which the operating system reports once: the next one would succeed without having written anything.
   */
  #run(): void {
    this.#isDue = false;
    if (this.#failure !== undefined) return;
    try {
      const found = this.#sqlite.query('PRAGMA wal_checkpoint(PASSIVE)').get() as CheckpointRow | null;
      const { log = 0, checkpointed = 0 } = found ?? {};
      this.#isLong = log > pagesMax && checkpointed < log;
    } catch (error) {
      this.#isLong = false;
      if (!isForLater(error)) this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    this.#failure = error;
    this.#onFatal(error);
  }
}

function isForLater(error: unknown): boolean {
  const code = (error as { code?: string } | null)?.code ?? '';
  return /^SQLITE_(BUSY|LOCKED|FULL)/.test(code);
}

interface CheckpointsOptions {
  readonly isBorrower: boolean;
  /** Called once after a failure that leaves the state of the disk unknown. */
  readonly onFatal: (error: unknown) => void;
}

interface CheckpointRow {
  readonly log: number;
  readonly checkpointed: number;
}
