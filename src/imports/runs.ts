import type { DocumentStore } from '../archive/archive.ts';
import { type Clock, timestamp } from '../clock.ts';
import { DomainError } from '../errors.ts';
import { type Operator, recordAudit } from '../security/audit.ts';
import type { Configurations } from '../settings/configuration.ts';
import { findSourceById } from '../sources/source-store.ts';
import type { Database, Tx } from '../storage/database.ts';
import type { DifferingQuery } from './comparison-store.ts';
import { settled, tidySettled } from './finish.ts';
import {
  type ApplyPhase,
  type Counts,
  type Issue,
  isActive,
  type RunOrigin,
  type RunStatus,
} from './imports.ts';
import { listIssues } from './issue-store.ts';
import type { ImportOptions } from './options.ts';
import { type ReEnabled, reEnable } from './re-enable.ts';
import { type ComparedPerson, compareRuns, listCompared, type RunComparison } from './run-comparison.ts';
import { insertEvent, listEvents } from './run-event-store.ts';
import { formatRunLog } from './run-log.ts';
import { listRecords, type RecordsQuery, type RunRecord } from './run-records.ts';
import {
  findLatestEffectiveRun,
  findRun,
  listRuns,
  moveRun,
  type PhaseTotals,
  type RunChange,
  type RunRow,
} from './run-store.ts';
import { startApplying } from './start-applying.ts';

export interface ImportRunsParts {
  readonly database: Database;
  readonly documents: DocumentStore;
  readonly configurations: Configurations;
  readonly clock: Clock;
}

/** How far a run is in its present phase. */
export interface RunProgress {
  readonly phase: 'plan' | ApplyPhase;
  /** Rows of this phase. */
  readonly done: number;
  readonly total: number;
  /** Rows a second since it was last taken up; absent while nobody works on it, or nothing is done yet. */
  readonly rate?: number;
  /** Until this phase is over, at that rate. */
  readonly secondsLeft?: number;
}

/** A run as it is shown. */
export interface ImportRun {
  readonly id: number;
  readonly sourceId: number;
  readonly status: RunStatus;
  readonly origin: RunOrigin;
  readonly dryRun: boolean;
  readonly sha256: string;
  readonly bytes: number;
  /** Records of the document. */
  readonly users: number;
  readonly groups: number;
  /** While it is planning or applying. */
  readonly progress: RunProgress | undefined;
  /** What the plan foresees; undefined until it is complete. */
  readonly planned: Counts | undefined;
  /** What has been done so far; of a dry run, only the issues that were found. */
  readonly counts: Counts;
  /** Why it waits, failed or was ended; one sentence. */
  readonly message: string | undefined;
  readonly warnings: readonly string[];
  /** When it is tried again, after something got in its way. */
  readonly retryAt: string | undefined;
  readonly created: string;
  readonly started: string | undefined;
  readonly finished: string | undefined;
}

export interface WaitOptions {
  readonly onProgress?: (run: ImportRun) => void;
  readonly signal?: AbortSignal;
  /** Milliseconds between two looks (250). */
  readonly everyMs?: number;
}

const listedMax = 1_000;
const listedDefault = 100;
const waitMs = 250;

/** Import runs: what is known of them, and what a person decides about them. */
export class ImportRuns {
  readonly #parts: ImportRunsParts;

  constructor(parts: ImportRunsParts) {
    this.#parts = parts;
  }

  /** Throws `notFound`; with `sourceId` also for a run of another source. */
  async get(id: number, sourceId?: number): Promise<ImportRun> {
    return this.#shown(await this.#required(this.#parts.database.read, id, sourceId));
  }

