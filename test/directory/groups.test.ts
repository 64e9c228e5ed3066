import { describe, expect, test } from 'bun:test';
import { openTestApp, platformGroupUrn, type TestApp } from '../support/app.ts';
import { dialects } from '../support/database.ts';

async function openWithPeople(dialect: (typeof engines)[number], count: number): Promise<TestApp> {
  const app = await openTestApp({ dialect });
  for (let number = 1; number <= count; number += 1) await app.createUser({ userName: `user${number}` });
  return app;
}

async function membersOf(app: TestApp, id: number): Promise<string[]> {
  const { body } = await app.call('GET', `/Groups/${id}`);
  return (body.members ?? []).map((member: { value: string }) => member.value);
}

const value = (...ids: (number | string)[]) => ids.map((id) => ({ value: String(id) }));
const engines = dialects();

describe.each(engines)('POST /Groups on %s', (dialect) => {
  test('creates a security group unless it is told another type', async () => {
    await using app = await openTestApp({ dialect });
    const plain = await app.createGroup({ displayName: 'Sales', externalId: 'g1' });
    expect(plain).toMatchObject({ status: 201, body: { id: '1', externalId: 'g1' } });
    expect(plain.body[platformGroupUrn]).toEqual({ groupType: 'security group' });
    const typed = await app.createGroup({
      displayName: 'Sales',
      [platformGroupUrn]: { groupType: 'Department', description: 'Sells' },
    });
    expect(typed).toMatchObject({ status: 201, body: { id: '2' } });
    expect(typed.body[platformGroupUrn]).toEqual({ groupType: 'department', description: 'Sells' });
  });

  test('matches by externalId, and by displayName within the type', async () => {
    await using app = await openTestApp({ dialect });
    await app.createGroup({ displayName: 'Sales', externalId: 'g1' });
    expect(await app.createGroup({ displayName: 'SALES' })).toMatchObject({ status: 200, body: { id: '1' } });
    const renamed = await app.createGroup({ displayName: 'Selling', externalId: 'g1' });
    expect(renamed).toMatchObject({ status: 200, body: { id: '1', displayName: 'Selling' } });
    await app.createGroup({ displayName: 'Buying' });
    const two = await app.createGroup({ displayName: 'Buying', externalId: 'g1' });
    expect(two).toMatchObject({ status: 409, body: { scimType: 'uniqueness' } });
  });

  test('adds the members of the body to those of the matched group', async () => {
    await using app = await openWithPeople(dialect, 2);
    await app.createGroup({ displayName: 'Sales', members: value(1) });
    await app.createGroup({ displayName: 'Sales', members: value(2) });
    expect(await membersOf(app, 1)).toEqual(['1', '2']);
  });

  test('creates nothing when a member is unknown', async () => {
    await using app = await openWithPeople(dialect, 1);
    const answer = await app.createGroup({ displayName: 'Sales', members: value(1, 99) });
    expect(answer).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
    expect(answer.body.detail).toContain('"99"');
    expect((await app.call('GET', '/Groups')).body.totalResults).toBe(0);
    expect(await app.history()).toEqual(['User 1 create']);
  });

  test.each([{}, { displayName: '' }, { displayName: ' ' }])(
    'refuses %j: a displayName is required',
    async (body) => {
      await using app = await openTestApp({ dialect });
      expect(await app.createGroup(body)).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
    },
  );
});

