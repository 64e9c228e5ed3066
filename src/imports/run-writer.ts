import { type Clock, timestamp } from '../clock.ts';
import type { Database, Tx } from '../storage/database.ts';
import { type ApplyPhase, addCounts, type Counts, type Issue } from './imports.ts';
import { insertIssues } from './issue-store.ts';
import { insertEvent } from './run-event-store.ts';
import {
  advanceRun,
  type Claim,
  type PhaseTotals,
  type Progress,
  type Run,
  type RunChange,
  updateClaimedRun,
} from './run-store.ts';

/** How long a processor may be silent before another one may take its run. */
export const leaseMs = 30_000;
const warningsMax = 100;

/** What one batch did, told by its transaction. */
export interface Step {
  readonly counts?: Partial<Counts>;
  readonly issues?: readonly Issue[];
  readonly warnings?: readonly string[];
  /** Where the next batch goes on. */
  readonly cursor?: number;
  /** Plan rows that are done. */
  readonly done?: number;
}

/** A transaction that nobody waits for the end of goes on for this long: each one has its price in syncs and pages. */
const seriesMsMax = 400;
const aloneAfterMs = 500;

/** Does the next batch of many, from `cursor` on, and tells what it did; undefined when there is none left. */
export type NextBatch = (tx: Tx, cursor: number) => Promise<Step | undefined>;

export interface SeriesOptions {
  readonly batchesMax: number;
  readonly signal?: AbortSignal;
}

/**
 * Writes the batches of one claimed run: each commits together with how far the run is, and only while the claim holds.
 * Throws LeaseLost once it does not.
 */
export class RunWriter {
  readonly claim: Claim;
  readonly #database: Database;
  readonly #clock: Clock;
  #progress: Progress;
  #phases: PhaseTotals;
  #awaitedMs = performance.now();

  constructor(database: Database, clock: Clock, run: Run) {
    this.#database = database;
    this.#clock = clock;
    this.claim = { id: run.id, fence: run.fence };
    const { phase, cursor, done, counts, warnings } = run;
    this.#progress = { phase, cursor, done, counts, warnings };
    this.#phases = run.phases;
  }

  get progress(): Progress {
    return this.#progress;
  }

  /** Runs the batch and records its step; the state is as before when the transaction fails. */
  async commit(work: (tx: Tx) => Promise<Step>): Promise<void> {
    await this.commitSeries(work, { batchesMax: 1 });
  }

  /**
   * Runs batches in one transaction until somebody else waits to write, it has taken its time, or none is left; true
   * for the last. A batch that fails undoes those before it. After a loss of power, the run is as far as what is left of
   * the directory says.
   */
  async commitSeries(next: NextBatch, options: SeriesOptions): Promise<boolean> {
    const { progress, isOver } = await this.#database.writeStep((tx) => this.#series(tx, next, options));
    this.#progress = progress;
    return isOver;
  }

  async #series(tx: Tx, next: NextBatch, { batchesMax, signal }: SeriesOptions) {
    const endMs = performance.now() + seriesMsMax;
    let progress = this.#progress;
    for (let batches = 1; ; batches += 1) {
      const step = await next(tx, progress.cursor);
      if (step !== undefined) {
        await insertIssues(tx, this.claim.id, progress.counts.issues + 1, step.issues ?? []);
        progress = after(progress, step);
      }
      const isOver = step === undefined;
      const isEnough = batches >= batchesMax || performance.now() > endMs || signal?.aborted === true;
      if (isOver || isEnough || (await this.#isAwaited())) {
        await advanceRun(tx, this.claim, progress, this.#leaseEnd());
        return { progress, isOver };
      }
    }
  }

  /** Whether nobody else has waited to write for a while, as far as this one knows. */
  get isAlone(): boolean {
    return performance.now() - this.#awaitedMs > aloneAfterMs;
  }

  /** Whoever waits is heard of between two turns of the event loop. */
  async #isAwaited(): Promise<boolean> {
    await new Promise<void>((resolve) => setImmediate(resolve));
    const isAwaited = this.#database.isAwaited();
    if (isAwaited) this.#awaitedMs = performance.now();
    return isAwaited;
  }

  /** What each phase is left with, once it is over; of the present one, the rows that waited when it began. */
  get phases(): PhaseTotals {
    return this.#phases;
  }

  /** Goes to the start of a phase, and notes for how many rows the one before it is over. */
  async enter(phase: ApplyPhase, count: (phase: ApplyPhase) => Promise<number>): Promise<void> {
    const next = { ...this.#progress, phase, cursor: 0, done: 0 };
    const left = this.#progress.phase ?? phase;
    const rows = await count(phase);
    this.#phases = { ...this.#phases, [left]: await count(left), [phase]: rows };
    const now = timestamp(this.#clock);
    const change = { phases: JSON.stringify(this.#phases), pace_from: now, pace_done: 0 };
    await this.#database.write(async (tx) => {
      await advanceRun(tx, this.claim, next, this.#leaseEnd());
      await updateClaimedRun(tx, this.claim, change);
      await insertEvent(tx, this.claim.id, { kind: 'phase', phase, rows }, now);
    });
    this.#progress = next;
  }

  /** Keeps the claim during work that writes nothing. */
  renew(): Promise<void> {
    return this.commit(async () => ({}));
  }

  /** Changes the run itself, to what `change` makes of it in the same transaction. */
  async update(change: (tx: Tx) => Promise<RunChange>): Promise<void> {
    await this.#database.write(async (tx) => updateClaimedRun(tx, this.claim, await change(tx)));
  }

  /** Starts from nothing: for a plan that is made anew. */
  restart(counts: Counts, warnings: readonly string[]): void {
    this.#progress = { phase: undefined, cursor: 0, done: 0, counts, warnings };
  }

  #leaseEnd(): string {
    return new Date(this.#clock().getTime() + leaseMs).toISOString();
  }
}

function after(now: Progress, { counts = {}, issues = [], warnings = [], cursor, done = 0 }: Step): Progress {
  return {
    phase: now.phase,
    cursor: cursor ?? now.cursor,
    done: now.done + done,
    counts: addCounts(now.counts, { ...counts, issues: issues.length }),
    warnings: [...new Set([...now.warnings, ...warnings])].slice(0, warningsMax),
  };
}
