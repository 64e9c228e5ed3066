import { describe, expect, test } from 'bun:test';
import { Gate } from '../../src/http/gate.ts';
import { hostRules } from '../../src/http/hosts.ts';
import { RequestLimits } from '../../src/http/limits.ts';
import { HttpMetrics } from '../../src/http/metrics.ts';
import { admitted, type Surface } from '../../src/http/surface.ts';
import { createLog } from '../../src/log.ts';
import { openTestApp, testClock } from '../support/app.ts';
import { sendRaw } from './raw-request.ts';

const base = '/api/v2/scim/v2';
const errorUrn = 'urn:ietf:params:scim:api:messages:2.0:Error';

describe('a request to the gate', () => {
  test('is refused with 421 and a SCIM body when its Host is foreign', async () => {
    await using app = await openTestApp();
    for (const host of ['evil.example', 'localhost.evil.example', '[::1]evil.example', 'localhost:80:80']) {
      const head = `GET ${base}/Users HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${app.token}\r\n`;
      const { status, text } = await sendRaw(app.port, `${head}Connection: close\r\n\r\n`);
      expect({ host, status }).toEqual({ host, status: 421 });
      expect(text).toContain(errorUrn);
    }
  });

  test('gets links with the Host by which it came', async () => {
    await using app = await openTestApp();
    const headers = { host: 'id.example.com:8443' };
    const { body } = await app.call('GET', '/ServiceProviderConfig', undefined, { headers });
    expect(body.meta.location).toBe(`http://id.example.com:8443${base}/ServiceProviderConfig`);
  });

  test('is not believed what it says of proxies unless it comes from one', async () => {
    await using app = await openTestApp();
    const headers = {
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'evil.example',
      forwarded: 'host=evil.example',
    };
    const { body } = await app.call('GET', '/ServiceProviderConfig', undefined, { headers });
    expect(body.meta.location).toBe(`${app.baseUrl}/ServiceProviderConfig`);
  });

  test('gets its X-Request-Id back when it is plain and short, else a new one', async () => {
    await using app = await openTestApp();
    const echo = async (id: string) =>
      (await app.call('GET', '/Users', undefined, { headers: { 'x-request-id': id } })).headers.get(
        'x-request-id',
      );
    expect(await echo('abc-1.2:3_4')).toBe('abc-1.2:3_4');
    for (const id of ['', 'a b', 'x'.repeat(129), 'a"b', '<script>']) {
      expect(await echo(id)).toMatch(/^[0-9a-f-]{36}$/);
    }
    await app.createUser({ userName: 'ann' }, { headers: { 'x-request-id': 'req-7' } });
    expect((await app.journal())[0]?.request_id).toBe('req-7');
  });

  test('gets 404 in SCIM form for an unknown path under the base, 405 with Allow for a wrong method', async () => {
    await using app = await openTestApp();
    for (const path of ['/Nope', '/Users/1/x', '/Userss', '/users']) {
      expect(await app.call('GET', path)).toMatchObject({
        status: 404,
        body: { schemas: [errorUrn], status: '404' },
      });
    }
    const wrong = [
      ['DELETE', '/Users', 'GET, HEAD, POST'],
      ['POST', '/Users/1', 'DELETE, GET, HEAD, PATCH, PUT'],
      ['PATCH', '/Groups', 'GET, HEAD, POST'],
      ['POST', '/Schemas', 'GET, HEAD'],
      ['PUT', '/ServiceProviderConfig', 'GET, HEAD'],
      ['OPTIONS', '/Users', 'GET, HEAD, POST'],
    ] as const;
    for (const [method, path, allow] of wrong) {
      const answer = await app.call(method, path);
      expect(answer).toMatchObject({ status: 405, body: { schemas: [errorUrn], status: '405' } });
      expect(answer.headers.get('allow')?.split(', ').toSorted().join(', ')).toBe(allow);
    }
  });

  test('may have a slash too many, at the end or in between', async () => {
    await using app = await openTestApp();
    for (const path of ['/Users/', '//Users', '/Users//', '/Users?', '/Users?&', '/Users/?startIndex=1']) {
      expect((await app.call('GET', path)).status).toBe(200);
    }
  });

  test('may leave the version out of the base; the answer links to the full one', async () => {
    await using app = await openTestApp();
    const short = `http://127.0.0.1:${app.port}/api/v2/scim`;
    const get = (path: string, token = app.token) =>
      fetch(short + path, { headers: { authorization: `Bearer ${token}` } });
    await app.createUser({ userName: 'ann' });
    const found = await get('/Users/1');
    expect(found.status).toBe(200);
    expect((await found.json()).meta.location).toBe(`${app.baseUrl}/Users/1`);
    for (const path of ['/Nope', '/v3/Users', '/v2/v2/Users']) {
      const answer = await get(path);
      expect(answer.status).toBe(404);
      expect(await answer.json()).toMatchObject({ schemas: [errorUrn], status: '404' });
    }
    expect((await get('/Users/1', 'wrong')).status).toBe(401);
  });

  test('is refused in SCIM form when its path is not in the plain form', async () => {
    await using app = await openTestApp();
    for (const path of ['/Users/%00', '/Users/1%2f2', '/Users/;x', '/%zz']) {
      const answer = await app.call('GET', path);
      expect(answer).toMatchObject({ status: 400, body: { schemas: [errorUrn], scimType: 'invalidSyntax' } });
    }
  });

  test('of a source that is not active gets 403', async () => {
    await using app = await openTestApp();
    await app.sources.change('Directory', { active: false });
    expect(await app.call('GET', '/Users')).toMatchObject({ status: 403, body: { status: '403' } });
    await app.sources.change('Directory', { active: true });
    expect((await app.call('GET', '/Users')).status).toBe(200);
  });

  test('gets 429 with Retry-After above the limit of its source, in SCIM form', async () => {
    await using app = await openTestApp({ settings: { rateLimit: '25' } });
    const answers = [];
    for (let number = 0; number < 51; number += 1) answers.push(await app.call('GET', '/Users?count=0'));
    expect(answers.slice(0, 50).every((answer) => answer.status === 200)).toBe(true);
    expect(answers[50]).toMatchObject({ status: 429, body: { schemas: [errorUrn], status: '429' } });
    expect(answers[50]?.headers.get('retry-after')).toBe('1');
    app.clock.advance(1);
    expect((await app.call('GET', '/Users')).status).toBe(200);
  });

  test('is told nothing of what broke inside, while the log is', async () => {
    await using app = await openTestApp();
    await app.database.close();
    const answer = await app.call('GET', '/Users');
    expect(answer.status).toBeGreaterThanOrEqual(500);
    expect(answer.text).not.toMatch(/sqlite|kysely|select|closed|\.ts/i);
    expect(app.logged.join('')).toContain('request failed');
  });
});

