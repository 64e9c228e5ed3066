import type { DocumentStore } from '../archive/archive.ts';
import { type Clock, timestamp } from '../clock.ts';
import { DomainError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { PasswordHasher } from '../security/password-hash.ts';
import type { SecretBox } from '../security/secret-key.ts';
import type { Configurations } from '../settings/configuration.ts';
import type { Database } from '../storage/database.ts';
import { XmlError } from '../xml/xml.ts';
import { applyRun } from './apply.ts';
import { completeRun, retainArchives, settled, tidySettled } from './finish.ts';
import { inTurn } from './in-turn.ts';
import { type Interruption, interruptionOf } from './interruption.ts';
import { planRun } from './planner.ts';
import { type DatedEvent, insertEvent } from './run-event-store.ts';
import {
  claimRun,
  findRun,
  hasLaterActive,
  LeaseLost,
  listArchivesInUse,
  listDocumentsInUse,
  type Run,
  releaseLeases,
  toRun,
} from './run-store.ts';
import { leaseMs, RunWriter } from './run-writer.ts';

export interface ProcessorParts {
  readonly database: Database;
  readonly documents: DocumentStore;
  readonly configurations: Configurations;
  readonly hasher: PasswordHasher;
  readonly secretBox: SecretBox;
  readonly clock: Clock;
  readonly log: Log;
  /** Names this processor in leases; another one for every process. */
  readonly owner: string;
  /** No other processor can be alive (SQLite under the instance lock): leases of a dead one are void at once. */
  readonly isAlone?: boolean;
}

const pollMs = 1_000;
const backoffMsMin = 1_000;
const backoffMsMax = 60_000;
const sweepEveryMs = 10 * 60 * 1_000;
/** Nothing that is being taken in lies in `drop/` or `archive/` for longer without a run. */
const orphanAgeMs = 60 * 60 * 1_000;

/** Runs of as many sources at once: one that takes an hour does not keep another source waiting for it. */
const runsMax = 2;

/** Imports what is queued, of each source one run after another, for as long as it is started. */
export class Processor {
  readonly #parts: ProcessorParts;
  readonly #stop = new AbortController();
  readonly #running = new Set<Promise<void>>();
  /** Interruptions of runs that could not be written down when they came. */
  readonly #untold = new Map<number, DatedEvent>();
  #loop: Promise<void> | undefined;
  #endPause: (() => void) | undefined;
  #isWoken = false;
  #ended = 0;
  #isPrepared = false;
  #nextSweepMs = 0;

  constructor(parts: ProcessorParts) {
    this.#parts = { ...parts, database: inTurn(parts.database) };
  }

  /** Looks for runs now, whenever woken, and every second. */
  start(): void {
    this.#loop ??= this.#work();
  }

  /** A run has been queued or approved. */
  wake(): void {
    this.#isWoken = true;
    this.#endPause?.();
  }

  /** Stops at the next row border and resolves once its runs are let go of; another processor can continue them. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.wake();
    await this.#loop;
    await Promise.all(this.#running);
  }

  /** Without `start`: processes every run that is ready, then resolves with how many it has brought to an end. */
  async drain(signal: AbortSignal = this.#stop.signal): Promise<number> {
    await this.#prepare();
    const before = this.#ended;
    for (;;) {
      await this.#fill(signal);
      if (this.#running.size === 0) return this.#ended - before;
      await this.#pause();
    }
  }

  async #work(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        await this.drain(signal);
      } catch (error) {
        this.#parts.log.error({ err: error }, 'import processor cannot work');
      }
      if (!signal.aborted) await this.#pause();
    }
  }

  /** Begins runs that are ready, as long as there is room for them. */
  async #fill(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && this.#running.size < runsMax) {
      await this.#sweepWhenDue();
      const run = await this.#claim();
      if (run === undefined) return;
      this.#begin(run, signal);
    }
  }

  #begin(run: Run, signal: AbortSignal): void {
    const work = this.#process(run, signal)
      .then((isEnded) => {
        if (isEnded) this.#ended += 1;
      })
      .catch((error: unknown) => {
        this.#parts.log.error({ runId: run.id, err: error }, 'import processor cannot work');
      })
      .finally(() => {
        this.#running.delete(work);
        this.wake();
      });
    this.#running.add(work);
  }

  /** Until it is woken, or it is time to look by itself. */
  async #pause(): Promise<void> {
    if (!this.#isWoken) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, pollMs);
        this.#endPause = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.#endPause = undefined;
    this.#isWoken = false;
  }

  async #prepare(): Promise<void> {
    if (this.#isPrepared) return;
    const { database, isAlone = false } = this.#parts;
    if (isAlone) await database.write((tx) => releaseLeases(tx));
    await tidySettled(this.#parts);
    this.#isPrepared = true;
  }

  /** Removes what killed processes have left in `drop/` and `archive/`. What fails here is done again later. */
  async #sweepWhenDue(): Promise<void> {
    const { database, documents, clock, log } = this.#parts;
    const nowMs = clock().getTime();
    if (nowMs < this.#nextSweepMs) return;
    this.#nextSweepMs = nowMs + sweepEveryMs;
    const olderThan = new Date(nowMs - orphanAgeMs);
    try {
      const used = new Set(await listDocumentsInUse(database.read));
      const archived = new Set(await listArchivesInUse(database.read));
      await documents.sweep(olderThan, (name) => used.has(name));
      await documents.sweepArchive(olderThan, (name) => archived.has(name));
    } catch (error) {
      log.warn({ err: error }, 'documents that no import names could not be removed');
    }
  }

  async #claim(): Promise<Run | undefined> {
    const { database, clock, owner } = this.#parts;
    const now = clock();
    const lease = {
      owner,
      now: now.toISOString(),
      until: new Date(now.getTime() + leaseMs).toISOString(),
      untold: (id: number) => this.#untold.get(id),
    };
    const run = await database.write((tx) => claimRun(tx, lease));
    if (run !== undefined) this.#untold.delete(run.id);
    return run;
  }

  /** True once the run is over, or waits for approval. */
  async #process(run: Run, signal: AbortSignal): Promise<boolean> {
    const log = this.#parts.log.child({ runId: run.id, sourceId: run.sourceId });
    using _memory = new RunMemory(run);
    const writer = new RunWriter(this.#parts.database, this.#parts.clock, run);
    try {
      if (!(await this.#advance(run, writer, signal, log))) return false;
    } catch (error) {
      await this.#giveUp(run, writer, { error, signal, log });
      return false;
    }
    await this.#tidy(run, log);
    return true;
  }

  /** False when the run has been put back, to be planned anew. */
  async #advance(run: Run, writer: RunWriter, signal: AbortSignal, log: Log): Promise<boolean> {
    if (run.status === 'planning') {
      log.info({ users: run.users, groups: run.groups }, 'import planning');
      await planRun(this.#parts, run, writer, signal);
    }
    const planned = await findRun(this.#parts.database.read, run.id);
    if (planned === undefined || planned.fence !== run.fence) throw new LeaseLost(run.id);
    if (planned.status !== 'applying') {
      log.info({ status: planned.status, reason: planned.message }, 'import planned');
      return planned.status !== 'queued';
    }
    await this.#apply(toRun(planned), signal, log);
    return true;
  }

  async #apply(run: Run, signal: AbortSignal, log: Log): Promise<void> {
    const { database, configurations, hasher, secretBox, clock } = this.#parts;
    const writer = new RunWriter(database, clock, run);
    log.info({ phase: run.phase }, 'import applying');
    const configuration = await configurations.current();
    await applyRun({ database, run, writer, hasher, secretBox, configuration, clock, signal });
    const status = await completeRun(this.#parts, writer);
    log.info({ status, counts: writer.progress.counts }, 'import completed');
  }

  /** What fails here is done again after a later run: this one is over all the same. */
  async #tidy(run: Run, log: Log): Promise<void> {
    try {
      const { archiveRunsKept } = (await this.#parts.configurations.current()).settings;
      await tidySettled(this.#parts);
      await retainArchives(this.#parts, run.sourceId, archiveRunsKept);
    } catch (error) {
      log.warn({ err: error }, 'documents of imports that are over could not be tidied');
    }
  }

  async #giveUp(run: Run, writer: RunWriter, { error, signal, log }: Trouble): Promise<void> {
    if (error instanceof LeaseLost) {
      log.warn({}, takenOver);
    } else if (signal.aborted) {
      await this.#release(run, writer, undefined);
    } else {
      await this.#interruptOrFail(run, writer, error, log);
    }
  }

  async #interruptOrFail(run: Run, writer: RunWriter, error: unknown, log: Log): Promise<void> {
    const interruption = interruptionOf(error);
    if (interruption !== undefined && !(await this.#isOvertaken(run, interruption))) {
      log.error({ err: error, reason: interruption.reason }, 'import interrupted; it will be continued');
      await this.#release(run, writer, { attempts: run.attempts + 1, reason: interruption.reason });
      return;
    }
    await this.#fail(writer, error, log);
    await this.#tidy(run, log);
  }

  /** A run whose document is gone does not keep a later one of its source waiting. */
  async #isOvertaken({ id, sourceId }: Run, { isDocumentGone }: Interruption): Promise<boolean> {
    return isDocumentGone && hasLaterActive(this.#parts.database.read, { id, sourceId });
  }

  /** Lets go of the run, so that it is continued: at once, or after a pause that grows with the attempts. */
  async #release(run: Run, writer: RunWriter, pause: Pause | undefined): Promise<void> {
    const lease = { lease_owner: null, lease_until: null };
    const nowMs = this.#parts.clock().getTime();
    const waitMs = Math.min(backoffMsMin * 2 ** Math.min(pause?.attempts ?? 0, 10), backoffMsMax);
    const now = new Date(nowMs).toISOString();
    const retryAt = new Date(nowMs + waitMs).toISOString();
    const event = pause && ({ kind: 'interrupted', reason: pause.reason, retryAt } as const);
    const change = pause && { attempts: pause.attempts, retry_at: retryAt, message: pause.reason };
    try {
      await writer.update(async (tx) => {
        if (event !== undefined) await insertEvent(tx, run.id, event, now);
        return { ...lease, ...change };
      });
    } catch (error) {
      // The lease then ends by itself, and whoever takes the run up again here notes what happened.
      if (event !== undefined) this.#untold.set(run.id, { ...event, at: now });
      this.#parts.log.warn({ runId: run.id, err: error }, 'import could not be let go of');
    }
  }

  async #fail(writer: RunWriter, error: unknown, log: Log): Promise<void> {
    const now = timestamp(this.#parts.clock);
    const change = { ...settled('failed', now), message: failureOf(error) };
    try {
      await writer.update(async () => change);
      log.error({ err: error }, 'import failed');
    } catch (another) {
      // Whoever works on a plan that is another's by now may stumble over its rows.
      if (another instanceof LeaseLost) return log.warn({ err: error }, takenOver);
      log.error({ err: error }, 'import failed');
      log.warn({ err: another }, 'import could not be marked as failed');
    }
  }
}

const manyUsers = 10_000;

/** What a large run has needed is given back when it ends: the next file is checked beside this process. */
class RunMemory implements Disposable {
  readonly #users: number;

  constructor({ users }: Run) {
    this.#users = users;
  }

  [Symbol.dispose](): void {
    if (this.#users >= manyUsers) Bun.gc(true);
  }
}

const takenOver = 'import was taken over or ended by someone else';

/** Why a run is let go of before it is over. */
interface Pause {
  readonly attempts: number;
  readonly reason: string;
}

interface Trouble {
  readonly error: unknown;
  readonly signal: AbortSignal;
  readonly log: Log;
}

function failureOf(error: unknown): string {
  const interruption = interruptionOf(error);
  if (interruption?.isDocumentGone === true)
    return 'The document of the import is gone from the folder drop/; a later import takes its place.';
  if (error instanceof DomainError) return error.detail;
  if (error instanceof XmlError)
    return `The document cannot be read: ${error.message} (line ${error.line}, column ${error.column})`;
  return 'The import failed inside the service; its log says why.';
}
