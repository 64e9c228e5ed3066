import { DomainError } from '../../errors.ts';

/** A Bulk is held in memory for as long as it takes. */
const runningPerSourceMax = 4;
/** More than come within a second from a source that sends no more than every source may. */
const waitingPerSourceMax = 32;

interface Line {
  running: number;
  readonly waiting: (() => void)[];
}

/** Lets so many Bulks of each source run at a time; further ones wait for their turn, in order. */
export class BulkTurns {
  readonly #lines = new Map<number, Line>();

  /** Resolves when the turn has come; call the result at its end. Throws `limitExceeded` when too many wait. */
  async enter(sourceId: number): Promise<() => void> {
    const line = this.#lines.get(sourceId) ?? { running: 0, waiting: [] };
    this.#lines.set(sourceId, line);
    if (line.running < runningPerSourceMax) line.running += 1;
    else await waitIn(line);
    return () => this.#leave(sourceId, line);
  }

  /** The place goes to whoever waits for it, and so is never free in between. */
  #leave(sourceId: number, line: Line): void {
    const next = line.waiting.shift();
    if (next !== undefined) {
      next();
      return;
    }
    line.running -= 1;
    if (line.running === 0) this.#lines.delete(sourceId);
  }
}

function waitIn({ running, waiting }: Line): Promise<void> {
  if (waiting.length < waitingPerSourceMax) return new Promise((resolve) => waiting.push(resolve));
  const detail = `The source has ${running} Bulk requests under way and ${waiting.length} that wait; send the next one when one of them is answered.`;
  throw new DomainError('limitExceeded', detail, { retryAfterSeconds: 1 });
}
