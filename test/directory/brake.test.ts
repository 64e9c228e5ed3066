import { describe, expect, test } from 'bun:test';
import { releaseSource } from '../../src/directory/brake-store.ts';
import { Users } from '../../src/directory/users.ts';
import { PasswordHasher } from '../../src/security/password-hash.ts';
import { type Answer, openTestApp, type TestApp } from '../support/app.ts';
import { dialects, openDatabase } from '../support/database.ts';

const patchOp = { schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'] };

/** A service whose first source may end three things within an hour, with `people` users of it. */
async function withPeople(dialect: 'sqlite' | 'postgres', people: number, settings = {}): Promise<TestApp> {
  const app = await openTestApp({ dialect, settings: { brakeLimit: '3', ...settings } });
  for (let number = 1; number <= people; number += 1) await app.createUser({ userName: `user${number}` });
  return app;
}

function deactivate(app: TestApp, id: number): Promise<Answer> {
  return app.patch(`/Users/${id}`, [{ op: 'replace', path: 'active', value: false }]);
}

async function release(app: TestApp, minutes = 60): Promise<void> {
  const until = new Date(app.clock().getTime() + minutes * 60_000).toISOString();
  await app.database.write((tx) => releaseSource(tx, 1, until));
}

async function metric(app: TestApp, name: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${app.port}/metrics`)).text();
  return Number(new RegExp(`^${name}\\{source="1"\\} (\\d+)$`, 'm').exec(text)?.[1]);
}

async function states(app: TestApp): Promise<string[]> {
  const rows = await app.database.read.selectFrom('user').select('state').orderBy('id').execute();
  return rows.map(({ state }) => state);
}

describe.each(dialects())('the brake on %s', (dialect) => {
  test('refuses whole what would end more than the limit, with Retry-After and what to do', async () => {
    await using app = await withPeople(dialect, 5);
    for (const id of [1, 2, 3]) expect((await deactivate(app, id)).status).toBe(200);
    const before = await app.journal();
    const refused = await app.patch('/Users/4', [{ op: 'replace', value: { active: false, title: 'Gone' } }]);
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('900');
    expect(refused.body).toMatchObject({ status: '429' });
    expect(refused.body.detail).toBe(
      'The source "Directory" may deactivate or delete 3 within an hour (users, groups, memberships): with this request it ' +
        'would be 4. Such changes are held until a Power User lets them go on, by: rollcall source release "Directory". ' +
        'All others go on.',
    );
    expect(await app.journal()).toEqual(before);
    expect((await app.call('GET', '/Users/4')).body).toMatchObject({
      active: true,
      meta: { version: 'W/"1"' },
    });
    expect(await metric(app, 'rollcall_brake_held')).toBe(1);
    expect(app.logged.filter((line) => line.includes('are held until released'))).toHaveLength(1);
  });

  test('stays when the hour is over and holds even one, until it is released', async () => {
    await using app = await withPeople(dialect, 6);
    for (const id of [1, 2, 3, 4]) await deactivate(app, id);
    app.clock.advance(2 * 60 * 60);
    const held = await deactivate(app, 4);
    expect(held).toMatchObject({ status: 429 });
    expect(held.body.detail).toContain('it is held since 2030-01-01T00:00:00.000Z');
    await release(app);
    for (const id of [4, 5, 6]) expect((await deactivate(app, id)).status).toBe(200);
    expect(await metric(app, 'rollcall_brake_held')).toBe(0);
    expect(await metric(app, 'rollcall_scim_deactivations_total')).toBe(6);
  });

  test('lets any number go on for as long as it is released, and then counts anew', async () => {
    await using app = await withPeople(dialect, 12);
    for (const id of [1, 2, 3, 4]) await deactivate(app, id);
    await release(app, 10);
    for (const id of [4, 5, 6, 7, 8]) expect((await deactivate(app, id)).status).toBe(200);
    app.clock.advance(10 * 60);
    for (const id of [9, 10, 11]) expect((await deactivate(app, id)).status).toBe(200);
    expect((await deactivate(app, 12)).status).toBe(429);
  });

  test('forgets what was ended more than an hour ago', async () => {
    await using app = await withPeople(dialect, 6);
    for (const id of [1, 2, 3]) await deactivate(app, id);
    app.clock.advance(60 * 60);
    for (const id of [4, 5, 6]) expect((await deactivate(app, id)).status).toBe(200);
    expect(await metric(app, 'rollcall_scim_deactivations_last_hour')).toBe(3);
  });

  test('lets everything else go on while it holds', async () => {
    await using app = await withPeople(dialect, 5);
    for (const id of [1, 2, 3, 4]) await deactivate(app, id);
    expect((await app.call('GET', '/Users')).status).toBe(200);
    expect((await app.createUser({ userName: 'new' })).status).toBe(201);
    expect((await app.patch('/Users/4', [{ op: 'replace', path: 'title', value: 'x' }])).status).toBe(200);
    expect((await app.patch('/Users/1', [{ op: 'replace', path: 'active', value: true }])).status).toBe(200);
    const { body } = await app.createGroup({ displayName: 'g', members: [{ value: '1' }, { value: '4' }] });
    expect(
      (await app.patch(`/Groups/${body.id}`, [{ op: 'remove', path: 'members[value eq "1"]' }])).status,
    ).toBe(200);
    // Whoever is inactive already loses nothing by being deleted, renamed or said to be inactive once more.
    expect(
      (await app.patch('/Users/2', [{ op: 'replace', path: 'userName', value: 'gone-user2' }])).status,
    ).toBe(200);
    expect((await deactivate(app, 2)).status).toBe(200);
    expect((await app.call('DELETE', '/Users/2')).status).toBe(204);
    const other = await app.addSource('Other', { brakeLimit: '3' });
    const active = { op: 'replace', path: 'active', value: false };
    expect((await app.patch('/Users/5', [active], { token: other })).status).toBe(200);
  });

  test.each([
    ['a DELETE of somebody active', 'DELETE', '/Users/1', undefined, 1],
    ['a PUT with active false', 'PUT', '/Users/1', { userName: 'user1', active: false }, 1],
    ['a create that matches and deactivates', 'POST', '/Users', { userName: 'user1', active: false }, 1],
    ['a group with its memberships', 'DELETE', '/Groups/1', undefined, 3],
    [
      'members that are cleared',
      'PATCH',
      '/Groups/1',
      { ...patchOp, Operations: [{ op: 'remove', path: 'members' }] },
      2,
    ],
    [
      'members that are replaced',
      'PATCH',
      '/Groups/1',
      { ...patchOp, Operations: [{ op: 'replace', path: 'members', value: [{ value: '1' }] }] },
      1,
    ],
    [
      'members that a PUT leaves out',
      'PUT',
      '/Groups/1',
      { displayName: 'g', members: [{ value: '2' }, { value: '3' }] },
      1,
    ],
    [
      'members that are named',
      'PATCH',
      '/Groups/1',
      { ...patchOp, Operations: [{ op: 'remove', path: 'members[value eq "1"]' }] },
      0,
    ],
    [
      'a rename',
      'PATCH',
      '/Users/1',
      { ...patchOp, Operations: [{ op: 'replace', path: 'userName', value: 'x' }] },
      0,
    ],
  ] as const)('counts %s', async (_, method, path, body, count) => {
    await using app = await withPeople(dialect, 3, { brakeLimit: '0' });
    await app.createGroup({ displayName: 'g', members: [{ value: '1' }, { value: '2' }] });
    expect((await app.call(method, path, body)).status).toBeLessThan(300);
    expect(await metric(app, 'rollcall_scim_deactivations_total')).toBe(count);
  });

  test('lets exactly as many pass as the limit says when many come at once', async () => {
    await using app = await withPeople(dialect, 30, { brakeLimit: '7' });
    const ids = Array.from({ length: 30 }, (_, index) => index + 1);
    const answers = await Promise.all(ids.map((id) => deactivate(app, id)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(7);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(23);
    expect((await states(app)).filter((state) => state === 'inactive')).toHaveLength(7);
    expect(await metric(app, 'rollcall_scim_deactivations_total')).toBe(7);
    expect(app.logged.filter((line) => line.includes('are held until released'))).toHaveLength(1);
  });

  test('keeps its count and its hold through a restart', async () => {
    await using app = await withPeople(dialect, 5);
    for (const id of [1, 2, 3, 4]) await deactivate(app, id);
    const location = app.location;
    const second = openDatabase(dialect, location);
    const people = new Users(second, new PasswordHasher());
    const configuration = await app.configurations.current();
    const brake = { sourceName: 'Directory', limit: 3, alarm: 0, note: () => undefined };
    const context = {
      actor: { kind: 'source', id: 1 },
      sourceId: 1,
      scope: 'all',
      unknownReferences: 'reject',
      requestId: null,
      runId: null,
      configuration,
      brake,
      now: app.clock().toISOString(),
    } as const;
    await expect(people.delete(context, 5)).rejects.toThrow('it is held since');
    await second.close();
  });

  test('warns once an hour, and refuses nothing, while it is off', async () => {
    await using app = await withPeople(dialect, 6, { brakeLimit: '0', brakeAlarm: '2' });
    for (const id of [1, 2, 3, 4, 5]) expect((await deactivate(app, id)).status).toBe(200);
    const warnings = () => app.logged.map((line) => JSON.parse(line)).filter(({ level }) => level === 'warn');
    expect(warnings()).toMatchObject([{ source: 1, sourceName: 'Directory', count: 3 }]);
    expect(await metric(app, 'rollcall_brake_held')).toBe(0);
    app.clock.advance(30 * 60);
    await deactivate(app, 6);
    expect(warnings()).toHaveLength(1);
  });

  test('refuses one operation of a Bulk and does the others', async () => {
    await using app = await withPeople(dialect, 5);
    for (const id of [1, 2, 3]) await deactivate(app, id);
    const { status, body } = await app.call('POST', '/Bulk', {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:BulkRequest'],
      Operations: [
        { method: 'DELETE', path: '/Users/4' },
        { method: 'POST', path: '/Users', bulkId: 'q', data: { userName: 'new' } },
      ],
    });
    expect(status).toBe(200);
    expect(body.Operations.map((operation: { status: string }) => operation.status)).toEqual(['429', '201']);
    expect((await states(app))[3]).toBe('active');
  });
});
