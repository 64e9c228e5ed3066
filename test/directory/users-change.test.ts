import { describe, expect, test } from 'bun:test';
import { enterpriseUrn, openTestApp, platformUrn, userUrn } from '../support/app.ts';
import { dialects } from '../support/database.ts';

describe.each(dialects())('PUT /Users/{id} on %s', (dialect) => {
  test('wipes what the body leaves out, but for active', async () => {
    await using app = await openTestApp({ dialect });
    await app.createUser({
      userName: 'ann',
      externalId: 'e1',
      title: 'Boss',
      active: false,
      emails: [{ type: 'work', value: 'ann@x.org' }],
      [enterpriseUrn]: { division: 'North', department: 'HR' },
    });
    const { body, status } = await app.call('PUT', '/Users/1', { schemas: [userUrn], userName: 'ann' });
    expect(status).toBe(200);
    const { meta, ...rest } = body;
    expect(rest).toEqual({
      schemas: [userUrn],
      id: '1',
      userName: 'ann',
      userType: 'Intranet User',
      active: false,
    });
    expect(meta.version).toBe('W/"2"');
    expect((await app.find('/Users', 'emails.value eq "ann@x.org"')).body.totalResults).toBe(0);
    expect((await app.find('/Users', 'externalId eq "e1"')).body.totalResults).toBe(0);
  });

  test('deactivates with active false, and activates with active true', async () => {
    await using app = await openTestApp({ dialect });
    await app.createUser({ userName: 'ann' });
    expect((await app.call('PUT', '/Users/1', { userName: 'ann', active: false })).body.active).toBe(false);
    expect((await app.call('PUT', '/Users/1', { userName: 'ann', active: true })).body.active).toBe(true);
    expect(await app.history()).toEqual(['User 1 create', 'User 1 deactivate', 'User 1 reactivate']);
  });

  test('keeps version and lastModified when nothing changes: get, then put the same', async () => {
    await using app = await openTestApp({ dialect });
    await app.createUser({ userName: 'boss' });
    await app.createUser({
      userName: 'ann',
      externalId: 'e1',
      name: { givenName: 'Ann' },
      emails: [{ type: 'work', value: 'ann@x.org', primary: true }],
      [enterpriseUrn]: { department: 'HR', organization: 'Acme', manager: { value: '1' } },
      [platformUrn]: { location: 'Oslo', bio: 'Line one' },
    });
    app.clock.advance(60);
    const { body } = await app.call('GET', '/Users/2');
    const put = await app.call('PUT', '/Users/2', body);
    expect(put.body).toEqual(body);
    expect(put.headers.get('etag')).toBe('W/"1"');
    expect((await app.history()).filter((row) => row.startsWith('User 2'))).toEqual(['User 2 create']);
  });

  test('cannot be turned on another user by the id in the body', async () => {
    await using app = await openTestApp({ dialect });
    await app.createUser({ userName: 'ann' });
    await app.createUser({ userName: 'bob' });
    await app.call('PUT', '/Users/1', { id: '2', userName: 'ann', title: 'Boss' });
    expect((await app.call('GET', '/Users/2')).body.title).toBeUndefined();
    expect((await app.call('GET', '/Users/1')).body.title).toBe('Boss');
  });

  test('answers 409 for a userName or externalId that another has, and changes nothing', async () => {
    await using app = await openTestApp({ dialect });
    await app.createUser({ userName: 'ann', externalId: 'e1' });
    await app.createUser({ userName: 'bob', externalId: 'e2' });
    for (const body of [{ userName: 'ANN' }, { userName: 'bob', externalId: 'e1' }]) {
      expect(await app.call('PUT', '/Users/2', body)).toMatchObject({
        status: 409,
        body: { scimType: 'uniqueness' },
      });
    }
    expect((await app.call('GET', '/Users/2')).body).toMatchObject({
      externalId: 'e2',
      meta: { version: 'W/"1"' },
    });
  });

  test('takes the name of an archived user', async () => {
    await using app = await openTestApp({ dialect });
    await app.createUser({ userName: 'ann', externalId: 'e1' });
    await app.createUser({ userName: 'bob' });
    await app.call('DELETE', '/Users/1');
    expect((await app.call('PUT', '/Users/2', { userName: 'ann', externalId: 'e1' })).status).toBe(200);
  });
});

