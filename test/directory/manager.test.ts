import { describe, expect, test } from 'bun:test';
import { type Answer, enterpriseUrn, openTestApp, type TestApp } from '../support/app.ts';
import { dialects } from '../support/database.ts';

const path = `${enterpriseUrn}:manager`;

/** Users 1 to 3; 3 is the one who gets a manager. */
async function openWithBosses(dialect: (typeof engines)[number], settings = {}): Promise<TestApp> {
  const app = await openTestApp({ dialect, settings });
  await app.createUser({
    userName: 'boss@x.org',
    externalId: 'emp-1',
    displayName: 'The Boss',
    emails: [
      { type: 'work', value: 'the.boss@x.org' },
      { type: 'home', value: 'boss@home.org' },
    ],
  });
  await app.createUser({ userName: 'second', externalId: '0042' });
  await app.createUser({ userName: 'ann' });
  return app;
}

function setManager(app: TestApp, value: unknown): Promise<Answer> {
  return app.patch('/Users/3', [{ op: 'replace', path, value }]);
}

const engines = dialects();

describe.each(engines)('manager.value on %s', (dialect) => {
  test.each(['1', 'boss@x.org', 'BOSS@x.org', 'The.Boss@x.org', 'emp-1'])(
    '%s leads to the manager',
    async (value) => {
      await using app = await openWithBosses(dialect);
      const answer = await setManager(app, { value });
      expect(answer.body[enterpriseUrn].manager).toEqual({
        value: '1',
        displayName: 'The Boss',
        $ref: `${app.baseUrl}/Users/1`,
      });
    },
  );

  test.each(['0042', '42', '1e0', '0x1', ' 1', '01', '1.0', 'Infinity', 'EMP-1', 'boss@home.org', 'nobody'])(
    '%p leads to nobody: 400, nothing written',
    async (value) => {
      await using app = await openWithBosses(dialect);
      const answer = await setManager(app, { value });
      expect(answer).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
      expect(answer.body.detail).toContain(value);
      expect((await app.call('GET', '/Users/3')).body).toMatchObject({ meta: { version: 'W/"1"' } });
    },
  );

  test('fails when it matches two users', async () => {
    await using app = await openWithBosses(dialect);
    await app.patch('/Users/2', [
      { op: 'add', path: 'emails', value: [{ type: 'work', value: 'boss@x.org' }] },
    ]);
    const answer = await setManager(app, { value: 'boss@x.org' });
    expect(answer).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
    expect(answer.body.detail).toContain('2 users');
  });

  test('fails the whole create', async () => {
    await using app = await openWithBosses(dialect);
    const answer = await app.createUser({
      userName: 'new',
      [enterpriseUrn]: { manager: { value: 'nobody' } },
    });
    expect(answer.status).toBe(400);
    expect((await app.call('GET', '/Users')).body.totalResults).toBe(3);
  });

  test('never leads to an archived user, whose reports have no manager any more', async () => {
    await using app = await openWithBosses(dialect);
    await setManager(app, { value: '1' });
    await app.call('DELETE', '/Users/1');
    const { body } = await app.call('GET', '/Users/3');
    expect(body[enterpriseUrn]?.manager).toBeUndefined();
    expect((await app.find('/Users', `${enterpriseUrn}:manager.value eq "1"`)).body.totalResults).toBe(0);
    expect((await setManager(app, { value: '1' })).status).toBe(400);
    expect((await app.patch('/Users/3', [{ op: 'replace', path: 'title', value: 'x' }])).status).toBe(200);
  });

  test('may be oneself, and may go round in a circle', async () => {
    await using app = await openWithBosses(dialect);
    expect((await setManager(app, { value: '3' })).body[enterpriseUrn].manager.value).toBe('3');
    expect((await setManager(app, { value: '1' })).status).toBe(200);
    expect((await app.patch('/Users/1', [{ op: 'add', path, value: { value: '3' } }])).status).toBe(200);
    expect((await app.call('GET', '/Users/3')).body[enterpriseUrn].manager.value).toBe('1');
  });

  test('derives displayName and $ref itself', async () => {
    await using app = await openWithBosses(dialect);
    const sent = { value: '1', displayName: 'Somebody Else', $ref: 'https://evil.example/Users/1' };
    expect((await setManager(app, sent)).body[enterpriseUrn].manager).toEqual({
      value: '1',
      displayName: 'The Boss',
      $ref: `${app.baseUrl}/Users/1`,
    });
  });

  test('of a source with scope=own leads only to its own people', async () => {
    await using app = await openWithBosses(dialect);
    const own = { token: await app.addSource('Own', { scope: 'own' }) };
    const mine = await app.createUser({ userName: 'mine' }, own);
    for (const value of ['1', 'boss@x.org', 'the.boss@x.org']) {
      const answer = await app.patch(`/Users/${mine.body.id}`, [{ op: 'add', path, value: { value } }], own);
      expect(answer.status).toBe(400);
      expect(answer.text).not.toContain('The Boss');
    }
  });
});

