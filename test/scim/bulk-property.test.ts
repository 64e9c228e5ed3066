import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { enterpriseUrn, type Json, openTestApp, type TestApp } from '../support/app.ts';
import { dialects } from '../support/database.ts';
import { bulk, managedBy, newGroup, newUser, statuses } from './bulk-support.ts';

/** People and groups who refer to each other in any way: in circles, to themselves, to many, to nobody. */
interface Wanted {
  /** The place of each one's manager among the people; null for none. */
  readonly managers: readonly (number | null)[];
  /** The places of each group's members among the people. */
  readonly groups: readonly (readonly number[])[];
  /** By which the operations are sorted. */
  readonly keys: readonly number[];
}

const peopleMax = 8;
const groupsMax = 4;

const wanted: fc.Arbitrary<Wanted> = fc.integer({ min: 1, max: peopleMax }).chain((count) => {
  const person = fc.integer({ min: 0, max: count - 1 });
  return fc.record({
    managers: fc.array(fc.option(person), { minLength: count, maxLength: count }),
    groups: fc.array(fc.uniqueArray(person), { maxLength: groupsMax }),
    keys: fc.array(fc.nat(), { minLength: peopleMax + groupsMax, maxLength: peopleMax + groupsMax }),
  });
});

async function inOneBulk(app: TestApp, { managers, groups, keys }: Wanted): Promise<void> {
  const operations = [
    ...managers.map((manager, index) =>
      newUser(`u${index}`, manager === null ? {} : managedBy(`bulkId:u${manager}`)),
    ),
    ...groups.map((members, index) =>
      newGroup(
        `g${index}`,
        members.map((member) => `bulkId:u${member}`),
      ),
    ),
  ];
  const shuffled = operations
    .map((operation, index) => ({ operation, key: keys[index] ?? 0 }))
    .toSorted((one, other) => one.key - other.key);
  const answer = await bulk(
    app,
    shuffled.map(({ operation }) => operation),
  );
  expect(statuses(answer)).toEqual(operations.map(() => '201'));
}

async function oneByOne(app: TestApp, { managers, groups }: Wanted): Promise<void> {
  const ids: string[] = [];
  for (const index of managers.keys()) ids.push((await app.createUser({ userName: `u${index}` })).body.id);
  for (const [index, manager] of managers.entries()) {
    if (manager === null) continue;
    const value = { value: ids[manager] };
    await app.patch(`/Users/${ids[index]}`, [{ op: 'add', path: `${enterpriseUrn}:manager`, value }]);
  }
  for (const [index, members] of groups.entries()) {
    await app.createGroup({
      displayName: `g${index}`,
      members: members.map((member) => ({ value: ids[member] })),
    });
  }
}

/** Who is there, by names: ids follow the order of the requests. */
async function directoryOf(app: TestApp) {
  const { body: people } = await app.call('GET', '/Users');
  const { body: groups } = await app.call('GET', '/Groups?attributes=displayName,members');
  const names = new Map(people.Resources.map((user: Json) => [user.id, user.userName]));
  return {
    people: people.Resources.map((user: Json) => [
      user.userName,
      names.get(user[enterpriseUrn]?.manager?.value),
      (user.groups ?? []).map((group: Json) => group.display).toSorted(),
    ]).toSorted(),
    groups: groups.Resources.map((group: Json) => [
      group.displayName,
      (group.members ?? []).map((member: Json) => names.get(member.value)).toSorted(),
    ]).toSorted(),
  };
}

describe.each(dialects())('a Bulk on %s', (dialect) => {
  test('in any order ends as single requests in a good order do', async () => {
    await fc.assert(
      fc.asyncProperty(wanted, async (each) => {
        await using app = await openTestApp({ dialect });
        await using other = await openTestApp({ dialect });
        await inOneBulk(app, each);
        await oneByOne(other, each);
        expect(await directoryOf(app)).toEqual(await directoryOf(other));
      }),
      { numRuns: dialect === 'sqlite' ? 40 : 10 },
    );
  }, 120_000);
});
