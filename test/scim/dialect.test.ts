import { describe, expect, test } from 'bun:test';
import { enterpriseUrn, openTestApp, userUrn } from '../support/app.ts';

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
  ['single-from-array', { op: 'replace', path: `${enterpriseUrn}:manager`, value: [] }, { userName: 'ann' }],
  [
    'json-in-string',
    { op: 'add', path: 'roles', value: '[{"value":"admin"},{"value":"editor"}]' },
    { roles: [{ value: 'admin' }, { value: 'editor' }] },
  ],
  [
    'boolean-from-string',
    { op: 'add', path: 'roles', value: [{ value: 'admin', primary: 'True' }] },
    { roles: [{ value: 'admin', primary: true }] },
  ],
  [
    'element-for-value',
    { op: 'add', path: 'roles[primary eq "True"].value', value: { id: '1', value: 'admin', display: 'A' } },
    { roles: [{ value: 'admin', display: 'A', primary: true }] },
  ],
  [
    'element-for-value',
    { op: 'add', path: 'roles[primary eq true].value', value: '{"value":"admin","displayName":"A"}' },
    { roles: [{ value: 'admin', display: 'A', primary: true }] },
  ],
  [
    'schema-urn-alias',
    { op: 'add', path: 'urn:scim:schemas:extension:enterprise:1.0:department', value: 'HR' },
    { [enterpriseUrn]: { department: 'HR' } },
  ],
  [
    'schema-urn-alias',
    { op: 'add', value: { 'urn:scim:schemas:extension:enterprise:2.0': { department: 'HR' } } },
    { [enterpriseUrn]: { department: 'HR' } },
  ],
  [
    'bare-extension-name',
    { op: 'add', value: { department: 'HR' } },
    { [enterpriseUrn]: { department: 'HR' } },
  ],
  ['remove-value-ignored', { op: 'remove', path: 'title', value: 'Boss' }, {}],
  [
    'remove-by-value-list',
    { op: 'remove', path: 'emails', value: [{ value: 'x@x.org' }] },
    { title: 'Boss' },
  ],
] as const;

/** The same for the bodies of POST and PUT. */
const bodies = [
  ['boolean-from-string', { active: 'False' }, { active: false }],
  ['text-from-number', { externalId: 7 }, { externalId: '7' }],
  [
    'manager-from-text',
    { [enterpriseUrn]: { manager: '1' } },
    { [enterpriseUrn]: { manager: { value: '1' } } },
  ],
  [
    'single-from-array',
    { [enterpriseUrn]: { manager: [{ $ref: null, value: '1' }] } },
    { [enterpriseUrn]: { manager: { value: '1' } } },
  ],
  ['array-from-single', { emails: { value: 'a@x.org' } }, { emails: [{ value: 'a@x.org' }] }],
  ['element-from-text', { emails: ['a@x.org'] }, { emails: [{ value: 'a@x.org' }] }],
  ['json-in-string', { roles: ['{"value":"admin"}'] }, { roles: [{ value: 'admin' }] }],
  ['json-in-string', { roles: '{"value":"admin"}' }, { roles: [{ value: 'admin' }] }],
  ['unknown-schema', { schemas: [userUrn, 'http://schemas.microsoft.com/2006/11/ADSCIM/2.0/User'] }, {}],
  ['unknown-schema', { schemas: ['urn:scim:schemas:core:2.0'] }, {}],
  [
    'unknown-schema',
    { schemas: [userUrn, 'urn:x:y:2.0:User'], 'urn:x:y:2.0:User': { department: 'Nowhere' } },
    {},
  ],
  [
    'schema-urn-alias',
    {
      schemas: [userUrn, 'urn:scim:schemas:extension:enterprise:2.0'],
      'urn:scim:schemas:extension:enterprise:2.0': { department: 'HR' },
    },
    { [enterpriseUrn]: { department: 'HR' } },
  ],
  ['schemas-missing', { schemas: undefined }, {}],
  ['schemas-missing', { schemas: [] }, {}],
  ['schemas-missing', { schemas: null }, {}],
  ['schemas-missing', { schemas: userUrn }, {}],
] as const;

/** What compat mends and strict does not see: to leave out an attribute that nobody knows is RFC 7644 §3.3. */
const quietInStrict = [
  ['bare-extension-name', { department: 'HR' }, { [enterpriseUrn]: { department: 'HR' } }],
  [
    'display-from-display-name',
    { roles: [{ value: 'admin', displayName: 'A' }] },
    { roles: [{ value: 'admin', display: 'A' }] },
  ],
] as const;

