import type { Clock } from '../clock.ts';
import { DomainError } from '../errors.ts';

const freeFailures = 5;
const delayMsMax = 5 * 60_000;
const forgetMs = 60 * 60_000;
const namesMax = 10_000;
const windowMs = 60_000;
const attemptsPerWindowMax = 120;

interface Failures {
  count: number;
  lastMs: number;
  untilMs: number;
}

/**
 * Slows the guessing of passwords: from the fifth failure in a row a name waits 1, 2, 4 … seconds, at most five
 * minutes, and an hour without attempts forgets it all, so nobody is locked out for good. All names together have a
 * number of attempts a minute, because each costs a password hash.
 */
export class SignInThrottle {
  readonly #clock: Clock;
  /** In the order of the last attempt. */
  readonly #names = new Map<string, Failures>();
  #windowStartMs = 0;
  #attempts = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts an attempt, as failed until it succeeds: many at once gain nothing. Throws `limitExceeded`. */
  enter(nameKey: string): void {
    const nowMs = this.#clock().getTime();
    const known = this.#names.get(nameKey);
    const earlier = known !== undefined && nowMs - known.lastMs < forgetMs ? known : undefined;
    if (earlier !== undefined && nowMs < earlier.untilMs) throw tooMany(earlier.untilMs - nowMs);
    this.#enterWindow(nowMs);
    const count = (earlier?.count ?? 0) + 1;
    this.#keep(nameKey, { count, lastMs: nowMs, untilMs: nowMs + delayAfter(count) });
  }

  succeeded(nameKey: string): void {
    this.#names.delete(nameKey);
  }

  #enterWindow(nowMs: number): void {
    if (nowMs - this.#windowStartMs >= windowMs) {
      this.#windowStartMs = nowMs;
      this.#attempts = 0;
    }
    if (this.#attempts >= attemptsPerWindowMax) throw tooMany(this.#windowStartMs + windowMs - nowMs);
    this.#attempts += 1;
  }

  #keep(nameKey: string, failures: Failures): void {
    this.#names.delete(nameKey);
    const [oldest] = this.#names.keys();
    if (this.#names.size >= namesMax && oldest !== undefined) this.#names.delete(oldest);
    this.#names.set(nameKey, failures);
  }
}

function delayAfter(count: number): number {
  return count < freeFailures ? 0 : Math.min(delayMsMax, 1_000 * 2 ** (count - freeFailures));
}

function tooMany(waitMs: number): DomainError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000));
  const wait = seconds === 1 ? 'one second' : `${seconds} seconds`;
  return new DomainError('limitExceeded', `There were too many attempts to sign in; try again in ${wait}.`, {
    retryAfterSeconds: seconds,
  });
}
