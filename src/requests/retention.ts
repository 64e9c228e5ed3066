import type { Log } from '../log.ts';
import type { RetentionLimits } from './record.ts';
import type { RequestLog } from './request-log.ts';

const defaultLookMs = 60_000;
const defaultPauseMs = 50;

export interface RetentionParts {
  readonly requests: RequestLog;
  readonly limits: () => Promise<RetentionLimits>;
  readonly log: Log;
  /** Between two pieces: the requests that came meanwhile go first. */
  readonly pauseMs?: number;
  /** Between two looks. */
  readonly lookMs?: number;
}

/** Looks now and then for what is too old or too much, and removes it in small pieces. */
export class Retention {
  readonly #parts: RetentionParts;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(parts: RetentionParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#timer = setTimeout(() => this.#round(), this.#parts.lookMs ?? defaultLookMs);
    this.#timer.unref();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  async #round(): Promise<void> {
    // A database that is away for a moment must not end the rounds.
    await this.prune().catch((error: unknown) => {
      this.#parts.log.warn({ err: error }, 'the request log could not be pruned; it is tried again later');
    });
    if (!this.#isStopped) this.start();
  }

  /** Prunes until nothing is left to prune, or it is told to stop. */
  async prune(): Promise<void> {
    const limits = await this.#parts.limits();
    while (!this.#isStopped && this.#parts.requests.prunePiece(limits)) {
      await Bun.sleep(this.#parts.pauseMs ?? defaultPauseMs);
    }
  }
}