  /** Newest first, at most `limit` (100). */
  async list({
    sourceId,
    limit = listedDefault,
  }: {
    sourceId?: number;
    limit?: number;
  } = {}): Promise<ImportRun[]> {
    const rows = await listRuns(this.#parts.database.read, { sourceId, limit: Math.min(limit, listedMax) });
    return rows.map((row) => this.#shown(row));
  }

  #shown(row: RunRow): ImportRun {
    return toImportRun(row, this.#parts.clock());
  }

  /**
   * The run's log as text, put together from what is stored of it: at most its first 1,000 issues. Throws `notFound`; with
   * `sourceId` also for a run of another source.
   */
  async log(id: number, sourceId?: number): Promise<string> {
    const db = this.#parts.database.read;
    const row = await this.#required(db, id, sourceId);
    const options = row.options === null ? undefined : (JSON.parse(row.options) as ImportOptions);
    const sourceName = (await findSourceById(db, row.source_id))?.name ?? '';
    const [events, issues] = [await listEvents(db, id), await listIssues(db, id, listedMax)];
    return formatRunLog({ run: this.#shown(row), sourceName, options, events, issues });
  }

  /** In the order in which they were found, at most `limit` (100). */
  issues(id: number, limit = listedDefault): Promise<Issue[]> {
    return listIssues(this.#parts.database.read, id, Math.min(limit, listedMax));
  }

  /** What became of the run's records, at most `limit` (1,000) after `after`. Throws `notFound`. */
  async records(id: number, { after, limit, action }: RecordsQuery): Promise<RunRecord[]> {
    const db = this.#parts.database.read;
    const run = await this.#required(db, id);
    return listRecords(db, run, { after, limit: Math.min(limit, listedMax), action });
  }

  /** How the document of the run differs from that of an earlier one; see `compareRuns`. */
  compare(id: number, earlierId?: number): Promise<RunComparison> {
    return compareRuns(this.#parts.database.read, id, earlierId);
  }

  /** The people of one difference, at most 1,000 at a time. */
  compared(comparison: RunComparison, query: DifferingQuery): Promise<ComparedPerson[]> {
    const limit = Math.min(query.limit, listedMax);
    return listCompared(this.#parts.database.read, comparison, { ...query, limit });
  }

  /**
   * Lets a run that awaits approval be applied. Throws `invalidValue` for a run in another state, and when a later run
   * of the source has been applied or may yet be: the older file would undo the newer one.
   */
  approve(id: number, by: Operator): Promise<ImportRun> {
    const now = timestamp(this.#parts.clock);
    return this.#move(id, ['awaiting-approval'], { decision: 'approved', by }, async (tx, run) => {
      await refuseOvertaken(tx, run);
      const planned = JSON.parse(run.planned ?? '{}') as Counts;
      return startApplying(tx, { id, sourceId: run.source_id, planned }, now);
    });
  }

  /** Ends a run that awaits approval; nothing has been changed by it. */
  async reject(id: number, by: Operator): Promise<ImportRun> {
    const now = timestamp(this.#parts.clock);
    const rejected = { decision: 'rejected', by } as const;
    const message = `Rejected${by.name === undefined ? '' : ` by ${by.name}`}; nothing has been changed.`;
    await this.#move(id, ['awaiting-approval'], rejected, async () => ({
      ...settled('rejected', now),
      message,
    }));
    await tidySettled(this.#parts);
    return this.get(id);
  }

  /** Ends a run that is not over; what it has applied so far stays. */
  async cancel(id: number, by: Operator): Promise<ImportRun> {
    const now = timestamp(this.#parts.clock);
    const open = ['queued', 'planning', 'awaiting-approval', 'applying'] as const;
    await this.#move(id, open, { decision: 'cancelled', by }, async (_tx, run) => {
      const message =
        run.status === 'applying' ? 'Cancelled while it was being applied; what was done stays.' : null;
      return { ...settled('cancelled', now), message };
    });
    await tidySettled(this.#parts);
    return this.get(id);
  }

  /** Makes everyone active again whom the run disabled; see `reEnable`. */
  reEnable(id: number): Promise<ReEnabled> {
    return reEnable(this.#parts, id);
  }

  /** Resolves with the run once it is over or awaits approval, and tells `onProgress` of it until then. */
  async wait(id: number, { onProgress, signal, everyMs = waitMs }: WaitOptions = {}): Promise<ImportRun> {
    for (;;) {
      signal?.throwIfAborted();
      const run = await this.get(id);
      onProgress?.(run);
      if (!isActive(run.status)) return run;
      await Bun.sleep(everyMs);
    }
  }

  async #move(
    id: number,
    from: readonly RunStatus[],
    decided: Decided,
    change: (tx: Tx, run: RunRow) => Promise<RunChange>,
  ): Promise<ImportRun> {
    const now = timestamp(this.#parts.clock);
    await this.#parts.database.write(async (tx) => {
      const run = await this.#required(tx, id);
      const isMoved =
        (from as readonly string[]).includes(run.status) &&
        (await moveRun(tx, id, from, await change(tx, run)));
      if (isMoved) {
        await insertEvent(tx, id, { kind: 'decided', ...decided }, now);
        const subject = { id: String(id), name: `Import ${id}` };
        const event = { action: auditActions[decided.decision], by: decided.by, subject } as const;
        return recordAudit(tx, event, now);
      }
      const detail = `Import ${id} is ${run.status} and so cannot be ${decided.decision}.`;
      throw new DomainError('invalidValue', detail);
    });
    return this.get(id);
  }

  async #required(db: Database['read'], id: number, sourceId?: number): Promise<RunRow> {
    const run = await findRun(db, id);
    if (run !== undefined && (sourceId === undefined || run.source_id === sourceId)) return run;
    throw new DomainError('notFound', `There is no import with the id ${id}.`);
  }
}

const auditActions = {
  approved: 'import.approve',
  rejected: 'import.reject',
  cancelled: 'import.cancel',
} as const;

interface Decided {
  readonly decision: 'approved' | 'rejected' | 'cancelled';
  readonly by: Operator;
}

async function refuseOvertaken(tx: Tx, { id, source_id }: RunRow): Promise<void> {
  const later = await findLatestEffectiveRun(tx, source_id);
  if (later === undefined || later.id <= id) return;
  const isOpen = isActive(later.status as RunStatus);
  const remedy = isOpen ? `reject import ${id}, or cancel import ${later.id} first` : `reject import ${id}`;
  throw new DomainError(
    'invalidValue',
    `Import ${id} cannot be approved, because the later import ${later.id} of its source is ${later.status}; ${remedy}.`,
  );
}

function toImportRun(row: RunRow, now: Date): ImportRun {
  return {
    id: row.id,
    sourceId: row.source_id,
    status: row.status as RunStatus,
    origin: row.origin as RunOrigin,
    dryRun: row.dry_run === 1,
    sha256: row.sha256,
    bytes: row.bytes,
    users: row.users,
    groups: row.groups,
    progress: progressOf(row, now),
    planned: row.planned === null ? undefined : (JSON.parse(row.planned) as Counts),
    counts: JSON.parse(row.counts) as Counts,
    message: row.message ?? undefined,
    warnings: JSON.parse(row.warnings) as string[],
    retryAt: row.retry_at ?? undefined,
    created: row.created,
    started: row.started ?? undefined,
    finished: row.finished ?? undefined,
  };
}

function progressOf(row: RunRow, now: Date): RunProgress | undefined {
  if (row.status === 'planning') return paced(row, now, { phase: 'plan', total: row.users + row.groups });
  if (row.status !== 'applying') return undefined;
  const phase = (row.phase ?? 'groups') as ApplyPhase;
  const totals = JSON.parse(row.phases ?? '{}') as PhaseTotals;
  return paced(row, now, { phase, total: Math.max(totals[phase] ?? 0, row.done) });
}

function paced(row: RunRow, now: Date, at: Pick<RunProgress, 'phase' | 'total'>): RunProgress {
  const progress = { ...at, done: row.done };
  const seconds = row.pace_from === null ? 0 : (now.getTime() - Date.parse(row.pace_from)) / 1_000;
  const rows = row.done - row.pace_done;
  if (row.lease_owner === null || rows <= 0 || seconds <= 0) return progress;
  const rate = rows / seconds;
  const secondsLeft = Math.ceil(Math.max(at.total - row.done, 0) / rate);
  return { ...progress, rate: Math.round(rate * 10) / 10, secondsLeft };
}
