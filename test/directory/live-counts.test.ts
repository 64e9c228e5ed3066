import { describe, expect, test } from 'bun:test';
import { blockIds, findMiscounts, groupList, userList } from '../../src/directory/list-store.ts';
import { openImportHouse, profileXml, userXml } from '../imports/support.ts';
import { openTestApp, type TestApp } from '../support/app.ts';
import { dialects } from '../support/database.ts';

type Random = () => number;

/** A small generator with a seed, so that a failure can be run again. */
function randomFrom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

async function change(app: TestApp, random: Random, number: number): Promise<void> {
  const id = 1 + Math.floor(random() * 60);
  const steps = [
    () => app.createUser({ userName: `u${number}` }),
    () => app.createUser({ userName: `u${number}`, userType: 'nonsense' }),
    () =>
      app.createUser({
        userName: `u${number}`,
        'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User': { department: `d${number % 7}` },
      }),
    () => app.createGroup({ displayName: `g${number}` }),
    () => app.call('DELETE', `/Users/${id}`),
    () => app.call('DELETE', `/Groups/${id}`),
    () => app.patch(`/Users/${id}`, [{ op: 'replace', path: 'active', value: random() < 0.5 }]),
  ];
  await steps[Math.floor(random() * steps.length)]?.();
}

describe.each(dialects())('counts of blocks on %s', (dialect) => {
  test('are what is there after any creates, archives and deletes, many at once', async () => {
    await using app = await openTestApp({ dialect });
    const random = randomFrom(20_301);
    for (let round = 0; round < 15; round += 1) {
      await Promise.all(Array.from({ length: 16 }, (_, index) => change(app, random, round * 16 + index)));
      expect(await findMiscounts(app.database.read)).toEqual([]);
    }
    const [users] = await userList.ranges(app.database.read);
    const [groups] = await groupList.ranges(app.database.read);
    expect((await app.call('GET', '/Users')).body.totalResults).toBe(users?.live);
    expect((await app.call('GET', '/Groups')).body.totalResults).toBe(groups?.live);
    expect(users?.live).toBeGreaterThan(20);
  }, 60_000);

  test('are what is there after imports that create, archive and group people', async () => {
    await using house = await openImportHouse({ dialect });
    const people = Array.from({ length: 300 }, (_, index) =>
      userXml(`p${index}`, `person${index}`, `<department>D${index % 5}</department>`),
    );
    await house.import(profileXml(people));
    expect(await findMiscounts(house.database.read)).toEqual([]);
    const options = { actionMissingDeletedUsers: 'a' };
    const run = await house.import(profileXml(people.slice(0, 260), { options }));
    expect(run).toMatchObject({ status: 'completed', counts: { archived: 40 } });
    expect(await findMiscounts(house.database.read)).toEqual([]);
    const [users] = await userList.ranges(house.database.read);
    expect(users).toMatchObject({ from: 0, to: blockIds, live: 260 });
  }, 60_000);

  test('find what a change past the triggers has done', async () => {
    await using app = await openTestApp({ dialect });
    await app.createUser({ userName: 'ann' });
    await app.database.write((tx) => tx.updateTable('resource_block').set({ live: 5 }).execute());
    expect(await findMiscounts(app.database.read)).toEqual([
      { resourceType: 'User', block: 0, counted: 1, kept: 5 },
    ]);
  });
});
