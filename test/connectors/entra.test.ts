import { describe, expect, test } from 'bun:test';
import { connector } from '../../connectors/entra/entra.ts';
import type { ConnectorRecord, Group, Json, User } from '../../src/connectors/contract.ts';
import { connectorContext } from '../support/connector-context.ts';
import { fault, type GraphServer, serveGraph, type Tenant } from './graph-server.ts';

const secret = 'the~client~secret';

/** Twelve people, of whom p1 manages the others; All contains Inner, and Ring and Inner each other. */
function tenant(over: Partial<Tenant> = {}): Tenant {
  const users = Array.from({ length: 12 }, (_, number) => ({
    id: `p${number + 1}`,
    userPrincipalName: `p${number + 1}@corp.test`,
    accountEnabled: number !== 4,
    displayName: `Person ${number + 1}`,
    givenName: 'Ann',
    surname: `Number ${number + 1}`,
    mail: `p${number + 1}@mail.test`,
    businessPhones: ['+47 1', '+47 2'],
    employeeHireDate: '2020-02-03T00:00:00Z',
    userType: number < 10 ? 'Member' : 'Guest',
    ...(number > 0 ? { manager: 'p1' } : {}),
  }));
  return {
    users,
    groups: [
      { id: 'all', displayName: 'All', members: ['inner', 'p3'] },
      { id: 'inner', displayName: 'Inner', members: ['p2', 'ring', 'device'] },
      { id: 'ring', displayName: 'Ring', members: ['inner'] },
    ],
    userChanges: [],
    groupChanges: [],
    pageSize: 5,
    ...over,
  };
}

const configOf = (server: GraphServer, over: object = {}) => ({
  tenantId: 'corp.test',
  clientId: 'app',
  clientSecret: secret,
  loginUrl: server.origin,
  graphUrl: `${server.origin}/`,
  ...over,
});

interface RunOptions {
  readonly over?: object;
  readonly checkpoint?: Json | undefined;
}

async function run(server: GraphServer, { over = {}, checkpoint }: RunOptions = {}) {
  const options = checkpoint === undefined ? {} : ({ mode: 'delta', checkpoint } as const);
  const context = await connectorContext(connector, configOf(server, over), options);
  const records: readonly ConnectorRecord[] = await Array.fromAsync(connector.read(context));
  return {
    users: records.filter((each): each is User => each.kind === 'user'),
    groups: records.filter((each): each is Group => each.kind === 'group'),
    checkpoint: context.checkpoints.at(-1),
    log: context.lines.join('\n'),
  };
}

