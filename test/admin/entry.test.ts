import { describe, expect, test } from 'bun:test';
import { decoyHash } from '../../src/security/accounts.ts';
import { PasswordHasher } from '../../src/security/password-hash.ts';
import { dialects } from '../support/database.ts';
import { adminName, adminPassword, cookieOf, openAdminApp } from './support.ts';

const credentials = { name: adminName, password: adminPassword };

describe.each(dialects())('POST /entry/accept on %s', (dialect) => {
  test('makes one account, signed in, from one link', async () => {
    await using app = await openAdminApp({ dialect });
    const { token } = await app.invitations.issue('Ann');
    const look = await app.call('/entry/invitation', { token });
    expect(look.body).toEqual({ name: 'Ann', expires: '2030-01-02T00:00:00.000Z' });

    const accepted = await app.call('/entry/accept', { token, ...credentials });
    expect([accepted.status, accepted.body]).toEqual([201, { id: 1, name: adminName }]);
    expect(accepted.headers.get('set-cookie')).toMatch(
      /^rollcall=rollcall_session_[\w-]{43}[0-9a-z]{7}; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    const me = await app.call('/me', undefined, { cookie: cookieOf(accepted) });
    expect(me.body).toEqual({ id: 1, name: adminName, sessionExpires: '2030-01-01T00:30:00.000Z' });
    expect((await app.call('/entry/accept', { token, ...credentials, name: 'Eve' })).status).toBe(401);
  });

  test('makes one account when twenty browsers use the link at once', async () => {
    await using app = await openAdminApp({ dialect });
    const { token } = await app.invitations.issue('Ann');
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        app.call('/entry/accept', { token, ...credentials, name: `Admin ${index}` }),
      ),
    );
    const statuses = answers.map(({ status }) => status).toSorted();
    expect(statuses).toEqual([201, ...Array<number>(19).fill(401)]);
    expect(await app.count('admin_account')).toBe(1);
    expect(await app.count('session')).toBe(1);
  });

  test('refuses a link that has expired, was mistyped or never was, alike', async () => {
    await using app = await openAdminApp({ dialect });
    const { token } = await app.invitations.issue('Ann');
    const other = token.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    app.clock.advance(24 * 60 * 60);
    const answers = [];
    for (const tried of [token, other, 'rollcall'])
      answers.push(await app.call('/entry/accept', { token: tried, ...credentials }));
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(await app.count('admin_account')).toBe(0);
  });

  test('leaves the link good after a name that is taken or a password that will not do', async () => {
    await using app = await openAdminApp({ dialect });
    await app.setUp();
    const { token } = await app.invitations.issue('Bob');
    const tries = [
      { name: ' ANN lee ', password: adminPassword },
      { name: 'Bob', password: 'eleven char' },
      { name: 'Bob', password: '€'.repeat(342) },
      { name: 'B\u0007b', password: adminPassword },
    ];
    const statuses = [];
    for (const tried of tries) statuses.push((await app.call('/entry/accept', { token, ...tried })).status);
    expect(statuses).toEqual([409, 400, 400, 400]);
    const accepted = await app.call('/entry/accept', { token, name: 'Bob', password: 'twelve chars' });
    expect(accepted.status).toBe(201);
  });
});

describe.each(dialects())('POST /entry/sign-in on %s', (dialect) => {
  test('opens a session under a new token and ends the one the browser had', async () => {
    await using app = await openAdminApp({ dialect });
    const first = await app.setUp();
    const signedIn = await app.signIn(adminPassword, { cookie: first });
    expect(signedIn.status).toBe(200);
    expect(cookieOf(signedIn)).not.toBe(first);
    expect(await app.statusOfMe(cookieOf(signedIn))).toBe(200);
    expect(await app.statusOfMe(first)).toBe(401);
  });

  test('takes no token that a client brings', async () => {
    await using app = await openAdminApp({ dialect });
    await app.setUp();
    const planted = `rollcall=rollcall_session_${'A'.repeat(43)}0000000`;
    const signedIn = await app.signIn(adminPassword, { cookie: planted });
    expect(cookieOf(signedIn)).not.toBe(planted);
    expect(await app.statusOfMe(planted)).toBe(401);
  });

  test('finds the account by its name in any case and any composition', async () => {
    await using app = await openAdminApp({ dialect });
    await app.setUp('Zoë');
    expect((await app.signIn(adminPassword, {}, 'ZOE\u0308 ')).status).toBe(200);
  });

  test('keeps the twenty newest sessions of an account', async () => {
    await using app = await openAdminApp({ dialect });
    const first = await app.setUp();
    for (let index = 0; index < 20; index += 1) {
      app.clock.advance(1);
      await app.signIn();
    }
    expect(await app.count('session')).toBe(20);
    expect(await app.statusOfMe(first)).toBe(401);
  });
});

describe('POST /entry/sign-in', () => {
  test('answers a name that does not exist as it does a wrong password', async () => {
    await using app = await openAdminApp();
    await app.setUp();
    const wrong = await app.signIn('not the password');
    const unknown = await app.signIn('not the password', {}, 'Nobody');
    expect([unknown.status, unknown.text]).toEqual([wrong.status, wrong.text]);
    expect(wrong.status).toBe(401);
    expect([wrong.headers.get('set-cookie'), unknown.headers.get('set-cookie')]).toEqual([null, null]);
  });

  test('makes a name that does not exist cost a hash with the parameters of a real one', async () => {
    const parametersOf = (hash: string) => hash.split('$').slice(0, 4);
    expect(parametersOf(decoyHash)).toEqual(parametersOf(await new PasswordHasher().hash('any')));
  });

  test('delays the sixth attempt and each after it longer, then lets the right password in', async () => {
    await using app = await openAdminApp();
    await app.setUp();
    const waits: (string | null)[] = [];
    for (let index = 0; index < 5; index += 1) expect((await app.signIn('wrong')).status).toBe(401);
    for (let index = 0; index < 3; index += 1) {
      const delayed = await app.signIn();
      expect(delayed.status).toBe(429);
      waits.push(delayed.headers.get('retry-after'));
      app.clock.advance(Number(waits.at(-1)));
      expect((await app.signIn('wrong')).status).toBe(401);
    }
    expect(waits).toEqual(['1', '2', '4']);
    app.clock.advance(8);
    expect((await app.signIn()).status).toBe(200);
    expect((await app.signIn('wrong')).status).toBe(401);
    expect((await app.signIn()).status).toBe(200);
  });

  test('never makes a name wait longer than five minutes', async () => {
    await using app = await openAdminApp();
    await app.setUp();
    for (let index = 0; index < 20; index += 1) {
      await app.signIn('wrong');
      app.clock.advance(5 * 60);
    }
    expect((await app.signIn()).status).toBe(200);
  });

  test('counts guesses that are sent at once', async () => {
    await using app = await openAdminApp();
    await app.setUp();
    const answers = await Promise.all(Array.from({ length: 30 }, () => app.signIn('wrong')));
    expect(answers.filter(({ status }) => status === 401).length).toBe(5);
    expect(answers.filter(({ status }) => status === 429).length).toBe(25);
  });
});
