import { describe, expect, test } from 'bun:test';
import { profileXml, userXml } from '../imports/support.ts';
import type { Json } from '../support/app.ts';
import { dialects } from '../support/database.ts';
import { type AdminHouse, openAdminHouse } from './house.ts';

const groups = '<group id="d1" type="department" name="Finance"/>';
const people = [
  userXml(
    '1',
    'ada@example.com',
    '<firstname>Ada</firstname><surname>Berg</surname><email>ada@example.com</email>',
  ),
  userXml(
    '2',
    'bo@example.com',
    '<surname>Lind</surname><jobtitle>Clerk</jobtitle><department>d1</department><manager>1</manager>',
  ),
  userXml('3', 'cy@example.com', '<manager>2</manager>'),
];

async function openWithPeople(dialect: 'sqlite' | 'postgres'): Promise<AdminHouse> {
  const admin = await openAdminHouse({ dialect });
  await admin.house.import(profileXml(people, { groups }));
  return admin;
}

const namesOf = ({ body }: { body: Json }) => body.users.map(({ userName }: Json) => userName);

describe.each(dialects())('GET /users on %s', (dialect) => {
  test('finds people by the beginning of a name, an address or by their id, within a filter', async () => {
    await using admin = await openWithPeople(dialect);
    const all = await admin.call('GET', '/users');
    expect([all.body.totalResults, namesOf(all).length]).toEqual([3, 3]);
    const [ada] = all.body.users;
    for (const search of ['BER', 'ada@', String(ada.id), 'ada berg']) {
      expect(namesOf(await admin.call('GET', `/users?search=${encodeURIComponent(search)}`))).toEqual([
        'ada@example.com',
      ]);
    }
    const filter = encodeURIComponent('title eq "Clerk" and active eq true');
    expect(namesOf(await admin.call('GET', `/users?filter=${filter}`))).toEqual(['bo@example.com']);
    expect(namesOf(await admin.call('GET', `/users?search=ada&filter=${filter}`))).toEqual([]);
    expect(namesOf(await admin.call('GET', '/users?startIndex=3&count=1'))).toEqual(['cy@example.com']);
  });

  test('takes no word of a search for a filter, and says where a filter is wrong', async () => {
    await using admin = await openWithPeople(dialect);
    for (const search of ['" or id pr or userName eq "', '\\', '%', '_']) {
      expect(namesOf(await admin.call('GET', `/users?search=${encodeURIComponent(search)}`))).toEqual([]);
    }
    const wrong = await admin.call('GET', '/users?filter=title%20is%20x');
    expect([wrong.status, wrong.body.message]).toEqual([400, expect.stringMatching(/position|character/i)]);
    expect((await admin.call('GET', '/users?count=1000')).status).toBe(400);
  });
});

describe.each(dialects())('GET /users/{user} on %s', (dialect) => {
  test('shows the person with groups, those above and those below, and every change with its origin', async () => {
    await using admin = await openWithPeople(dialect);
    const { users } = (await admin.call('GET', '/users')).body;
    const [ada, bo, cy] = users.map(({ id }: Json) => id);
    const { body } = await admin.call('GET', `/users/${bo}`);
    expect(body).toMatchObject({ id: bo, state: 'active', ownerSourceId: 1 });
    expect(body.resource).toMatchObject({ id: String(bo), userName: 'bo@example.com', title: 'Clerk' });
    expect(body.resource.meta.location).toBe(`${admin.origin}/api/v2/scim/v2/Users/${bo}`);
    expect(body.groups).toEqual([
      { id: expect.any(Number), groupType: 'department', displayName: 'Finance', isPrimary: true },
    ]);
    expect(body.managers).toEqual([{ id: ada, displayName: 'Ada Berg' }]);
    expect(body.reports.users.map(({ id }: Json) => id)).toEqual([cy]);
    const chain = (await admin.call('GET', `/users/${cy}`)).body.managers;
    expect(chain.map(({ id }: Json) => id)).toEqual([bo, ada]);
    const history = (await admin.call('GET', `/users/${bo}/history`)).body;
    expect(history.changes.at(-1)).toMatchObject({
      actor: { kind: 'source', name: 'Human Resources' },
      importId: 1,
      before: null,
      after: { userName: 'bo@example.com' },
    });
    expect((await admin.call('GET', '/users/999')).status).toBe(404);
    expect((await admin.call('GET', '/users/999/history')).status).toBe(404);
  });
});

describe.each(dialects())('GET /groups on %s', (dialect) => {
  test('finds groups, shows one, its history and, by a filter on people, its members', async () => {
    await using admin = await openWithPeople(dialect);
    const [group] = (await admin.call('GET', '/groups?search=fin')).body.groups;
    expect(group).toMatchObject({ displayName: 'Finance', groupType: 'department', ownerSourceId: 1 });
    expect((await admin.call('GET', '/groups?search=nance')).body.groups).toEqual([]);
    const { body } = await admin.call('GET', `/groups/${group.id}`);
    expect(body.resource).toMatchObject({ displayName: 'Finance', meta: { resourceType: 'Group' } });
    const filter = encodeURIComponent(`groups.value eq "${group.id}"`);
    expect(namesOf(await admin.call('GET', `/users?filter=${filter}`))).toEqual(['bo@example.com']);
    expect((await admin.call('GET', `/groups/${group.id}/history`)).body.changes).not.toEqual([]);
    expect((await admin.call('GET', '/groups/999')).status).toBe(404);
  });
});
