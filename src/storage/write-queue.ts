import { DomainError } from '../errors.ts';

/** What the queue needs of an engine: transaction control on the one writer connection. */
export interface TransactionControl {
  /**
   * Resolves once the transaction is open; rejects when another process keeps the lock for too long. `isPromised`: what
   * is committed has to be durable.
   */
  begin(isPromised: boolean): Promise<void>;
  commit(): void;
  rollback(): void;
  savepoint(): void;
  releaseSavepoint(): void;
  rollbackSavepoint(): void;
}

interface Job {
  readonly work: () => Promise<unknown>;
  readonly isPromised: boolean;
  /** When it came, in milliseconds of a clock that only goes forward. */
  readonly sinceMs: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface Turn {
  readonly hold: (wanted: Promise<void>) => Promise<void>;
  readonly resolve: () => void;
}

const queueItemsMax = 4_096;
/** Jobs that share one commit. More would only make the first of them wait longer. */
const groupJobsMax = 128;

/** How long a job waits while another process has the turn. */
const defaultJobWaitMsMax = 5_000;
const overdueCheckMs = 100;

/**
 * One line of writers in front of one connection. Jobs that wait at the same moment share a transaction (a savepoint
 * each) and so one sync; each is settled after the commit. A turn lent to another process stands in the same line.
 */
export class WriteQueue {
  readonly #control: TransactionControl;
  readonly #onFatal: (error: unknown) => void;
  readonly #jobWaitMsMax: number;
  #waiting: (Job | Turn)[] = [];
  #draining: Promise<void> | undefined;
  #lastGroupJobs = 0;
  /** Tells the holder of a turn that somebody waits for it to be over. */
  #tellWanted: (() => void) | undefined;
  #closed = false;

  constructor(
    control: TransactionControl,
    onFatal: (error: unknown) => void,
    jobWaitMsMax = defaultJobWaitMsMax,
  ) {
    this.#control = control;
    this.#onFatal = onFatal;
    this.#jobWaitMsMax = jobWaitMsMax;
  }

  /** `isPromised` false: the job need not be durable when it is settled. */
  run<T>(work: () => Promise<T>, isPromised = true): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#push({
        work,
        isPromised,
        sinceMs: performance.now(),
        resolve: resolve as (value: unknown) => void,
        reject,
      });
    });
  }

  /** Whether anything stands in the line behind what is being done. */
  get isAwaited(): boolean {
    return this.#waiting.length > 0;
  }

  /** `wanted` resolves once somebody waits for the turn to be over. */
  lend(hold: (wanted: Promise<void>) => Promise<void>): Promise<void> {
    return new Promise<void>((resolve) => this.#push({ hold, resolve }));
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#draining;
  }

  #push(item: Job | Turn): void {
    if (this.#closed)
      throw new DomainError('unavailable', 'The service is stopping; send the request again.');
    // Turns are not counted: whoever borrows asks once and waits, and there are never more of them than processes.
    if ('work' in item && this.#waiting.length >= queueItemsMax) {
      throw new DomainError('unavailable', 'Too many changes are waiting; send the request again later.', {
        retryAfterSeconds: 2,
      });
    }
    this.#waiting.push(item);
    this.#tellWanted?.();
    this.#draining ??= this.#drain();
  }

  async #drain(): Promise<void> {
    // Requests that arrived together are then all in the line.
    await nextLoopTurn();
    while (this.#waiting.length > 0) {
      const head = this.#waiting[0];
      if (head !== undefined && 'hold' in head) {
        this.#waiting.shift();
        await this.#holdTurn(head);
      } else {
        await this.#letOthersCome();
        await this.#commitGroup(this.#takeGroup());
      }
    }
    this.#draining = undefined;
  }

  /**
   * Clients that were answered by one commit send again at the same time, and are read in one turn of the event loop or
   * in two: without this, one of them would often get a commit of its own, and all the others wait behind it.
   */
  async #letOthersCome(): Promise<void> {
    if (this.#waiting.length < this.#lastGroupJobs) await nextLoopTurn();
  }

  async #holdTurn(turn: Turn): Promise<void> {
    const timer = setInterval(() => this.#dismissOverdue(), overdueCheckMs);
    const wanted = Promise.withResolvers<void>();
    this.#tellWanted = wanted.resolve;
    if (this.isAwaited) wanted.resolve();
    await turn.hold(wanted.promise).catch(() => undefined);
    this.#tellWanted = undefined;
    clearInterval(timer);
    turn.resolve();
  }

  /** Nobody waits for an answer for so long: a job that is done after its client has gone is a surprise. */
  #dismissOverdue(): void {
    const oldestMs = performance.now() - this.#jobWaitMsMax;
    const isOverdue = (item: Job | Turn): item is Job => 'work' in item && item.sinceMs < oldestMs;
    const overdue = this.#waiting.filter(isOverdue);
    if (overdue.length === 0) return;
    this.#waiting = this.#waiting.filter((item) => !isOverdue(item));
    for (const job of overdue) job.reject(tooLong());
  }

  #takeGroup(): Job[] {
    const firstTurn = this.#waiting.findIndex((item) => 'hold' in item);
    const end = firstTurn === -1 ? this.#waiting.length : firstTurn;
    this.#lastGroupJobs = Math.min(end, groupJobsMax);
    return this.#waiting.splice(0, this.#lastGroupJobs) as Job[];
  }

  async #commitGroup(group: readonly Job[]): Promise<void> {
    const settle: (() => void)[] = [];
    try {
      await this.#control.begin(group.some(({ isPromised }) => isPromised));
      const [only] = group;
      if (group.length === 1 && only !== undefined) settle.push(await this.#runAlone(only));
      else for (const job of group) settle.push(await this.#runJob(job));
      this.#control.commit();
    } catch (error) {
      this.#abandon(group, error);
      return;
    }
    for (const done of settle) done();
  }

  /** A failure undoes the whole transaction, so nothing is kept for undoing a part: that slows down a long one. */
  async #runAlone(job: Job): Promise<() => void> {
    const value = await job.work();
    return () => job.resolve(value);
  }

  async #runJob(job: Job): Promise<() => void> {
    this.#control.savepoint();
    try {
      const value = await job.work();
      this.#control.releaseSavepoint();
      return () => job.resolve(value);
    } catch (error) {
      this.#undo(error);
      return () => job.reject(error);
    }
  }

  /** Takes back what the failed job has written. Throws its `error` when nothing after it can be trusted. */
  #undo(error: unknown): void {
    if (isFatal(error)) throw error;
    try {
      this.#control.rollbackSavepoint();
    } catch {
      // A full disk may have made the engine undo the whole transaction, the neighbours' work with it.
      throw error;
    }
  }

  #abandon(group: readonly Job[], error: unknown): void {
    try {
      this.#control.rollback();
    } catch {
      // The failed commit has already ended the transaction.
    }
    for (const job of group) job.reject(error);
    if (isFatal(error)) this.#onFatal(error);
  }
}

function nextLoopTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function tooLong(): DomainError {
  const detail = 'The database was busy for too long; send the request again.';
  return new DomainError('unavailable', detail, { retryAfterSeconds: 2 });
}

/**
 * After these nobody knows what the disk holds. The service stops, and starts again from what is durable:
 * an fsync that failed once may succeed the second time without having written anything.
 */
function isFatal(error: unknown): boolean {
  const code = (error as { code?: string } | null)?.code ?? '';
  return /^SQLITE_(IOERR_FSYNC|IOERR_WRITE|IOERR_DIR_FSYNC|CORRUPT|NOTADB)/.test(code);
}
