import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type CallOptions, enterpriseUrn, type Json, openTestApp, type TestApp } from '../support/app.ts';
import { dialects } from '../support/database.ts';

const pagesMax = 500;

/** Follows the cursor to the end; the bodies of all pages. */
async function follow(app: TestApp, query: string, options?: CallOptions): Promise<Json[]> {
  const pages: Json[] = [];
  let cursor = '';
  for (let page = 0; page < pagesMax; page += 1) {
    const answer = await app.call('GET', `/Users?${query}&cursor=${cursor}`, undefined, options);
    expect({ query, status: answer.status, text: answer.status === 200 ? '' : answer.text }).toEqual({
      query,
      status: 200,
      text: '',
    });
    pages.push(answer.body);
    if (answer.body.nextCursor === undefined) return pages;
    cursor = answer.body.nextCursor;
    expect(cursor).toMatch(/^[A-Za-z0-9._~-]+$/);
  }
  throw new Error('the cursor leads to no end');
}

function idsOf(pages: readonly Json[]): number[] {
  return pages.flatMap((page) => page.Resources.map((user: Json) => Number(user.id)));
}

async function openWithPeople(dialect: 'sqlite' | 'postgres', count: number): Promise<TestApp> {
  const app = await openTestApp({ dialect });
  const names = ['Ann', 'bob', 'Çid', 'z\u{1F600}', 'z\u{FF5E}', 'ann'];
  for (let start = 0; start < count; start += 50) {
    await Promise.all(
      Array.from({ length: Math.min(50, count - start) }, (_, index) => {
        const number = start + index;
        return app.createUser({
          userName: `u${(number * 7919) % 10_007}`,
          ...(number % 3 === 0 ? {} : { displayName: `${names[number % names.length]}${number % 11}` }),
          ...(number % 4 === 0 ? {} : { title: `t${number % 5}` }),
          ...(number % 5 === 0 ? {} : { name: { familyName: `F${number % 13}` } }),
          active: number % 6 !== 0,
          emails: [
            { value: `e${number % 17}@x.org`, type: 'home' },
            { value: `p${number % 19}.${number}@x.org`, primary: true, type: 'work' },
          ],
          [enterpriseUrn]: { employeeNumber: String(number % 23) },
        });
      }),
    );
    app.clock.advance(1);
  }
  return app;
}

const sorts = [
  '',
  'id',
  'userName',
  'displayName',
  'name.familyName',
  'meta.created',
  'meta.lastModified',
  'title',
  'emails',
  'active',
  `${enterpriseUrn}:employeeNumber`,
];
const filters = [
  '',
  'active eq true',
  'userName sw "u1"',
  'displayName pr',
  'not (displayName pr)',
  'title eq "t2"',
  'emails.value sw "p3."',
  'displayName co "n" or active eq false',
  'userName eq "nobody"',
];

/** The value by which RFC 7644 §3.4.2.3 sorts, as a text or number; undefined for none. */
function sortValue(user: Json, sortBy: string): string | number | undefined {
  switch (sortBy) {
    case '':
    case 'id':
      return Number(user.id);
    case 'emails':
      return user.emails.find((email: Json) => email.primary).value;
    case 'name.familyName':
      return user.name?.familyName.toLowerCase();
    case 'active':
      return Number(user.active);
    case 'meta.created':
      return user.meta.created;
    case 'meta.lastModified':
      return user.meta.lastModified;
    case `${enterpriseUrn}:employeeNumber`:
      return user[enterpriseUrn].employeeNumber;
    default:
      return user[sortBy]?.toLowerCase();
  }
}

/** By code point, which is not the order of UTF-16. */
function codePoints(text: string): string {
  return [...text]
    .map((character) =>
      String.fromCharCode(
        ...[character.codePointAt(0) ?? 0].flatMap((point) => [point >>> 16, point & 0xffff]),
      ),
    )
    .join('');
}

function modelOrder(users: readonly Json[], sortBy: string, isDescending: boolean): number[] {
  const keyed = users.map((user) => {
    const value = sortValue(user, sortBy);
    return { id: Number(user.id), key: typeof value === 'string' ? codePoints(value) : value };
  });
  keyed.sort((a, b) => {
    if (a.key === undefined || b.key === undefined)
      return Number(a.key === undefined) - Number(b.key === undefined) || a.id - b.id;
    if (a.key === b.key) return a.id - b.id;
    return a.key < b.key ? -1 : 1;
  });
  const ids = keyed.map((each) => each.id);
  return isDescending ? ids.toReversed() : ids;
}

