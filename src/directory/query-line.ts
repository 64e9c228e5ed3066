import { DomainError } from '../errors.ts';

const waitingMax = 256;
/** More than come within two seconds from a source that sends no more than every source may. */
const waitingPerSourceMax = 64;

/** Runs one bounded piece of a walk when its turn has come. */
export type Window = <T>(work: () => Promise<T>) => Promise<T>;

interface Place {
  last: Promise<unknown>;
  waiting: number;
}

/**
 * Lets what looks at many rows run in pieces, one piece at a time, with other requests in between: a statement holds the
 * thread while it runs. Each source has one walk under way, so that the pieces of different sources alternate and none
 * waits for more than one of another. One whose client has gone goes no further.
 */
export class QueryLine {
  readonly #places = new Map<number | null, Place>();
  #waiting = 0;
  #lastWindow: Promise<unknown> = Promise.resolve();

  /** Throws `unavailable` when too many wait already: a source that keeps to its rate is not told that it sends too fast. */
  async run<T>(
    sourceId: number | null,
    signal: AbortSignal | undefined,
    walk: (window: Window) => Promise<T>,
  ): Promise<T> {
    const place = this.#enter(sourceId);
    const turn = place.last.then(() => {
      signal?.throwIfAborted();
      return walk((work) => this.#window(signal, work));
    });
    place.last = turn.catch(() => undefined);
    try {
      return await turn;
    } finally {
      place.waiting -= 1;
      this.#waiting -= 1;
      if (place.waiting === 0) this.#places.delete(sourceId);
    }
  }

  #enter(sourceId: number | null): Place {
    const place = this.#places.get(sourceId) ?? { last: Promise.resolve(), waiting: 0 };
    if (place.waiting >= waitingPerSourceMax) {
      const detail =
        'The source has too many queries waiting that look at many resources; send the request again later.';
      throw new DomainError('unavailable', detail, { retryAfterSeconds: 2 });
    }
    if (this.#waiting >= waitingMax) {
      const detail =
        'Too many queries that look at many resources are waiting; send the request again later.';
      throw new DomainError('unavailable', detail, { retryAfterSeconds: 2 });
    }
    this.#places.set(sourceId, place);
    place.waiting += 1;
    this.#waiting += 1;
    return place;
  }

  #window<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    const turn = this.#lastWindow.then(async () => {
      signal?.throwIfAborted();
      const result = await work();
      await breathe();
      return result;
    });
    this.#lastWindow = turn.catch(() => undefined);
    return turn;
  }
}

/** Lets what else is waiting on this thread run first. */
export function breathe(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
