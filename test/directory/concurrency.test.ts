import { describe, expect, test } from 'bun:test';
import { type Answer, openTestApp, type TestApp } from '../support/app.ts';
import { dialects } from '../support/database.ts';

function times<T>(count: number, make: (index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => make(index)));
}

function statuses(answers: readonly Answer[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

async function createPeople(app: TestApp, count: number): Promise<void> {
  await times(count, (index) => app.createUser({ userName: `user${index}` }));
}

describe.each(dialects())('requests at the same time on %s', (dialect) => {
  test('50 creates of one userName in many spellings make one user', async () => {
    await using app = await openTestApp({ dialect });
    const spellings = ['ann@x.org', 'ANN@x.org', 'Ann@X.org', ' ann@x.org', 'ａnn@x.org'];
    const answers = await times(50, (index) =>
      app.createUser({ userName: spellings[index % spellings.length], externalId: 'e1' }),
    );
    expect(statuses(answers)).toEqual({ 200: 49, 201: 1 });
    expect(new Set(answers.map((answer) => answer.body.id)).size).toBe(1);
    expect((await app.call('GET', '/Users')).body.totalResults).toBe(1);
  });

  test('50 creates of one group make one group', async () => {
    await using app = await openTestApp({ dialect });
    const answers = await times(50, (index) =>
      app.createGroup({ displayName: index % 2 ? 'Sales' : 'SALES' }),
    );
    expect(statuses(answers)).toEqual({ 200: 49, 201: 1 });
    expect((await app.call('GET', '/Groups')).body.totalResults).toBe(1);
  });

  test('people who name one new department together end in the same one', async () => {
    await using app = await openTestApp({ dialect });
    const urn = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
    const answers = await times(40, (index) =>
      app.createUser({ userName: `user${index}`, [urn]: { department: index % 2 ? 'Sales' : 'sales' } }),
    );
    expect(statuses(answers)).toEqual({ 201: 40 });
    const { body } = await app.call('GET', '/Groups?attributes=members');
    expect(body.Resources).toHaveLength(1);
    expect(body.Resources[0].members).toHaveLength(40);
  });

  test('300 PATCHes that add one member each lose none', async () => {
    await using app = await openTestApp({ dialect });
    await createPeople(app, 300);
    await app.createGroup({ displayName: 'Sales' });
    const answers = await times(300, (index) =>
      app.patch('/Groups/1', [{ op: 'Add', path: 'members', value: [{ value: String(index + 1) }] }]),
    );
    expect(statuses(answers)).toEqual({ 200: 300 });
    expect((await app.call('GET', '/Groups/1')).body.members).toHaveLength(300);
    const removals = await times(299, (index) =>
      app.patch('/Groups/1', [{ op: 'Remove', path: 'members', value: [{ value: String(index + 1) }] }]),
    );
    expect(statuses(removals)).toEqual({ 200: 299 });
    expect((await app.call('GET', '/Groups/1')).body.members).toMatchObject([{ value: '300' }]);
  }, 60_000);

  test('many PATCHes of different attributes of one user are all there', async () => {
    await using app = await openTestApp({ dialect });
    await app.createUser({ userName: 'ann' });
    const answers = await times(60, (index) =>
      app.patch('/Users/1', [
        { op: 'add', path: 'emails', value: [{ value: `a${index}@x.org`, type: 'other' }] },
      ]),
    );
    expect(statuses(answers)).toEqual({ 200: 60 });
    const { body } = await app.call('GET', '/Users/1');
    expect(body.emails).toHaveLength(60);
    expect(body.meta.version).toBe('W/"61"');
  });

  test('a race with If-Match has one winner', async () => {
    await using app = await openTestApp({ dialect });
    await app.createUser({ userName: 'ann' });
    await app.createGroup({ displayName: 'Sales' });
    for (const [path, attribute] of [
      ['/Users/1', 'title'],
      ['/Groups/1', 'displayName'],
    ]) {
      const answers = await times(20, (index) =>
        app.patch(path ?? '', [{ op: 'replace', path: attribute, value: `Title ${index}` }], {
          headers: { 'if-match': 'W/"1"' },
        }),
      );
      expect(statuses(answers)).toEqual({ 200: 1, 412: 19 });
    }
  });

  test('a member who is archived while being added is in no group afterwards', async () => {
    await using app = await openTestApp({ dialect });
    await createPeople(app, 30);
    await app.createGroup({ displayName: 'Sales' });
    await times(60, (index) => {
      const id = String((index >> 1) + 1);
      return index % 2 === 0
        ? app.patch('/Groups/1', [{ op: 'add', path: 'members', value: [{ value: id }] }])
        : app.call('DELETE', `/Users/${id}`);
    });
    const left = await app.database.read.selectFrom('membership').selectAll().execute();
    expect(left).toEqual([]);
  });

  test('users who swap between departments while their groups change end without an error', async () => {
    await using app = await openTestApp({ dialect });
    const urn = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
    await times(10, (index) => app.createUser({ userName: `user${index}`, [urn]: { department: 'A' } }));
    const answers = await times(80, (index) => {
      const id = String((index % 10) + 1);
      return index % 2 === 0
        ? app.patch(`/Users/${id}`, [
            { op: 'replace', path: `${urn}:department`, value: index % 4 ? 'A' : 'B' },
          ])
        : app.patch('/Groups/1', [
            { op: index % 3 ? 'add' : 'remove', path: 'members', value: [{ value: id }] },
          ]);
    });
    expect(statuses(answers)).toEqual({ 200: 80 });
  });
});
