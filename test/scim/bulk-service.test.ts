import { describe, expect, test } from 'bun:test';
import { type Json, openTestApp, type TestApp } from '../support/app.ts';
import { bulk, newUser, patch, requestUrn, statuses } from './bulk-support.ts';

function many(count: number): object[] {
  return Array.from({ length: count }, (_, index) => newUser(`u${index}`));
}

/** The line of the request log that tells of a Bulk, as soon as there is one. */
async function bulkLine(app: TestApp): Promise<Json> {
  for (;;) {
    const line = app.logged.find((each) => each.includes('"bulk":'));
    if (line !== undefined) return JSON.parse(line);
    await Bun.sleep(5);
  }
}

async function countUsers(app: TestApp): Promise<number> {
  return (await app.call('GET', '/Users?count=0')).body.totalResults;
}

describe('a Bulk', () => {
  test('counts every operation against the rate of the source, and is not refused in the middle', async () => {
    await using app = await openTestApp();
    const token = await app.addSource('Slow', { rateLimit: '25' });
    expect(new Set(statuses(await bulk(app, many(100), { token })))).toEqual(new Set(['201']));
    const next = await app.call('GET', '/Users', undefined, { token });
    expect(next.status).toBe(429);
    const seconds = Number(next.headers.get('retry-after'));
    // Two seconds' worth was there: 50 places for 100 operations.
    expect(seconds).toBe(3);
    app.clock.advance(seconds - 1);
    expect((await app.call('GET', '/Users', undefined, { token })).status).toBe(429);
    app.clock.advance(1);
    expect((await app.call('GET', '/Users', undefined, { token })).status).toBe(200);
    expect((await app.call('GET', '/Users')).status).toBe(200);
  });

  test('that cannot be read costs one request', async () => {
    await using app = await openTestApp();
    const token = await app.addSource('Slow', { rateLimit: '25' });
    for (let request = 0; request < 50; request += 1) {
      expect((await app.call('POST', '/Bulk', {}, { token })).status).toBe(400);
    }
    expect((await app.call('POST', '/Bulk', {}, { token })).status).toBe(429);
  });

  test('is one line of the request log, which names what failed and what was mended where', async () => {
    await using app = await openTestApp({ settings: { logBodies: 'true' } });
    await bulk(app, [
      newUser('ann', { active: 'True', shoeSize: 9, password: 'Canary-1' }),
      { method: 'delete', path: '/Users/99' },
      newUser('bob', { active: 7, password: 'Canary-2' }),
      patch('/Users/bulkId:ann', [{ op: 'replace', path: 'password', value: 'Canary-3' }]),
    ]);
    const { requestId: _, durationMs: __, ...line } = await bulkLine(app);
    expect(line).toMatchObject({
      status: 200,
      method: 'POST',
      repairs: [
        { code: 'boolean-from-string', what: 'active', operation: 1 },
        { code: 'method-case', what: 'method', operation: 2 },
      ],
      ignored: [{ attribute: 'shoeSize', reason: 'unknown', operation: 1 }],
      bulk: {
        operations: 4,
        succeeded: 1,
        failed: 3,
        failures: [
          { operation: 2, method: 'DELETE', path: '/Users/99', status: 404, refusal: expect.any(String) },
          { operation: 3, method: 'POST', path: '/Users', status: 400, refusal: expect.any(String) },
          { operation: 4, method: 'PATCH', path: '/Users/bulkId:ann', status: 400 },
        ],
      },
    });
    expect(app.logged.join('')).not.toContain('Canary');
    expect(app.logged.filter((each) => each.includes('"bulk":'))).toHaveLength(1);
  });

  test('lets other requests be served between its operations', async () => {
    await using app = await openTestApp();
    const done: string[] = [];
    const long = bulk(app, many(500)).then(() => done.push('bulk'));
    while ((await countUsers(app)) === 0);
    await app.createUser({ userName: 'ann' });
    done.push('user');
    await long;
    expect(done).toEqual(['user', 'bulk']);
  });

  test('ends when its client has gone; what is done is done', async () => {
    await using app = await openTestApp();
    const leaving = new AbortController();
    const request = fetch(`${app.baseUrl}/Bulk`, {
      method: 'POST',
      signal: leaving.signal,
      headers: { authorization: `Bearer ${app.token}`, 'content-type': 'application/scim+json' },
      // Nothing is done at the same time, so that it takes a while.
      body: JSON.stringify({ schemas: [requestUrn], failOnErrors: 1, Operations: many(1_000) }),
    }).catch((error: Error) => error.name);
    while ((await countUsers(app)) === 0);
    leaving.abort();
    expect(await request).toBe('AbortError');
    const { succeeded, failed, operations } = (await bulkLine(app)).bulk;
    expect({ operations, failed }).toEqual({ operations: 1_000, failed: 0 });
    expect(succeeded).toBeLessThan(1_000);
    expect(await countUsers(app)).toBe(succeeded);
  });

  test('is answered, and so is every list, at 25 requests a second all of which come at once', async () => {
    await using app = await openTestApp({ settings: { rateLimit: '25', scope: 'own' } });
    await bulk(app, many(3));
    for (const path of ['/Users?filter=title%20co%20%22x%22', '/Users?sortBy=title', '/Users', '/Bulk']) {
      app.clock.advance(5);
      const answers = await Promise.all(
        Array.from({ length: 25 }, (_, index) =>
          path === '/Bulk' ? bulk(app, [newUser(`b${index}`)]) : app.call('GET', path),
        ),
      );
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    }
  });

  test('waits while its source has four under way, and is refused when too many wait', async () => {
    await using app = await openTestApp({ settings: { rateLimit: '0' } });
    const token = await app.addSource('Other');
    const long = many(50);
    const sent = Array.from({ length: 37 }, () => bulk(app, long, { failOnErrors: 1 }));
    const first = await Promise.race(sent);
    expect([first.status, first.headers.get('retry-after')]).toEqual([429, '1']);
    expect(first.body.detail).toContain('4 Bulk requests under way and 32 that wait');
    expect((await bulk(app, [newUser('ann')], { token })).status).toBe(200);
    const answers = await Promise.all(sent);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(36);
    expect((await bulk(app, [newUser('bob')])).status).toBe(200);
  }, 60_000);

  test('stores new passwords, and checks them by the rule', async () => {
    await using app = await openTestApp();
    await app.configurations.setSetting('passwordStrengthRegex', '^.{8,}$');
    const answer = await bulk(app, [
      newUser('ann', { password: 'long enough' }),
      newUser('bob', { password: 'short' }),
    ]);
    expect(statuses(answer)).toEqual(['201', '400']);
    const rows = await app.database.read.selectFrom('user').select('password_hash').execute();
    expect(rows.map((row) => row.password_hash)).toEqual([expect.stringContaining('argon2id')]);
  });

  test('takes a thousand users with all that is usually said of them', async () => {
    await using app = await openTestApp();
    const values = Array.from({ length: 20 }, (_, index) => ({ value: `r${index}` }));
    const answer = await bulk(
      app,
      many(1_000).map((operation) => ({
        ...operation,
        data: { ...(operation as Json).data, roles: values },
      })),
    );
    expect(answer.status).toBe(200);
    expect(new Set(statuses(answer))).toEqual(new Set(['201']));
    expect((await app.call('GET', '/Users/1000')).body.userName).toBe('u999');
  });
});