describe.each(dialects())('PATCH /Users/{id} on %s', (dialect) => {
  test.each([
    ['null', { op: 'replace', path: 'active', value: null }],
    ['an empty text', { op: 'replace', path: 'active', value: '' }],
    ['an empty list', { op: 'replace', path: 'active', value: [] }],
    ['a removal', { op: 'remove', path: 'active' }],
    ['a null beside other attributes', { op: 'replace', value: { active: null, title: 'x' } }],
  ])('leaves it as it is who is active when told %s', async (_, operation) => {
    await using app = await openTestApp({ dialect });
    await app.createUser({ userName: 'ann', active: false });
    await app.createUser({ userName: 'bob', active: true });
    expect((await app.patch('/Users/1', [operation])).body.active).toBe(false);
    expect((await app.patch('/Users/2', [operation])).body.active).toBe(true);
    expect((await app.history()).join()).not.toContain('activate');
    const removed = { op: 'remove', path: 'active' };
    await app.patch('/Users/1', [{ op: 'add', path: 'active', value: true }, removed]);
    expect((await app.call('GET', '/Users/1')).body.active).toBe(false);
  });

  test('changes what it names and journals that alone', async () => {
    await using app = await openTestApp({ dialect });
    await app.createUser({ userName: 'ann', title: 'Clerk', name: { givenName: 'Ann', familyName: 'Lee' } });
    app.clock.advance(60);
    const { body } = await app.patch('/Users/1', [
      { op: 'replace', path: 'title', value: 'Boss' },
      { op: 'replace', path: 'name.familyName', value: 'Ray' },
    ]);
    expect(body).toMatchObject({ title: 'Boss', name: { givenName: 'Ann', familyName: 'Ray' } });
    expect(body.meta).toMatchObject({ version: 'W/"2"', lastModified: '2030-01-01T00:01:00.000Z' });
    const [, row] = await app.journal();
    expect(row).toMatchObject({
      action: 'update',
      actor_kind: 'source',
      before: { title: 'Clerk', name: { familyName: 'Lee' } },
      after: { title: 'Boss', name: { familyName: 'Ray' } },
    });
    expect(row?.before.name.givenName).toBeUndefined();
  });

  test('does everything or nothing', async () => {
    await using app = await openTestApp({ dialect });
    await app.createUser({ userName: 'ann', title: 'Clerk' });
    const answer = await app.patch('/Users/1', [
      { op: 'replace', path: 'title', value: 'Boss' },
      { op: 'replace', path: 'emails[type eq "work"].value', value: 'a@x.org' },
    ]);
    expect(answer).toMatchObject({ status: 400, body: { scimType: 'noTarget' } });
    expect((await app.call('GET', '/Users/1')).body).toMatchObject({
      title: 'Clerk',
      meta: { version: 'W/"1"' },
    });
  });

  test('keeps version and lastModified and writes no journal when nothing changes', async () => {
    await using app = await openTestApp({ dialect });
    const { body } = await app.createUser({ userName: 'ann', title: 'Boss' });
    app.clock.advance(60);
    const patched = await app.patch('/Users/1', [{ op: 'replace', path: 'title', value: 'Boss' }]);
    expect(patched).toMatchObject({ status: 200, body: { meta: body.meta } });
    expect(await app.history()).toEqual(['User 1 create']);
  });

  test('takes an echoed id for no change, and another for an attempt to change it', async () => {
    await using app = await openTestApp({ dialect });
    await app.createUser({ userName: 'ann' });
    const same = await app.patch('/Users/1', [{ op: 'replace', value: { id: '1', title: 'Boss' } }]);
    expect(same).toMatchObject({ status: 200, body: { title: 'Boss' } });
    const other = await app.patch('/Users/1', [{ op: 'replace', value: { id: '2', title: 'Clerk' } }]);
    expect(other).toMatchObject({ status: 400, body: { scimType: 'mutability' } });
    expect(await app.history()).toEqual(['User 1 create', 'User 1 update']);
  });

  test('moves the email by which the user is found', async () => {
    await using app = await openTestApp({ dialect });
    await app.createUser({ userName: 'ann', emails: [{ type: 'work', value: 'old@x.org' }] });
    await app.patch('/Users/1', [
      { op: 'replace', path: 'emails[type eq "work"].value', value: 'new@x.org' },
    ]);
    expect((await app.find('/Users', 'emails eq "new@x.org"')).body.totalResults).toBe(1);
    expect((await app.find('/Users', 'emails eq "old@x.org"')).body.totalResults).toBe(0);
  });
});

