import { describe, expect, test } from 'bun:test';
import { sql } from 'kysely';
import { machineContext } from '../../src/directory/context.ts';
import { saveUsers } from '../../src/directory/save-users.ts';
import { selectUsers } from '../../src/directory/user-store.ts';
import { reserveIds } from '../../src/storage/sequence-store.ts';
import { enterpriseUrn, openTestApp, platformGroupUrn, type TestApp } from '../support/app.ts';
import { dialects } from '../support/database.ts';
import { insertPeople } from '../support/people.ts';

const manager = `${enterpriseUrn}:manager`;
const department = `${enterpriseUrn}:department`;
const groupType = `${platformGroupUrn}:groupType`;

const ann = '/Users/1';
const bob = '/Users/2';
const cid = '/Users/3';
const staff = '/Groups/1';
const research = '/Groups/2';

/** Ann leads Bob, who is in Staff and whose department is Research; Cid is alone. */
async function openOffice(dialect: 'sqlite' | 'postgres'): Promise<TestApp> {
  const app = await openTestApp({ dialect });
  await app.createUser({ userName: 'ann', displayName: 'Ann', externalId: 'a' });
  await app.createUser({ userName: 'bob', [enterpriseUrn]: { manager: { value: '1' } } });
  await app.createUser({ userName: 'cid' });
  await app.createGroup({ displayName: 'Staff', members: [{ value: '2' }], externalId: 's' });
  await app.patch(bob, [{ op: 'replace', path: department, value: 'Research' }]);
  return app;
}

const everything = [ann, bob, cid, staff, research];

/** What each resource shows besides its meta, and its version; undefined for what is gone. */
async function look(app: TestApp, token?: string) {
  const seen = new Map<string, { readonly shown: string; readonly version: string; readonly at: string }>();
  for (const path of everything) {
    const { body, status, headers } = await app.call('GET', path, undefined, token ? { token } : {});
    if (status !== 200) continue;
    const { meta, ...rest } = body;
    expect(headers.get('etag')).toBe(meta.version);
    seen.set(path, { shown: JSON.stringify(rest), version: meta.version, at: meta.lastModified });
  }
  return seen;
}

interface Way {
  readonly change: (app: TestApp) => Promise<unknown>;
  /** The resources that show it, besides those that are gone. */
  readonly shows: readonly string[];
}

const put = (app: TestApp, path: string, changes: object) =>
  app.call('GET', path).then(({ body }) => app.call('PUT', path, { ...body, ...changes }));
const set = (path: string, attribute: string, value: unknown) => (app: TestApp) =>
  app.patch(path, [{ op: 'replace', path: attribute, value }]);
const drop = (path: string, attribute: string) => (app: TestApp) =>
  app.patch(path, [{ op: 'remove', path: attribute }]);

const ways: Readonly<Record<string, Way>> = {
  'an attribute': { change: set(cid, 'title', 'Clerk'), shows: [cid] },
  'an attribute by PUT': { change: (app) => put(app, cid, { title: 'Clerk' }), shows: [cid] },
  'a deactivation': { change: set(bob, 'active', false), shows: [bob] },
  'the externalId': { change: set(ann, 'externalId', 'other'), shows: [ann] },
  'the name of a manager': { change: set(ann, 'displayName', 'Ann B.'), shows: [ann, bob] },
  'the name that a manager has by another attribute': {
    change: async (app) => {
      await app.patch(ann, [{ op: 'remove', path: 'displayName' }]);
    },
    shows: [ann, bob],
  },
  'the name of a member': { change: set(bob, 'name.formatted', 'Bob C.'), shows: [bob, staff, research] },
  'the userName of a member without another name': {
    change: set(bob, 'userName', 'robert'),
    shows: [bob, staff, research],
  },
  'a manager who is archived': { change: (app) => app.call('DELETE', ann), shows: [bob] },
  'a member who is archived': { change: (app) => app.call('DELETE', bob), shows: [staff, research] },
  'another manager': { change: set(bob, manager, { value: '3' }), shows: [bob] },
  'no manager': { change: drop(bob, manager), shows: [bob] },
  'a new name of a group': { change: set(staff, 'displayName', 'People'), shows: [bob, staff] },
  'a new name of a department': { change: set(research, 'displayName', 'R & D'), shows: [bob, research] },
  'another type of a group': { change: set(staff, groupType, 'location'), shows: [staff] },
  'another type of a department': { change: set(research, groupType, 'location'), shows: [bob, research] },
  'a description': { change: set(staff, `${platformGroupUrn}:description`, 'All'), shows: [staff] },
  'a group that is deleted': { change: (app) => app.call('DELETE', staff), shows: [bob] },
  'a department that is deleted': { change: (app) => app.call('DELETE', research), shows: [bob] },
  'another department': { change: set(bob, department, 'Staff'), shows: [bob, research] },
  'no department': { change: drop(bob, department), shows: [bob, research] },
  'a member who joins': {
    change: (app) => app.patch(staff, [{ op: 'add', path: 'members', value: [{ value: '3' }] }]),
    shows: [cid, staff],
  },
  'a member who leaves': { change: drop(staff, 'members[value eq "2"]'), shows: [bob, staff] },
  'a group that is emptied': { change: drop(staff, 'members'), shows: [bob, staff] },
  'members by PUT': {
    change: (app) => put(app, staff, { members: [{ value: '3' }] }),
    shows: [bob, cid, staff],
  },
  'a group that is created with members': {
    change: (app) => app.createGroup({ displayName: 'New', members: [{ value: '1' }] }),
    shows: [ann],
  },
  'a merge into a user': {
    change: (app) => app.createUser({ userName: 'ANN', displayName: 'Anna' }),
    shows: [ann, bob],
  },
  'a merge into a group': {
    change: (app) => app.createGroup({ displayName: 'STAFF', members: [{ value: '3' }] }),
    shows: [bob, cid, staff],
  },
};

