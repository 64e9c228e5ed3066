// Two changes of which neither has seen the other: what they leave together is what one after the other would have left.

import { describe, expect, test } from 'bun:test';
import { enterpriseUrn, openTestApp, platformGroupUrn, type TestApp } from '../support/app.ts';
import { dialects } from '../support/database.ts';
import { HoldingServer, runBeside } from '../support/overlap.ts';

const manager = `${enterpriseUrn}:manager`;
const boss = '/Users/1';
const ann = '/Users/2';

const set = (path: string, value: unknown) => [{ op: 'replace', path, value }];

async function openWithBoss(dialect: 'sqlite' | 'postgres', settings = {}): Promise<TestApp> {
  const app = await openTestApp({ dialect, settings });
  await app.createUser({ userName: 'boss', displayName: 'Old Name' });
  await app.createUser({ userName: 'ann' });
  return app;
}

describe.each(dialects())('giving a manager on %s', (dialect) => {
  test('who is being renamed shows the new name under a version of its own', async () => {
    await using app = await openWithBoss(dialect);
    await using other = new HoldingServer(app);
    const rename = await other.begin((server) =>
      server.patch(boss, set('displayName', 'New Name'), { token: app.token }),
    );
    const giving = await runBeside(app, app.patch(ann, set(manager, { value: '1' })));
    const between = await app.call('GET', ann);
    expect((await rename.commit()).status).toBe(200);
    expect((await giving.answer).status).toBe(200);
    const after = await app.call('GET', ann);
    expect(after.body[enterpriseUrn].manager.displayName).toBe('New Name');
    expect(after.headers.get('etag')).not.toBe(between.headers.get('etag'));
  });

  test('who is being archived is refused, and nothing is written', async () => {
    await using app = await openWithBoss(dialect);
    await using other = new HoldingServer(app);
    const archive = await other.begin((server) =>
      server.call('DELETE', boss, undefined, { token: app.token }),
    );
    const giving = await runBeside(app, app.patch(ann, set(manager, { value: '1' })));
    expect((await archive.commit()).status).toBe(204);
    expect(await giving.answer).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
    const [row] = await app.database.read
      .selectFrom('user')
      .select(['manager_id', 'version'])
      .where('id', '=', 2)
      .execute();
    expect(row).toEqual({ manager_id: null, version: 1 });
  });

  test('and archiving that one: the report is counted', async () => {
    await using app = await openWithBoss(dialect);
    await using other = new HoldingServer(app);
    const giving = await other.begin((server) =>
      server.patch(ann, set(manager, { value: '1' }), { token: app.token }),
    );
    const archive = await runBeside(app, app.call('DELETE', boss));
    expect((await giving.commit()).status).toBe(200);
    expect((await archive.answer).status).toBe(204);
    const after = await app.call('GET', ann);
    expect(after.body[enterpriseUrn]).toBeUndefined();
    expect(after.body.meta.version).toBe('W/"3"');
  });
});

const besideEachOther = dialects().filter((dialect) => dialect === 'postgres');

describe.each(besideEachOther)('giving one manager on %s', (dialect) => {
  test('to two people at once makes neither wait for the other', async () => {
    await using app = await openWithBoss(dialect);
    await app.createUser({ userName: 'bob' });
    await using other = new HoldingServer(app);
    const first = await other.begin((server) =>
      server.patch(ann, set(manager, { value: '1' }), { token: app.token }),
    );
    expect((await app.patch('/Users/3', set(manager, { value: '1' }))).status).toBe(200);
    expect((await first.commit()).status).toBe(200);
  });
});

const department = `${enterpriseUrn}:department`;

/** Ann, user 1, and group 1. A row of another transaction keeps ann from joining it until `release`. */
async function openWithDoor(app: TestApp) {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const failure = new Error('the door is opened again');
  let stand = () => {};
  const stands = new Promise<void>((resolve) => {
    stand = resolve;
  });
  const door = app.database
    .write(async (tx) => {
      await tx.insertInto('membership').values({ group_id: 1, user_id: 1 }).execute();
      stand();
      await released;
      throw failure;
    })
    .catch((error) => expect(error).toBe(failure));
  await stands;
  return {
    async open() {
      release();
      await door;
    },
  };
}

describe.each(besideEachOther)('a group that is deleted while somebody joins it on %s', (dialect) => {
  test('by their department is left by them, or made anew', async () => {
    await using app = await openTestApp({ dialect });
    await app.createUser({ userName: 'ann' });
    await app.createGroup({ displayName: 'HR', [platformGroupUrn]: { groupType: 'department' } });
    const door = await openWithDoor(app);
    const joining = await runBeside(app, app.patch('/Users/1', set(department, 'HR')));
    const deleting = await runBeside(app, app.call('DELETE', '/Groups/1'), 2);
    await door.open();
    expect((await joining.answer).status).toBe(200);
    expect((await deleting.answer).status).toBe(204);
    const { body } = await app.call('GET', '/Users/1');
    expect(body.groups).toBeUndefined();
    expect(body[enterpriseUrn]).toBeUndefined();
  });

  test('as somebody whom it was waiting for has no members', async () => {
    await using app = await openTestApp({ dialect, settings: { unknownMembers: 'pending' } });
    await app.createUser({ userName: 'ann' });
    await app.createGroup({ displayName: 'Sales', members: [{ value: 'e-ann' }] });
    const door = await openWithDoor(app);
    const arriving = await runBeside(app, app.patch('/Users/1', set('externalId', 'e-ann')));
    const deleting = await runBeside(app, app.call('DELETE', '/Groups/1'), 2);
    await door.open();
    expect((await arriving.answer).status).toBe(200);
    expect((await deleting.answer).status).toBe(204);
    expect(await app.database.read.selectFrom('membership').selectAll().execute()).toEqual([]);
  });
});
