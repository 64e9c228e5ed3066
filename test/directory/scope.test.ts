import { describe, expect, test } from 'bun:test';
import { openTestApp } from '../support/app.ts';
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
    for (const body of [
      { userName: 'FOREIGN' },
      { userName: 'x', emails: [{ type: 'work', value: 'f@x.org' }] },
    ]) {
      const answer = await app.createUser(body, own);
      expect(answer).toMatchObject({ status: 409, body: { scimType: 'uniqueness' } });
      expect(answer.text).not.toContain('Boss');
    }
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
});
