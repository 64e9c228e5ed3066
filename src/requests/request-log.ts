// The request log owns what was asked of the SCIM service, in a SQLite file of its own, so that it never waits for a
// commit of the directory nor delays one. It never fails a request, and never knows what a request means.
// Records wait in memory for a moment and are written together: a killed process loses the last moment.

import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { RequestRecord, RetentionLimits } from './record.ts';
import { isUnusable, RequestFile, setAside } from './request-file.ts';

export interface RequestLogParts {
  /** Path of the file; made when the first record is written. */
  readonly path: string;
  readonly clock: Clock;
  readonly log: Log;
  /** How long a record waits for others, milliseconds. */
  readonly waitMs?: number;
}

const defaultWaitMs = 150;
const batchRows = 256;
const waitingMax = 8_192;
const waitingBodyCharactersMax = 16 * 1024 * 1024;
/** Until the next attempt, after one that failed. */
const retryMs = 1_000;
const sayAgainMs = 60_000;

export class RequestLog {
  readonly #parts: RequestLogParts;
  #waiting: RequestRecord[] = [];
  #waitingBodyCharacters = 0;
  #file: RequestFile | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isSoon = false;
  #isFailing = false;
  #saidMs = Number.NEGATIVE_INFINITY;
  #dropped = 0;
  #isClosed = false;

  constructor(parts: RequestLogParts) {
    this.#parts = parts;
  }

  get path(): string {
    return this.#parts.path;
  }

  /** Records that were given up since the start, because the file could not be written for too long. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Takes a record in. Never throws, and writes nothing yet. */
  append(record: RequestRecord): void {
    const characters = (record.body?.length ?? 0) + (record.decoded?.length ?? 0);
    const isFull =
      this.#waiting.length >= waitingMax ||
      this.#waitingBodyCharacters + characters > waitingBodyCharactersMax;
    if (isFull || this.#isClosed) {
      this.#drop();
      return;
    }
    this.#waiting.push(record);
    this.#waitingBodyCharacters += characters;
    if (this.#isFailing) return;
    if (this.#waiting.length >= batchRows) this.#flushSoon();
    else this.#flushIn(this.#parts.waitMs ?? defaultWaitMs);
  }

  /** Makes the file before there is anything to write: whoever looks finds an empty log, not none. */
  begin(): void {
    try {
      this.#open();
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Writes what waits, as far as that can be done. */
  flush(): void {
    this.#clearTimer();
    try {
      this.#write();
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Removes a little of what is too old or too much; true when there is more. */
  prunePiece(limits: RetentionLimits): boolean {
    try {
      return this.#open().prunePiece(limits, this.#parts.clock().getTime());
    } catch (error) {
      this.#failed(error);
      return false;
    }
  }

  /** Writes what waits, and lets go of the file. */
  close(): void {
    this.flush();
    this.#isClosed = true;
    this.#clearTimer();
    this.#dropped += this.#waiting.length;
    this.#release();
  }

  #write(): void {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, batchRows);
      this.#open().append(batch, this.#parts.clock().getTime());
      this.#waiting.splice(0, batch.length);
    }
    this.#waitingBodyCharacters = 0;
    if (!this.#isFailing) return;
    this.#isFailing = false;
    this.#saidMs = Number.NEGATIVE_INFINITY;
    this.#parts.log.info({ dropped: this.#dropped }, 'the request log is written again');
  }

  #open(): RequestFile {
    const { path } = this.#parts;
    try {
      this.#file ??= new RequestFile(path);
    } catch (error) {
      if (!isUnusable(error)) throw error;
      this.#replace(error);
      this.#file = new RequestFile(path);
    }
    return this.#file;
  }

  /** A log that cannot be read is worth less than one that goes on. */
  #replace(error: unknown): void {
    this.#release();
    const place = setAside(this.#parts.path, this.#parts.clock());
    this.#parts.log.error(
      { path: place, err: error },
      'the request log cannot be used and was set aside; a new one is begun',
    );
  }

  #failed(error: unknown): void {
    this.#isFailing = true;
    try {
      if (isUnusable(error) && this.#file !== undefined) this.#replace(error);
      else this.#say(error);
    } catch (another) {
      this.#say(another);
    }
    if (!this.#isClosed) this.#flushIn(retryMs);
  }

  #say(error: unknown): void {
    const nowMs = performance.now();
    if (nowMs - this.#saidMs < sayAgainMs) return;
    this.#saidMs = nowMs;
    const { path, log } = this.#parts;
    const fields = { path, waiting: this.#waiting.length, dropped: this.#dropped, err: error };
    const what = error === undefined ? 'cannot keep up' : 'cannot be written';
    log.error(fields, `the request log ${what}; requests are answered, and some may be missing in it`);
  }

  #drop(): void {
    this.#dropped += 1;
    this.#say(undefined);
  }

  #flushSoon(): void {
    if (this.#isSoon) return;
    this.#isSoon = true;
    setImmediate(() => {
      this.#isSoon = false;
      if (!this.#isClosed) this.flush();
    });
  }

  #flushIn(waitMs: number): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => this.flush(), waitMs);
    this.#timer.unref();
  }

  #clearTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #release(): void {
    try {
      this.#file?.close();
    } catch {
      // What is wrong with it has been said, or will be when it is opened again.
    }
    this.#file = undefined;
  }
}
