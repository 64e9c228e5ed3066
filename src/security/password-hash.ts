import { DomainError } from '../errors.ts';

const options = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const;
const runningMax = 2;
const waitingMax = 64;

/** argon2id (19 MiB, 2 passes) off the request thread, a few at a time: a flood of passwords must not take the CPU. */
export class PasswordHasher {
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  hash(password: string): Promise<string> {
    return this.#inTurn(() => Bun.password.hash(password, options));
  }

  verify(password: string, hash: string): Promise<boolean> {
    return this.#inTurn(() => Bun.password.verify(password, hash));
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running < runningMax) this.#running += 1;
    else await this.#place();
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }

  /** Resolves when a running hash hands its place over. */
  #place(): Promise<void> {
    if (this.#waiting.length >= waitingMax) {
      throw new DomainError(
        'unavailable',
        'Too many passwords are being set at once; send the request again.',
        {
          retryAfterSeconds: 5,
        },
      );
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