const nothings: Readonly<Record<string, Way['change']>> = {
  'a PATCH of what is there': set(ann, 'displayName', 'Ann'),
  'a PUT of what is there': (app) => put(app, bob, {}),
  'a PUT of a group with its members': (app) => put(app, staff, {}),
  'a member who is in': (app) => app.patch(staff, [{ op: 'add', path: 'members', value: [{ value: '2' }] }]),
  'a member who is not in': drop(staff, 'members[value eq "3"]'),
  'a department in another spelling': set(bob, department, 'RESEARCH'),
  'the manager there is': set(bob, manager, { value: '1' }),
  'the manager by another name': set(bob, manager, { value: 'ann' }),
  'a refused change': set(bob, manager, { value: 'nobody' }),
  'a match that brings nothing': (app) => app.createUser({ userName: 'ann' }),
  'a name that is taken': set(cid, 'userName', 'ann'),
  'a stale If-Match': (app) =>
    app.patch(ann, [{ op: 'replace', path: 'title', value: 'x' }], { headers: { 'if-match': 'W/"99"' } }),
};

describe.each(dialects())('versions on %s', (dialect) => {
  test.each(Object.keys(ways))('move where it shows: %s', async (name) => {
    const { change, shows } = ways[name] as Way;
    await using app = await openOffice(dialect);
    const before = await look(app);
    app.clock.advance(60);
    await change(app);
    const after = await look(app);
    const differing = [...after.keys()].filter((path) => after.get(path)?.shown !== before.get(path)?.shown);
    const moved = [...after.keys()].filter((path) => after.get(path)?.version !== before.get(path)?.version);
    expect(differing).toEqual(differing.filter((path) => moved.includes(path)));
    expect(moved).toEqual(expect.arrayContaining([...shows]));
    for (const path of moved) expect(after.get(path)?.at).toBe('2030-01-01T00:01:00.000Z');
  });

  test.each(Object.keys(nothings))('stay for what changes nothing: %s', async (name) => {
    await using app = await openOffice(dialect);
    const before = await look(app);
    app.clock.advance(60);
    await nothings[name]?.(app);
    expect(await look(app)).toEqual(before);
  });

  test('stay for who does not show the change', async () => {
    await using app = await openOffice(dialect);
    const before = await look(app);
    await app.patch(ann, [{ op: 'replace', path: 'title', value: 'Boss' }]);
    await app.patch(staff, [{ op: 'replace', path: `${platformGroupUrn}:description`, value: 'All' }]);
    const after = await look(app);
    for (const path of [bob, cid, research]) expect(after.get(path)).toEqual(before.get(path) as never);
  });

  test('move in a report whose manager is written after it, as in an import', async () => {
    await using app = await openTestApp({ dialect });
    const configuration = await app.configurations.current();
    const context = machineContext(
      configuration,
      { kind: 'administrator', id: null },
      '2030-01-01T00:00:00.000Z',
    );
    const create = (id: number, userName: string, managerId: number | null) =>
      app.database.write((tx) =>
        saveUsers(tx, context, [{ id, next: { userName, active: true }, mode: 'replace', managerId }]),
      );
    await app.database.write((tx) => reserveIds(tx, 'User', 2));
    await create(1, 'ann', 2);
    const before = await app.call('GET', ann);
    expect(before.body[enterpriseUrn]).toBeUndefined();
    await create(2, 'bob', 1);
    const after = await app.call('GET', ann);
    expect(after.body[enterpriseUrn].manager.value).toBe('2');
    expect(after.headers.get('etag')).not.toBe(before.headers.get('etag'));
    expect((await app.call('GET', bob)).headers.get('etag')).toBe('W/"1"');
  });

  test.each([
    ['who stays', [1, 2, 3], [1, 2, 3]],
    ['who is another one afterwards', [1, 2, 3], [3, 2, 1]],
  ])('are the same wherever an import cuts its batches, with a manager %s', async (_manager, now, then) => {
    const versions: unknown[] = [];
    for (const size of [1, 2, 3]) {
      await using app = await openTestApp({ dialect });
      const configuration = await app.configurations.current();
      const context = machineContext(
        configuration,
        { kind: 'administrator', id: null },
        '2030-01-01T00:00:00.000Z',
      );
      for (const userName of ['ann', 'bob', 'cid']) await app.createUser({ userName });
      // Each leads another one, so that whoever leads stands earlier in a batch and later.
      for (const [index, id] of now.entries()) {
        const value = String(now[(index + 1) % 3]);
        await app.patch(`/Users/${id}`, [{ op: 'add', path: manager, value: { value } }]);
      }
      for (let from = 0; from < 3; from += size) {
        await app.database.write(async (tx) => {
          const users = await selectUsers(tx, [1, 2, 3].slice(from, from + size), null);
          const changes = users.map((before) => {
            const managerId = then[(then.indexOf(before.id) + 1) % 3] ?? null;
            const next = { ...before.resource, displayName: `New ${before.id}` };
            return { before, next, mode: 'replace', managerId } as const;
          });
          await saveUsers(tx, context, changes);
        });
      }
      const rows = app.database.read.selectFrom('user').select(['id', 'version']).orderBy('id');
      versions.push(await rows.execute());
    }
    const [one, two, three] = versions;
    expect([two, three]).toEqual([one, one]);
  });

  test('move for a source that adopts a manager or a group and now sees them with its people', async () => {
    await using app = await openOffice(dialect);
    const own = await app.addSource('Own', { scope: 'own' });
    const [source] = (await app.sources.list()).filter((candidate) => candidate.name === 'Own');
    await app.database.write(async (tx) => {
      await tx.updateTable('user').set({ owner_source_id: null }).where('id', '=', 1).execute();
      await tx.updateTable('group_').set({ owner_source_id: null }).where('id', '=', 1).execute();
      await tx
        .updateTable('user')
        .set({ owner_source_id: source?.id ?? 0 })
        .where('id', '=', 2)
        .execute();
    });
    for (const adopt of [
      () => app.createUser({ userName: 'ann' }, { token: own }),
      () => app.createGroup({ displayName: 'Staff' }, { token: own }),
    ]) {
      const before = (await look(app, own)).get(bob);
      expect((await adopt()).status).toBe(200);
      const after = (await look(app, own)).get(bob);
      expect(after?.shown).not.toBe(before?.shown as string);
      expect(after?.version).not.toBe(before?.version as string);
    }
  });

  test('lastModified does not go back with the clock, whatever is changed', async () => {
    for (const { change } of Object.values(ways)) {
      await using app = await openOffice(dialect);
      app.clock.advance(-3_600);
      await change(app);
      for (const { at } of (await look(app)).values()) expect(at >= '2030-01-01T00:00:00.000Z').toBe(true);
      const rows = await app.database.read
        .selectFrom('user')
        .select(['created', 'modified'])
        .unionAll(app.database.read.selectFrom('group_').select(['created', 'modified']))
        .execute();
      expect(rows.filter((row) => row.created > row.modified)).toEqual([]);
    }
  }, 60_000);

  test('of 6,000 members move with the name of their group', async () => {
    await using app = await openTestApp({ dialect });
    await app.createGroup({ displayName: 'All' });
    await insertPeople(app.database, 6_000);
    await app.database.write((tx) =>
      tx
        .insertInto('membership')
        .columns(['group_id', 'user_id'])
        .expression(tx.selectFrom('user').select([sql<number>`1`.as('group_id'), 'id as user_id']))
        .execute(),
    );
    expect((await app.patch('/Groups/1', [{ op: 'replace', path: 'displayName', value: 'X' }])).status).toBe(
      204,
    );
    const left = await app.database.read.selectFrom('user').select('id').where('version', '<>', 2).execute();
    expect(left).toEqual([]);
  }, 60_000);
});
