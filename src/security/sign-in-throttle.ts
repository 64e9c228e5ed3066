import { DomainError } from '../errors.ts';

const freeFailures = 5;
const delayMsMax = 5 * 60_000;
const forgetMs = 60 * 60_000;
const namesMax = 10_000;
const windowMs = 60_000;
const attemptsPerWindowMax = 120;
const attemptsPerNetworkMax = 20;
const networksMax = 10_000;

/** Milliseconds since any moment. Never goes back: a clock that is set must not lengthen a delay. */
export type ElapsedMs = () => number;

interface Failures {
  count: number;
  lastMs: number;
  untilMs: number;
}

/** Attempts since `startMs`, which are forgotten after `windowMs`. */
interface Window {
  startMs: number;
  attempts: number;
}

/**
 * Slows the guessing of passwords: from the fifth failure in a row a name waits 1, 2, 4 … seconds, at most five
 * minutes, and an hour without attempts forgets it all, so nobody is locked out for good. All names together have a
 * number of attempts a minute, because each costs a password hash; a client's address may use up only a part of it.
 */
export class SignInThrottle {
  readonly #elapsedMs: ElapsedMs;
  /** In the order of the last attempt. */
  readonly #names = new Map<string, Failures>();
  /** In the order in which their windows began. */
  readonly #networks = new Map<string, Window>();
  readonly #all: Window = { startMs: 0, attempts: 0 };

  constructor(elapsedMs: ElapsedMs) {
    this.#elapsedMs = elapsedMs;
  }

  /** Counts an attempt, as failed until it succeeds: many at once gain nothing. Throws `limitExceeded`. */
  enter(nameKey: string, clientAddress: string): void {
    const nowMs = this.#elapsedMs();
    const known = this.#names.get(nameKey);
    const earlier = known !== undefined && nowMs - known.lastMs < forgetMs ? known : undefined;
    if (earlier !== undefined && nowMs < earlier.untilMs) throw tooMany(earlier.untilMs - nowMs);
    enterWindow(this.#networkWindow(networkOf(clientAddress), nowMs), attemptsPerNetworkMax, nowMs);
    enterWindow(this.#all, attemptsPerWindowMax, nowMs);
    const count = (earlier?.count ?? 0) + 1;
    this.#keep(nameKey, { count, lastMs: nowMs, untilMs: nowMs + delayAfter(count) });
  }

  succeeded(nameKey: string): void {
    this.#names.delete(nameKey);
  }

  #networkWindow(network: string, nowMs: number): Window {
    const known = this.#networks.get(network);
    if (known !== undefined && nowMs - known.startMs < windowMs) return known;
    const begun: Window = { startMs: nowMs, attempts: 0 };
    this.#networks.delete(network);
    const [oldest] = this.#networks.keys();
    if (this.#networks.size >= networksMax && oldest !== undefined) this.#networks.delete(oldest);
    this.#networks.set(network, begun);
    return begun;
  }

  #keep(nameKey: string, failures: Failures): void {
    this.#names.delete(nameKey);
    const [oldest] = this.#names.keys();
    if (this.#names.size >= namesMax && oldest !== undefined) this.#names.delete(oldest);
    this.#names.set(nameKey, failures);
  }
}

function enterWindow(window: Window, attemptsMax: number, nowMs: number): void {
  if (nowMs - window.startMs >= windowMs) {
    window.startMs = nowMs;
    window.attempts = 0;
  }
  if (window.attempts >= attemptsMax) throw tooMany(window.startMs + windowMs - nowMs);
  window.attempts += 1;
}

/** An IPv6 client has a network of 64 bits to choose its addresses from (RFC 6177), so that network is counted. */
function networkOf(address: string): string {
  const plain = address
    .toLowerCase()
    .replace(/^::ffff:(?=\d+\.)/, '')
    .replace(/%.*$/, '');
  if (!plain.includes(':')) return plain;
  const [head = '', tail] = plain.split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - first.length - last.length);
  return [...first, ...Array<string>(zeros).fill('0'), ...last].slice(0, 4).join(':');
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