describe.each(engines)('PATCH /Groups/{id} on %s', (dialect) => {
  test('adds and removes members as sets, with a journal row for the group and for each person', async () => {
    await using app = await openWithPeople(dialect, 3);
    await app.createGroup({ displayName: 'Sales' });
    await app.patch('/Groups/1', [{ op: 'add', path: 'members', value: value(1, 2, 2) }]);
    await app.patch('/Groups/1', [{ op: 'add', path: 'members', value: value(2, 3) }]);
    await app.patch('/Groups/1', [{ op: 'remove', path: 'members[value eq "1" or value eq "3"]' }]);
    expect(await membersOf(app, 1)).toEqual(['2']);
    expect((await app.history()).slice(3)).toEqual([
      'Group 1 create',
      ...['Group 1 members.add', 'User 1 groups.add', 'User 2 groups.add'],
      ...['Group 1 members.add', 'User 3 groups.add'],
      ...['Group 1 members.remove', 'User 1 groups.remove', 'User 3 groups.remove'],
    ]);
  });

  test('changes nothing and journals nothing for members who are in, or are not', async () => {
    await using app = await openWithPeople(dialect, 2);
    const group = await app.createGroup({ displayName: 'Sales', members: value(1) });
    const rows = (await app.history()).length;
    const same = await app.patch('/Groups/1', [
      { op: 'add', path: 'members', value: value(1) },
      { op: 'remove', path: 'members[value eq "2"]' },
      { op: 'remove', path: 'members[value eq "99"]' },
    ]);
    expect(same).toMatchObject({ status: 200, body: { meta: group.body.meta } });
    expect(await app.history()).toHaveLength(rows);
  });

  test('applies operations in their order', async () => {
    await using app = await openWithPeople(dialect, 3);
    await app.createGroup({ displayName: 'Sales', members: value(1) });
    await app.patch('/Groups/1', [
      { op: 'remove', path: 'members' },
      { op: 'add', path: 'members', value: value(2, 3) },
      { op: 'replace', path: 'displayName', value: 'Selling' },
      { op: 'remove', path: 'members', value: value(3) },
    ]);
    expect(await membersOf(app, 1)).toEqual(['2']);
    expect((await app.call('GET', '/Groups/1')).body.displayName).toBe('Selling');
  });

  test('removes one of many by value list, not all of them', async () => {
    await using app = await openWithPeople(dialect, 3);
    await app.createGroup({ displayName: 'Sales', members: value(1, 2, 3) });
    await app.patch('/Groups/1', [{ op: 'Remove', path: 'members', value: [{ value: '2', $ref: null }] }]);
    expect(await membersOf(app, 1)).toEqual(['1', '3']);
    await app.patch('/Groups/1', [{ op: 'remove', value: { members: value(3) } }]);
    expect(await membersOf(app, 1)).toEqual(['1']);
    await app.patch('/Groups/1', [{ op: 'Remove', path: 'members', value: [] }]);
    expect(await membersOf(app, 1)).toEqual(['1']);
  });

  test('undoes member changes when a later operation fails', async () => {
    await using app = await openWithPeople(dialect, 1);
    await app.createGroup({ displayName: 'Sales' });
    const answer = await app.patch('/Groups/1', [
      { op: 'add', path: 'members', value: value(1) },
      { op: 'add', path: 'members', value: value(98, 99) },
    ]);
    expect(answer.status).toBe(400);
    expect(answer.body.detail).toMatch(/"98".*"99"/);
    expect(await membersOf(app, 1)).toEqual([]);
  });

  test.each(['1e0', '01', ' 1', '１', '', 'user1', '1; drop table membership', '999999999999999999999'])(
    'takes %p for nobody',
    async (id) => {
      await using app = await openWithPeople(dialect, 1);
      await app.createGroup({ displayName: 'Sales' });
      const answer = await app.patch('/Groups/1', [{ op: 'add', path: 'members', value: [{ value: id }] }]);
      expect(answer.body).toMatchObject({ status: '400', scimType: 'invalidValue' });
      expect(await membersOf(app, 1)).toEqual([]);
    },
  );

  test('answers 409 for a name that another group of the type has', async () => {
    await using app = await openTestApp({ dialect });
    await app.createGroup({ displayName: 'Sales' });
    await app.createGroup({ displayName: 'Buying' });
    const answer = await app.patch('/Groups/2', [{ op: 'replace', path: 'displayName', value: 'sales' }]);
    expect(answer).toMatchObject({ status: 409, body: { scimType: 'uniqueness' } });
  });
});

describe.each(engines)('PUT /Groups/{id} on %s', (dialect) => {
  test('makes the members those of the body', async () => {
    await using app = await openWithPeople(dialect, 3);
    await app.createGroup({ displayName: 'Sales', externalId: 'g1', members: value(1, 2) });
    const put = await app.call('PUT', '/Groups/1', {
      displayName: 'Sales',
      externalId: 'g1',
      members: value(2, 3),
    });
    expect(put).toMatchObject({ status: 200, body: { members: value(2, 3) } });
    const empty = await app.call('PUT', '/Groups/1', { displayName: 'Sales' });
    expect(empty.body.members).toBeUndefined();
    expect(empty.body.externalId).toBeUndefined();
  });

  test('keeps the type of the group when the body knows nothing of types', async () => {
    await using app = await openWithPeople(dialect, 1);
    await app.createGroup({ displayName: 'HR', [platformGroupUrn]: { groupType: 'department' } });
    const put = await app.call('PUT', '/Groups/1', { displayName: 'People', members: value(1) });
    expect(put).toMatchObject({
      status: 200,
      body: { displayName: 'People', [platformGroupUrn]: { groupType: 'department' } },
    });
  });

  test('keeps the version when the whole group comes back as it was read', async () => {
    await using app = await openWithPeople(dialect, 2);
    await app.createGroup({ displayName: 'Sales', externalId: 'g1', members: value(1, 2) });
    app.clock.advance(60);
    const { body } = await app.call('GET', '/Groups/1');
    const rows = (await app.history()).length;
    expect((await app.call('PUT', '/Groups/1', body)).body).toEqual(body);
    expect(await app.history()).toHaveLength(rows);
  });
});

