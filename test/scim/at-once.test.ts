import { describe, expect, test } from 'bun:test';
import type { Surface } from '../../src/http/surface.ts';
import { enterpriseUrn, openTestApp, type TestApp } from '../support/app.ts';
import { dialects } from '../support/database.ts';

const userName = (name: string) => `/Users?filter=${encodeURIComponent(`userName eq "${name}"`)}`;

/** Requests that are answered at once on SQLite, for a source that sees everything. */
const atOnce = [
  '/Users/1',
  '/Users/3',
  '/Users',
  '/Users?',
  '/Users?startIndex=2&count=2',
  '/Users?startIndex=-3&count=100000',
  '/Users?startIndex=6&count=2',
  '/Users?startIndex=900',
  '/Users?count=2&unknown=x',
  '/Users?filter=',
  '/Users?filter=%20+&count=3',
  userName('ann@example.com'),
  userName('ANN@example.com'),
  userName('nobody@example.com'),
  '/Users?filter=userName+eq+%22bob@Example.com%22',
  `/Users?filter=userName%20eq%20%22${'x'.repeat(201)}%22`,
  userName('Zoë "Z" O’Neil \\\\'.replaceAll('"', '\\"')),
  `${userName('bob@example.com')}&startIndex=1&count=100`,
  '/Users?filter=username+EQ+%22bob%40example.com%22',
  '/Users?filter=userName%20eq%20%22%C3%A9%22',
  '/Users?filter=urn:ietf:params:scim:schemas:core:2.0:User:userName%20eq%20%22bob%40example.com%22',
  '/Users?count=1&count=2',
];

/** Requests that go the ordinary way whatever the source. */
const ordinary = [
  '/Users/0',
  '/Users/01',
  '/Users/4',
  '/Users/99',
  '/Users/x',
  '/Users/1/2',
  '/Users/%31',
  '/Users/1?attributes=userName',
  '/Users/1?excludedAttributes=name',
  '/Users/1?unknown=x',
  '/UsersX',
  '/users',
  '/Users?attributes=userName',
  '/Users?excludedAttributes=emails,name',
  '/Users?sortBy=userName',
  '/Users?sortOrder=up',
  '/Users?cursor&count=100',
  '/Users?count=0',
  '/Users?count=x',
  '/Users?startIndex=1.5',
  `${userName('ann@example.com')}&startIndex=2`,
  `${userName('ann@example.com')}&count=0`,
  '/Users?filter=userName%20eq%20bob',
  '/Users?filter=userName',
  '/Users?filter=password%20eq%20%22secret%22',
  '/Users?filter=nobody%20eq%20%22x%22',
  '/Users?filter=userName%20sw%20%22a%22',
  '/Users?filter=not%20(userName%20eq%20%22a%22)',
  '/Users?filter=userName%20eq%201',
  '/Users?filter=%ff%E0%80',
  "/Users?filter=userName%20eq%20'bob'",
  '/Groups',
];

const variants: readonly Readonly<Record<string, string>>[] = [
  {},
  { accept: 'application/json' },
  { accept: 'text/html, application/json;q=0' },
  { 'if-none-match': 'W/"1"' },
  { 'if-none-match': '*' },
  { 'x-forwarded-for': '192.0.2.1', 'x-forwarded-proto': 'https' },
];

interface Counter {
  atOnce: number;
}

function counting(counter: Counter) {
  return (scim: Surface): Surface => ({
    ...scim,
    recognise(asked) {
      const known = scim.recognise?.(asked);
      return (
        known && {
          ...known,
          answer(headers) {
            const answer = known.answer?.(headers);
            if (answer !== undefined) counter.atOnce += 1;
            return answer;
          },
        }
      );
    },
  });
}

function withoutHaste({ recognise: _recognise, ...scim }: Surface): Surface {
  return scim;
}

/** Five users, of whom one was deleted, one is inactive, one has a manager and two are in a group. */
async function fill(app: TestApp): Promise<void> {
  await app.createUser({
    userName: 'ann@example.com',
    externalId: 'a1',
    name: { givenName: 'Ann', familyName: 'Ærø' },
    emails: [{ value: 'ann@example.com', type: 'work', primary: true }],
  });
  await app.createUser({
    userName: 'bob@example.com',
    active: false,
    [enterpriseUrn]: { department: 'Sales', manager: { value: '1' } },
  });
  await app.createUser({ userName: 'Zoë "Z" O’Neil \\', displayName: 'Zoë\u2028' });
  await app.createUser({ userName: 'gone@example.com' });
  await app.createUser({ userName: 'last@example.com', title: 'Last' });
  await app.createUser({ userName: 'é', title: 'Accent' });
  await app.call('DELETE', '/Users/4');
  await app.createGroup({ displayName: 'Staff', members: [{ value: '1' }, { value: '5' }] });
}

let asked = 0;

