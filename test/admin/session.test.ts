import { describe, expect, test } from 'bun:test';
import { Gate } from '../../src/http/gate.ts';
import { hostRules } from '../../src/http/hosts.ts';
import { RequestLimits } from '../../src/http/limits.ts';
import { HttpMetrics } from '../../src/http/metrics.ts';
import { systemSurface } from '../../src/http/system.ts';
import { createLog } from '../../src/log.ts';
import { dialects } from '../support/database.ts';
import { type AdminApp, adminName, adminPassword, cookieOf, openAdminApp } from './support.ts';

const minute = 60;

describe.each(dialects())('a session on %s', (dialect) => {
  test('ends after thirty idle minutes', async () => {
    await using app = await openAdminApp({ dialect });
    const cookie = await app.setUp();
    app.clock.advance(29 * minute);
    expect(await app.statusOfMe(cookie)).toBe(200);
    app.clock.advance(29 * minute);
    expect(await app.statusOfMe(cookie)).toBe(200);
    app.clock.advance(30 * minute);
    expect(await app.statusOfMe(cookie)).toBe(401);
  });

  test('ends after twelve hours however busy it is', async () => {
    await using app = await openAdminApp({ dialect });
    const cookie = await app.setUp();
    for (let elapsed = 20; elapsed < 12 * 60; elapsed += 20) {
      app.clock.advance(20 * minute);
      expect(await app.statusOfMe(cookie)).toBe(200);
    }
    app.clock.advance(20 * minute);
    expect(await app.statusOfMe(cookie)).toBe(401);
  });

  test('ends alone with sign-out, and with all others of the account with sign-out everywhere', async () => {
    await using app = await openAdminApp({ dialect });
    const other = await app.setUp('Bob');
    const first = await app.setUp();
    const second = cookieOf(await app.signIn());
    const third = cookieOf(await app.signIn());

    const left = await app.call('/session/sign-out', {}, { cookie: first });
    expect([left.status, left.headers.get('set-cookie')]).toEqual([
      204,
      'rollcall=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0',
    ]);
    const statuses = async () =>
      Promise.all([first, second, third, other].map((cookie) => app.statusOfMe(cookie)));
    expect(await statuses()).toEqual([401, 200, 200, 200]);
    expect((await app.call('/session/sign-out/everywhere', {}, { cookie: second })).status).toBe(204);
    expect(await statuses()).toEqual([401, 401, 401, 200]);
  });

  test('is stored without its token', async () => {
    await using app = await openAdminApp({ dialect });
    const cookie = await app.setUp();
    const [row] = await app.database.read.selectFrom('session').selectAll().execute();
    expect(row?.hash).toMatch(/^[0-9a-f]{64}$/);
    expect(JSON.stringify(row)).not.toContain(cookie.split('=')[1] ?? '');
  });
});

/** A gate needs something to answer for the root. */
function root() {
  const metrics = new HttpMetrics('0');
  return systemSurface({
    metrics,
    checks: async () => ({}),
    mayReadMetrics: () => false,
    profileSchema: async () => '',
  });
}

/** Sends a request as a proxy on this machine passes it on, which came by `scheme` for id.example.com. */
async function throughProxy(app: AdminApp, scheme: string, path: string, init: RequestInit = {}) {
  const gate = new Gate({
    surfaces: [...app.surfaces, root()],
    hosts: hostRules({
      publicUrl: undefined,
      allowedHosts: ['id.example.com'],
      trustedProxies: ['127.0.0.1'],
    }),
    limits: new RequestLimits(app.clock),
    metrics: new HttpMetrics('0'),
    log: createLog({ level: 'error' }),
    publicUrl: undefined,
    createRequestId: () => 'one',
  });
  const headers = new Headers(init.headers);
  headers.set('host', 'id.example.com');
  headers.set('x-forwarded-proto', scheme);
  const request = new Request(`http://127.0.0.1/api/admin/v1${path}`, { ...init, headers });
  const listener = { requestIP: () => ({ address: '127.0.0.1' }), timeout: () => undefined };
  return gate.handle(request, listener);
}

const signInFrom = (origin: string): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', 'x-rollcall': '1', origin },
  body: JSON.stringify({ name: adminName, password: adminPassword }),
});

describe('the session cookie', () => {
  test('is bound to its host, and Secure, when the client speaks TLS to a trusted proxy', async () => {
    await using app = await openAdminApp();
    await app.setUp();
    const signedIn = await throughProxy(app, 'https', '/entry/sign-in', signInFrom('https://id.example.com'));
    const cookie = signedIn.headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(/^__Host-rollcall=\S+; Path=\/; HttpOnly; SameSite=Strict; Secure$/);

    const me = (sent: string) => throughProxy(app, 'https', '/me', { headers: { cookie: sent } });
    const sent = cookie.split(';')[0] ?? '';
    expect((await me(`other=1; ${sent}`)).status).toBe(200);
    expect((await me(sent.replace('__Host-', ''))).status).toBe(401);
  });

  test('is not given to a page of the same host without TLS', async () => {
    await using app = await openAdminApp();
    await app.setUp();
    const answer = await throughProxy(app, 'https', '/entry/sign-in', signInFrom('http://id.example.com'));
    expect([answer.status, answer.headers.get('set-cookie')]).toEqual([403, null]);
  });

  test('is neither given nor taken when a trusted proxy says that the client speaks plain HTTP', async () => {
    await using app = await openAdminApp();
    const cookie = await app.setUp();
    const signIn = signInFrom('http://id.example.com');
    expect((await throughProxy(app, 'http', '/entry/sign-in', signIn)).status).toBe(403);
    expect((await throughProxy(app, 'http', '/me', { headers: { cookie } })).status).toBe(403);
  });
});