describe.each(dialects())('lists on %s', (dialect) => {
  test('are by index and by cursor what a plain model says, for any filter, order and page', async () => {
    await using app = await openWithPeople(dialect, 300);
    await app.call('DELETE', '/Users/7');
    const matching = new Map<string, Json[]>();
    for (const filter of filters) {
      const { body } = await app.call('GET', `/Users?count=1000&filter=${encodeURIComponent(filter)}`);
      matching.set(filter, body.Resources);
    }
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...filters),
        fc.constantFrom(...sorts),
        fc.boolean(),
        fc.integer({ min: 40, max: 400 }),
        fc.integer({ min: 1, max: 320 }),
        async (filter, sortBy, isDescending, count, startIndex) => {
          const users = matching.get(filter) ?? [];
          const expected =
            sortBy === '' ? users.map((user) => Number(user.id)) : modelOrder(users, sortBy, isDescending);
          const query = `filter=${encodeURIComponent(filter)}&sortBy=${encodeURIComponent(sortBy)}&sortOrder=${isDescending ? 'DESCENDING' : 'ascending'}&count=${count}`;
          expect({ query, ids: idsOf(await follow(app, query)) }).toEqual({ query, ids: expected });
          const { body } = await app.call('GET', `/Users?${query}&startIndex=${startIndex}`);
          const page = expected.slice(startIndex - 1, startIndex - 1 + count);
          expect({ query, total: body.totalResults, ids: idsOf([body]) }).toEqual({
            query,
            total: expected.length,
            ids: page,
          });
        },
      ),
      { numRuns: 60, seed: 9_865 },
    );
  }, 120_000);
});

describe.each(dialects())('a cursor on %s', (dialect) => {
  test('repeats and loses nobody while people come and go', async () => {
    await using app = await openWithPeople(dialect, 200);
    for (const sortBy of ['', 'userName', 'title']) {
      const before = idsOf(await follow(app, `sortBy=${sortBy}&count=1000`));
      const seen: number[] = [];
      const gone = new Set<number>();
      let cursor = '';
      do {
        const { body } = await app.call('GET', `/Users?sortBy=${sortBy}&count=40&cursor=${cursor}`);
        seen.push(...idsOf([body]));
        cursor = body.nextCursor ?? '';
        for (const id of [seen.at(-1) ?? 0, seen.at(-2) ?? 0, before[100 + seen.length] ?? 0]) {
          gone.add(id);
          await app.call('DELETE', `/Users/${id}`);
        }
        await app.createUser({ userName: `a${sortBy}${seen.length}`, title: 'a' });
      } while (cursor !== '');
      expect(new Set(seen).size).toBe(seen.length);
      const missed = before.filter((id) => !seen.includes(id) && !gone.has(id));
      expect(missed).toEqual([]);
    }
  }, 60_000);

  test('gives totals where they cost little, and no startIndex', async () => {
    await using app = await openWithPeople(dialect, 30);
    const first = (await app.call('GET', '/Users?cursor=&count=20')).body;
    expect(first).toMatchObject({ totalResults: 30, itemsPerPage: 20 });
    expect(first).not.toHaveProperty('startIndex');
    const last = (await app.call('GET', `/Users?cursor=${first.nextCursor}&count=20`)).body;
    expect(last).toMatchObject({ totalResults: 30, itemsPerPage: 10 });
    expect(last).not.toHaveProperty('nextCursor');
    const none = (await app.call('GET', '/Users?cursor=&count=0')).body;
    expect(none).toMatchObject({ totalResults: 30, itemsPerPage: 0, Resources: [] });
    expect(none).not.toHaveProperty('nextCursor');
    const full = (await app.call('GET', '/Users?cursor=&count=30')).body;
    expect(full).not.toHaveProperty('nextCursor');
  });

  test('shows a source of scope own its own alone', async () => {
    await using app = await openWithPeople(dialect, 10);
    const own = { token: await app.addSource('Own', { scope: 'own' }) };
    for (let number = 0; number < 7; number += 1)
      await app.createUser({ userName: `own${number}`, title: `t${number % 2}` }, own);
    for (const query of [
      'count=3',
      'count=3&sortBy=userName',
      'count=3&sortBy=title&sortOrder=descending',
      'count=3&filter=title%20pr',
    ]) {
      const ids = idsOf(await follow(app, query, own));
      expect(ids.toSorted((a, b) => a - b)).toEqual([11, 12, 13, 14, 15, 16, 17]);
    }
    const { body } = await app.call('GET', '/Users?startIndex=6&count=5', undefined, own);
    expect(body).toMatchObject({ totalResults: 7, itemsPerPage: 2 });
  });
});

