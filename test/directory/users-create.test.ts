import { describe, expect, test } from 'bun:test';
import { enterpriseUrn, openTestApp } from '../support/app.ts';
import { dialects } from '../support/database.ts';

const work = (value: string) => [{ type: 'work', value }];

describe.each(dialects())('POST /Users on %s', (dialect) => {
  test('creates a user whom nobody matches, with 201 and a Location', async () => {
    await using app = await openTestApp({ dialect });
    const answer = await app.createUser({
      userName: 'ann@x.org',
      externalId: 'e1',
      emails: work('ann@x.org'),
    });
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({ id: '1', userName: 'ann@x.org', externalId: 'e1', active: true });
    expect(answer.headers.get('location')).toBe(`${app.baseUrl}/Users/1`);
    expect(answer.headers.get('etag')).toBe('W/"1"');
    expect(await app.history()).toEqual(['User 1 create']);
  });

  const matching = [
    ['userName in other letters', { userName: 'ANN@X.org' }],
    ['userName in another Unicode form and with blanks', { userName: ' ａnn@x.org ' }],
    ['externalId', { userName: 'other@x.org', externalId: 'e1' }],
    ['the primary email', { userName: 'other', emails: [{ value: 'Ann.Work@x.org', primary: true }] }],
    ['the work email', { userName: 'other', emails: work('ann.work@X.ORG') }],
    ['all three', { userName: 'ann@x.org', externalId: 'e1', emails: work('ann.work@x.org') }],
  ] as const;

  test.each(matching)('matches by %s with 200 and its Location', async (_, body) => {
    await using app = await openTestApp({ dialect });
    await app.createUser({
      userName: 'ann@x.org',
      externalId: 'e1',
      emails: work('ann.work@x.org'),
      title: 'Boss',
    });
    const answer = await app.createUser({ ...body, nickName: 'A' });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ id: '1', title: 'Boss', nickName: 'A' });
    expect(answer.headers.get('location')).toBe(`${app.baseUrl}/Users/1`);
    expect(await app.history()).toEqual(['User 1 create', 'User 1 update']);
  });

  const distinct = [
    ['a home email', { userName: 'other', emails: [{ type: 'home', value: 'ann.work@x.org' }] }],
    ['an external id in other letters', { userName: 'other', externalId: 'E1' }],
    ['an external id that looks like the id', { userName: 'other', externalId: '1' }],
  ] as const;

  test.each(distinct)('does not match by %s', async (_, body) => {
    await using app = await openTestApp({ dialect });
    await app.createUser({ userName: 'ann@x.org', externalId: 'e1', emails: work('ann.work@x.org') });
    expect(await app.createUser(body)).toMatchObject({ status: 201, body: { id: '2' } });
  });

  const conflicts = [
    ['userName and externalId', { userName: 'ann', externalId: 'e2' }],
    ['userName and email', { userName: 'ann', emails: work('bob@x.org') }],
    ['externalId and email', { userName: 'new', externalId: 'e1', emails: work('bob@x.org') }],
  ] as const;

  test.each(conflicts)('refuses when %s are of two users, and changes neither', async (_, body) => {
    await using app = await openTestApp({ dialect });
    await app.createUser({ userName: 'ann', externalId: 'e1', emails: work('ann@x.org') });
    await app.createUser({ userName: 'bob', externalId: 'e2', emails: work('bob@x.org') });
    const answer = await app.createUser({ ...body, title: 'Intruder' });
    expect(answer).toMatchObject({ status: 409, body: { scimType: 'uniqueness', status: '409' } });
    expect(answer.body.detail).toContain('match');
    expect(await app.history()).toEqual(['User 1 create', 'User 2 create']);
  });

  test('takes a shared email for nobody in particular, unless something else decides', async () => {
    await using app = await openTestApp({ dialect });
    await app.createUser({ userName: 'ann', emails: work('desk@x.org') });
    await app.createUser({ userName: 'bob' });
    await app.patch('/Users/2', [{ op: 'add', path: 'emails', value: work('desk@x.org') }]);
    expect((await app.createUser({ userName: 'new', emails: work('desk@x.org') })).status).toBe(409);
    expect(await app.createUser({ userName: 'bob', emails: work('desk@x.org') })).toMatchObject({
      status: 200,
      body: { id: '2' },
    });
  });

  test('restores an inactive user whom the body matches without naming active', async () => {
    await using app = await openTestApp({ dialect });
    await app.createUser({ userName: 'ann', active: false, title: 'Boss' });
    expect(await app.createUser({ userName: 'Ann' })).toMatchObject({
      status: 200,
      body: { id: '1', active: true, title: 'Boss' },
    });
    expect(await app.history()).toEqual(['User 1 create', 'User 1 reactivate']);
  });

  test('leaves a matched user inactive when the body says so', async () => {
    await using app = await openTestApp({ dialect });
    await app.createUser({ userName: 'ann', active: false });
    expect((await app.createUser({ userName: 'ann', active: false })).body.active).toBe(false);
    expect(await app.history()).toEqual(['User 1 create']);
  });

  test('never matches an archived user by anything', async () => {
    await using app = await openTestApp({ dialect });
    const ann = { userName: 'ann', externalId: 'e1', emails: work('ann@x.org') };
    await app.createUser(ann);
    await app.call('DELETE', '/Users/1');
    expect(await app.createUser(ann)).toMatchObject({ status: 201, body: { id: '2', externalId: 'e1' } });
    expect((await app.call('GET', '/Users/1')).status).toBe(404);
  });

  test('reads externalId as this source calls the user: another source has its own', async () => {
    await using app = await openTestApp({ dialect });
    const other = await app.addSource('Other');
    await app.createUser({ userName: 'ann', externalId: 'e1' });
    expect(await app.createUser({ userName: 'bob', externalId: 'e1' }, { token: other })).toMatchObject({
      status: 201,
      body: { id: '2', externalId: 'e1' },
    });
    await app.createUser({ userName: 'ann', externalId: 'their-ann' }, { token: other });
    expect((await app.call('GET', '/Users/1')).body.externalId).toBe('e1');
    expect((await app.call('GET', '/Users/1', undefined, { token: other })).body.externalId).toBe(
      'their-ann',
    );
    expect((await app.find('/Users', 'externalId eq "e1"')).body.Resources).toMatchObject([{ id: '1' }]);
  });

  test('keeps version and lastModified when the match brings nothing new', async () => {
    await using app = await openTestApp({ dialect });
    const { body } = await app.createUser({ userName: 'ann', title: 'Boss' });
    app.clock.advance(60);
    expect((await app.createUser({ userName: 'ann' })).body.meta).toEqual(body.meta);
    expect(await app.history()).toEqual(['User 1 create']);
  });

  test('gives the matched user as it is with onMatch=return', async () => {
    await using app = await openTestApp({ dialect, settings: { onMatch: 'return' } });
    await app.createUser({ userName: 'ann', active: false });
    expect(await app.createUser({ userName: 'ann', title: 'Boss' })).toMatchObject({
      status: 200,
      body: { active: false },
    });
    expect((await app.call('GET', '/Users/1')).body.title).toBeUndefined();
  });

  test('refuses a match with onMatch=reject', async () => {
    await using app = await openTestApp({ dialect, settings: { onMatch: 'reject' } });
    await app.createUser({ userName: 'ann', externalId: 'e1' });
    for (const body of [{ userName: 'ANN' }, { userName: 'x', externalId: 'e1' }]) {
      expect(await app.createUser(body)).toMatchObject({ status: 409, body: { scimType: 'uniqueness' } });
    }
    expect(await app.history()).toEqual(['User 1 create']);
  });
});