describe.each(engines)('unknownMembers=pending on %s', (dialect) => {
  const settings = { unknownMembers: 'pending' };

  test.each(['late@x.org', 'Late@X.org', 'emp-9', 'Late.Work@x.org'])(
    'lets the manager %s wait until somebody of that name arrives',
    async (reference) => {
      await using app = await openWithBosses(dialect, settings);
      const waiting = await setManager(app, { value: reference });
      expect(waiting.status).toBe(200);
      expect(waiting.body[enterpriseUrn]?.manager).toBeUndefined();
      app.clock.advance(5);
      await app.createUser({
        userName: 'late@x.org',
        externalId: 'emp-9',
        emails: [{ type: 'work', value: 'late.work@x.org' }],
      });
      const { body } = await app.call('GET', '/Users/3');
      expect(body[enterpriseUrn].manager.value).toBe('4');
      expect(body.meta.lastModified).toBe('2030-01-01T00:00:05.000Z');
    },
  );

  test('does not let a number wait: an id that comes later would be somebody else', async () => {
    await using app = await openWithBosses(dialect, settings);
    expect((await setManager(app, { value: '4' })).status).toBe(400);
  });

  test('forgets a manager who was waited for when another is named', async () => {
    await using app = await openWithBosses(dialect, settings);
    await setManager(app, { value: 'late' });
    await setManager(app, { value: 'later' });
    await app.createUser({ userName: 'later' });
    await app.createUser({ userName: 'late' });
    expect((await app.call('GET', '/Users/3')).body[enterpriseUrn].manager.value).toBe('4');
  });

  test('forgets a manager who was waited for when a PUT names none', async () => {
    await using app = await openWithBosses(dialect, settings);
    await setManager(app, { value: 'late' });
    await app.call('PUT', '/Users/3', { userName: 'ann' });
    await app.createUser({ userName: 'late' });
    expect((await app.call('GET', '/Users/3')).body[enterpriseUrn]).toBeUndefined();
  });

  test.each([
    { op: 'remove', path: `${enterpriseUrn}:manager` },
    { op: 'remove', path: `${enterpriseUrn}:manager.value` },
    { op: 'remove', path: enterpriseUrn },
    { op: 'replace', path: `${enterpriseUrn}:manager`, value: null },
  ])('forgets a manager who was waited for when a PATCH takes the manager away: %j', async (operation) => {
    await using app = await openWithBosses(dialect, settings);
    await setManager(app, { value: 'late' });
    await app.patch('/Users/3', [operation]);
    await app.createUser({ userName: 'late' });
    expect((await app.call('GET', '/Users/3')).body[enterpriseUrn]).toBeUndefined();
  });

  test('forgets a manager whom one source waited for when another says that there is none', async () => {
    await using app = await openWithBosses(dialect, settings);
    const other = { token: await app.addSource('Other') };
    await setManager(app, { value: 'late' });
    expect((await app.call('PUT', '/Users/3', { userName: 'ann' }, other)).status).toBe(200);
    await app.createUser({ userName: 'late' });
    expect((await app.call('GET', '/Users/3')).body[enterpriseUrn]).toBeUndefined();
  });

  test('goes on waiting for a manager while other attributes change', async () => {
    await using app = await openWithBosses(dialect, settings);
    await setManager(app, { value: 'late' });
    await app.patch('/Users/3', [{ op: 'replace', path: 'title', value: 'Clerk' }]);
    await app.createUser({ userName: 'late' });
    expect((await app.call('GET', '/Users/3')).body[enterpriseUrn].manager.value).toBe('4');
  });

  test('lets members wait, applies the known ones, and adds the others when they arrive', async () => {
    await using app = await openWithBosses(dialect, settings);
    await app.createGroup({ displayName: 'Sales' });
    const operation = { op: 'add', path: 'members', value: [{ value: '1' }, { value: 'emp-7' }] };
    const answer = await app.patch('/Groups/1', [operation]);
    expect(answer).toMatchObject({ status: 200, body: { members: [{ value: '1' }] } });
    const before = answer.headers.get('etag');
    await app.createUser({ userName: 'late', externalId: 'emp-7' });
    const after = await app.call('GET', '/Groups/1');
    expect(after.body.members).toMatchObject([{ value: '1' }, { value: '4' }]);
    expect(after.headers.get('etag')).not.toBe(before);
  });

  test('never lets a number wait as a member: it is only ever an id, whoever bears it as externalId', async () => {
    await using app = await openWithBosses(dialect, settings);
    await app.createGroup({ displayName: 'Sales' });
    await app.call('DELETE', '/Users/3');
    for (const value of ['3', '4', '0042', ' 4', '1e1']) {
      const operation = { op: 'add', path: 'members', value: [{ value: 'late' }, { value }] };
      const answer = await app.patch('/Groups/1', [operation]);
      expect(answer).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
      expect(answer.body.detail).toContain(`"${value}"`);
    }
    await app.createUser({ userName: 'late' });
    await app.createUser({ userName: 'stranger', externalId: '3' });
    expect((await app.call('GET', '/Groups/1')).body.members).toBeUndefined();
  });

  test.each(['emp-1', 'Boss@X.org', 'The.Boss@x.org'])(
    'adds a member who is there at once when named as %s, and removes them by that name',
    async (value) => {
      await using app = await openWithBosses(dialect, settings);
      const { body } = await app.createGroup({
        displayName: 'Sales',
        members: [{ value }, { value: 'late' }],
      });
      expect(body.members).toMatchObject([{ value: '1' }]);
      await app.patch('/Groups/1', [{ op: 'remove', path: `members[value eq "${value}"]` }]);
      expect((await app.call('GET', '/Groups/1')).body.members).toBeUndefined();
      const whole = [{ op: 'replace', path: 'members', value: [{ value }] }];
      expect((await app.patch('/Groups/1', whole)).body.members).toMatchObject([{ value: '1' }]);
      await app.createUser({ userName: 'late' });
      expect((await app.call('GET', '/Groups/1')).body.members).toHaveLength(1);
    },
  );

  test('refuses a member whom several may be', async () => {
    await using app = await openWithBosses(dialect, settings);
    await app.createUser({ userName: 'other', emails: [{ type: 'work', value: 'second' }] });
    const answer = await app.createGroup({ displayName: 'Sales', members: [{ value: 'second' }] });
    expect(answer.body).toMatchObject({
      status: '400',
      scimType: 'invalidValue',
      detail: 'The member "second" matches 2 users; send the id of one of them.',
    });
    expect((await app.call('GET', '/Groups')).body.totalResults).toBe(0);
  });

  test('forgets a member who was waited for when it is removed again', async () => {
    await using app = await openWithBosses(dialect, settings);
    await app.createGroup({ displayName: 'Sales' });
    await app.patch('/Groups/1', [{ op: 'add', path: 'members', value: [{ value: 'emp-7' }] }]);
    await app.patch('/Groups/1', [{ op: 'remove', path: 'members[value eq "emp-7"]' }]);
    await app.createUser({ userName: 'late', externalId: 'emp-7' });
    expect((await app.call('GET', '/Groups/1')).body.members).toBeUndefined();
  });
});
