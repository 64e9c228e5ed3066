import { describe, expect, test } from 'bun:test';
import { enterpriseUrn, openTestApp } from '../support/app.ts';
import { dialects } from '../support/database.ts';

const patchBody = {
  schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
  Operations: [{ op: 'replace', path: 'displayName', value: 'taken' }],
};

describe.each(dialects())('scope=own on %s', (dialect) => {
  test('answers for what another source owns exactly as for what is not there', async () => {
    await using app = await openTestApp({ dialect });
    const own = { token: await app.addSource('Own', { scope: 'own' }) };
    await app.createUser({ userName: 'foreign', emails: [{ type: 'work', value: 'f@x.org' }] });
    await app.createGroup({ displayName: 'Foreign' });
    const verbs = (kind: string, id: string) =>
      [
        ['GET', `/${kind}/${id}`, undefined],
        ['PUT', `/${kind}/${id}`, { userName: 'taken', displayName: 'taken' }],
        ['PATCH', `/${kind}/${id}`, patchBody],
        ['DELETE', `/${kind}/${id}`, undefined],
      ] as const;
    for (const kind of ['Users', 'Groups']) {
      const [there, missing] = [verbs(kind, '1'), verbs(kind, '999')];
      for (const [index, [method, path, body]] of there.entries()) {
        const found = await app.call(method, path, body, own);
        const [, missingPath, missingBody] = missing[index] ?? there[0];
        const absent = await app.call(method, missingPath, missingBody, own);
        expect(found.status).toBe(404);
        expect(found.text).toBe(absent.text.replace('999', '1'));
      }
    }
    expect(await app.history()).toEqual(['User 1 create', 'Group 1 create']);
  });

  test('lists and finds its own alone', async () => {
    await using app = await openTestApp({ dialect });
    const own = { token: await app.addSource('Own', { scope: 'own' }) };
    await app.createUser({
      userName: 'foreign',
      title: 'Boss',
      emails: [{ type: 'work', value: 'f@x.org' }],
    });
    await app.createUser({ userName: 'mine', title: 'Clerk' }, own);
    const filters = ['userName eq "foreign"', 'emails.value eq "f@x.org"', 'title eq "Boss"', 'id eq "1"'];
    for (const filter of filters) {
      expect((await app.find('/Users', filter, own)).body).toMatchObject({ totalResults: 0, Resources: [] });
    }
    const { body } = await app.call('GET', '/Users', undefined, own);
    expect(body).toMatchObject({ totalResults: 1, Resources: [{ id: '2' }] });
    expect((await app.call('GET', '/Users')).body.totalResults).toBe(2);
  });

  test('neither adopts what another source owns nor takes its names', async () => {
    await using app = await openTestApp({ dialect });
    const own = { token: await app.addSource('Own', { scope: 'own' }) };
    await app.createUser({
      userName: 'foreign',
      title: 'Boss',
      emails: [{ type: 'work', value: 'f@x.org' }],
    });
    await app.createGroup({ displayName: 'Foreign' });
    const answer = await app.createUser({ userName: 'FOREIGN' }, own);
    expect(answer).toMatchObject({ status: 409, body: { scimType: 'uniqueness' } });
    expect(answer.text).not.toContain('Boss');
    expect((await app.createGroup({ displayName: 'foreign' }, own)).status).toBe(409);
    expect(await app.history()).toEqual(['User 1 create', 'Group 1 create']);
  });

  test('adopts what nobody owns, and then sees it', async () => {
    await using app = await openTestApp({ dialect });
    await app.createUser({ userName: 'orphan' });
    await app.database.write((tx) => tx.updateTable('user').set({ owner_source_id: null }).execute());
    const own = { token: await app.addSource('Own', { scope: 'own' }) };
    expect((await app.call('GET', '/Users/1', undefined, own)).status).toBe(404);
    expect(await app.createUser({ userName: 'orphan', title: 'Clerk' }, own)).toMatchObject({ status: 200 });
    expect((await app.call('GET', '/Users/1', undefined, own)).status).toBe(200);
  });

  test('adopts what nobody owns even when the create brings nothing new', async () => {
    await using app = await openTestApp({ dialect });
    await app.createUser({ userName: 'orphan' });
    await app.database.write((tx) => tx.updateTable('user').set({ owner_source_id: null }).execute());
    const own = { token: await app.addSource('Own', { scope: 'own' }) };
    expect(await app.createUser({ userName: 'orphan' }, own)).toMatchObject({ status: 200 });
    expect((await app.call('GET', '/Users/1', undefined, own)).status).toBe(200);
  });

  test('makes members of its own people alone', async () => {
    await using app = await openTestApp({ dialect });
    const own = { token: await app.addSource('Own', { scope: 'own' }) };
    await app.createUser({ userName: 'foreign', displayName: 'Foreign Person' });
    await app.createGroup({ displayName: 'Mine' }, own);
    const answer = await app.patch(
      '/Groups/1',
      [{ op: 'add', path: 'members', value: [{ value: '1' }] }],
      own,
    );
    expect(answer).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
  });

  test('shows neither foreign members of its groups nor foreign groups of its people', async () => {
    await using app = await openTestApp({ dialect });
    const own = { token: await app.addSource('Own', { scope: 'own' }) };
    await app.createUser({ userName: 'foreign', displayName: 'Foreign Person' });
    await app.createUser({ userName: 'mine' }, own);
    await app.createGroup({ displayName: 'Mine', members: [{ value: '2' }] }, own);
    await app.createGroup({ displayName: 'Foreign Group', members: [{ value: '2' }] });
    await app.patch('/Groups/1', [{ op: 'add', path: 'members', value: [{ value: '1' }] }]);
    const group = await app.call('GET', '/Groups/1', undefined, own);
    expect(group.body.members).toMatchObject([{ value: '2' }]);
    const user = await app.call('GET', '/Users/2', undefined, own);
    expect(user.body.groups).toMatchObject([{ value: '1' }]);
    expect(group.text + user.text).not.toContain('Foreign');
  });

  test('creates people with the email of someone it does not see', async () => {
    await using app = await openTestApp({ dialect });
    const own = { token: await app.addSource('Own', { scope: 'own' }) };
    const emails = [{ type: 'work', value: 'shared@x.org' }];
    await app.createUser({ userName: 'foreign', emails });
    expect(await app.createUser({ userName: 'mine', emails }, own)).toMatchObject({
      status: 201,
      body: { id: '2' },
    });
    expect(await app.createUser({ userName: 'mine', emails }, own)).toMatchObject({ status: 200 });
  });

  test('is told of no id when a create matches several', async () => {
    await using app = await openTestApp({ dialect });
    const own = { token: await app.addSource('Own', { scope: 'own' }) };
    await app.createUser({ userName: 'foreign' });
    await app.createGroup({ displayName: 'Foreign' });
    await app.createUser({ userName: 'mine', externalId: 'e' }, own);
    await app.createGroup({ displayName: 'Mine', externalId: 'e' }, own);
    const answers = [
      await app.createUser({ userName: 'foreign', externalId: 'e' }, own),
      await app.createGroup({ displayName: 'Foreign', externalId: 'e' }, own),
    ];
    for (const { status, body } of answers) {
      expect(status).toBe(409);
      expect(body.detail).not.toMatch(/\d/);
    }
  });

  test('sees no manager who is not its own, and asks for none', async () => {
    await using app = await openTestApp({ dialect });
    const own = { token: await app.addSource('Own', { scope: 'own' }) };
    await app.createUser({ userName: 'foreign', displayName: 'Foreign Boss' });
    await app.createUser({ userName: 'mine' }, own);
    await app.createUser({ userName: 'other', [enterpriseUrn]: { manager: { value: '2' } } }, own);
    const path = `${enterpriseUrn}:manager`;
    await app.patch('/Users/2', [{ op: 'add', path, value: { value: '1' } }]);
    const read = await app.call('GET', '/Users/2', undefined, own);
    const changed = await app.patch('/Users/2', [{ op: 'add', path: 'title', value: 'Clerk' }], own);
    const listed = await app.call('GET', '/Users', undefined, own);
    for (const { status, text } of [read, changed, listed]) {
      expect(status).toBe(200);
      expect(text).not.toContain('Foreign');
      expect(text).not.toContain('/Users/1"');
    }
    expect((await app.call('GET', '/Users/3', undefined, own)).body[enterpriseUrn].manager.value).toBe('2');
    expect((await app.call('GET', '/Users/2')).body[enterpriseUrn].manager.value).toBe('1');
    const hits = async (filter: string) => (await app.find('/Users', filter, own)).body.totalResults;
    expect(await hits(`${path}.value eq "1"`)).toBe(0);
    expect(await hits(`${path}.displayName sw "Foreign"`)).toBe(0);
    expect(await hits(`${path}.value eq "2"`)).toBe(1);
  });

  test('finds nobody by foreign groups and no group by foreign members', async () => {
    await using app = await openTestApp({ dialect });
    const own = { token: await app.addSource('Own', { scope: 'own' }) };
    await app.createUser({ userName: 'foreign' });
    await app.createUser({ userName: 'mine' }, own);
    await app.createGroup({ displayName: 'Mine', members: [{ value: '2' }] }, own);
    await app.createGroup({ displayName: 'Foreign', members: [{ value: '2' }] });
    await app.patch('/Groups/1', [{ op: 'add', path: 'members', value: [{ value: '1' }] }]);
    const hits = async (endpoint: '/Users' | '/Groups', filter: string) =>
      (await app.find(endpoint, filter, own)).body.totalResults;
    expect(await hits('/Users', 'groups.value eq "2"')).toBe(0);
    expect(await hits('/Users', 'groups[value eq "2"] and active eq true')).toBe(0);
    expect(await hits('/Users', 'groups.value ne "1"')).toBe(0);
    expect(await hits('/Users', 'groups.display sw "Foreign"')).toBe(0);
    expect(await hits('/Users', 'groups.value eq "1"')).toBe(1);
    expect(await hits('/Groups', 'members.value eq "1"')).toBe(0);
    expect(await hits('/Groups', 'members[value eq "1"]')).toBe(0);
    expect(await hits('/Groups', 'members.value eq "2"')).toBe(1);
    expect((await app.find('/Groups', 'members.value eq "1"')).body.totalResults).toBe(1);
  });

  test('neither takes away nor brings back a manager whom it does not see, unless it names another', async () => {
    await using app = await openTestApp({ dialect });
    const own = { token: await app.addSource('Own', { scope: 'own' }) };
    await app.createUser({ userName: 'boss' });
    await app.createUser({ userName: 'mine' }, own);
    const path = `${enterpriseUrn}:manager`;
    const managerOf = async () => (await app.call('GET', '/Users/2')).body[enterpriseUrn]?.manager?.value;
    await app.patch('/Users/2', [{ op: 'add', path, value: { value: '1' } }]);
    await app.call('PUT', '/Users/2', { userName: 'mine', title: 'Clerk' }, own);
    expect(await managerOf()).toBe('1');
    await app.patch('/Users/2', [{ op: 'remove', path }], own);
    expect(await managerOf()).toBe('1');
    const refused = await app.patch('/Users/2', [{ op: 'add', path, value: { value: '1' } }], own);
    expect(refused).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
    await app.patch('/Users/2', [{ op: 'add', path, value: { value: '2' } }], own);
    expect(await managerOf()).toBe('2');
    await app.call('PUT', '/Users/2', { userName: 'mine' }, own);
    expect(await managerOf()).toBeUndefined();
  });

  // A department is an attribute of the person, whom the source owns; its name tells the source nothing.
  test('puts its people into a department by name, whoever owns it, and still does not see it', async () => {
    await using app = await openTestApp({ dialect });
    const own = { token: await app.addSource('Own', { scope: 'own' }) };
    await app.createUser({ userName: 'foreign', [enterpriseUrn]: { department: 'HR' } });
    const { body } = await app.createUser({ userName: 'mine', [enterpriseUrn]: { department: 'hr' } }, own);
    expect(body.groups).toBeUndefined();
    expect((await app.call('GET', '/Groups/1', undefined, own)).status).toBe(404);
    const members = (await app.call('GET', '/Groups/1')).body.members.map(
      (member: { value: string }) => member.value,
    );
    expect(members).toEqual(['1', '2']);
  });

  test('leaves members whom it does not see where they are', async () => {
    await using app = await openTestApp({ dialect });
    const own = { token: await app.addSource('Own', { scope: 'own' }) };
    await app.createUser({ userName: 'foreign' });
    await app.createUser({ userName: 'mine' }, own);
    await app.createGroup({ displayName: 'Mine', members: [{ value: '2' }] }, own);
    await app.patch('/Groups/1', [{ op: 'add', path: 'members', value: [{ value: '1' }] }]);
    const members = async () =>
      (await app.call('GET', '/Groups/1')).body.members?.map((member: { value: string }) => member.value);
    await app.patch('/Groups/1', [{ op: 'remove', path: 'members[value eq "1"]' }], own);
    expect(await members()).toEqual(['1', '2']);
    await app.call('PUT', '/Groups/1', { displayName: 'Mine' }, own);
    expect(await members()).toEqual(['1']);
    await app.patch('/Groups/1', [{ op: 'remove', path: 'members' }], own);
    expect(await members()).toEqual(['1']);
    await app.patch('/Groups/1', [{ op: 'remove', path: 'members' }]);
    expect(await members()).toBeUndefined();
  });
});
