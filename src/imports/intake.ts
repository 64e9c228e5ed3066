import type { AcceptedDocument, DocumentStore, SpooledDocument } from '../archive/archive.ts';
import type { Clock } from '../clock.ts';
import { timestamp } from '../clock.ts';
import { DomainError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Configurations } from '../settings/configuration.ts';
import type { GeneralSource } from '../sources/source-store.ts';
import type { Database } from '../storage/database.ts';
import { type Checkpoint, keepCheckpoint, saveCheckpoint } from './checkpoint-store.ts';
import { refuseForeign, refuseInvalid, refuseLate } from './document-refused.ts';
import type { RunOrigin, RunStatus } from './imports.ts';
import type { Verdict } from './inspect.ts';
import { inspectInChild, inspectionDeadlineMs } from './inspector.ts';
import { circumstancesOf } from './record-digest.ts';
import {
  findAwaitingRun,
  findInterruptedRun,
  findLatestEffectiveRun,
  insertRun,
  type RunRow,
} from './run-store.ts';

export { DocumentRefused } from './document-refused.ts';

export interface IntakeParts {
  readonly database: Database;
  readonly documents: DocumentStore;
  readonly configurations: Configurations;
  readonly clock: Clock;
  readonly log: Log;
  /** How this program starts itself, to inspect documents in a child process. */
  readonly selfCommand: readonly string[];
  /** Called once a run is durably queued, to wake the processor. */
  readonly onQueued?: (runId: number) => void;
}

export interface IntakeRequest {
  readonly source: GeneralSource;
  /** The bytes of the document. It is read to its end, or left as soon as it is too long. */
  readonly stream: AsyncIterable<Uint8Array>;
  readonly origin: RunOrigin;
  /** What the file is called where it comes from, for the log of the run. */
  readonly file?: string;
  /** Under which the file was taken from a drop folder; kept with the run. */
  readonly ticket?: string;
  /** Imports again what the last completed run has imported already. */
  readonly force?: boolean;
  /** Asked once the stream has ended: where a connector goes on, once all of this is imported. */
  readonly checkpoint?: () => Promise<Checkpoint | undefined>;
  /** Plans and stops. */
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal;
}

export interface Receipt {
  readonly importId: number;
  readonly sourceId: number;
  /** `unchanged`: the last completed run had the same bytes; `importId` is that run's. */
  readonly status: RunStatus | 'unchanged';
  readonly sha256: string;
  readonly bytes: number;
  readonly users: number;
  readonly groups: number;
  readonly willBeProcessed: boolean;
  /** Why it will not be processed for now. */
  readonly reason?: string;
  readonly warnings: readonly string[];
}

type ValidVerdict = Extract<Verdict, { valid: true }>;

/** A document that may be imported. */
interface JudgedDocument {
  readonly spooled: SpooledDocument;
  readonly verdict: ValidVerdict;
  readonly circumstances: string;
  readonly checkpoint?: Checkpoint | undefined;
}

/** Documents on their way in at the same time, and of these the ones that are being inspected. */
const documentsMax = 8;
const documentsOfSourceMax = 2;
const inspectionsMax = 2;
const retryAfterSeconds = 10;

