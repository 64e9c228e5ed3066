import { describe, expect, test } from 'bun:test';
import { enterpriseUrn, openTestApp } from '../support/app.ts';

/** What each repair of the dialect `compat` mends, by its code, and what `strict` says to it. */
const patches = [
  ['boolean-from-string', { op: 'replace', path: 'active', value: 'False' }, { active: false }],
  [
    'manager-from-text',
    { op: 'add', path: `${enterpriseUrn}:manager`, value: '1' },
    { [enterpriseUrn]: { manager: { value: '1' } } },
  ],
  [
    'manager-from-text',
    { op: 'add', path: `${enterpriseUrn}:manager`, value: 1 },
    { [enterpriseUrn]: { manager: { value: '1' } } },
  ],
  [
    'single-from-array',
    { op: 'add', path: `${enterpriseUrn}:manager`, value: [{ value: '1' }] },
    { [enterpriseUrn]: { manager: { value: '1' } } },
  ],
  [
    'element-created-for-value-path',
    { op: 'add', path: 'emails[type eq "work"].value', value: 'a@x.org' },
    { emails: [{ type: 'work', value: 'a@x.org' }] },
  ],
  [
    'array-from-single',
    { op: 'add', path: 'emails', value: { value: 'a@x.org' } },
    { emails: [{ value: 'a@x.org' }] },
  ],
  [
    'element-from-text',
    { op: 'add', path: 'emails', value: ['a@x.org'] },
    { emails: [{ value: 'a@x.org' }] },
  ],
  [
    'json-in-string',
    { op: 'add', path: 'roles', value: ['{"value":"admin"}'] },
    { roles: [{ value: 'admin' }] },
  ],
  ['dotted-key', { op: 'replace', value: { 'name.givenName': 'Ann' } }, { name: { givenName: 'Ann' } }],
  [
    'bare-extension-name',
    { op: 'add', path: 'department', value: 'HR' },
    { [enterpriseUrn]: { department: 'HR' } },
  ],
  [
    'text-from-number',
    { op: 'add', path: `${enterpriseUrn}:employeeNumber`, value: 7 },
    { [enterpriseUrn]: { employeeNumber: '7' } },
  ],
  ['op-synonym', { op: 'delete', path: 'title' }, {}],
] as const;

