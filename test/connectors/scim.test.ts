import { describe, expect, test } from 'bun:test';
import { connector } from '../../connectors/scim/scim.ts';
import type { ConnectorRecord, Group, User } from '../../src/connectors/contract.ts';
import { enterpriseUrn, openTestApp, type TestApp } from '../support/app.ts';
import { connectorContext, readAll } from '../support/connector-context.ts';
import { insertPeople } from '../support/people.ts';
import { type PeopleApi, servePeople } from './people-api.ts';
import { serveScimmy } from './scim-server.ts';

const usersOf = (records: readonly ConnectorRecord[]) =>
  records.filter((each): each is User => each.kind === 'user');
const groupsOf = (records: readonly ConnectorRecord[]) =>
  records.filter((each): each is Group => each.kind === 'group');

describe('scim with Rollcall itself', () => {
  const config = (app: TestApp, over: object = {}) => ({
    baseUrl: app.baseUrl,
    auth: { type: 'bearer', token: app.token },
    ...over,
  });

  test.each(['index', 'cursor', 'auto'])('reads people, managers and nested groups by %s', async (paging) => {
    await using app = await openTestApp();
    const boss = await app.createUser({ userName: 'boss', name: { givenName: 'Bo', familyName: 'Ss' } });
    const ann = await app.createUser({
      userName: 'ann',
      active: false,
      displayName: 'Ann Lee',
      name: { givenName: 'Ann', familyName: 'Lee' },
      title: 'Clerk',
      locale: 'nb-NO',
      emails: [
        { type: 'home', value: 'ann@home.test' },
        { type: 'work', value: 'ann@example.com', primary: true },
      ],
      phoneNumbers: [{ type: 'mobile', value: '+47 1' }],
      addresses: [{ type: 'work', locality: 'Oslo', country: 'NO' }],
      [enterpriseUrn]: { employeeNumber: 'e7', department: 'Sales', manager: { value: boss.body.id } },
    });
    const inner = await app.createGroup({ displayName: 'Inner', members: [{ value: ann.body.id }] });
    await app.createGroup({ displayName: 'Outer', members: [{ value: boss.body.id }] });
    const records = await readAll(connector, config(app, { paging, pageSize: 1 }));
    const names = groupsOf(records).map(({ type, name }) => `${type} ${name}`);
    expect(names).toContain('security group Inner');
    const found = usersOf(records).find(({ username }) => username === 'ann');
    expect(found).toMatchObject({
      id: ann.body.id,
      active: 'false',
      firstname: 'Ann',
      surname: 'Lee',
      displayname: 'Ann Lee',
      jobtitle: 'Clerk',
      culture: 'nb-NO',
      email: 'ann@example.com',
      alternateemail: { type: 'home', value: 'ann@home.test' },
      phones: { mobile: '+47 1' },
      addresses: { work: { locality: 'Oslo', country: 'NO' } },
      employeenumber: 'e7',
      department: 'Sales',
      manager: boss.body.id,
    });
    expect(found?.groups).toContain(inner.body.id);
    expect(usersOf(records).find(({ username }) => username === 'boss')?.manager).toBeNull();
  });

  test('reads ten thousand people, each once', async () => {
    await using app = await openTestApp();
    await insertPeople(app.database, 10_000);
    const records = await readAll(connector, config(app, { groups: false, pageSize: 1_000 }));
    expect(new Set(usersOf(records).map(({ id }) => id)).size).toBe(10_000);
    expect(records.length).toBe(10_000);
    expect(records[0]).not.toHaveProperty('groups');
  });

  test('hands on filters, and says what it found', async () => {
    await using app = await openTestApp();
    for (const userName of ['ann', 'bob', 'annabel']) await app.createUser({ userName });
    const over = { userFilter: 'userName sw "ann"', groups: false };
    expect(usersOf(await readAll(connector, config(app, over))).map(({ username }) => username)).toEqual([
      'ann',
      'annabel',
    ]);
    const { origin } = new URL(app.baseUrl);
    const said = await connector.test(await connectorContext(connector, config(app)));
    expect(said).toBe(`${origin} gives 3 users and 0 groups, pages by cursor.`);
    const wrong = readAll(connector, config(app, { ...over, userFilter: 'userName xx "a"' }));
    await expect(wrong).rejects.toThrow(/answers \/.*\/Users with status 400\. It says: /);
  });

  test('says that the token is refused, that nobody is there, and that this is not SCIM, without the token', async () => {
    await using app = await openTestApp();
    const bad = { auth: { type: 'bearer', token: 'not-the-token' } };
    const failed = await readAll(connector, config(app, bad)).then(String, (error: Error) => error.message);
    expect(failed).toContain('refuses the credentials (401). Check them in the configuration.');
    expect(failed).not.toContain('not-the-token');
    await expect(readAll(connector, config(app, { groups: false }))).rejects.toThrow(
      'The server gives nobody',
    );
    await app.createUser({ userName: 'ann' });
    await expect(readAll(connector, config(app))).rejects.toThrow('The server gives no group');
    const wrong = config(app, { baseUrl: `${app.baseUrl}/elsewhere` });
    await expect(readAll(connector, wrong)).rejects.toThrow('(404). Check the address.');
  });
});

