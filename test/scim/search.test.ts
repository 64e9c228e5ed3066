import { describe, expect, test } from 'bun:test';
import { type CallOptions, type Json, openTestApp, type TestApp } from '../support/app.ts';
import { dialects } from '../support/database.ts';

const searchUrn = 'urn:ietf:params:scim:api:messages:2.0:SearchRequest';

function search(app: TestApp, path: string, members: object, options?: CallOptions) {
  return app.call('POST', `${path}/.search`, { schemas: [searchUrn], ...members }, options);
}

/** `User 1 ann`, in order. */
function namesOf(body: Json): string[] {
  return body.Resources.map((each: Json) => {
    const isUser = each.schemas[0].endsWith(':User');
    return `${isUser ? 'User' : 'Group'} ${each.id} ${each.displayName ?? '-'}`;
  });
}

async function openWithBoth(dialect: 'sqlite' | 'postgres' = 'sqlite'): Promise<TestApp> {
  const app = await openTestApp({ dialect });
  for (const displayName of ['Delta', 'alpha', undefined, 'Charlie'])
    await app.createUser({
      userName: `u${displayName ?? 'nobody'}`,
      ...(displayName ? { displayName } : {}),
    });
  for (const displayName of ['Bravo', 'Alpha', 'Echo']) await app.createGroup({ displayName });
  return app;
}

describe.each(dialects())('.search on %s', (dialect) => {
  test('finds what the list of the same type finds', async () => {
    await using app = await openWithBoth(dialect);
    const { body } = await search(app, '/Users', {
      filter: 'displayName co "a"',
      sortBy: 'displayName',
      sortOrder: 'Descending',
      startIndex: 2,
      count: 2,
      attributes: ['displayName'],
    });
    expect(body).toMatchObject({ totalResults: 3, startIndex: 2, itemsPerPage: 2 });
    expect(body.Resources).toEqual([
      { schemas: expect.any(Array), id: '4', displayName: 'Charlie' },
      { schemas: expect.any(Array), id: '2', displayName: 'alpha' },
    ]);
    expect(namesOf((await search(app, '/Groups', {})).body)).toEqual([
      'Group 1 Bravo',
      'Group 2 Alpha',
      'Group 3 Echo',
    ]);
  });

  test('at the root is one list of users and groups, by any order, index and cursor', async () => {
    await using app = await openWithBoth(dialect);
    const users = ['User 1 Delta', 'User 2 alpha', 'User 3 -', 'User 4 Charlie'];
    const groups = ['Group 1 Bravo', 'Group 2 Alpha', 'Group 3 Echo'];
    const byName = [
      'User 2 alpha',
      'Group 2 Alpha',
      'Group 1 Bravo',
      'User 4 Charlie',
      'User 1 Delta',
      'Group 3 Echo',
      'User 3 -',
    ];
    const byUserName = ['User 2 alpha', 'User 4 Charlie', 'User 1 Delta', 'User 3 -', ...groups];
    const orders: [members: object, expected: string[]][] = [
      [{}, [...users, ...groups]],
      [{ sortBy: 'displayName' }, byName],
      [{ sortBy: 'displayName', sortOrder: 'descending' }, byName.toReversed()],
      [{ sortBy: 'userName' }, byUserName],
      [{ sortBy: 'userName', sortOrder: 'descending' }, byUserName.toReversed()],
      [
        { filter: 'displayName pr', sortBy: 'meta.resourceType' },
        [...groups, ...users.filter((name) => !name.endsWith('-'))],
      ],
      [{ filter: 'displayName eq "ALPHA"' }, ['User 2 alpha', 'Group 2 Alpha']],
      [{ filter: 'userName pr' }, users],
      [{ filter: 'userName pr or displayName eq "echo"' }, users],
      [{ filter: 'members pr' }, []],
    ];
    for (const [members, expected] of orders) {
      for (const count of [1, 2, 3, 10]) {
        for (let startIndex = 1; startIndex <= expected.length + 1; startIndex += 1) {
          const { body } = await search(app, '', { ...members, startIndex, count });
          const page = expected.slice(startIndex - 1, startIndex - 1 + count);
          expect({ members, total: body.totalResults, names: namesOf(body) }).toEqual({
            members,
            total: expected.length,
            names: page,
          });
        }
        const followed: string[] = [];
        let cursor: string | undefined = '';
        for (let page = 0; page < 20 && cursor !== undefined; page += 1) {
          const { body }: { body: Json } = await search(app, '', { ...members, count, cursor });
          expect(body.itemsPerPage).toBeLessThanOrEqual(count);
          followed.push(...namesOf(body));
          cursor = body.nextCursor;
        }
        expect({ members, count, followed }).toEqual({ members, count, followed: expected });
      }
      const { body } = await search(app, '', { ...members, count: 0 });
      expect(body).toMatchObject({ totalResults: expected.length, itemsPerPage: 0, Resources: [] });
    }
  }, 60_000);

  test('at the root shows of each type what belongs to it, and members when they are named', async () => {
    await using app = await openWithBoth(dialect);
    await app.createGroup({ displayName: 'Full', members: [{ value: '1' }] });
    const plain = await search(app, '', { filter: 'displayName eq "Full"' });
    expect(plain.body.Resources[0]).not.toHaveProperty('members');
    const named = await search(app, '', { attributes: ['members', 'userName'] });
    const full = named.body.Resources.find((each: Json) => each.members !== undefined);
    expect(full).toMatchObject({ id: '4', members: [{ value: '1' }] });
    expect(full).not.toHaveProperty('displayName');
    expect(named.body.Resources[0]).toMatchObject({ userName: 'uDelta' });
    const { body } = await app.call('GET', `?filter=${encodeURIComponent('displayName eq "full"')}`);
    expect(namesOf(body)).toEqual(['Group 4 Full']);
  });

  test('shows a source of scope own its own alone', async () => {
    await using app = await openWithBoth(dialect);
    const own = { token: await app.addSource('Own', { scope: 'own' }) };
    await app.createUser({ userName: 'mine', displayName: 'Mine' }, own);
    await app.createGroup({ displayName: 'My group' }, own);
    for (const members of [{}, { sortBy: 'displayName' }, { filter: 'displayName pr' }, { cursor: '' }]) {
      const { body } = await search(app, '', members, own);
      expect({ members, names: namesOf(body) }).toEqual({
        members,
        names: ['User 5 Mine', 'Group 4 My group'],
      });
    }
  });
});