/** The one door for documents, whatever their origin. */
export class Intake {
  readonly #parts: IntakeParts;
  #documents = 0;
  readonly #documentsOf = new Map<number, number>();
  #inspections = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(parts: IntakeParts) {
    this.#parts = parts;
  }

  /**
   * Takes a document in and queues its run; when it resolves, both are durable. Throws DocumentRefused, or DomainError
   * `payloadTooLarge`, `limitExceeded` (the source sends too many at once), `unavailable` or `storageFull`; whatever it
   * throws, nothing of the document is left behind.
   */
  async accept(request: IntakeRequest): Promise<Receipt> {
    const leave = this.#enter(request.source.id);
    try {
      return await this.#spoolAndQueue(request);
    } finally {
      leave();
    }
  }

  /** One source cannot take the places of all. */
  #enter(sourceId: number): () => void {
    const ofSource = this.#documentsOf.get(sourceId) ?? 0;
    if (ofSource >= documentsOfSourceMax) {
      const detail = `The source is sending ${documentsOfSourceMax} documents already; send this one when they are in.`;
      throw new DomainError('limitExceeded', detail, { retryAfterSeconds });
    }
    if (this.#documents >= documentsMax) {
      const detail = 'Too many documents are being sent at once; send it again later.';
      throw new DomainError('unavailable', detail, { retryAfterSeconds });
    }
    this.#documents += 1;
    this.#documentsOf.set(sourceId, ofSource + 1);
    return () => {
      this.#documents -= 1;
      const left = (this.#documentsOf.get(sourceId) ?? 1) - 1;
      if (left === 0) this.#documentsOf.delete(sourceId);
      else this.#documentsOf.set(sourceId, left);
    };
  }

  async #spoolAndQueue(request: IntakeRequest): Promise<Receipt> {
    const { documents, configurations } = this.#parts;
    const configuration = await configurations.current();
    const { documentBytesMax } = configuration.settings;
    const { source, stream, signal } = request;
    const circumstances = circumstancesOf(source, configuration);
    const spooled = await documents.spool(stream, {
      sourceId: source.id,
      bytesMax: documentBytesMax,
      signal,
    });
    try {
      const same = await this.#sameAsLast(request, spooled.sha256, circumstances);
      if (same !== undefined) return await this.#unchanged(request, same);
      const verdict = await this.#inspect(spooled, documentBytesMax, signal);
      refuseForeign(source, verdict);
      signal?.throwIfAborted();
      return await this.#queue(request, { spooled, verdict, circumstances });
    } finally {
      // What was accepted has been moved away; anything that is still here is not wanted.
      await documents.discard(spooled);
    }
  }

  async #inspect(
    { path, maskedPath, bytes }: SpooledDocument,
    documentBytesMax: number,
    signal: AbortSignal | undefined,
  ): Promise<ValidVerdict> {
    const { selfCommand, log } = this.#parts;
    const deadlineMs = inspectionDeadlineMs(bytes);
    const leave = await this.#enterInspection();
    let verdict: Verdict | undefined;
    try {
      const args = { file: path, masked: maskedPath, documentBytesMax };
      verdict = await inspectInChild(args, { selfCommand, deadlineMs, signal });
    } catch (error) {
      if (error instanceof DomainError && error.kind === 'internal') {
        log.error({ err: error.cause }, 'inspection failed');
      }
      throw error;
    } finally {
      leave();
    }
    if (verdict === undefined) throw refuseLate(deadlineMs);
    if (!verdict.valid) throw refuseInvalid(verdict);
    return verdict;
  }

  async #enterInspection(): Promise<() => void> {
    if (this.#inspections >= inspectionsMax) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else {
      this.#inspections += 1;
    }
    return () => {
      const next = this.#waiting.shift();
      if (next === undefined) this.#inspections -= 1;
      else next();
    };
  }

  /** The last run, when it has imported these very bytes and they would mean the same today: nothing is left to check. */
  async #sameAsLast(
    { source, force, dryRun }: IntakeRequest,
    sha256: string,
    circumstances: string,
  ): Promise<RunRow | undefined> {
    if (force === true || dryRun === true) return undefined;
    const last = await findLatestEffectiveRun(this.#parts.database.read, source.id);
    const isSame = last?.sha256 === sha256 && last.circumstances === circumstances;
    return isSame && last.status === 'completed' ? last : undefined;
  }

  /** All of it is imported, so the next run can go on from its end. */
  async #unchanged({ source, checkpoint: ask }: IntakeRequest, run: RunRow): Promise<Receipt> {
    const { database, clock } = this.#parts;
    const checkpoint = await ask?.();
    if (checkpoint !== undefined)
      await database.write((tx) => saveCheckpoint(tx, source.id, checkpoint, timestamp(clock)));
    return unchanged(run);
  }

  async #queue(request: IntakeRequest, judged: JudgedDocument): Promise<Receipt> {
    const { documents, log, onQueued } = this.#parts;
    const { source, origin } = request;
    const checkpoint = request.dryRun === true ? undefined : await request.checkpoint?.();
    // Before the files get their lasting places: from there on only a failing insertion removes them.
    const obstacle = await this.#obstacleOf(source.id);
    const accepted = await documents.accept(judged.spooled, source.id);
    const importId = await this.#insert(request, { ...judged, checkpoint }, accepted);
    const { sha256, bytes } = judged.spooled;
    const { users, groups, warnings } = judged.verdict;
    log.info({ runId: importId, sourceId: source.id, origin, sha256, bytes, users, groups }, 'import queued');
    onQueued?.(importId);
    const receipt = {
      importId,
      sourceId: source.id,
      status: 'queued' as const,
      sha256,
      bytes,
      users,
      groups,
    };
    if (obstacle === undefined) return { ...receipt, willBeProcessed: true, warnings };
    return { ...receipt, willBeProcessed: false, reason: obstacle, warnings };
  }

  /** Why a document of the source will not be imported for now. */
  async #obstacleOf(sourceId: number): Promise<string | undefined> {
    const db = this.#parts.database.read;
    const interrupted = await findInterruptedRun(db, sourceId);
    if (interrupted !== undefined)
      return `Import ${interrupted.id} of this source comes first and is interrupted: ${interrupted.message}`;
    const awaiting = await findAwaitingRun(db, sourceId);
    if (awaiting === undefined) return undefined;
    return `Import ${awaiting} of this source waits for approval; this one takes its place only if it stays within the limits of the source.`;
  }

  async #insert(
    { source, origin, dryRun = false, file, ticket }: IntakeRequest,
    { spooled, verdict, circumstances, checkpoint }: JudgedDocument,
    accepted: AcceptedDocument,
  ): Promise<number> {
    const { database, documents, clock } = this.#parts;
    const { sha256, bytes } = spooled;
    const { users, groups, warnings } = verdict;
    const facts = { sourceId: source.id, origin, dryRun, sha256, circumstances, file, ticket };
    const contents = { bytes, users, groups, warnings };
    try {
      return await database.write(async (tx) => {
        const id = await insertRun(tx, { ...facts, ...contents, ...accepted, now: timestamp(clock) });
        if (checkpoint !== undefined) await keepCheckpoint(tx, id, checkpoint);
        return id;
      });
    } catch (error) {
      await documents.forget(accepted);
      throw error;
    }
  }
}

function unchanged(run: RunRow): Receipt {
  const { id, source_id: sourceId, sha256, bytes, users, groups } = run;
  const reason = `Import ${id} has imported the same document already.`;
  const warnings = JSON.parse(run.warnings) as string[];
  const same = { importId: id, sourceId, status: 'unchanged', sha256, bytes, users, groups } as const;
  return { ...same, willBeProcessed: false, reason, warnings };
}