describe('the dialect compat', () => {
  test.each(patches)('mends by %s: %j', async (code, operation, result) => {
    await using app = await openTestApp();
    await app.createUser({ userName: 'ann', title: 'Boss' });
    const answer = await app.patch('/Users/1', [operation]);
    expect(answer).toMatchObject({ status: 200, body: result });
    expect(app.logged.join('')).toContain(`"code":"${code}"`);
  });

  test.each([...bodies, ...quietInStrict])('mends a POST and a PUT by %s: %j', async (code, body, result) => {
    await using app = await openTestApp();
    await app.createUser({ userName: 'boss' });
    const created = await app.createUser({ userName: 'ann', ...body });
    expect(created).toMatchObject({
      status: 201,
      body: { schemas: expect.arrayContaining([userUrn]), ...result },
    });
    expect(app.logged.join('')).toContain(`"code":"${code}"`);
    await app.createUser({ userName: 'bob' });
    const replaced = await app.call('PUT', '/Users/3', { schemas: [userUrn], userName: 'bob2', ...body });
    expect(replaced.status).toBe('externalId' in body ? 409 : 200);
  });

  test('keeps what a root-level name and the extension both give as the extension has it', async () => {
    await using app = await openTestApp();
    const extension = { [enterpriseUrn.toUpperCase()]: { DEPARTMENT: 'HR' } };
    const { body } = await app.createUser({ userName: 'ann', department: 'Sales', ...extension });
    expect(body[enterpriseUrn]).toEqual({ department: 'HR' });
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

  test('reads a role that is JSON in the value of an element, which strict takes for the text that it is', async () => {
    const value = '{"id":"18d1","value":"admin","displayName":"A"}';
    for (const [dialect, role] of [
      ['compat', { value: 'admin', display: 'A' }],
      ['strict', { value }],
    ] as const) {
      await using app = await openTestApp({ settings: { dialect } });
      await app.createUser({ userName: 'ann' });
      const { body } = await app.patch('/Users/1', [{ op: 'add', path: 'roles', value: [{ value }] }]);
      expect(body.roles).toEqual([role]);
    }
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
      { op: 'add', path: `${enterpriseUrn}:manager`, value: { managerId: '1' } },
      { op: 'add', path: `${enterpriseUrn}:manager`, value: { $ref: 'http://127.0.0.1/Users/1' } },
      { op: 'add', path: `${enterpriseUrn}:manager`, value: ['1', '2'] },
      {
        op: 'add',
        path: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0.User:department',
        value: 'HR',
      },
      { op: 'add', path: 'name', value: { firstName: 'Ann' } },
    ]) {
      expect((await app.patch('/Users/1', [operation])).status).toBe(400);
    }
    expect(await app.history()).toEqual(['User 1 create']);
  });
});

/** A single element where RFC 7644 §3.5.2.1 has a list is not against its words. */
const againstTheWords = patches.filter(([code]) => code !== 'array-from-single');

describe('the dialect strict', () => {
  test.each(againstTheWords)('mends no PATCH by %s: %j', async (code, operation) => {
    await using app = await openTestApp({ settings: { dialect: 'strict' } });
    await app.createUser({ userName: 'ann', title: 'Boss' });
    const { status, body } = await app.patch('/Users/1', [operation]);
    const { scimType, detail } = body;
    expect({ code, status, scimType }).toEqual({ code, status: 400, scimType: strictAnswer(operation) });
    expect(detail).toMatch(/^[A-Z].+\.$/);
    expect(await app.history()).toEqual(['User 1 create']);
    expect(app.logged.join('')).not.toContain('"repairs"');
  });

  test.each(bodies)('mends no POST and no PUT by %s: %j', async (code, body) => {
    await using app = await openTestApp({ settings: { dialect: 'strict' } });
    await app.createUser({ userName: 'boss' });
    const scimType = 'schemas' in body ? 'invalidSyntax' : 'invalidValue';
    for (const answer of [
      await app.createUser({ userName: 'ann', ...body }),
      await app.call('PUT', '/Users/1', { schemas: [userUrn], userName: 'boss', ...body }),
    ]) {
      expect({ code, status: answer.status, scimType: answer.body.scimType }).toEqual({
        ...{ code, status: 400, scimType },
      });
    }
    expect(await app.history()).toEqual(['User 1 create']);
  });

  test.each(quietInStrict)(
    'leaves out what it does not know rather than mend it by %s',
    async (code, body) => {
      await using app = await openTestApp({ settings: { dialect: 'strict' } });
      const created = await app.createUser({ userName: 'ann', ...body });
      expect(created.status).toBe(201);
      expect(created.body[enterpriseUrn]).toBeUndefined();
      expect(created.body.roles?.[0].display).toBeUndefined();
      expect(app.logged.join('')).not.toContain(code);
      expect(app.logged.join('')).toContain('"ignored":[{');
    },
  );

  test('refuses a group without schemas too', async () => {
    await using app = await openTestApp({ settings: { dialect: 'strict' } });
    const answer = await app.call('POST', '/Groups', { schemas: [userUrn], displayName: 'Sales' });
    expect(answer.body).toMatchObject({
      scimType: 'invalidSyntax',
      detail:
        'The resource cannot be read: "schemas" must be an array that names urn:ietf:params:scim:schemas:core:2.0:Group.',
    });
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

/** RFC 7644 §3.12: a path that names nothing, an envelope that is none, a value of the wrong form. */
function strictAnswer({ op, path, value }: { op: string; path?: string; value?: unknown }): string {
  if (op === 'delete' || (op === 'remove' && value !== undefined)) return 'invalidSyntax';
  if (path === undefined || path === 'department' || path.startsWith('urn:scim')) return 'invalidPath';
  return path.includes('[') ? 'noTarget' : 'invalidValue';
}
