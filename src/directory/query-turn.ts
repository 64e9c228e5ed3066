import { DomainError } from '../errors.ts';

const waitingMax = 64;

/**
 * Lets filters that no unique index answers run one after another, with other requests in between: a statement holds
 * the thread while it runs. One whose client has gone is not run at all.
 */
export class QueryTurn {
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** Throws `limitExceeded` when too many wait already. */
  async run<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    if (this.#waiting >= waitingMax) {
      const detail = 'Too many filters are being evaluated at once; send the request again later.';
      throw new DomainError('limitExceeded', detail, { retryAfterSeconds: 1 });
    }
    this.#waiting += 1;
    const turn = this.#last.then(async () => {
      this.#waiting -= 1;
      signal?.throwIfAborted();
      const result = await work();
      await new Promise<void>((resolve) => setImmediate(resolve));
      return result;
    });
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}