describe('a cursor that is not good', () => {
  test.each([
    ['nonsense', 'invalidCursor'],
    ['v1.', 'invalidCursor'],
    ['%00', 'invalidCursor'],
    [`v1.${'A'.repeat(200)}`, 'invalidCursor'],
    ['x'.repeat(13_000), 'invalidCursor'],
  ])('is refused: %.20s', async (cursor, scimType) => {
    await using app = await openTestApp();
    expect(await app.call('GET', `/Users?cursor=${cursor}`)).toMatchObject({
      status: 400,
      body: { scimType },
    });
  });

  test('because it was changed, or taken to another query, source, endpoint, count or time, is refused', async () => {
    await using app = await openTestApp();
    for (let number = 0; number < 5; number += 1)
      await app.createUser({ userName: `u${number}`, displayName: `${number}` });
    const other = { token: await app.addSource('Other') };
    const { nextCursor } = (await app.call('GET', '/Users?count=2&sortBy=userName&cursor=')).body;
    const ask = (query: string, options?: CallOptions) =>
      app.call('GET', `/Users?${query}`, undefined, options);
    const refused = (scimType: string) => ({ status: 400, body: { scimType } });
    const good = `count=2&sortBy=userName&cursor=${nextCursor}`;
    expect(await ask(good)).toMatchObject({ status: 200, body: { itemsPerPage: 2 } });
    expect(await ask(`${good}&attributes=userName`)).toMatchObject({ status: 200 });
    const middle = nextCursor.length >> 1;
    const changed =
      nextCursor.slice(0, middle) + (nextCursor[middle] === 'A' ? 'B' : 'A') + nextCursor.slice(middle + 1);
    expect(await ask(`count=2&sortBy=userName&cursor=${changed}`)).toMatchObject(refused('invalidCursor'));
    expect(await ask(`count=2&sortBy=id&cursor=${nextCursor}`)).toMatchObject(refused('invalidCursor'));
    expect(await ask(`${good}&sortOrder=descending`)).toMatchObject(refused('invalidCursor'));
    expect(await ask(`${good}&filter=userName%20pr`)).toMatchObject(refused('invalidCursor'));
    expect(await ask(good, other)).toMatchObject(refused('invalidCursor'));
    const elsewhere = await app.call('GET', `/?count=2&sortBy=userName&cursor=${nextCursor}`);
    expect(elsewhere).toMatchObject(refused('invalidCursor'));
    expect(await ask(`count=3&sortBy=userName&cursor=${nextCursor}`)).toMatchObject(refused('invalidCount'));
    expect(await ask(`count=x&cursor=`)).toMatchObject(refused('invalidCount'));
    expect(await ask(`${good}&startIndex=5`)).toMatchObject(refused('invalidValue'));
    expect(await ask(`${good}&startIndex=1`)).toMatchObject({ status: 200 });
    app.clock.advance(3_601);
    const late = await ask(good);
    expect(late).toMatchObject(refused('expiredCursor'));
    expect(late.body.detail).toBe('The cursor is older than 3600 seconds; begin again with an empty one.');
  });

  test('never shows what it holds', async () => {
    await using app = await openTestApp();
    for (const userName of ['secretive-a', 'secretive-b']) await app.createUser({ userName });
    const { nextCursor } = (await app.call('GET', '/Users?count=1&sortBy=userName&cursor=')).body;
    const bytes = Buffer.from(nextCursor.replace('v1.', ''), 'base64url').toString('latin1');
    expect(bytes).not.toContain('secretive');
  });
});

describe('sortBy and sortOrder', () => {
  test.each([
    ['sortBy=shoeSize', 'invalidPath'],
    ['sortBy=password', 'invalidPath'],
    ['sortBy=name', 'invalidPath'],
    ['sortBy=emails%5Btype%20eq%20%22work%22%5D', 'invalidPath'],
    ['sortBy=__proto__', 'invalidPath'],
    ['sortBy=userName&sortOrder=upwards', 'invalidValue'],
  ])('that cannot be followed are refused: %s', async (query, scimType) => {
    await using app = await openTestApp();
    expect(await app.call('GET', `/Users?${query}`)).toMatchObject({ status: 400, body: { scimType } });
  });
});

describe('what a query may look at', () => {
  test('is bounded: beyond it an index page is refused, and a cursor goes on with fewer results', async () => {
    await using app = await openTestApp();
    await app.database.write(async (tx) => {
      const rows = Array.from({ length: 12_000 }, (_, index) => ({
        id: index + 1,
        state: 'active' as const,
        owner_source_id: 1,
        user_name: `u${index}`,
        user_name_key: `u${index}`,
        display_name: `u${index}`,
        document: index === 11_000 ? '{"title":"rare"}' : '{}',
        do_not_synchronise: 0 as const,
        version: 1,
        created: '2030-01-01T00:00:00.000Z',
        modified: '2030-01-01T00:00:00.000Z',
      }));
      for (let start = 0; start < rows.length; start += 500)
        await tx
          .insertInto('user')
          .values(rows.slice(start, start + 500))
          .execute();
    });
    const filter = encodeURIComponent('title eq "rare"');
    expect(await app.call('GET', `/Users?filter=${filter}`)).toMatchObject({ body: { totalResults: 1 } });
    await app.configurations.setSetting('filterRowsMax', '5000');
    for (const query of [`filter=${filter}`, 'sortBy=title', `filter=${filter}&count=0`]) {
      const answer = await app.call('GET', `/Users?${query}`);
      expect(answer).toMatchObject({ status: 400, body: { scimType: 'tooMany' } });
      expect(answer.body.detail).toContain('more than 5000 resources');
    }
    const pages = await follow(app, `filter=${filter}`);
    expect(idsOf(pages)).toEqual([11_001]);
    expect(pages.length).toBeGreaterThan(1);
    const deep = await app.call('GET', '/Users?startIndex=11990&count=100');
    expect(deep.body).toMatchObject({ totalResults: 12_000, itemsPerPage: 11 });
    expect(deep.body.Resources[0].id).toBe('11990');
    expect(idsOf(await follow(app, 'count=1000'))).toHaveLength(12_000);
  }, 60_000);
});