describe('POST /Users on any database', () => {
  test.each([1, ' 1', '01', '1e0', '１', '١'])(
    'never takes the externalId %p for an id',
    async (externalId) => {
      await using app = await openTestApp();
      await app.createUser({ userName: 'ann@x.org' });
      expect(await app.createUser({ userName: 'bob@x.org', externalId })).toMatchObject({ status: 201 });
      expect((await app.call('GET', '/Users/1')).body.userName).toBe('ann@x.org');
    },
  );

  test.each([{}, { userName: '' }, { userName: '  ' }, { userName: null }, { userName: ['a', 'b'] }])(
    'refuses %p as a user: a userName is required',
    async (body) => {
      await using app = await openTestApp();
      expect(await app.createUser(body)).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
      expect(await app.history()).toEqual([]);
    },
  );

  test('ignores id, meta and groups of the body', async () => {
    await using app = await openTestApp();
    const answer = await app.createUser({
      id: '77',
      userName: 'ann',
      groups: [{ value: '1' }],
      meta: { version: 'W/"9"', created: '1999-01-01T00:00:00Z' },
    });
    expect(answer.body).toMatchObject({
      id: '1',
      meta: { version: 'W/"1"', created: '2030-01-01T00:00:00.000Z' },
    });
    expect(answer.body.groups).toBeUndefined();
  });

  test('reads extension data although schemas does not name it, and drops what it does not know', async () => {
    await using app = await openTestApp();
    const { body } = await app.createUser({
      userName: 'ann',
      [enterpriseUrn]: { division: 'North' },
      shoeSize: 9,
    });
    expect(body[enterpriseUrn]).toEqual({ division: 'North' });
    expect(body.schemas).toContain(enterpriseUrn);
    expect(body.shoeSize).toBeUndefined();
    expect(app.logged.join('')).toContain('shoeSize');
  });

  test.each(['__proto__', 'constructor', 'prototype'])('refuses a body with the key %s', async (key) => {
    await using app = await openTestApp();
    const answer = await app.call('POST', '/Users', `{"userName":"ann","${key}":{"polluted":true}}`);
    expect(answer).toMatchObject({ status: 400, body: { scimType: 'invalidSyntax' } });
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  test('says where a bio has an escape that JSON does not know', async () => {
    await using app = await openTestApp();
    const answer = await app.call('POST', '/Users', '{"userName":"ann","bio":"back\\\\slash \\q"}');
    expect(answer).toMatchObject({ status: 400, body: { scimType: 'invalidSyntax' } });
    expect(answer.body.detail).toMatch(/q/);
    expect(answer.body.detail).toMatch(/\d/);
  });
});