describe.each(dialects())('DELETE /Users/{id} on %s', (dialect) => {
  test('archives: 204, then 404 for everything, absent from lists and members', async () => {
    await using app = await openTestApp({ dialect });
    await app.createUser({ userName: 'ann', emails: [{ type: 'work', value: 'ann@x.org' }] });
    await app.createGroup({ displayName: 'Sales', members: [{ value: '1' }] });
    expect(await app.call('DELETE', '/Users/1')).toMatchObject({ status: 204, text: '' });
    const answers = [
      await app.call('GET', '/Users/1'),
      await app.call('PUT', '/Users/1', { userName: 'ann', active: true }),
      await app.patch('/Users/1', [{ op: 'replace', path: 'active', value: true }]),
      await app.call('DELETE', '/Users/1'),
    ];
    expect(answers.map((answer) => answer.status)).toEqual([404, 404, 404, 404]);
    expect((await app.call('GET', '/Users')).body.totalResults).toBe(0);
    expect((await app.find('/Users', 'emails.value eq "ann@x.org"')).body.totalResults).toBe(0);
    expect((await app.call('GET', '/Groups/1')).body.members).toBeUndefined();
    expect(
      (await app.patch('/Groups/1', [{ op: 'add', path: 'members', value: [{ value: '1' }] }])).status,
    ).toBe(400);
    expect((await app.find('/Users', 'groups.value eq "1"')).body.totalResults).toBe(0);
  });

  test('stays in the database for Power Users, with what it was in the journal', async () => {
    await using app = await openTestApp({ dialect });
    await app.createUser({ userName: 'ann' });
    await app.call('DELETE', '/Users/1');
    const row = await app.database.read.selectFrom('user').selectAll().executeTakeFirst();
    expect(row).toMatchObject({ state: 'archived', user_name: 'ann' });
    expect((await app.journal()).at(-1)).toMatchObject({ action: 'archive', before: { state: 'active' } });
  });

  test('changes the version of the groups that lose a member', async () => {
    await using app = await openTestApp({ dialect });
    await app.createUser({ userName: 'ann' });
    const group = await app.createGroup({ displayName: 'Sales', members: [{ value: '1' }] });
    await app.call('DELETE', '/Users/1');
    const headers = { 'if-none-match': group.headers.get('etag') ?? '' };
    expect((await app.call('GET', '/Groups/1', undefined, { headers })).status).toBe(200);
  });

  test('never uses an id again', async () => {
    await using app = await openTestApp({ dialect });
    for (const id of ['1', '2', '3']) {
      expect((await app.createUser({ userName: 'ann' })).body.id).toBe(id);
      await app.call('DELETE', `/Users/${id}`);
    }
  });
});