describe('entra, everybody', () => {
  test('reads people, groups, nested members and managers, page by page', async () => {
    using server = serveGraph(tenant(), secret);
    const { users, groups } = await run(server);
    expect(groups.map(({ id, name, type }) => [id, name, type])).toEqual([
      ['all', 'All', 'security group'],
      ['inner', 'Inner', 'security group'],
      ['ring', 'Ring', 'security group'],
    ]);
    expect(users.map(({ id }) => id)).toEqual(tenant().users.map(({ id }) => id));
    expect(users[0]).toMatchObject({ username: 'p1@corp.test', active: 'true', manager: null, groups: [] });
    expect(users[1]).toMatchObject({
      firstname: 'Ann',
      surname: 'Number 2',
      displayname: 'Person 2',
      email: 'p2@mail.test',
      jobstartdate: '2020-02-03T00:00:00Z',
      phones: { work: '+47 1' },
      manager: 'p1',
      groups: ['all', 'inner', 'ring'],
    });
    expect(users[2]?.groups).toEqual(['all']);
    expect(users[4]?.active).toBe('false');
  });

  test('asks for one token, and for no more than the mapping needs', async () => {
    using server = serveGraph(tenant(), secret);
    const cost = 'onPremisesExtensionAttributes.extensionAttribute1';
    const mapping = { user: { 'additionalfields.cost': cost, email: null } };
    await run(server, { over: { mapping } });
    const tokens = server.requests.filter(({ path }) => path === '/corp.test/oauth2/v2.0/token');
    expect(tokens.map(({ body }) => body)).toEqual([
      `grant_type=client_credentials&scope=${encodeURIComponent(`${server.origin}/.default`)}&client_id=app&client_secret=the%7Eclient%7Esecret`,
    ]);
    const asked = new URL(
      server.requests.find(({ path }) => path.startsWith('/v1.0/users?'))?.path ?? '',
      server.origin,
    );
    const select = asked.searchParams.get('$select')?.split(',') ?? [];
    expect(select).toContain('onPremisesExtensionAttributes');
    expect(select).not.toContain('mail');
    expect(select).not.toContain('managerId');
  });

  test('reads direct members alone, filters people, and leaves memberships alone, as configured', async () => {
    using server = serveGraph(tenant(), secret);
    const direct = await run(server, { over: { nestedGroups: false } });
    expect(direct.users[1]?.groups).toEqual(['inner']);
    const guests = await run(server, { over: { userFilter: "userType eq 'Guest'", groups: false } });
    expect(guests.users.map(({ id }) => id)).toEqual(['p11', 'p12']);
    expect(guests.users[0]).not.toHaveProperty('groups');
    expect(guests.groups).toEqual([]);
  });

  test('fails when nobody or no group comes', async () => {
    using server = serveGraph(tenant({ users: [] }), secret);
    await expect(run(server)).rejects.toThrow('Graph gives nobody: check userFilter');
    server.tenant.groups = [];
    await expect(run(server)).rejects.toThrow('Graph gives no group: check groupFilter');
  });

  test('waits as Graph says when it is asked too often', async () => {
    using server = serveGraph(tenant(), secret);
    server.tenant.interrupt = (url, number) =>
      number % 3 === 1 && !url.pathname.endsWith('/token')
        ? fault(429, 'TooManyRequests', 'Please retry again later.', { 'retry-after': '0' })
        : undefined;
    expect((await run(server)).users).toHaveLength(12);
  });

  test.each([
    [() => Response.json({ users: [] }), 'Graph answers with something that is no list'],
    [() => Response.json({ value: [{}] }), 'Graph answers with an object without an id'],
    [() => Response.json({ value: [] }), 'no @odata.deltaLink at the end'],
    [(url: URL) => Response.json({ value: [], '@odata.nextLink': url.href }), 'the same page twice'],
    [
      () => Response.json({ value: [], '@odata.nextLink': 'https://elsewhere.test/' }),
      'refers to https://elsewhere.test',
    ],
    [
      () => fault(403, 'Authorization_RequestDenied', 'Insufficient privileges'),
      'It says: Insufficient privileges.',
    ],
  ])('takes a broken answer for a failure (%#)', async (respond, sentence) => {
    using server = serveGraph(tenant(), secret);
    server.tenant.interrupt = (url) => (url.pathname.endsWith('/token') ? undefined : respond(url));
    await expect(run(server)).rejects.toThrow(sentence);
  });

  test('says that the secret is wrong, and never what it is', async () => {
    using server = serveGraph(tenant(), secret);
    const failed = await run(server, { over: { clientSecret: 'wrong-secret' } }).then(
      String,
      (error: Error) => error.message,
    );
    expect(failed).toContain(
      'refuses the client credentials (401). Check clientId, clientSecret and scope. It says: AADSTS7000215',
    );
    expect(failed).not.toContain('wrong-secret');
  });

  test('says what a test found', async () => {
    using server = serveGraph(tenant(), secret);
    const tryOut = async (over?: object) =>
      connector.test(await connectorContext(connector, configOf(server, over)));
    expect(await tryOut()).toBe(
      `Signed in to the tenant corp.test by ${server.origin}; among the people it finds Person 1 first, and among the groups finds All first.`,
    );
    expect(await tryOut({ groups: false, userFilter: "userType eq 'x'" })).toContain(
      'among the people it finds nobody.',
    );
  });

  test('stops when the run is cancelled before Graph answers', async () => {
    const controller = new AbortController();
    using server = serveGraph(tenant(), secret);
    server.tenant.interrupt = () => {
      controller.abort(new Error('cancelled by a person'));
      return undefined;
    };
    const context = await connectorContext(connector, configOf(server), { signal: controller.signal });
    await expect(Array.fromAsync(connector.read(context))).rejects.toThrow('cancelled by a person');
  });
});

