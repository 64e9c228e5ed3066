import { describe, expect, test } from 'bun:test';
import { DomainError } from '../../src/errors.ts';
import { Invitations, invitationLink } from '../../src/security/invitations.ts';
import { dialects, openTestDatabase } from '../support/database.ts';

const hourMs = 60 * 60 * 1_000;

describe.each(dialects())('Invitations on %s', (dialect) => {
  async function open() {
    const { database, ...rest } = await openTestDatabase(dialect);
    const now = { ms: Date.parse('2026-01-02T03:04:05.678Z') };
    const invitations = new Invitations({ database, clock: () => new Date(now.ms) });
    return { database, now, invitations, [Symbol.asyncDispose]: rest[Symbol.asyncDispose] };
  }

  async function kindOf(work: Promise<unknown>): Promise<string> {
    return work.then(
      () => 'none',
      (error: unknown) => (error instanceof DomainError ? error.kind : String(error)),
    );
  }

  test('issues a token that opens the invitation for 24 hours', async () => {
    await using place = await open();
    const { token, expires } = await place.invitations.issue(' Ann ');
    expect(expires).toBe('2026-01-03T03:04:05.678Z');
    expect(await place.invitations.get(token)).toMatchObject({ name: 'Ann', accepted: null });
    place.now.ms += 24 * hourMs;
    expect(await kindOf(place.invitations.get(token))).toBe('unauthenticated');
    expect(await kindOf(place.database.write((tx) => place.invitations.accept(tx, token)))).toBe(
      'unauthenticated',
    );
  });

  test('lets a token be used once', async () => {
    await using place = await open();
    const { token } = await place.invitations.issue('Ann');
    const accept = () => place.database.write((tx) => place.invitations.accept(tx, token));
    expect((await Promise.all([kindOf(accept()), kindOf(accept())])).toSorted()).toEqual([
      'none',
      'unauthenticated',
    ]);
    expect(await kindOf(place.invitations.get(token))).toBe('unauthenticated');
  });

  test('takes no token that it has not issued', async () => {
    await using place = await open();
    const { token } = await place.invitations.issue('Ann');
    for (const other of ['', token.slice(0, -1), token.replace('invite', 'scim'), `${token}x`]) {
      expect(await kindOf(place.invitations.get(other))).toBe('unauthenticated');
    }
  });

  test('issues one invitation to set a new installation up, and another when that has expired', async () => {
    await using place = await open();
    expect(await place.invitations.issueForSetUp()).toBeDefined();
    expect(await place.invitations.issueForSetUp()).toBeUndefined();
    place.now.ms += 24 * hourMs;
    expect(await place.invitations.issueForSetUp()).toBeDefined();
  });

  test('issues no invitation to set up where there is an administrator', async () => {
    await using place = await open();
    await place.database.write((tx) =>
      tx
        .insertInto('admin_account')
        .values({ name: 'Ann', name_key: 'ann', password_hash: 'x', created: '2026-01-01T00:00:00.000Z' })
        .execute(),
    );
    expect(await place.invitations.issueForSetUp()).toBeUndefined();
  });
});

describe('invitationLink', () => {
  test('keeps the token out of what a browser sends', () => {
    const url = new URL(invitationLink('https://id.example/people', { token: 'secret' }));
    expect(url.pathname + url.search).toBe('/people/console/');
    expect(url.hash).toBe('#invite=secret');
  });
});
