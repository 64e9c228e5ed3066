import { describe, expect, test } from 'bun:test';
import { type Answer, enterpriseUrn, openTestApp, platformGroupUrn, type TestApp } from '../support/app.ts';
import { dialects } from '../support/database.ts';

const people = 12;
const departments = ['Sales', 'Research', 'Staff'];
const manager = `${enterpriseUrn}:manager`;
const department = `${enterpriseUrn}:department`;
const groupType = `${platformGroupUrn}:groupType`;

/** Everybody reports to the next, the last to the first, and is in a department and in "All". */
async function openOffice(dialect: 'sqlite' | 'postgres'): Promise<TestApp> {
  const app = await openTestApp({ dialect });
  for (let id = 1; id <= people; id += 1) {
    const name = departments[id % departments.length];
    await app.createUser({ userName: `user${id}`, [enterpriseUrn]: { department: name } });
  }
  for (let id = 1; id <= people; id += 1)
    await app.patch(`/Users/${id}`, [
      { op: 'add', path: manager, value: { value: String((id % people) + 1) } },
    ]);
  const members = Array.from({ length: people }, (_, index) => ({ value: String(index + 1) }));
  await app.createGroup({ displayName: 'All', members });
  return app;
}

type Act = (app: TestApp, number: number) => Promise<Answer>;

const user = (number: number) => `/Users/${(number % people) + 1}`;
const group = (number: number) => `/Groups/${(number % (departments.length + 1)) + 1}`;
const set = (path: string, value: unknown) => [{ op: 'replace', path, value }];

const acts: readonly Act[] = [
  (app, number) => app.patch(user(number), set('displayName', `Name ${number}`)),
  (app, number) => app.patch(user(number), set(manager, { value: String(((number * 5) % people) + 1) })),
  (app, number) => app.patch(user(number), set(department, departments[number % departments.length])),
  (app, number) => app.patch(group(number), set('displayName', `Group ${number}`)),
  (app, number) =>
    app.patch(group(number), [
      {
        op: number % 2 ? 'add' : 'remove',
        path: 'members',
        value: [{ value: String((number % people) + 1) }],
      },
    ]),
  (app, number) => app.patch(user(number), set('title', `Title ${number}`)),
];

const endings: readonly Act[] = [
  (app, number) => app.call('DELETE', user(number)),
  (app, number) => app.patch(group(number), set(groupType, number % 2 ? 'location' : 'department')),
  (app, number) => (number % 3 ? app.call('GET', group(number)) : app.call('DELETE', group(number))),
];

async function storm(app: TestApp, count: number, using: readonly Act[]): Promise<Set<number>> {
  const answers = await Promise.all(
    Array.from({ length: count }, (_, number) => using[number % using.length]?.(app, number * 7)),
  );
  return new Set(answers.map((answer) => answer?.status ?? 0));
}

/** What holds whatever has happened. */
async function checkInvariants(app: TestApp): Promise<void> {
  const db = app.database.read;
  const users = await db.selectFrom('user').select(['id', 'state', 'version']).execute();
  const groups = await db.selectFrom('group_').select(['id', 'state', 'group_type', 'version']).execute();
  const memberships = await db.selectFrom('membership').selectAll().execute();
  const live = new Set(users.filter((each) => each.state !== 'archived').map((each) => each.id));
  const existing = new Map(groups.filter((each) => each.state === 'existing').map((each) => [each.id, each]));
  const primaries = memberships.filter((each) => each.primary_type !== null);
  for (const { user_id, group_id } of memberships) {
    expect(live.has(user_id)).toBe(true);
    expect(existing.has(group_id)).toBe(true);
  }
  expect(new Set(primaries.map((each) => `${each.user_id} ${each.primary_type}`)).size).toBe(
    primaries.length,
  );
  for (const each of primaries) expect(existing.get(each.group_id)?.group_type).toBe(each.primary_type ?? '');
  const names = [...existing.values()].map((each) => each.id);
  expect(new Set(names).size).toBe(existing.size);
  await checkAnswers(app, live);
}

/** A user who is shown is shown whole, and under the version of its row. */
async function checkAnswers(app: TestApp, live: ReadonlySet<number>): Promise<void> {
  for (const id of live) {
    const { status, body } = await app.call('GET', `/Users/${id}`);
    expect(status).toBe(200);
    const value = body[enterpriseUrn]?.manager?.value;
    if (value !== undefined) expect(live.has(Number(value))).toBe(true);
  }
}

describe.each(dialects())('storms on %s', (dialect) => {
  test('of names, managers, departments and members end with all of them done', async () => {
    await using app = await openOffice(dialect);
    expect([...(await storm(app, 180, acts))]).toEqual([200]);
    await checkInvariants(app);
    const { journal } = { journal: await app.journal() };
    // Each attribute is as its last change left it: changes of one user stand in the journal in their order.
    for (let id = 1; id <= people; id += 1) {
      const titles = journal.filter((row) => row.resource_type === 'User' && row.resource_id === id);
      const last = titles.findLast((row) => row.after?.title !== undefined)?.after.title;
      expect((await app.call('GET', `/Users/${id}`)).body.title).toBe(last);
    }
  }, 120_000);

  test('in which people and groups end, too, leave nothing that should not be', async () => {
    await using app = await openOffice(dialect);
    const statuses = await storm(app, 180, [...acts, ...endings]);
    for (const status of statuses) expect([200, 204, 400, 404, 409]).toContain(status);
    await checkInvariants(app);
  }, 120_000);

  test('of a name and those who show it give every one of them another version', async () => {
    await using app = await openOffice(dialect);
    const versionOf = async (path: string) => (await app.call('GET', path)).body.meta.version;
    const paths = ['/Users/1', '/Users/12', '/Groups/4'];
    const before = await Promise.all(paths.map(versionOf));
    // User 12 reports to user 1, and both are in group 4, which others lock at the same time.
    const answers = await Promise.all([
      app.patch('/Users/1', set('displayName', 'Renamed')),
      ...Array.from({ length: 10 }, (_, index) => app.patch('/Groups/4', set('displayName', `All ${index}`))),
      ...Array.from({ length: 10 }, (_, index) => app.patch('/Users/12', set('title', `Title ${index}`))),
    ]);
    expect(answers.every((answer) => answer.status === 200)).toBe(true);
    const after = await Promise.all(paths.map(versionOf));
    const counts = after.map((version, index) => numberOf(version) - numberOf(before[index]));
    // Once for the name itself, and once for each change of their own or of their group.
    expect(counts).toEqual([11, 21, 11]);
  }, 120_000);
});

function numberOf(version: string | undefined): number {
  return Number(/"(\d+)"/.exec(version ?? '')?.[1]);
}
