import type { Clock } from '../clock.ts';
import { DomainError } from '../errors.ts';

const inFlightPerSourceMax = 256;
const inFlightMax = 2_048;
const bucketsMax = 10_000;

interface Bucket {
  tokens: number;
  refilledMs: number;
  inFlight: number;
}

/**
 * Requests a second and at once, for each source: a token bucket that holds two seconds' worth. An identity provider
 * reads 429 with Retry-After as "later" and anything else as an error, so nothing else is ever answered here.
 */
export class RequestLimits {
  readonly #clock: Clock;
  readonly #buckets = new Map<number, Bucket>();
  #inFlight = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes a place; call the result when the request is answered. Throws `limitExceeded` or `unavailable`. */
  enter(sourceId: number, ratePerSecond: number): () => void {
    if (this.#inFlight >= inFlightMax) {
      throw new DomainError('unavailable', 'The service has too many requests under way; retry.', {
        retryAfterSeconds: 1,
      });
    }
    const bucket = this.#bucket(sourceId);
    if (bucket.inFlight >= inFlightPerSourceMax) throw tooFast(1);
    this.#take(bucket, ratePerSecond);
    bucket.inFlight += 1;
    this.#inFlight += 1;
    return () => {
      bucket.inFlight -= 1;
      this.#inFlight -= 1;
    };
  }

  /** Takes the places of further requests without asking: what is missing is waited for by those that come next. */
  charge(sourceId: number, requests: number): void {
    this.#bucket(sourceId).tokens -= requests;
  }

  #take(bucket: Bucket, ratePerSecond: number): void {
    if (ratePerSecond <= 0) {
      // Full again, should the source be given a limit later.
      bucket.tokens = Number.POSITIVE_INFINITY;
      return;
    }
    const nowMs = this.#clock().getTime();
    const elapsedMs = Math.max(0, nowMs - bucket.refilledMs);
    bucket.tokens = Math.min(2 * ratePerSecond, bucket.tokens + (elapsedMs / 1_000) * ratePerSecond);
    bucket.refilledMs = nowMs;
    if (bucket.tokens < 1) throw tooFast(Math.ceil((1 - bucket.tokens) / ratePerSecond));
    bucket.tokens -= 1;
  }

  #bucket(sourceId: number): Bucket {
    const known = this.#buckets.get(sourceId);
    if (known !== undefined) return known;
    if (this.#buckets.size >= bucketsMax) this.#buckets.clear();
    const bucket = { tokens: Number.POSITIVE_INFINITY, refilledMs: this.#clock().getTime(), inFlight: 0 };
    this.#buckets.set(sourceId, bucket);
    return bucket;
  }
}

function tooFast(retryAfterSeconds: number): DomainError {
  return new DomainError(
    'limitExceeded',
    'The source sends requests faster than it may; slow down and retry.',
    {
      retryAfterSeconds: Math.max(1, retryAfterSeconds),
    },
  );
}