describe.each(dialects())('entity tags on %s', (dialect) => {
  test('answer 304 to If-None-Match with the version there is', async () => {
    await using app = await openTestApp({ dialect });
    await app.createUser({ userName: 'ann' });
    const get = (tag: string) =>
      app.call('GET', '/Users/1', undefined, { headers: { 'if-none-match': tag } });
    for (const tag of ['W/"1"', '"1"', '*', 'W/"7", W/"1"']) {
      expect(await get(tag)).toMatchObject({ status: 304, text: '' });
    }
    expect((await get('W/"2"')).status).toBe(200);
  });

  test('let nothing pass with an If-None-Match of the version there is, or of any', async () => {
    await using app = await openTestApp({ dialect });
    await app.createUser({ userName: 'ann' });
    await app.createGroup({ displayName: 'Sales' });
    const rename = [{ op: 'replace', path: 'displayName', value: 'x' }];
    const attempts = (headers: Record<string, string>) => [
      () => app.call('PUT', '/Users/1', { userName: 'ann', displayName: 'x' }, { headers }),
      () => app.patch('/Users/1', rename, { headers }),
      () => app.call('PUT', '/Groups/1', { displayName: 'x' }, { headers }),
      () => app.patch('/Groups/1', rename, { headers }),
      () => app.call('DELETE', '/Users/1', undefined, { headers }),
      () => app.call('DELETE', '/Groups/1', undefined, { headers }),
    ];
    for (const tag of ['*', 'W/"1"', '"7", "1"']) {
      for (const attempt of attempts({ 'if-none-match': tag })) {
        const { status, body } = await attempt();
        expect({ status, detail: body.detail }).toEqual({
          status: 412,
          detail:
            'The resource is there in a version that If-None-Match names; leave the header out to change it.',
        });
      }
    }
    expect(await app.history()).toEqual(['User 1 create', 'Group 1 create']);
    for (const attempt of attempts({ 'if-none-match': 'W/"77"', 'if-match': '*' })) {
      expect((await attempt()).status).toBeLessThan(300);
    }
  });

  test('let nothing pass with an If-Match of another version', async () => {
    await using app = await openTestApp({ dialect });
    await app.createUser({ userName: 'ann' });
    const stale = { headers: { 'if-match': 'W/"9"' } };
    const answers = [
      await app.call('PUT', '/Users/1', { userName: 'ann', title: 'x' }, stale),
      await app.patch('/Users/1', [{ op: 'replace', path: 'title', value: 'x' }], stale),
      await app.call('DELETE', '/Users/1', undefined, stale),
    ];
    expect(answers.map((answer) => answer.status)).toEqual([412, 412, 412]);
    expect(await app.history()).toEqual(['User 1 create']);
    for (const tag of ['W/"1"', '*']) {
      const options = { headers: { 'if-match': tag } };
      expect((await app.call('PUT', '/Users/1', { userName: 'ann' }, options)).status).toBe(200);
    }
  });
});

const refused = [
  ['mutability', { op: 'replace', path: 'id', value: '9' }],
  ['mutability', { op: 'add', path: 'groups', value: [{ value: '1' }] }],
  ['mutability', { op: 'replace', path: 'meta.version', value: 'W/"9"' }],
  ['invalidPath', { op: 'replace', path: 'shoeSize', value: 9 }],
  ['invalidPath', { op: 'replace', path: 'name[', value: 9 }],
  ['invalidPath', { op: 'replace', path: '__proto__.x', value: 9 }],
  ['invalidValue', { op: 'replace', path: 'active', value: 'perhaps' }],
  ['mutability', { op: 'remove', path: 'userName' }],
  ['noTarget', { op: 'remove' }],
  ['invalidSyntax', { path: 'title', value: 'x' }],
] as const;

describe('PATCH /Users/{id} on any database', () => {
  test.each(refused)('refuses with %s: %j', async (scimType, operation) => {
    await using app = await openTestApp();
    await app.createUser({ userName: 'ann' });
    const answer = await app.patch('/Users/1', [operation]);
    expect(answer.body).toMatchObject({ status: '400', scimType });
    expect(await app.history()).toEqual(['User 1 create']);
  });
});