describe.each(engines)('GET /Groups on %s', (dialect) => {
  test('leaves members out of the list unless they are asked for by name', async () => {
    await using app = await openWithPeople(dialect, 1);
    await app.createGroup({ displayName: 'Sales', members: value(1) });
    const [plain] = (await app.call('GET', '/Groups')).body.Resources;
    expect(plain.members).toBeUndefined();
    const [asked] = (await app.call('GET', '/Groups?attributes=members')).body.Resources;
    expect(asked).toEqual({
      schemas: asked.schemas,
      id: '1',
      members: [{ value: '1', display: 'user1', type: 'User', $ref: `${app.baseUrl}/Users/1` }],
    });
    expect((await app.call('GET', '/Groups/1?excludedAttributes=members')).body.members).toBeUndefined();
  });
});

describe.each(engines)('DELETE /Groups/{id} on %s', (dialect) => {
  test('takes the group and its memberships away for good; its name is free again', async () => {
    await using app = await openWithPeople(dialect, 1);
    await app.createGroup({ displayName: 'Sales', externalId: 'g1', members: value(1) });
    expect((await app.call('DELETE', '/Groups/1')).status).toBe(204);
    const answers = [
      await app.call('GET', '/Groups/1'),
      await app.call('PUT', '/Groups/1', { displayName: 'Sales' }),
      await app.patch('/Groups/1', [{ op: 'add', path: 'members', value: value(1) }]),
      await app.call('DELETE', '/Groups/1'),
    ];
    expect(answers.map((answer) => answer.status)).toEqual([404, 404, 404, 404]);
    expect((await app.call('GET', '/Users/1')).body.groups).toBeUndefined();
    expect(await app.createGroup({ displayName: 'Sales', externalId: 'g1' })).toMatchObject({
      status: 201,
      body: { id: '2' },
    });
    expect((await app.journal()).find((row) => row.action === 'delete')).toMatchObject({
      resource_type: 'Group',
      before: { displayName: 'Sales', members: ['1'] },
    });
  });
});

describe.each(engines)('a group of more than 1,000 members on %s', (dialect) => {
  test('answers changes with 204 and its ETag, and takes 1,000 members in one request', async () => {
    await using app = await openTestApp({ dialect });
    const now = '2030-01-01T00:00:00.000Z';
    const rows = Array.from({ length: 1_001 }, (_, index) => ({
      id: index + 1,
      state: 'active' as const,
      owner_source_id: null,
      user_name: `u${index}`,
      user_name_key: `u${index}`,
      display_name: `u${index}`,
      display_name_key: null,
      family_name_key: null,
      employee_number_key: null,
      document: '{}',
      manager_id: null,
      password_hash: null,
      do_not_synchronise: 0 as const,
      version: 1,
      created: now,
      modified: now,
    }));
    await app.database.write(async (tx) => {
      for (let start = 0; start < rows.length; start += 500)
        await tx
          .insertInto('user')
          .values(rows.slice(start, start + 500))
          .execute();
    });
    await app.createGroup({ displayName: 'Everyone' });
    const thousand = rows.slice(0, 1_000).map((row) => row.id);
    const first = await app.patch('/Groups/1', [{ op: 'add', path: 'members', value: value(...thousand) }]);
    expect(first.status).toBe(200);
    expect(first.body.members).toHaveLength(1_000);
    const second = await app.patch('/Groups/1', [{ op: 'add', path: 'members', value: value(1_001) }]);
    expect(second).toMatchObject({ status: 204, text: '' });
    expect(second.headers.get('etag')).toBe('W/"3"');
    expect((await app.call('GET', '/Groups/1')).body.members).toHaveLength(1_001);
  });
});
