import { describe, expect, test } from 'bun:test';
import type { DirectoryContext } from '../../src/directory/context.ts';
import { Users } from '../../src/directory/users.ts';
import { PasswordHasher } from '../../src/security/password-hash.ts';
import type { Database } from '../../src/storage/database.ts';
import { openTestApp, type TestApp } from '../support/app.ts';
import { dialects } from '../support/database.ts';

async function passwordHash(app: TestApp, id: number): Promise<string | null | undefined> {
  const row = await app.database.read
    .selectFrom('user')
    .select('password_hash')
    .where('id', '=', id)
    .executeTakeFirst();
  return row?.password_hash;
}

describe.each(dialects())('password on %s', (dialect) => {
  test('is kept as argon2id with 19 MiB and 2 passes, and never shown', async () => {
    await using app = await openTestApp({ dialect, settings: { logBodies: 'true' } });
    const answer = await app.createUser({ userName: 'ann', password: 'Canary-71!' });
    expect(answer.status).toBe(201);
    expect(await passwordHash(app, 1)).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    const read = await app.call('GET', '/Users/1?attributes=userName,password');
    const listed = await app.call('GET', '/Users?attributes=password');
    const everything = [
      answer.text,
      read.text,
      listed.text,
      ...app.logged,
      JSON.stringify(app.requests()),
      JSON.stringify(await app.journal()),
    ];
    expect(everything.join('')).not.toContain('Canary-71!');
    expect([answer.text, read.text, listed.text].join('')).not.toContain('password');
    expect(app.requests()[0]?.body).toContain('********');
  });

  test('must meet the password strength rule', async () => {
    await using app = await openTestApp({ dialect });
    await app.configurations.setSetting('passwordStrengthRegex', '^(?=.*\\d)(?=.*[A-Z]).{8,}$');
    const weak = await app.createUser({ userName: 'ann', password: 'short' });
    expect(weak).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
    expect(weak.text).not.toContain('short');
    expect(await app.history()).toEqual([]);
    expect((await app.createUser({ userName: 'ann', password: 'LongEnough1' })).status).toBe(201);
  });

  test('is refused with the message and offset of the engine when the rule does not compile', async () => {
    await using app = await openTestApp({ dialect });
    await app.configurations.setSetting('passwordStrengthRegex', '^(abc', { force: true });
    const answer = await app.createUser({ userName: 'ann', password: 'Whatever1' });
    expect(answer).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
    expect(answer.body.detail).toMatch(/missing closing parenthesis.*offset 5/i);
    expect((await app.createUser({ userName: 'bob' })).status).toBe(201);
  });

  test('is refused as incompatible when the rule needs more steps than it may', async () => {
    await using app = await openTestApp({ dialect });
    await app.configurations.setSetting('passwordStrengthRegex', '^(a+)+$');
    const answer = await app.createUser({ userName: 'ann', password: `${'a'.repeat(60)}!` });
    expect(answer).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
    expect(answer.body.detail).toContain('incompatible');
  });

  test('is refused in a PATCH that names it, and dropped from a PUT, a match and a path-less PATCH', async () => {
    await using app = await openTestApp({ dialect });
    await app.createUser({ userName: 'ann', password: 'First-Pass1' });
    const before = await passwordHash(app, 1);
    for (const operation of [
      { op: 'replace', path: 'password', value: 'Second-Pass1' },
      { op: 'add', path: 'urn:ietf:params:scim:schemas:core:2.0:User:password', value: 'Second-Pass1' },
      { op: 'remove', path: 'password' },
    ]) {
      expect(await app.patch('/Users/1', [operation])).toMatchObject({
        status: 400,
        body: { scimType: 'mutability' },
      });
    }
    expect(
      (await app.patch('/Users/1', [{ op: 'replace', value: { password: 'Second-Pass1' } }])).status,
    ).toBe(200);
    expect((await app.call('PUT', '/Users/1', { userName: 'ann', password: 'Second-Pass1' })).status).toBe(
      200,
    );
    expect((await app.createUser({ userName: 'ann', password: 'Second-Pass1' })).status).toBe(200);
    expect(await passwordHash(app, 1)).toBe(before);
    expect(await app.history()).toEqual(['User 1 create']);
    const dropped = app.logged.filter((line) => /"ignored":\[\{[^}]*"reason":"password"/.test(line));
    expect(dropped).toHaveLength(3);
    expect(app.logged.join('')).not.toContain('Second-Pass1');
  });

  test('is forgotten when the user is archived', async () => {
    await using app = await openTestApp({ dialect });
    await app.createUser({ userName: 'ann', password: 'First-Pass1' });
    await app.call('DELETE', '/Users/1');
    expect(await passwordHash(app, 1)).toBeNull();
  });

  test('is checked and hashed after all when the match is gone before the write', async () => {
    await using app = await openTestApp({ dialect });
    await app.configurations.setSetting('passwordStrengthRegex', '^.{8,}$');
    const context: DirectoryContext = {
      actor: { kind: 'system', id: null },
      sourceId: null,
      scope: 'all',
      unknownReferences: 'reject',
      requestId: null,
      runId: null,
      configuration: await app.configurations.current(),
      now: '2030-01-01T00:00:00.000Z',
    };
    const { database } = app;
    let archiving = 0;
    const racing: Database = {
      dialect: database.dialect,
      read: database.read,
      migrator: database.migrator,
      async write(work) {
        if (archiving > 0) await app.people.delete(context, archiving);
        archiving = 0;
        return database.write(work);
      },
      writeStep: (work) => database.writeStep(work),
      isAwaited: () => database.isAwaited(),
      lendTurn: (hold) => database.lendTurn(hold),
      close: () => database.close(),
    };
    const people = new Users(racing, new PasswordHasher());
    await app.createUser({ userName: 'ann' });
    archiving = 1;
    const weak = people.create(context, { userName: 'ann', password: 'short' }, 'merge');
    expect(await weak.catch((error: unknown) => error)).toMatchObject({ kind: 'invalidValue' });
    await app.createUser({ userName: 'ann' });
    archiving = 2;
    const made = await people.create(context, { userName: 'ann', password: 'Long-Enough-1' }, 'merge');
    expect(made.outcome).toBe('created');
    expect(await passwordHash(app, made.resource.id)).toStartWith('$argon2id$');
  });

  test('is no question to ask', async () => {
    await using app = await openTestApp({ dialect });
    for (const filter of ['password eq "a"', 'password pr', 'password sw "a"', 'emails[password eq "a"]']) {
      expect(await app.find('/Users', filter)).toMatchObject({
        status: 400,
        body: { scimType: 'invalidFilter' },
      });
    }
  });
});
