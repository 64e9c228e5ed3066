import { describe, expect, test } from 'bun:test';
import { toErrorResponse } from '../../src/admin/errors.ts';
import { DomainError, errorKinds } from '../../src/errors.ts';
import { insertRun } from '../../src/imports/run-store.ts';
import { dialects } from '../support/database.ts';
import { adminPassword, cookieOf, openAdminApp } from './support.ts';

describe('a change from another site', () => {
  const refused: readonly (readonly [what: string, headers: Record<string, string>, status: number])[] = [
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, 415],
    ['a form with a file', { 'content-type': 'multipart/form-data; boundary=x' }, 415],
    ['plain text', { 'content-type': 'text/plain' }, 415],
    ['JSON hidden in a parameter', { 'content-type': 'text/plain; a=application/json' }, 415],
    ['no type', { 'content-type': '' }, 415],
    ['no custom header', { 'x-rollcall': '' }, 403],
    ['another site', { 'sec-fetch-site': 'cross-site' }, 403],
    ['another name of the same site', { 'sec-fetch-site': 'same-site' }, 403],
    ['another origin', { origin: 'https://evil.example.com' }, 403],
    ['another port', { origin: 'http://127.0.0.1:1' }, 403],
    ['an opaque origin', { origin: 'null' }, 403],
  ];

  test.each(refused)('is refused: %s', async (_what, headers, status) => {
    await using app = await openAdminApp();
    const cookie = await app.setUp();
    const answers = [
      await app.call('/session/sign-out', {}, { cookie, headers }),
      await app.signIn(adminPassword, { headers }),
    ];
    expect(answers.map((answer) => answer.status)).toEqual([status, status]);
    expect(await app.statusOfMe(cookie)).toBe(200);
    expect(await app.count('session')).toBe(1);
  });

  test('is told from one of our own page', async () => {
    await using app = await openAdminApp();
    const cookie = await app.setUp();
    const headers = { origin: app.origin, 'sec-fetch-site': 'same-origin' };
    expect((await app.call('/session/sign-out', {}, { cookie, headers })).status).toBe(204);
  });

  test('cannot be a GET: it changes nothing', async () => {
    await using app = await openAdminApp();
    const cookie = await app.setUp();
    const answer = await app.call('/session/sign-out', undefined, { cookie });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
    expect(await app.statusOfMe(cookie)).toBe(200);
  });
});

describe('the admin API', () => {
  test.each(['/me', '/sources', '/imports', '/nothing', ''])('needs a session for %s', async (path) => {
    await using app = await openAdminApp();
    const answer = await app.call(path);
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([
      401,
      'Session realm="Rollcall"',
    ]);
  });

  test('takes no token of a source, and a session opens no SCIM', async () => {
    await using app = await openAdminApp();
    const cookie = await app.setUp();
    const scimToken = await app.scim.addSource('Directory');
    const { token: key } = await app.sources.create('general', 'HR');
    for (const headers of [{ authorization: `Bearer ${scimToken}` }, { 'x-apikey': key }]) {
      expect((await app.call('/sources', undefined, { headers: { ...headers } })).status).toBe(401);
    }
    const bearer = { authorization: `Bearer ${cookie.split('=')[1]}` };
    expect((await app.call('/me', undefined, { headers: bearer })).status).toBe(401);
    expect((await app.scim.call('GET', '/Users', undefined, { token: '', headers: { cookie } })).status).toBe(
      401,
    );
  });

  test('refuses bodies that are not what a path takes, and quotes nothing of them', async () => {
    await using app = await openAdminApp();
    const secret = 'hunter2hunter2';
    const bodies: readonly (readonly [string, number])[] = [
      [`{"name":"a","password":"${secret}"`, 400],
      [`{"name":"a","password":"${secret}","more":1}`, 400],
      [`{"name":"a","password":["${secret}"]}`, 400],
      [`{"name":"a","name":"b","password":"${secret}"}`, 400],
      [`{"name":"a","__proto__":{},"password":"${secret}"}`, 400],
      [`["${secret}"]`, 400],
      ['null', 400],
      [`{"name":"a","password":"${'x'.repeat(70_000)}"}`, 413],
    ];
    for (const [body, status] of bodies) {
      const answer = await app.call('/entry/sign-in', body);
      expect([answer.status, Object.keys(answer.body)]).toEqual([status, ['message']]);
      expect(answer.text + app.logged).not.toContain(secret);
    }
  });

  test('answers with headers that let nobody keep, run or embed it', async () => {
    await using app = await openAdminApp();
    const cookie = await app.setUp();
    const ok = await app.call('/me', undefined, { cookie });
    for (const { headers } of [ok, await app.call('/me'), await app.signIn('wrong')]) {
      expect(pick(headers)).toEqual({
        'cache-control': 'no-store',
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
        'content-type': 'application/json',
        'cross-origin-resource-policy': 'same-origin',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
      });
    }
  });

  test('writes no secret to the log', async () => {
    await using app = await openAdminApp();
    const { token } = await app.invitations.issue('Ann');
    const mistyped = 'my password in the wrong box';
    const made = await app.call('/entry/accept', { token, name: 'Ann', password: adminPassword });
    await app.call('/entry/accept', { token, name: 'Ann', password: adminPassword });
    await app.signIn('wrong password of mine', {}, mistyped);
    const signedIn = await app.signIn(adminPassword, { cookie: cookieOf(made) }, 'Ann');
    await app.call('/session/sign-out', {}, { cookie: cookieOf(signedIn) });
    const secrets = [token, adminPassword, mistyped, 'wrong password of mine'];
    secrets.push(...[made, signedIn].map((answer) => cookieOf(answer).split('=')[1] ?? 'no cookie'));
    for (const secret of secrets) expect(app.logged).not.toContain(secret);
    expect(app.logged).toContain('administrator signed in');
    expect(app.logged).toContain('sign-in refused');
  });
});