describe('scim with a foreign server', () => {
  const people = Array.from({ length: 45 }, (_, number) => ({
    id: `u${number}`,
    userName: `user${number}`,
    active: number % 10 !== 0,
    name: { givenName: 'Ann', familyName: `Number ${number}` },
    emails: [{ value: `u${number}@example.com`, type: 'work' }],
    [enterpriseUrn]: { employeeNumber: `e${number}`, ...(number === 0 ? {} : { manager: { value: 'u0' } }) },
  }));
  const groups = [
    { id: 'g1', displayName: 'Inner', members: [{ value: 'u1' }, { value: 'g3' }] },
    { id: 'g2', displayName: 'Outer', members: [{ value: 'g1' }, { value: 'u2' }] },
    { id: 'g3', displayName: 'Ring', members: [{ value: 'g2' }] },
  ];

  test('reads people in pages, and nested groups', async () => {
    await using server = await serveScimmy(people, groups, 'a-token');
    const config = {
      baseUrl: `${server.baseUrl}/`,
      auth: { type: 'bearer', token: 'a-token' },
      pageSize: 10,
    };
    const records = await readAll(connector, config);
    const users = usersOf(records);
    expect(users.map(({ id }) => id)).toEqual(people.map(({ id }) => id));
    expect(users[10]).toMatchObject({
      username: 'user10',
      active: 'false',
      manager: 'u0',
      employeenumber: 'e10',
    });
    expect(users[1]?.groups).toEqual(['g1', 'g2', 'g3']);
    expect(users[2]?.groups).toEqual(['g1', 'g2', 'g3']);
    expect(users[3]?.groups).toEqual([]);
    const direct = usersOf(await readAll(connector, { ...config, nestedGroups: false }));
    expect(direct[1]?.groups).toEqual(['g1']);
    const filtered = { ...config, groups: false, userFilter: 'userName eq "user7"' };
    expect(usersOf(await readAll(connector, filtered)).map(({ id }) => id)).toEqual(['u7']);
    expect(await connector.test(await connectorContext(connector, config))).toContain(
      '45 users and 3 groups, pages by index.',
    );
    const refused = readAll(connector, { ...config, auth: { type: 'bearer', token: 'other' } });
    await expect(refused).rejects.toThrow(
      '(401). Check them in the configuration. It says: That token is not known.',
    );
  });
});

