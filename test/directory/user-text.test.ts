import { describe, expect, test } from 'bun:test';
import type { DirectoryContext } from '../../src/directory/context.ts';
import { Groups } from '../../src/directory/groups.ts';
import { type Link, memberView, userView } from '../../src/directory/resource-view.ts';
import { shownName } from '../../src/directory/user.ts';
import { Users } from '../../src/directory/users.ts';
import { withSchemas } from '../../src/resource/normalise.ts';
import { buildProjection } from '../../src/resource/project.ts';
import type { ScimObject } from '../../src/resource/value.ts';
import { PasswordHasher } from '../../src/security/password-hash.ts';
import {
  enterpriseUrn,
  fieldsUrn,
  openTestApp,
  platformGroupUrn,
  platformUrn,
  type TestApp,
} from '../support/app.ts';
import { dialects } from '../support/database.ts';
import { randomNumbers } from '../support/random-numbers.ts';

class Dice {
  readonly #next: () => number;

  constructor(seed: number) {
    this.#next = randomNumbers(seed);
  }

  below(bound: number): number {
    return Math.floor(this.#next() * bound);
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  some(share: number, part: object): object {
    return this.#next() < share ? part : {};
  }
}

/** Texts at which splicing could go wrong: quotes, escapes, keys of ours inside of values, other scripts. */
const texts = [
  'plain',
  'with "quotes" and \\ backslash',
  `"${enterpriseUrn}":{`,
  `","${platformUrn}":{"company":"x"},"`,
  '李\u2028é😀',
  '{}',
  '</script>',
  '$& $1 $`',
];

const link: Link = (resourceType, id) => `https://id.example.com/scim/${resourceType}s/${id}`;

function randomUser(dice: Dice, n: number, manager: string | undefined): object {
  const text = () => dice.pick(texts);
  return {
    userName: `user${n} ${text()}`,
    ...dice.some(0.5, { externalId: `x${n}${text()}` }),
    ...dice.some(0.3, { active: false }),
    ...dice.some(0.6, { displayName: text(), name: { givenName: text(), familyName: text() } }),
    ...dice.some(0.4, { emails: [{ value: `u${n}@example.com`, type: 'work', primary: true }] }),
    ...dice.some(0.4, { roles: [{ value: text() }, { value: `${text()}2`, display: text() }] }),
    ...dice.some(0.3, { addresses: [{ type: 'work', streetAddress: text() }] }),
    ...dice.some(0.6, {
      [enterpriseUrn]: {
        ...dice.some(0.5, { employeeNumber: text() }),
        ...dice.some(0.5, { department: `Department ${dice.below(3)}` }),
        ...dice.some(0.5, { organization: `Company ${dice.below(2)}` }),
        ...(manager === undefined ? {} : dice.some(0.5, { manager: { value: manager } })),
      },
    }),
    ...dice.some(0.5, { [platformUrn]: { bio: text(), ...dice.some(0.5, { location: 'Oslo' }) } }),
    ...dice.some(0.5, { [fieldsUrn]: { badge: text() } }),
  };
}

/** Documents that nothing of ours writes now, but another release, or a configuration of before, may have. */
const strangeDocuments: readonly ScimObject[] = [
  { gone: 'x' },
  { title: 'a', emails: [] },
  { name: {} },
  { emails: [{ value: 'a', gone: true }] },
  { DisplayName: 'other case' },
  { [fieldsUrn]: { removed: 'x' } },
  { [fieldsUrn]: {} },
  { [enterpriseUrn]: { department: 'stored by mistake' } },
  { [platformUrn]: 'no object' },
  { active: false, id: '9', meta: { version: '0' }, groups: [] },
  { password: 'secret' },
];

async function contextOf(
  app: TestApp,
  scope: 'all' | 'own' = 'all',
  sourceId = 1,
): Promise<DirectoryContext> {
  return {
    actor: { kind: 'source', id: sourceId },
    sourceId,
    scope,
    unknownReferences: 'reject',
    requestId: null,
    runId: null,
    configuration: await app.configurations.current(),
    now: app.clock().toISOString(),
  };
}

/** What every live user looks like by view and projection, read without any text that is kept. */
async function expected(app: TestApp, context: DirectoryContext): Promise<Map<number, unknown>> {
  const rows = await app.database.read
    .selectFrom('user')
    .select('id')
    .where('state', '<>', 'archived')
    .execute();
  const { configuration } = context;
  const { userType } = configuration;
  const users = await app.people.load(
    context,
    rows.map(({ id }) => id),
  );
  return new Map(
    users.map((user) => {
      const view = withSchemas(userType, userView(user, configuration, link));
      return [user.id, JSON.parse(JSON.stringify(buildProjection(userType).apply(view)))];
    }),
  );
}

async function shown(people: Users, context: DirectoryContext, ids: readonly number[]) {
  const found = await people.loadTexts(context, link, ids);
  return new Map(found.map(({ id, text }) => [id, JSON.parse(text)]));
}

describe.each(dialects())('the text of a user on %s', (dialect) => {
  test('and of members says what view and projection say, whatever is stored and however it changes', async () => {
    await using app = await openTestApp({ dialect });
    const other = await app.addSource('Other');
    await app.configurations.createField('badge', 'string', null);
    const dice = new Dice(7);
    const ids: string[] = [];
    const names: string[] = [];
    for (let n = 0; n < 40; n += 1) {
      const token = dice.below(4) === 0 ? other : app.token;
      const { body, status } = await app.createUser(randomUser(dice, n, ids.at(-3)), { token });
      expect({ status, detail: body.detail }).toEqual({ status: 201, detail: undefined });
      ids.push(body.id);
      names.push(body.userName);
    }
    const members = (list: readonly string[]) => list.map((value) => ({ value }));
    const groups: string[] = [];
    for (const displayName of texts) {
      const { body } = await app.createGroup({
        displayName,
        members: members(ids.filter(() => dice.below(3) === 0)),
      });
      groups.push(body.id);
    }
    await app.configurations.createPersona({
      name: 'Any "one"',
      rule: 'any',
      groupIds: groups.slice(0, 2).map(Number),
    });
    await app.configurations.createPersona({
      name: 'All',
      rule: 'all',
      groupIds: groups.slice(0, 2).map(Number),
    });
    for (const [index, document] of strangeDocuments.entries()) {
      const id = Number(ids[index]);
      await app.database.write((tx) =>
        tx
          .updateTable('user')
          .set((value) => ({
            document: JSON.stringify(document),
            // That of another release, by which it was another document that answers show as it is.
            plain_mark: 4 * index + 3,
            display_name: shownName(names[index] ?? '', document),
            version: value('version', '+', 1),
          }))
          .where('id', '=', id)
          .execute(),
      );
    }
    const people = new Users(app.database, new PasswordHasher());
    const directory = new Groups(app.database);
    const changes: (() => Promise<unknown>)[] = [
      () =>
        app.patch(`/Groups/${dice.pick(groups)}`, [
          { op: 'replace', path: 'displayName', value: `G${dice.below(1e9)}` },
        ]),
      () =>
        app.patch(`/Groups/${dice.pick(groups)}`, [
          { op: 'add', path: 'members', value: members([dice.pick(ids)]) },
        ]),
      () =>
        app.patch(`/Groups/${dice.pick(groups)}`, [
          { op: 'remove', path: `members[value eq "${dice.pick(ids)}"]` },
        ]),
      () =>
        app.patch(`/Groups/${dice.pick(groups)}`, [
          {
            op: 'replace',
            path: `${platformGroupUrn}:groupType`,
            value: dice.pick(['department', 'security group', 'location']),
          },
        ]),
      () =>
        app.patch(`/Users/${dice.pick(ids)}`, [
          { op: 'replace', path: 'displayName', value: `N${dice.below(1e9)}` },
        ]),
      () =>
        app.patch(`/Users/${dice.pick(ids)}`, [
          { op: 'replace', path: `${enterpriseUrn}:manager`, value: dice.pick(ids) },
        ]),
      () =>
        app.patch(`/Users/${dice.pick(ids)}`, [
          { op: 'replace', path: `${enterpriseUrn}:department`, value: `Department ${dice.below(4)}` },
        ]),
      () =>
        app.patch(
          `/Users/${dice.pick(ids)}`,
          [{ op: 'replace', path: 'externalId', value: `e${dice.below(1e9)}` }],
          { token: dice.pick([app.token, other]) },
        ),
      () =>
        app.patch(`/Users/${dice.pick(ids)}`, [
          { op: 'replace', path: 'active', value: dice.below(2) === 0 },
        ]),
      () =>
        ids.length > 20
          ? app.call('DELETE', `/Users/${ids.splice(dice.below(ids.length), 1)}`)
          : Promise.resolve(),
      () =>
        groups.length > 4
          ? app.call('DELETE', `/Groups/${groups.splice(dice.below(groups.length), 1)}`)
          : Promise.resolve(),
      () =>
        app.configurations.createPersona({
          name: `P${dice.below(1e9)}`,
          rule: 'any',
          groupIds: [Number(dice.pick(groups))],
        }),
    ];
    for (let step = 0; step < 60; step += 1) {
      for (const [scope, source] of [
        ['all', 1],
        ['all', 2],
        ['own', 2],
      ] as const) {
        const context = await contextOf(app, scope, source);
        const wanted = await expected(app, context);
        expect(await shown(people, context, [...wanted.keys()])).toEqual(wanted);
        for (const group of await app.groups.load(context, groups.map(Number))) {
          const members = await app.groups.members(context, group.id);
          const text = await directory.membersText(context, group, 'https://id.example.com/Users/');
          const views = members.map((member) => memberView(member, 'https://id.example.com/Users/'));
          expect(JSON.parse(`[${text}]`)).toEqual(views);
        }
      }
      await dice.pick(changes)();
    }
    // What a configuration no longer has is not shown, though it is stored.
    await app.database.write(async (tx) => tx.deleteFrom('additional_field').execute());
    await app.configurations.setSetting('countMax', '500');
    const context = await contextOf(app);
    const wanted = await expected(app, context);
    expect(JSON.stringify([...wanted.values()])).not.toContain('badge');
    expect(await shown(people, context, [...wanted.keys()])).toEqual(wanted);
  }, 60_000);

  test('is of the order that was asked for, without who was archived or never was', async () => {
    await using app = await openTestApp({ dialect });
    for (const userName of ['a', 'b', 'c']) await app.createUser({ userName });
    await app.call('DELETE', '/Users/2');
    const context = await contextOf(app);
    const shownOf = async (ids: readonly number[]) =>
      (await app.people.loadTexts(context, link, ids)).map(({ id }) => id);
    // Far apart, close together, close with one between them that was not asked for, one, and none.
    expect(await shownOf([3, 2, 99, 1])).toEqual([3, 1]);
    expect(await shownOf([3, 2, 1])).toEqual([3, 1]);
    await app.createUser({ userName: 'd' });
    expect(await shownOf([4, 1, 2])).toEqual([4, 1]);
    expect(await shownOf([3])).toEqual([3]);
    expect(await shownOf([])).toEqual([]);
    await expect(app.people.getText(await contextOf(app), link, 2)).rejects.toMatchObject({
      kind: 'notFound',
    });
  });
});
