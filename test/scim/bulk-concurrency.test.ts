import { describe, expect, test } from 'bun:test';
import { enterpriseUrn, type Json, openTestApp } from '../support/app.ts';
import { dialects } from '../support/database.ts';
import { bulk, managedBy, managerOf, membersOf, newGroup, newUser, statuses } from './bulk-support.ts';

const names = Array.from({ length: 30 }, (_, index) => `u${index}`);

/** People in rings of three, and one group with all of them. */
function team(): object[] {
  const people = names.map((name, index) => {
    const next = index % 3 === 2 ? index - 2 : index + 1;
    return newUser(name, managedBy(`bulkId:u${next}`));
  });
  return [
    newGroup(
      'team',
      names.map((name) => `bulkId:${name}`),
    ),
    ...people,
  ];
}

describe.each(dialects())('Bulk requests at once on %s', (dialect) => {
  test('create everybody once, whoever comes first', async () => {
    await using app = await openTestApp({ dialect });
    const plain = names.map((name) => newUser(name));
    const answers = await Promise.all([
      bulk(app, team()),
      bulk(app, team().toReversed()),
      bulk(app, plain),
      bulk(app, plain.toReversed()),
    ]);
    for (const answer of answers) {
      expect(answer.status).toBe(200);
      expect(statuses(answer).filter((status) => status !== '200' && status !== '201')).toEqual([]);
    }
    const created = answers.flatMap(({ body }) =>
      body.Operations.filter(({ status }: Json) => status === '201').map(({ bulkId }: Json) => bulkId),
    );
    expect(created.toSorted()).toEqual(['team', ...names].toSorted());
    expect((await membersOf(app, 1)).toSorted()).toEqual(names.toSorted());
    expect(await managerOf(app, 'u0')).toBe('u1');
    expect(await managerOf(app, 'u29')).toBe('u27');
  });

  test('make a department that all of them name once', async () => {
    await using app = await openTestApp({ dialect });
    const people = (prefix: string) =>
      names.map((name, index) =>
        newUser(prefix + name, {
          [enterpriseUrn]: { department: `Department ${index % 3}`, organization: 'Acme' },
        }),
      );
    const answers = await Promise.all(['a', 'b', 'c'].map((prefix) => bulk(app, people(prefix))));
    for (const answer of answers) expect(new Set(statuses(answer))).toEqual(new Set(['201']));
    const { body } = await app.call('GET', '/Groups');
    const units = body.Resources.map((group: Json) => group.displayName).toSorted();
    expect(units).toEqual(['Acme', 'Department 0', 'Department 1', 'Department 2']);
  });
});