describe('the dialect compat', () => {
  test.each(patches)('mends by %s: %j', async (code, operation, result) => {
    await using app = await openTestApp();
    await app.createUser({ userName: 'ann', title: 'Boss' });
    const answer = await app.patch('/Users/1', [operation]);
    expect(answer).toMatchObject({ status: 200, body: result });
    expect(app.logged.join('')).toContain(`"code":"${code}"`);
  });

  test.each([
    [{ path: 'members', value: [{ value: '1' }] }, ['2', '3']],
    [{ path: 'urn:ietf:params:scim:schemas:core:2.0:Group:members', value: [{ value: '1' }] }, ['2', '3']],
    [{ value: { 'urn:ietf:params:scim:schemas:core:2.0:Group:members': [{ value: '1' }] } }, ['2', '3']],
    [{ path: 'urn:ietf:params:scim:schemas:core:2.0:Group:members', value: [] }, ['1', '2', '3']],
    [{ path: 'Members', value: [{ value: '99999' }] }, ['1', '2', '3']],
    [{ value: { members: null } }, ['1', '2', '3']],
  ])('removes from a group only who is listed: %j', async (operation, left) => {
    await using app = await openTestApp();
    for (const userName of ['ann', 'bob', 'cid']) await app.createUser({ userName });
    await app.createGroup({ displayName: 'Sales', members: ['1', '2', '3'].map((value) => ({ value })) });
    const { status, body } = await app.patch('/Groups/1', [{ op: 'remove', ...operation }]);
    expect(status).toBe(200);
    expect(body.members.map((member: { value: string }) => member.value)).toEqual(left);
  });

  test.each(['1153244850723065857', '1e400', '-0', '1.5'])(
    'takes the number %s for no text',
    async (number) => {
      await using app = await openTestApp();
      const text = `{"schemas":["urn:ietf:params:scim:schemas:core:2.0:User"],"userName":"ann","externalId":${number}}`;
      const answer = await app.call('POST', '/Users', text);
      expect(answer).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
    },
  );

  test('mends the same in a create', async () => {
    await using app = await openTestApp();
    await app.createUser({ userName: 'boss' });
    const { status, body } = await app.createUser({
      userName: 'ann',
      active: 'False',
      emails: { value: 'a@x.org', primary: 'True' },
      title: null,
      roles: [],
      nickName: '',
      [enterpriseUrn]: { manager: 'boss', employeeNumber: 7 },
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      active: false,
      emails: [{ value: 'a@x.org', primary: true }],
      [enterpriseUrn]: { manager: { value: '1' }, employeeNumber: '7' },
    });
    for (const name of ['title', 'roles', 'nickName']) expect(body[name]).toBeUndefined();
  });

  test('takes an unquoted value in a filter', async () => {
    await using app = await openTestApp();
    await app.createUser({ userName: 'ann', externalId: 'jdoe' });
    expect((await app.find('/Users', 'externalId eq jdoe')).body.totalResults).toBe(1);
    expect(app.logged.join('')).toContain('unquoted-filter-value');
  });

  test('reads plus, %20 and %2B of a query as a form does', async () => {
    await using app = await openTestApp();
    await app.createUser({ userName: 'ann+tag@x.org' });
    for (const query of [
      'userName+eq+%22ann%2Btag%40x.org%22',
      'userName%20eq%20%22ann%2Btag%40x.org%22',
      'userName+eq+"ann%2Btag@x.org"&',
    ]) {
      expect((await app.call('GET', `/Users?filter=${query}`)).body.totalResults).toBe(1);
    }
    expect((await app.call('GET', '/Users?filter=userName+eq+%22ann+tag%40x.org%22')).body.totalResults).toBe(
      0,
    );
  });

  test('does not take what it cannot understand for something else', async () => {
    await using app = await openTestApp();
    await app.createUser({ userName: 'ann' });
    for (const operation of [
      { op: 'replace', path: 'active', value: 'yes' },
      { op: 'replace', path: 'active', value: 1 },
      { op: 'add', path: 'emails', value: 7 },
      { op: 'replace', path: 'name', value: 'Ann Lee' },
      { op: 'move', path: 'title', value: 'x' },
      { op: 'add', path: 'title' },
    ]) {
      expect((await app.patch('/Users/1', [operation])).status).toBe(400);
    }
    expect(await app.history()).toEqual(['User 1 create']);
  });
});

/** A single element where RFC 7644 §3.5.2.1 has a list is not against its words. */
const againstTheWords = patches.filter(([code]) => code !== 'array-from-single');

describe('the dialect strict', () => {
  test.each(againstTheWords)('mends nothing by %s', async (code, operation) => {
    await using app = await openTestApp({ settings: { dialect: 'strict' } });
    await app.createUser({ userName: 'ann', title: 'Boss' });
    const answer = await app.patch('/Users/1', [operation]);
    expect({ code, status: answer.status }).toEqual({ code, status: 400 });
    expect(await app.history()).toEqual(['User 1 create']);
    expect(app.logged.join('')).not.toContain('"repairs"');
  });

  test('refuses an unquoted value in a filter', async () => {
    await using app = await openTestApp({ settings: { dialect: 'strict' } });
    expect((await app.find('/Users', 'externalId eq jdoe')).body.scimType).toBe('invalidFilter');
  });

  test('clears all members with a remove that has no filter, as RFC 7644 says', async () => {
    await using app = await openTestApp({ settings: { dialect: 'strict' } });
    await app.createUser({ userName: 'ann' });
    await app.createGroup({ displayName: 'Sales', members: [{ value: '1' }] });
    const answer = await app.patch('/Groups/1', [{ op: 'remove', path: 'members' }]);
    expect(answer.status).toBe(200);
    expect(answer.body.members).toBeUndefined();
  });
});
