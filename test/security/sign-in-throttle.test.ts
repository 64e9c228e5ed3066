import { describe, expect, test } from 'bun:test';
import { DomainError } from '../../src/errors.ts';
import { Accounts } from '../../src/security/accounts.ts';
import { Invitations } from '../../src/security/invitations.ts';
import { PasswordHasher } from '../../src/security/password-hash.ts';
import { Sessions } from '../../src/security/sessions.ts';
import { SignInThrottle } from '../../src/security/sign-in-throttle.ts';
import { type TestClock, testClock } from '../support/app.ts';
import { openTestDatabase } from '../support/database.ts';

function throttleOf(clock: TestClock): SignInThrottle {
  return new SignInThrottle(() => clock().getTime());
}

/** How many of these attempts, each for another name, are let in. */
function letIn(throttle: SignInThrottle, addresses: readonly string[]): number {
  return addresses.filter((address) => waitFor(throttle, crypto.randomUUID(), address) === undefined).length;
}

/** Seconds to wait; undefined when the attempt is let in. */
function waitFor(throttle: SignInThrottle, name: string, address = '192.0.2.1'): number | undefined {
  try {
    throttle.enter(name, address);
    return undefined;
  } catch (error) {
    if (error instanceof DomainError && error.kind === 'limitExceeded') return error.retryAfterSeconds;
    throw error;
  }
}

describe('SignInThrottle', () => {
  test('gives one address twenty attempts a minute, and leaves the rest to others', () => {
    const clock = testClock();
    const throttle = throttleOf(clock);
    expect(letIn(throttle, Array<string>(500).fill('192.0.2.1'))).toBe(20);
    expect(letIn(throttle, Array<string>(500).fill('::ffff:192.0.2.1'))).toBe(0);
    expect(letIn(throttle, ['192.0.2.2'])).toBe(1);
    clock.advance(60);
    expect(letIn(throttle, Array<string>(500).fill('192.0.2.1'))).toBe(20);
  });

  test('counts an IPv6 network as one address', () => {
    const throttle = throttleOf(testClock());
    const addresses = Array.from({ length: 50 }, (_, index) => `2001:db8::${index.toString(16)}`);
    expect(letIn(throttle, addresses)).toBe(20);
    expect(letIn(throttle, ['2001:db8:0:0:1:2:3:4'])).toBe(0);
    expect(letIn(throttle, ['2001:db8:0:1::1'])).toBe(1);
  });

  test('gives all addresses together 120 attempts a minute', () => {
    const throttle = throttleOf(testClock());
    const addresses = Array.from({ length: 200 }, (_, index) => `192.0.2.${index}`);
    expect(letIn(throttle, addresses)).toBe(120);
  });

  test('measures a delay by the time that has passed', () => {
    const clock = testClock();
    const throttle = throttleOf(clock);
    for (let index = 0; index < 6; index += 1) {
      expect(waitFor(throttle, 'ann')).toBe(index < 5 ? undefined : 1);
    }
    clock.advance(1);
    expect(waitFor(throttle, 'ann')).toBeUndefined();
  });
});

describe('Accounts', () => {
  test('lengthens no delay when the time of day is set back an hour', async () => {
    await using place = await openTestDatabase('sqlite');
    const { database } = place;
    const [clock, elapsed] = [testClock(), testClock()];
    const accounts = new Accounts({
      database,
      clock,
      passwords: new PasswordHasher(),
      invitations: new Invitations({ database, clock }),
      sessions: new Sessions({ database, clock }),
      elapsedMs: () => elapsed().getTime(),
    });
    const attempt = async () =>
      accounts
        .signIn({ name: 'ann', password: 'wrong', clientAddress: '192.0.2.1' })
        .catch((error: DomainError) => error.kind);
    const kinds: unknown[] = [];
    for (let index = 0; index < 6; index += 1) kinds.push(await attempt());
    expect(kinds).toEqual([...Array<string>(5).fill('unauthenticated'), 'limitExceeded']);
    clock.advance(-3_600);
    elapsed.advance(1);
    expect(await attempt()).toBe('unauthenticated');
  });
});