describe('GET /sources', () => {
  test('lists name, kind, state and Api Url Suffix, and no token', async () => {
    await using app = await openAdminApp();
    const cookie = await app.setUp();
    const { token } = await app.sources.create('scim', 'Entra');
    await app.sources.create('general', 'HR');
    await app.sources.change('HR', { active: false });
    const answer = await app.call('/sources', undefined, { cookie });
    const created = app.clock().toISOString();
    const at = (apiUrlSuffix: string) => ({ created, apiUrlSuffix, url: `${app.origin}${apiUrlSuffix}` });
    expect(answer.body).toEqual({
      sources: [
        { id: 1, name: 'Entra', kind: 'scim', active: true, ...at('/of/scim/1') },
        { id: 2, name: 'HR', kind: 'general', active: false, ...at('/of/general/2') },
      ],
    });
    expect(answer.text).not.toContain(token);
  });
});

describe.each(dialects())('GET /imports on %s', (dialect) => {
  test('lists the newest runs first, at most as many as asked for', async () => {
    await using app = await openAdminApp({ dialect });
    const cookie = await app.setUp();
    const { source } = await app.sources.create('general', 'HR');
    for (const users of [3, 4]) {
      const files = {
        document: `${users}.xml`,
        archive: `${users}.xml.zst`,
        sha256: '0'.repeat(64),
        circumstances: '',
        bytes: 9,
      };
      const now = app.clock().toISOString();
      const run = { sourceId: source.id, origin: 'upload', dryRun: false, users, groups: 0, now } as const;
      await app.database.write((tx) => insertRun(tx, { ...run, ...files, warnings: [] }));
    }
    const answer = await app.call('/imports?limit=1', undefined, { cookie });
    expect(answer.body.imports).toMatchObject([
      { id: 2, sourceId: source.id, status: 'queued', users: 4, message: null, finished: null },
    ]);
    expect((await app.call('/imports', undefined, { cookie })).body.imports.length).toBe(2);
    for (const query of ['limit=0', 'limit=101', 'limit=x', 'other=1'])
      expect((await app.call(`/imports?${query}`, undefined, { cookie })).status).toBe(400);
  });
});

describe('toErrorResponse', () => {
  test('has a status for every kind, and passes on nothing but the sentence', async () => {
    for (const kind of errorKinds) {
      const response = toErrorResponse(new DomainError(kind, 'Why.', { cause: new Error('secret') }));
      expect(response.status).toBeGreaterThanOrEqual(400);
      expect(await response.json()).toEqual({ message: 'Why.' });
    }
  });
});

/** Without those that are of one answer, or of the connection. */
function pick(headers: Headers): Record<string, string> {
  const leave = new Set([
    'content-length',
    'date',
    'x-request-id',
    'www-authenticate',
    'retry-after',
    'set-cookie',
  ]);
  return Object.fromEntries([...headers].filter(([name]) => !leave.has(name)).toSorted());
}