describe('entra, what has changed', () => {
  /** A run of everything, then `change`, then a delta. */
  async function delta(change: (tenant: Tenant) => void, over: object = {}) {
    using server = serveGraph(tenant(), secret);
    const { checkpoint } = await run(server, { over });
    change(server.tenant);
    const before = server.requests.length;
    const result = await run(server, { over, checkpoint });
    return { ...result, paths: server.requests.slice(before).map(({ path }) => path.split('?')[0]) };
  }

  test('yields nobody when nothing has changed, and keeps the new place', async () => {
    const { users, groups, checkpoint, paths } = await delta(() => undefined);
    expect([users, groups]).toEqual([[], []]);
    expect(checkpoint).toMatchObject({
      users: expect.stringContaining('two'),
      groups: expect.stringContaining('two'),
    });
    expect(paths).not.toContain('/v1.0/users');
  });

  test('yields whoever changed, whole, with groups and manager', async () => {
    const { users, groups } = await delta((now) => {
      now.users = now.users.map((user) =>
        user.id === 'p2' ? { ...user, surname: 'Changed', manager: 'p3' } : user,
      );
      now.userChanges = [
        {
          id: 'p2',
          surname: 'Changed',
          'manager@delta': [{ '@odata.type': '#microsoft.graph.user', id: 'p3' }],
        },
      ];
    });
    expect(users).toMatchObject([
      {
        id: 'p2',
        surname: 'Changed',
        manager: 'p3',
        groups: ['inner', 'all', 'ring'],
        username: 'p2@corp.test',
      },
    ]);
    expect(groups.map(({ id }) => id)).toEqual(['all', 'inner', 'ring']);
  });

  test('says that somebody is gone by saying that the person is not active', async () => {
    const { users, log } = await delta((now) => {
      now.users = now.users.filter(({ id }) => id !== 'p3');
      now.userChanges = [{ id: 'p3', '@removed': { reason: 'changed' } }];
    });
    expect(users).toEqual([{ kind: 'user', id: 'p3', active: false }]);
    expect(log).toContain('People changed: 1, of whom gone: 1.');
  });

  test('knows somebody who was deleted and restored', async () => {
    const { users } = await delta((now) => {
      now.userChanges = [
        { id: 'p3', '@removed': { reason: 'changed' } },
        { id: 'p3', displayName: 'Person 3' },
      ];
    });
    expect(users).toMatchObject([{ id: 'p3', active: 'true' }]);
  });

  test('does not say who is gone when ids come from elsewhere', async () => {
    const over = { mapping: { user: { id: 'userPrincipalName' } } };
    const { users, log } = await delta((now) => {
      now.userChanges = [{ id: 'p3', '@removed': { reason: 'deleted' } }];
    }, over);
    expect(users).toEqual([]);
    expect(log).toContain('noticed by the next full run only');
  });

  test('yields whose groups changed, also through a group within a group', async () => {
    const user = (id: string, more: object = {}) => ({ '@odata.type': '#microsoft.graph.user', id, ...more });
    const { users } = await delta((now) => {
      now.groups = now.groups.map((group) => (group.id === 'all' ? { ...group, members: ['p4'] } : group));
      const inner = {
        '@odata.type': '#microsoft.graph.group',
        id: 'inner',
        '@removed': { reason: 'deleted' },
      };
      now.groupChanges = [
        { id: 'all', 'members@delta': [user('p3', { '@removed': { reason: 'deleted' } }), inner] },
        { id: 'all', 'members@delta': [user('p4')] },
        { id: 'gone', '@removed': { reason: 'changed' } },
      ];
    });
    expect(users.map(({ id, groups }) => [id, groups])).toEqual([
      ['p3', []],
      ['p2', ['inner', 'ring']],
      ['p4', ['all']],
    ]);
  });

  test('passes over whoever does not meet the filter', async () => {
    const change = (now: Tenant) => {
      now.userChanges = [{ id: 'p2' }, { id: 'p12' }];
    };
    const { users } = await delta(change, { userFilter: "userType eq 'Member'" });
    expect(users.map(({ id }) => id)).toEqual(['p2']);
  });

  test('reads everything when there is no place to go on from, when it is too old, or of another configuration', async () => {
    using server = serveGraph(tenant(), secret);
    const { checkpoint } = await run(server);
    const old = {
      ...(checkpoint as object),
      users: `${server.origin}/v1.0/users/delta?$deltatoken=old`,
    } as Json;
    const foreign = { ...(checkpoint as object), users: 'https://elsewhere.test/delta' } as Json;
    for (const each of [null, 'x', old, foreign]) {
      const { users, log } = await run(server, { checkpoint: each });
      expect(users).toHaveLength(12);
      expect(log).toContain('reading everything');
    }
    expect((await run(server, { checkpoint, over: { nestedGroups: false } })).users).toHaveLength(12);
  });
});
