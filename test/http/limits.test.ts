import { describe, expect, test } from 'bun:test';
import { DomainError } from '../../src/errors.ts';
import { RequestLimits } from '../../src/http/limits.ts';
import { testClock } from '../support/app.ts';

function refusal(act: () => unknown): DomainError | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
}

/** How many of `count` requests pass, each answered at once. */
function passing(
  limits: RequestLimits,
  source: number,
  { count, rate }: { count: number; rate: number },
): number {
  let passed = 0;
  for (let number = 0; number < count; number += 1) {
    const refused = refusal(() => {
      limits.enter(source, rate)();
    });
    if (refused === undefined) passed += 1;
  }
  return passed;
}

describe('RequestLimits.enter', () => {
  test('lets a burst of two seconds pass, then as many a second as it may', () => {
    const clock = testClock();
    const limits = new RequestLimits(clock);
    expect(passing(limits, 1, { count: 100, rate: 25 })).toBe(50);
    clock.advance(1);
    expect(passing(limits, 1, { count: 100, rate: 25 })).toBe(25);
    clock.advance(60);
    expect(passing(limits, 1, { count: 100, rate: 25 })).toBe(50);
  });

  test('never refuses a client that keeps to the rate', () => {
    const clock = testClock();
    const limits = new RequestLimits(clock);
    for (let number = 0; number < 2_000; number += 1) {
      expect(passing(limits, 1, { count: 1, rate: 25 })).toBe(1);
      clock.advance(1 / 25);
    }
  });

  test('says when to come back', () => {
    const limits = new RequestLimits(testClock());
    passing(limits, 1, { count: 50, rate: 25 });
    expect(refusal(() => limits.enter(1, 25))).toMatchObject({ kind: 'limitExceeded', retryAfterSeconds: 1 });
  });

  test('counts each source by itself', () => {
    const limits = new RequestLimits(testClock());
    passing(limits, 1, { count: 100, rate: 25 });
    expect(passing(limits, 2, { count: 1, rate: 25 })).toBe(1);
  });

  test('does not count for a source without a limit', () => {
    const limits = new RequestLimits(testClock());
    expect(passing(limits, 1, { count: 5_000, rate: 0 })).toBe(5_000);
  });

  test('serves a source at once when it is given a limit later', () => {
    const limits = new RequestLimits(testClock());
    passing(limits, 1, { count: 1, rate: 0 });
    expect(passing(limits, 1, { count: 1, rate: 25 })).toBe(1);
  });

  test('lets at most 256 requests of a source be under way, and gives places back once each', () => {
    const limits = new RequestLimits(testClock());
    const leave = Array.from({ length: 256 }, () => limits.enter(1, 0));
    expect(refusal(() => limits.enter(1, 0))).toMatchObject({ kind: 'limitExceeded' });
    expect(refusal(() => limits.enter(2, 0))).toBeUndefined();
    leave[0]?.();
    expect(refusal(() => limits.enter(1, 0))).toBeUndefined();
    expect(refusal(() => limits.enter(1, 0))).toMatchObject({ kind: 'limitExceeded' });
  });

  test('lets at most 2,048 requests be under way together', () => {
    const limits = new RequestLimits(testClock());
    for (let source = 1; source <= 8; source += 1)
      for (let number = 0; number < 256; number += 1) limits.enter(source, 0);
    expect(refusal(() => limits.enter(9, 0))).toMatchObject({ kind: 'unavailable', retryAfterSeconds: 1 });
  });
});

describe('RequestLimits.charge', () => {
  test('takes more than is there, and those who come next wait until it is paid', () => {
    const clock = testClock();
    const limits = new RequestLimits(clock);
    expect(passing(limits, 1, { count: 1, rate: 25 })).toBe(1);
    limits.charge(1, 999);
    expect(refusal(() => limits.enter(1, 25))).toMatchObject({
      kind: 'limitExceeded',
      retryAfterSeconds: 39,
    });
    expect(passing(limits, 2, { count: 100, rate: 25 })).toBe(50);
    clock.advance(38);
    expect(passing(limits, 1, { count: 100, rate: 25 })).toBe(0);
    clock.advance(1);
    // 50 tokens, 1,000 requests, and 25 tokens for each of 39 seconds.
    expect(passing(limits, 1, { count: 100, rate: 25 })).toBe(25);
  });

  test('costs nothing where there is no limit', () => {
    const limits = new RequestLimits(testClock());
    limits.charge(1, 1_000);
    expect(passing(limits, 1, { count: 100, rate: 0 })).toBe(100);
  });
});