describe('scim, a list that changes', () => {
  const page = (ids: readonly (string | number)[], total: number | undefined, more: object = {}) =>
    Response.json({
      totalResults: total,
      Resources: ids.map((id) => ({ id: String(id), userName: `n${id}` })),
      ...more,
    });
  const range = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => from + at);
  const read = async (api: PeopleApi, over: object = {}) => {
    const config = { baseUrl: api.origin, groups: false, paging: 'index', pageSize: 10, ...over };
    const context = await connectorContext(connector, config);
    const records = await Array.fromAsync(connector.read(context));
    return { ids: usersOf(records).map(({ id }) => Number(id)), lines: context.lines };
  };

  test('reads once more when somebody went in the middle, and passes over whom it has', async () => {
    let people = range(0, 30);
    using api = servePeople((url, _, number) => {
      if (number === 2) people = people.filter((id) => id !== 3);
      const from = Number(url.searchParams.get('startIndex')) - 1;
      return page(people.slice(from, from + 10), people.length);
    });
    const { ids, lines } = await read(api);
    expect(ids.toSorted((a, b) => a - b)).toEqual(range(0, 30));
    expect(lines.join('\n')).toContain(
      'from 29 to 30 users, and gives 29: the list changes while it is read',
    );
  });

  test('fails when the second walk is no better', async () => {
    using api = servePeople((url) => {
      const from = Number(url.searchParams.get('startIndex')) - 1;
      return page(range(from, Math.min(from + 10, 29)), 30);
    });
    await expect(read(api)).rejects.toThrow('says that it has 30 users, and gives 29');
    expect(api.requests).toHaveLength(8);
  });

  test('follows fewer resources than it asked for', async () => {
    using api = servePeople((url) => {
      const from = Number(url.searchParams.get('startIndex')) - 1;
      return page(range(from, Math.min(from + 7, 30)), 30);
    });
    expect((await read(api)).ids).toEqual(range(0, 30));
  });

  test('starts again when a cursor has expired, once', async () => {
    let failures = 1;
    const serve = () =>
      servePeople((url) => {
        const from = Number(url.searchParams.get('cursor') || 0);
        if (from === 20 && failures-- > 0)
          return Response.json({ scimType: 'expiredCursor', detail: 'Too late' }, { status: 400 });
        return page(range(from, from + 10), undefined, from < 20 ? { nextCursor: `${from + 10}` } : {});
      });
    using api = serve();
    const { ids, lines } = await read(api, { paging: 'cursor' });
    expect(ids).toEqual(range(0, 30));
    expect(lines.join('\n')).toContain('It says: Too late. Reading them once more.');
    failures = 2;
    using again = serve();
    await expect(read(again, { paging: 'cursor' })).rejects.toThrow('It says: Too late');
  });

  test.each([
    ['index', () => page(range(0, 10), 30), 'gives the same page of users twice'],
    ['cursor', () => page(range(0, 10), 30, { nextCursor: 'x' }), 'gives the same page of users twice'],
    ['index', () => Response.json([]), 'something that is no list of users'],
    ['index', () => Response.json({ users: [] }), 'something that is no list of users'],
    [
      'index',
      () => Response.json({ totalResults: 1, Resources: [{ userName: 'x' }] }),
      'one of the users without an id',
    ],
    ['index', () => Response.json({ totalResults: 0 }), 'The server gives nobody'],
    ['index', () => new Response('<html>'), 'not JSON'],
  ] as const)(
    'by %s, takes a server that does not do its part for a failure (%#)',
    async (paging, respond, sentence) => {
      using api = servePeople(() => respond());
      await expect(read(api, { paging })).rejects.toThrow(sentence);
    },
  );

  test('takes memberships from users where groups do not name them', async () => {
    const user = {
      id: '1',
      userName: 'a',
      groups: [{ value: 'g' }, { value: 'h', type: 'indirect' }, { value: 'x' }],
    };
    using api = servePeople((url) => {
      if (url.pathname === '/ServiceProviderConfig') return new Response('', { status: 404 });
      if (url.pathname === '/Users') return Response.json({ totalResults: 1, Resources: [user] });
      const groups = ['g', 'h'].map((id) => ({ id, displayName: id }));
      return Response.json({ totalResults: 2, Resources: groups });
    });
    const config = { baseUrl: api.origin };
    expect(usersOf(await readAll(connector, config))[0]?.groups).toEqual(['g', 'h']);
    const direct = usersOf(await readAll(connector, { ...config, nestedGroups: false }));
    expect(direct[0]?.groups).toEqual(['g']);
  });

  test('offers attributes of extensions by their URN', async () => {
    const urn = 'urn:example:scim:2.0:Badge';
    const resource = { id: '1', userName: 'a', [urn]: { number: 7, door: { code: 'x' } } };
    using api = servePeople(() => Response.json({ totalResults: 1, Resources: [resource] }));
    const mapping = { user: { title: `${urn}:number`, bio: `${urn}:door.code` } };
    const [user] = usersOf(
      await readAll(connector, { baseUrl: api.origin, groups: false, paging: 'index', mapping }),
    );
    expect(user).toMatchObject({ title: '7', bio: 'x' });
  });

  test('stops when the run is cancelled before the server answers', async () => {
    const controller = new AbortController();
    using api = servePeople(() => {
      controller.abort(new Error('cancelled by a person'));
      return new Promise<Response>(() => undefined);
    });
    const reading = readAll(connector, { baseUrl: api.origin }, { signal: controller.signal });
    await expect(reading).rejects.toThrow('cancelled by a person');
  });
});