describe('a SearchRequest', () => {
  test.each([
    ['no object', '[]', 'invalidSyntax'],
    ['no JSON', '{', 'invalidSyntax'],
    ['a filter that is no text', '{"filter":7}', 'invalidValue'],
    ['a count that is no number', '{"count":"many"}', 'invalidValue'],
    ['a broken count', '{"count":1.5}', 'invalidValue'],
    ['a broken count with a cursor', '{"count":1.5,"cursor":""}', 'invalidCount'],
    ['attributes that are no names', '{"attributes":[1]}', 'invalidValue'],
    ['an unknown order', '{"sortBy":"id","sortOrder":"up"}', 'invalidValue'],
    ['an attribute that neither type has', '{"filter":"shoeSize eq 5"}', 'invalidFilter'],
    ['an order by what neither type has', '{"sortBy":"shoeSize"}', 'invalidPath'],
    ['a filter that cannot be read', '{"filter":"displayName"}', 'invalidFilter'],
    ['the cursor of nobody', '{"cursor":"abc"}', 'invalidCursor'],
  ])('with %s is refused', async (_what, body, scimType) => {
    await using app = await openTestApp();
    expect(await app.call('POST', '/.search', body)).toMatchObject({ status: 400, body: { scimType } });
  });

  test('may spell its members in any case, and numbers as texts; enormous ones mean the end', async () => {
    await using app = await openWithBoth();
    const { body } = await app.call('POST', '/Users/.search', {
      FILTER: 'userName pr',
      Count: '2',
      startindex: 2,
    });
    expect(body).toMatchObject({ totalResults: 4, startIndex: 2, itemsPerPage: 2 });
    const far = await app.call('POST', '/Users/.search', { startIndex: 1e300, count: 1e300 });
    expect(far).toMatchObject({ status: 200, body: { totalResults: 4, itemsPerPage: 0 } });
    const digits = '9'.repeat(40);
    const byQuery = await app.call('GET', `/Users?startIndex=${digits}&count=${digits}`);
    expect(byQuery).toMatchObject({ status: 200, body: { totalResults: 4, itemsPerPage: 0 } });
    expect((await app.call('GET', `/Users?startIndex=-${digits}&count=2`)).body.itemsPerPage).toBe(2);
  });

  test('has to say what it is, and to be typed, for a source of the dialect strict', async () => {
    await using app = await openTestApp({ settings: { dialect: 'strict' } });
    const untitled = await app.call('POST', '/Users/.search', { filter: 'userName pr' });
    expect(untitled).toMatchObject({ status: 400, body: { scimType: 'invalidSyntax' } });
    expect(await search(app, '/Users', { count: '2' })).toMatchObject({
      status: 400,
      body: { scimType: 'invalidValue' },
    });
    expect(await search(app, '/Users', { count: 2 })).toMatchObject({ status: 200 });
  });

  test('is asked for by POST alone, and as JSON', async () => {
    await using app = await openTestApp();
    expect(await app.call('GET', '/Users/.search')).toMatchObject({ status: 404 });
    const typed = { headers: { 'content-type': 'text/plain' } };
    expect(await app.call('POST', '/.search', '{}', typed)).toMatchObject({ status: 415 });
  });
});