describe('the system surface', () => {
  test('tells health, readiness, metrics and the XML schema without a token', async () => {
    await using app = await openTestApp();
    const root = `http://127.0.0.1:${app.port}`;
    expect(await (await fetch(`${root}/healthz`)).json()).toEqual({ status: 'ok' });
    expect((await fetch(`${root}/readyz`)).status).toBe(200);
    expect((await fetch(`${root}/schemas/profile-sync.xsd`)).headers.get('content-type')).toContain('xml');
    await app.call('GET', '/Users');
    const metrics = await (await fetch(`${root}/metrics`)).text();
    expect(metrics).toContain('surface="scim",method="GET",status="2xx"');
    expect(metrics).not.toContain('/Users');
  });

  test('knows nothing else', async () => {
    await using app = await openTestApp();
    for (const path of ['/', '/Users', '/admin', '/api', '/.env', '/healthz/x']) {
      expect((await fetch(`http://127.0.0.1:${app.port}${path}`)).status).toBe(404);
    }
  });
});

describe('new Gate', () => {
  test('refuses a surface with a route outside its base', () => {
    const surface = (base: string, path: string): Surface => ({
      name: 'stray',
      base,
      routes: [{ method: 'GET', path }],
      idleTimeoutSeconds: 1,
      authenticate: async () => ({ kind: 'public' }),
      handle: async () => new Response(),
      refuse: () => new Response(),
    });
    const gate = (base: string, path: string) =>
      new Gate({
        surfaces: [surface(base, path)],
        hosts: hostRules({ publicUrl: undefined, allowedHosts: [], trustedProxies: [] }),
        limits: new RequestLimits(testClock()),
        metrics: new HttpMetrics('0'),
        log: createLog({ level: 'error' }),
        publicUrl: undefined,
        createRequestId: () => '1',
      });
    expect(() => gate('/scim', '/scimUsers')).toThrow('outside the surface stray');
    expect(() => gate('/scim', '/healthz')).toThrow('outside the surface stray');
    expect(() => gate('/scim', '/scim/Users')).not.toThrow();
  });
});

describe('a request that stands for many', () => {
  test('may keep the connection silent for longer, which others may not', async () => {
    const timeouts: number[] = [];
    const surface: Surface = {
      name: 'one',
      base: '',
      routes: [],
      idleTimeoutSeconds: 7,
      authenticate: async () => ({ kind: 'public' }),
      async handle(request) {
        if (request.method === 'POST') admitted(request).standFor(1_000);
        return new Response();
      },
      refuse: () => new Response(null, { status: 500 }),
    };
    const gate = new Gate({
      surfaces: [surface],
      hosts: hostRules({ publicUrl: undefined, allowedHosts: [], trustedProxies: [] }),
      limits: new RequestLimits(testClock()),
      metrics: new HttpMetrics('0'),
      log: createLog({ level: 'error' }),
      publicUrl: undefined,
      createRequestId: () => '1',
    });
    const listener = {
      requestIP: () => ({ address: '127.0.0.1' }),
      timeout: (_: Request, seconds: number) => void timeouts.push(seconds),
    };
    for (const method of ['GET', 'POST', 'GET']) {
      const request = new Request('http://localhost/x', { method, headers: { host: 'localhost' } });
      expect((await gate.handle(request, listener)).status).toBe(200);
    }
    expect(timeouts).toEqual([7, 7, 255, 7]);
  });
});
