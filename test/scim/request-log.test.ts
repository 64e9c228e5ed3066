import { describe, expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { sendRaw } from '../http/raw-request.ts';
import { enterpriseUrn, groupUrn, openTestApp, type TestApp, userUrn } from '../support/app.ts';

const base = '/api/v2/scim/v2';

describe('the request log', () => {
  test('says of a request what came, how long it took and what it was about', async () => {
    await using app = await openTestApp();
    const { body } = await app.createUser({ userName: 'ann' }, { headers: { 'x-request-id': 'req-1' } });
    await app.call('GET', `/Users/${body.id}?attributes=userName`);
    await app.call('DELETE', `/Users/${body.id}`);
    const [create, get, remove] = app.requests();
    const touched = [{ resourceType: 'User', resourceId: Number(body.id) }];
    expect(create).toMatchObject({
      ...{
        method: 'POST',
        path: '/Users',
        query: null,
        status: 201,
        sourceId: 1,
        clientAddress: '127.0.0.1',
      },
      ...{ requestId: 'req-1', touched, name: 'ann', refusal: null, repairs: [], ignored: [], body: null },
    });
    expect(create?.durationMs).toBeGreaterThan(0);
    expect(get).toMatchObject({
      path: `/Users/${body.id}`,
      query: 'attributes=userName',
      touched,
      name: null,
    });
    expect(remove).toMatchObject({ method: 'DELETE', status: 204, touched });
  });

  test('finds a refused request by what it was about', async () => {
    await using app = await openTestApp();
    const { body } = await app.createUser({ userName: 'ann' });
    await app.call('PATCH', `/Users/${body.id}`, '{');
    await app.createUser({ userName: 'bob', active: 'perhaps' });
    const [, patch, create] = app.requests();
    expect(patch).toMatchObject({
      status: 400,
      touched: [{ resourceType: 'User', resourceId: Number(body.id) }],
    });
    expect(patch?.refusal).toContain('JSON');
    expect(create).toMatchObject({ status: 400, touched: [], name: 'bob' });
  });

  test('shows a filter as a person wrote it', async () => {
    await using app = await openTestApp();
    await app.find('/Users', 'userName eq "ann@example.com"');
    expect(app.requests()[0]?.query).toBe('filter=userName eq "ann@example.com"');
  });

  test('shows what a repair made of a value, where it is not a secret', async () => {
    await using app = await openTestApp();
    await app.createUser({ userName: 'ann', active: 'False', shoeSize: 43 });
    const [request] = app.requests();
    expect(request?.repairs).toEqual([
      { code: 'boolean-from-string', attribute: 'active', from: '"False"', to: 'false' },
    ]);
    expect(request?.ignored).toEqual([{ attribute: 'shoeSize', reason: 'unknown' }]);
  });

  test('has the body as it came, and as it was mended, when the source logs bodies', async () => {
    await using app = await openTestApp({ settings: { logBodies: 'true' } });
    await app.createUser({ userName: 'ann', password: 'Sup3r-Secret' });
    const { body } = await app.createUser({ userName: 'bob', active: 'False' });
    await app.patch(`/Users/${body.id}`, [{ op: 'Replace', path: 'active', value: 'True' }]);
    const [plain, mended, patch] = app.requests();
    expect(JSON.parse(plain?.body ?? '')).toEqual({
      schemas: [userUrn],
      userName: 'ann',
      password: '********',
    });
    expect(plain?.decoded).toBeNull();
    expect(JSON.parse(mended?.body ?? '')).toMatchObject({ active: 'False' });
    expect(JSON.parse(mended?.decoded ?? '')).toMatchObject({ userName: 'bob', active: false });
    expect(JSON.parse(patch?.decoded ?? '')).toEqual([{ op: 'replace', path: 'active', value: true }]);
  });

  test('has a body that is no JSON as it came, unless it names a secret', async () => {
    await using app = await openTestApp({ settings: { logBodies: 'true' } });
    await app.call('POST', '/Users', '{"userName":"ann",}');
    await app.call('POST', '/Users', '{"userName":"ann","p\\u0061ssword":"Sup3r-Secret",}');
    await app.call(
      'POST',
      '/Users',
      Buffer.from('{"password":"Sup3r-Secret"}', 'utf16le').toString('latin1'),
    );
    expect(app.requests().map(({ status, body }) => [status, body])).toEqual([
      [400, '{"userName":"ann",}'],
      [400, '********'],
      [400, '********'],
    ]);
  });

  test('cuts a body that is too long', async () => {
    await using app = await openTestApp({ settings: { logBodies: 'true' } });
    const long = Array.from({ length: 5 }, () => 'x'.repeat(20_000));
    await app.createUser({ userName: 'ann', nickName: long.join('').slice(0, 60_000), displayName: long[0] });
    const [request] = app.requests();
    expect(request?.body?.length).toBe(64 * 1024 + 1);
    expect(request?.body?.endsWith('…')).toBe(true);
  });

  test('has what the gate refused: a wrong token, a source that sends too fast, a foreign host', async () => {
    await using app = await openTestApp({ settings: { rateLimit: '25' } });
    await app.call('GET', '/Users', undefined, { token: 'wrong' });
    await app.call('PATCH', '/Users/7', {}, { token: '' });
    const head = `GET ${base}/Users?a=b HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n`;
    await sendRaw(app.port, head);
    for (let number = 0; number < 51; number += 1) await app.call('GET', '/Groups?count=0');
    const requests = app.requests();
    expect(requests.slice(0, 3)).toMatchObject([
      { sourceId: null, method: 'GET', path: '/Users', status: 401 },
      { sourceId: null, method: 'PATCH', path: '/Users/7', status: 401, touched: [{ resourceId: 7 }] },
      { sourceId: null, path: '/Users', query: 'a=b', status: 421 },
    ]);
    expect(requests.at(-1)).toMatchObject({ sourceId: 1, path: '/Groups', status: 429 });
    expect(requests.at(-1)?.refusal).toContain('faster');
  });

  test('is not filled by a flood of strangers, and says how many it left out', async () => {
    await using app = await openTestApp();
    await app.createUser({ userName: 'ann' });
    for (let done = 0; done < 300; done += 50) {
      await Promise.all(
        Array.from({ length: 50 }, () => app.call('GET', '/Users', undefined, { token: 'x' })),
      );
    }
    const requests = app.requests();
    expect(requests.filter(({ sourceId }) => sourceId === null)).toHaveLength(200);
    expect(requests.filter(({ sourceId }) => sourceId === 1)).toHaveLength(1);
    expect(await metricsOf(app)).toContain('rollcall_request_log_suppressed_total 100');
    app.clock.advance(1);
    await app.call('GET', '/Users', undefined, { token: 'x' });
    expect(app.requests().filter(({ sourceId }) => sourceId === null)).toHaveLength(201);
  });

  test('takes a request that came too fast for a sign of life of its source', async () => {
    await using app = await openTestApp({ settings: { rateLimit: '25' } });
    for (let number = 0; number < 50; number += 1) await app.call('GET', '/Users?count=0');
    app.clock.advance(-5);
    expect((await app.call('GET', '/Users')).status).toBe(429);
    app.clock.advance(5);
    expect(await metricsOf(app)).toContain('rollcall_scim_seconds_since_request{source="1"} 5');
  });

  test('writes no file before there is something to write', async () => {
    await using app = await openTestApp();
    await app.createUser({ userName: 'ann' });
    expect(existsSync(app.requestLogPath)).toBe(false);
  });
});

describe('standard error', () => {
  test('has refusals at info and all else at debug, without values', async () => {
    await using app = await openTestApp({ settings: { logBodies: 'true' } });
    await app.createUser({ userName: 'ann', active: 'True', nickName: 'Secret nick' });
    await app.createUser({ userName: '' });
    const lines = app.logged.map((line) => JSON.parse(line)).filter(({ message }) => message === 'scim');
    expect(lines.map(({ level, status }) => [level, status])).toEqual([
      ['debug', 201],
      ['info', 400],
    ]);
    expect(lines[0]).toMatchObject({
      path: `${base}/Users`,
      repairs: [{ code: 'boolean-from-string', what: 'active' }],
    });
    expect(app.logged.join('')).not.toContain('Secret nick');
  });
});

describe('the metrics', () => {
  test('count repairs and tell for how long each source has been silent, by source id', async () => {
    await using app = await openTestApp();
    await app.createUser({ userName: 'ann', active: 'True' });
    await app.createUser({ userName: 'bob', active: 'False' });
    app.clock.advance(90);
    const metrics = await metricsOf(app);
    expect(metrics).toContain('rollcall_scim_repairs_total{source="1",code="boolean-from-string"} 2');
    expect(metrics).toContain('rollcall_scim_seconds_since_request{source="1"} 90');
    expect(metrics).toContain('rollcall_request_log_dropped_total 0');
    expect(metrics).toContain('rollcall_scim_deactivations_total{source="1"} 0');
    expect(metrics).not.toMatch(/ann|bob/);
  });
});

const canary = 'Sup3rS3cretCanary';

/** Every place where a client can put a password, as method, path and body. */
const places: readonly (readonly [string, string, unknown])[] = [
  ['POST', '/Users', { schemas: [userUrn], userName: 'a', password: canary }],
  ['POST', '/Users', { schemas: [userUrn], userName: 'b', PassWord: canary }],
  ['POST', '/Users', { schemas: [userUrn], userName: 'c', [`${userUrn}:password`]: canary }],
  ['POST', '/Users', { schemas: [userUrn], userName: 'd', password: { value: canary } }],
  ['POST', '/Users', { schemas: [userUrn], userName: 'e', password: [canary, canary] }],
  ['POST', '/Users', { schemas: [userUrn], userName: 'f', password: [canary] }],
  ['POST', '/Users', { schemas: [userUrn], userName: 'g', [enterpriseUrn]: { password: canary } }],
  ['POST', '/Users', { schemas: [userUrn], userName: 'h', roles: `{"password":"${canary}"}` }],
  ['POST', '/Users', { schemas: [userUrn], userName: 'i', roles: [`{"value":"x","password":"${canary}"}`] }],
  ['POST', '/Users', { schemas: [userUrn], userName: 'j', name: { password: canary } }],
  ['POST', '/Users', { userName: '', password: canary }],
  ['POST', '/Users', [{ password: canary }]],
  ['POST', '/Users', `{'pass\\u0077ord': '${canary}'}`],
  ['POST', '/Users', `password=${canary}`],
  ['POST', '/Users', `{"password":"${canary}",}`],
  ['POST', '/Users', `{"password":"${canary}","password":"${canary}"}`],
  [
    'POST',
    '/Groups',
    { schemas: [groupUrn], displayName: 'g', password: canary, members: [{ password: canary }] },
  ],
  ['PUT', '/Users/1', { schemas: [userUrn], userName: 'a', password: canary }],
  ['PATCH', '/Users/1', { Operations: [{ op: 'replace', path: 'password', value: canary }] }],
  ['PATCH', '/Users/1', { Operations: [{ op: 'replace', path: `${userUrn}:password`, value: canary }] }],
  ['PATCH', '/Users/1', { Operations: [{ op: 'replace', value: { password: canary } }] }],
  [
    'PATCH',
    '/Users/1',
    { Operations: [{ op: 'add', value: { 'name.password': canary, password: canary } }] },
  ],
  ['PATCH', '/Users/1', { Operations: [{ op: 'remove', path: 'password', value: canary }] }],
  [
    'PATCH',
    '/Users/1',
    { Operations: [{ op: 'remove', path: `emails[password eq "${canary}"]`, value: 'x' }] },
  ],
  [
    'PATCH',
    '/Users/1',
    { Operations: [{ op: 'replace', path: `password[value eq "${canary}"]`, value: 'x' }] },
  ],
  ['PATCH', '/Users/1', { Operations: [{ op: 'delete', path: 'password', value: [{ value: canary }] }] }],
  [
    'PATCH',
    '/Users/1',
    { Operations: [{ op: 'replace', path: 'roles', value: `{"password":"${canary}"}` }] },
  ],
  ['PATCH', '/Users/1', { Operations: { password: canary } }],
  ['PATCH', '/Users/1', { Operations: [{ op: 'replace', path: ['password'], value: canary }] }],
  ['PATCH', '/Users/1', { Operations: [{ op: 'replace', path: { attr: 'password' }, value: canary }] }],
  ['PATCH', '/Users/1', { Operations: [{ op: 'replace', path: 'password', values: [canary] }] }],
  ['PATCH', '/Users/1', { Operations: [{ op: 'add', value: [{ name: 'password', value: canary }] }] }],
  ['PATCH', '/Users/1', { Operations: [{ op: 'add', name: 'password', value: canary }] }],
  ['PATCH', '/Users/1', { Operations: [{ op: 'add', value: { [`password[value eq "${canary}"]`]: 1 } }] }],
  ['POST', '/Users', { schemas: [userUrn], userName: 'k', userPassword: canary }],
  ['POST', '/Users', { schemas: [userUrn], userName: 'l', passwords: [canary, { value: canary }] }],
  ['POST', '/Users', { schemas: [userUrn], userName: 'm', pwd: canary, [`password eq ${canary}`]: 'x' }],
  ['POST', '/Users', `{"pwd":"${canary}",}`],
  ['POST', '/Users/.search', { sortBy: `password[${canary}]` }],
  ['POST', '/Users/.search', { attributes: [`password[${canary}]`] }],
  ['GET', `/Users?filter=userPassword%20eq%20${canary}`, undefined],
  ['GET', `/Users?sortBy=pwd%5B${canary}%5D`, undefined],
  ['GET', `/Users/pwd/${canary}`, undefined],
  ['POST', '/Bulk', { Operations: [{ method: 'DELETE', path: `/Users/password eq ${canary}` }] }],
  ['POST', '/Bulk', { Operations: [{ method: 'DELETE', path: `/password/${canary}` }] }],
  [
    'POST',
    '/Bulk',
    {
      Operations: [
        {
          method: 'PATCH',
          path: '/Users/1',
          data: { Operations: [{ op: 'replace', path: ['password'], value: canary }] },
        },
      ],
    },
  ],
  ['GET', `/Users?password=${canary}`, undefined],
  ['GET', `/Users?filter=${encodeURIComponent(`password eq "${canary}"`)}`, undefined],
  ['GET', `/Users?filter=p%61ssword%20eq%20%22${canary}%22`, undefined],
  ['GET', `/Users?filter=password%20eq%20${canary}`, undefined],
  ['GET', `/Users?filter=password+sw+%22${canary}%22&attributes=password`, undefined],
  ['GET', `/Users?attributes=password%5Bvalue+eq+%22${canary}%22%5D`, undefined],
  ['GET', `/Users/password=${canary}`, undefined],
  ['GET', `/password/${canary}`, undefined],
  ['POST', '/Users/.search', { filter: `password eq "${canary}"` }],
  ['POST', '/.search', { filter: `password eq ${canary}`, sortBy: `password[x eq "${canary}"]` }],
  [
    'POST',
    '/Bulk',
    {
      Operations: [
        { method: 'POST', path: '/Users', bulkId: 'q', data: { userName: 'z', password: canary } },
      ],
    },
  ],
];

describe('a password', () => {
  test.each([
    ['compat', 'true'],
    ['compat', 'false'],
    ['strict', 'true'],
  ])('reaches neither log from any place, dialect %s, bodies %s', async (dialect, logBodies) => {
    await using app = await openTestApp({ settings: { dialect, logBodies } });
    for (const [method, path, body] of places) {
      await app.call(method, path, body);
      await app.call(method, path, body, { token: 'wrong' });
    }
    expect(app.requests().length).toBe(places.length * 2);
    expect(app.requests().filter((request) => JSON.stringify(request).includes(canary))).toEqual([]);
    for (const ending of ['', '-wal']) {
      expect(readFileSync(app.requestLogPath + ending).includes(canary)).toBe(false);
    }
    const told = app.logged.filter((line) => line.includes(canary));
    expect(told).toEqual([]);
  });
});

async function metricsOf(app: TestApp): Promise<string> {
  return (await fetch(`http://127.0.0.1:${app.port}/metrics`)).text();
}