/** All that a client and the request log see of a request, but for when it was. */
async function seen(app: TestApp, method: string, path: string, headers: Readonly<Record<string, string>>) {
  const {
    status,
    text,
    headers: shown,
  } = await app.call(method, path, undefined, {
    headers: { host: 'id.example.com', 'x-request-id': `request-${asked}`, ...headers },
  });
  const kept = [...shown].filter(([name]) => name !== 'date').toSorted();
  return { method, path, status, text, headers: kept };
}

function logged(app: TestApp) {
  const reads = app.requests().filter(({ method }) => method === 'GET' || method === 'HEAD');
  return reads.map(({ id: _id, time: _time, durationMs: _duration, ...row }) => row);
}

describe.each(dialects())('what is answered at once (%s)', (dialect) => {
  const settings: readonly Readonly<Record<string, string>>[] = [
    {},
    { dialect: 'strict' },
    { scope: 'own' },
    { logBodies: 'true' },
    { rateLimit: '40' },
  ];

  test.each(settings.map((each) => [JSON.stringify(each), each] as const))(
    'is, byte by byte and in the request log, what is answered otherwise, for a source with %s',
    async (_name, each) => {
      const counter = { atOnce: 0 };
      await using fast = await openTestApp({ dialect, settings: each, around: counting(counter) });
      await using slow = await openTestApp({ dialect, settings: each, around: withoutHaste });
      for (const app of [fast, slow]) await fill(app);
      for (const headers of variants) {
        for (const path of [...atOnce, ...ordinary, '/Users/1']) {
          for (const method of ['GET', 'HEAD']) {
            asked += 1;
            expect(await seen(fast, method, path, headers)).toEqual(await seen(slow, method, path, headers));
          }
        }
      }
      expect(logged(fast)).toEqual(logged(slow));
      const isQuick = dialect === 'sqlite' && each.scope !== 'own' && each.rateLimit === undefined;
      if (isQuick) expect(counter.atOnce).toBeGreaterThan(atOnce.length * 4);
      else if (each.rateLimit === undefined) expect(counter.atOnce).toBe(0);
    },
  );

  test('is asked of no other way than these', async () => {
    const counter = { atOnce: 0 };
    await using app = await openTestApp({ dialect, around: counting(counter) });
    await fill(app);
    await app.call('GET', '/Users/1');
    for (const path of atOnce) {
      const before = counter.atOnce;
      await app.call('GET', path);
      expect([path, counter.atOnce - before]).toEqual([path, dialect === 'sqlite' ? 1 : 0]);
    }
    const before = counter.atOnce;
    for (const path of ordinary) await app.call('GET', path);
    expect(counter.atOnce).toBe(before);
  });

  test('finds the place of a page after users have come and gone', async () => {
    await using app = await openTestApp({ dialect });
    await fill(app);
    const ids = async (startIndex: number) => {
      const { body } = await app.call('GET', `/Users?startIndex=${startIndex}&count=2`);
      return body.Resources.map(({ id }: { id: string }) => Number(id));
    };
    expect(await ids(3)).toEqual([3, 5]);
    await app.call('DELETE', '/Users/2');
    expect(await ids(3)).toEqual([5, 6]);
    await app.createUser({ userName: 'more@example.com' });
    expect(await ids(4)).toEqual([6, 7]);
    await app.patch('/Users/6', [{ op: 'replace', path: 'active', value: false }]);
    expect(await ids(5)).toEqual([7]);
  });

  test('follows every change of a user, of the settings and of the token', async () => {
    await using app = await openTestApp({ dialect });
    await fill(app);
    const title = async () => (await app.call('GET', '/Users/5')).body?.title;
    expect(await title()).toBe('Last');
    await app.patch('/Users/5', [{ op: 'replace', path: 'title', value: 'First' }]);
    expect(await title()).toBe('First');
    await app.patch('/Users/5', [{ op: 'replace', path: 'userName', value: 'new@example.com' }]);
    expect((await app.call('GET', userName('last@example.com'))).body.totalResults).toBe(0);
    expect((await app.call('GET', userName('new@example.com'))).body.Resources[0].title).toBe('First');
    await app.configurations.setSetting('countMax', '2');
    expect((await app.call('GET', '/Users')).body.itemsPerPage).toBe(2);
    await app.call('DELETE', '/Users/5');
    expect((await app.call('GET', '/Users/5')).status).toBe(404);
    expect((await app.call('GET', '/Users')).body.totalResults).toBe(4);
    await app.sources.change('Directory', { active: false });
    expect((await app.call('GET', '/Users/1')).status).toBe(403);
    await app.sources.change('Directory', { active: true });
    const source = await app.sources.get('Directory');
    await app.sources.rotateToken(source, 1);
    expect((await app.call('GET', '/Users/1')).status).toBe(200);
    app.clock.advance(2 * 24 * 60 * 60);
    expect((await app.call('GET', '/Users/1')).status).toBe(401);
  });
});