describe('a page of groups with their members', () => {
  test('holds a bounded number of members: by index it is refused, by cursor it ends early', async () => {
    await using app = await openTestApp();
    for (const displayName of ['A', 'B', 'C']) await app.createGroup({ displayName });
    await app.createUser({ userName: 'ann' });
    await app.database.write(async (tx) => {
      const users = Array.from({ length: 60_000 }, (_, index) => ({
        id: index + 10,
        state: 'active' as const,
        owner_source_id: 1,
        user_name: `u${index}`,
        user_name_key: `u${index}`,
        display_name: `u${index}`,
        document: '{}',
        do_not_synchronise: 0 as const,
        version: 1,
        created: '2030-01-01T00:00:00.000Z',
        modified: '2030-01-01T00:00:00.000Z',
      }));
      for (let start = 0; start < users.length; start += 500) {
        const some = users.slice(start, start + 500);
        await tx.insertInto('user').values(some).execute();
        for (const group_id of [1, 2])
          await tx
            .insertInto('membership')
            .values(some.map(({ id }) => ({ group_id, user_id: id })))
            .execute();
      }
    });
    const refused = await app.call('GET', '/Groups?attributes=members');
    expect(refused).toMatchObject({ status: 400, body: { scimType: 'tooMany' } });
    expect(refused.body.detail).toBe(
      'The page would show more than 100000 members; ask for fewer groups by count, or follow a cursor.',
    );
    expect((await app.call('GET', '/Groups?attributes=displayName')).body.itemsPerPage).toBe(3);
    expect(
      (await app.call('GET', '/Groups?attributes=members&count=1')).body.Resources[0].members,
    ).toHaveLength(60_000);
    const first = (await app.call('GET', '/Groups?attributes=members&cursor=')).body;
    expect(first.Resources.map((group: Json) => group.id)).toEqual(['1']);
    const second = (await app.call('GET', `/Groups?attributes=members&cursor=${first.nextCursor}`)).body;
    expect(second.Resources.map((group: Json) => group.id)).toEqual(['2', '3']);
    expect(second).not.toHaveProperty('nextCursor');
  }, 60_000);
});
