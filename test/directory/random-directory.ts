// A directory of random people and groups, written by the services, and what two sources are shown of it: the first one
// sees everything, the second its own alone.

import fc from 'fast-check';
import type { DirectoryContext } from '../../src/directory/context.ts';
import {
  type CompiledFilter,
  type FilterScope,
  groupFilterSql,
  groupSortKey,
  type SortKey,
  userFilterSql,
  userSortKey,
} from '../../src/directory/filter-sql.ts';
import { groupList, type ListStore, userList } from '../../src/directory/list-store.ts';
import { groupView, type Link, userView } from '../../src/directory/resource-view.ts';
import type { FilterTarget, ResolvedFilter } from '../../src/resource/filter-resolve.ts';
import { normaliseResource, withSchemas } from '../../src/resource/normalise.ts';
import type { AttributeDefinition, ResourceType } from '../../src/resource/schema.ts';
import type { ScimObject } from '../../src/resource/value.ts';
import type { Configuration } from '../../src/settings/configuration.ts';
import type { Dialect } from '../../src/storage/database.ts';
import {
  enterpriseUrn,
  fieldsUrn,
  openTestApp,
  platformGroupUrn,
  platformUrn,
  type TestApp,
} from '../support/app.ts';

const base = 'https://id.example.com/scim';
const link: Link = (resourceType, id) => `${base}/${resourceType}s/${id}`;

/** Texts that are hard to compare: letters that fold to several, wildcards, quotes, blanks at the ends. */
export const texts = fc.constantFrom(
  ...'Ann ANN ann İlker ılker ilker Straße STRASSE e\u0301va Éva éva Σίσυφος σίσυφοσ 😀 a😀b'.split(' '),
  ...'\u{1F469}\u200D\u{1F4BB} \uFFFD \uFF21nn \uFB01n fin \uD7FF \uE000 \u{10FFFF} 0 1 10'.split(' '),
  ...'d\'or " \\ 100% a_b % _ * ann@x.org ANN@X.org true null [] {} work Sales SALES'.split(' '),
  ...[' padded ', '\tx\n', 'x\u00a0', '  ', 'line\nbreak', '2024-02-29T10:00:00Z'],
);
/** Names by which a resource is shown have no control characters. */
const names = texts.map((text) => text.replaceAll(/\p{Cc}/gu, '-'));
const zones = fc.constantFrom('Z', '', '+14:00', '-14:00', '+05:30');
export const dateTimes = fc
  .record({
    day: fc.constantFrom('2024-02-29', '1969-12-31', '0001-01-01', '9999-12-31', '2030-01-01'),
    time: fc.constantFrom('00:00:00', '23:59:59', '12:00:00.5', '12:00:00.123456', '00:00:00.000'),
    zone: zones,
  })
  .map(({ day, time, zone }) => `${day}T${time}${zone}`);
export const decimals = fc.oneof(
  fc.constantFrom(0, 0.1, 0.30000000000000004, -1.5, 1e21, 1e-7, 5e-324, 1.7976931348623157e308, 12, 2 ** 53),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
export const integers = fc.oneof(
  fc.constantFrom(0, -1, 7, Number.MAX_SAFE_INTEGER),
  fc.integer({ min: -9, max: 9 }),
);

const valuesOf = (types: readonly string[]) =>
  fc.array(
    fc.record(
      { value: texts, display: texts, type: fc.constantFrom(...types), primary: fc.constant(false) },
      { requiredKeys: ['value'] },
    ),
    { maxLength: 4 },
  );
/** One at most is primary. */
const listOf = (types: readonly string[]) =>
  fc
    .tuple(valuesOf(types), fc.nat(6))
    .map(([list, at]) =>
      list.map((element, index) => (index === at ? { ...element, primary: true } : element)),
    );

const userBodies = fc.record(
  {
    name: fc.record({ familyName: texts, givenName: texts, formatted: texts }, { requiredKeys: [] }),
    displayName: names,
    title: texts,
    profileUrl: texts,
    userType: fc.constantFrom('Power User', 'intranet user'),
    active: fc.boolean(),
    externalId: texts,
    emails: listOf(['work', 'home', 'Work', 'Ännex']),
    photos: fc.array(fc.record({ value: texts, type: fc.constant('photo') }), { maxLength: 2 }),
    addresses: fc.array(
      fc.record(
        { locality: texts, streetAddress: texts, type: fc.constant('work') },
        { requiredKeys: ['locality'] },
      ),
      { maxLength: 2 },
    ),
    roles: listOf(['a', 'B']),
    x509Certificates: fc.array(fc.record({ value: fc.constantFrom('QUJD', 'QUJE') }), { maxLength: 2 }),
    [enterpriseUrn]: fc.record(
      {
        employeeNumber: texts,
        costCenter: texts,
        organization: fc.constantFrom('Acme', 'ÉCOLE', 'acme'),
        department: fc.constantFrom('HR', 'Straße'),
        manager: fc.record({ value: fc.constantFrom('1', '2', '3', '4', '5') }),
      },
      { requiredKeys: [] },
    ),
    [platformUrn]: fc.record(
      {
        loginType: fc.constantFrom('SAML', 'Local Login'),
        location: fc.constantFrom('Köln', 'Oslo'),
        omitFromSearch: fc.boolean(),
        dateOfBirth: dateTimes,
        jobStartDate: dateTimes,
        name: fc.record({ title: texts, initials: texts }, { requiredKeys: [] }),
        bio: texts,
      },
      { requiredKeys: [] },
    ),
    [fieldsUrn]: fc.record(
      { motto: texts, shoe: decimals, floor: integers, remote: fc.boolean(), since: dateTimes },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
);

const groupBodies = fc.record(
  {
    externalId: texts,
    members: fc.uniqueArray(fc.integer({ min: 1, max: 24 }), { maxLength: 6 }),
    [platformGroupUrn]: fc.record(
      { description: texts, groupType: fc.constantFrom('department', 'security group', 'Company') },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: ['members'] },
);

const usersCount = 28;
const groupsCount = 14;

export interface World extends AsyncDisposable {
  readonly app: TestApp;
  readonly contexts: readonly DirectoryContext[];
}

/** People, groups, managers and personas of two sources, written by the services; the second source sees its own alone. */
export async function openWorld(dialect: Dialect, seed: number): Promise<World> {
  const app = await openTestApp({ dialect });
  await app.addSource('Own', { scope: 'own' });
  const { configurations } = app;
  await configurations.createField('Motto', 'string', null);
  await configurations.createField('Shoe', 'decimal', null);
  await configurations.createField('Floor', 'integer', null);
  await configurations.createField('Remote', 'boolean', null);
  await configurations.createField('Since', 'dateTime', null);
  const contexts = async () =>
    (['all', 'own'] as const).map((scope, index) => contextOf(app, index + 1, scope));
  await createUsers(app, seed, await Promise.all(await contexts()));
  await createGroups(app, seed, await Promise.all(await contexts()));
  await createPersonas(app);
  return {
    app,
    contexts: await Promise.all(await contexts()),
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

async function contextOf(app: TestApp, sourceId: number, scope: 'all' | 'own'): Promise<DirectoryContext> {
  return {
    actor: { kind: 'source', id: sourceId },
    sourceId,
    scope,
    unknownReferences: 'pending',
    requestId: null,
    runId: null,
    configuration: await app.configurations.current(),
    base,
    now: app.clock().toISOString(),
  };
}

async function createUsers(app: TestApp, seed: number, contexts: readonly DirectoryContext[]): Promise<void> {
  const bodies = fc.sample(fc.tuple(userBodies, names), { seed, numRuns: usersCount });
  for (const [index, [body, text]] of bodies.entries()) {
    app.clock.advance(0.5);
    const context = { ...at(contexts, index), now: app.clock().toISOString() };
    const { externalId, ...rest } = body;
    const named = {
      ...rest,
      userName: `${text}${index}`,
      ...(externalId && { externalId: externalId + index }),
    };
    await tolerant(async () =>
      app.people.create(context, normalised(context.configuration.userType, named), 'reject'),
    );
  }
  for (const id of [5, 9]) await tolerant(() => app.people.delete(at(contexts, 0), id));
}

async function createGroups(
  app: TestApp,
  seed: number,
  contexts: readonly DirectoryContext[],
): Promise<void> {
  const bodies = fc.sample(fc.tuple(groupBodies, names), { seed, numRuns: groupsCount });
  for (const [index, [{ members, externalId, ...rest }, text]] of bodies.entries()) {
    app.clock.advance(0.5);
    const context = { ...at(contexts, index), now: app.clock().toISOString() };
    const values = members.map((id) => ({ value: String(id) }));
    const named = {
      ...rest,
      displayName: `${text}${index}`,
      ...(externalId && { externalId: externalId + index }),
    };
    await tolerant(async () => {
      const body = normalised(context.configuration.groupType, { ...named, members: values });
      return app.groups.create(context, body, 'reject');
    });
  }
  // Members of its groups whom the second source does not see.
  const add = {
    op: 'add' as const,
    path: 'members',
    value: [1, 2, 3, 4, 6].map((id) => ({ value: String(id) })),
  };
  for (const id of ['2', '3', '6']) await app.patch(`/Groups/${id}`, [add]);
}

async function createPersonas(app: TestApp): Promise<void> {
  const groups = await app.database.read.selectFrom('group_').select('id').orderBy('id').execute();
  const ids = groups.map((group) => group.id);
  await app.configurations.createPersona({ name: 'Élite', rule: 'any', groupIds: ids.slice(0, 3) });
  await app.configurations.createPersona({ name: 'Everything', rule: 'all', groupIds: ids.slice(1, 3) });
  await app.configurations.createPersona({ name: 'One', rule: 'all', groupIds: ids.slice(4, 5) });
  await app.configurations.createPersona({ name: 'Nobody', rule: 'all', groupIds: ids });
}

/** Random data breaks rules now and then; whatever was refused is simply not there. */
async function tolerant(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Error) || !('kind' in error)) throw error;
  }
}

function normalised(resourceType: ResourceType, body: unknown): ScimObject {
  return normaliseResource(resourceType, body, 'create').resource;
}

function at<T>(list: readonly T[], index: number): T {
  return list[index % list.length] as T;
}

function toId({ id }: { readonly id: number }): number {
  return id;
}

async function userViews(app: TestApp, context: DirectoryContext): Promise<ScimObject[]> {
  const { configuration } = context;
  const { userType } = configuration;
  const { rows } = await app.people.queryRows(context, { startIndex: 1, count: 1000 });
  const users = await app.people.load(context, rows.map(toId));
  return users.map((user) => withSchemas(userType, userView(user, configuration, link)));
}

async function groupViews(app: TestApp, context: DirectoryContext): Promise<ScimObject[]> {
  const { rows } = await app.groups.queryRows(context, { startIndex: 1, count: 1000 });
  const { configuration } = context;
  const views = (await app.groups.load(context, rows.map(toId))).map(async (group) => {
    const members = await app.groups.members(context, group.id);
    return withSchemas(configuration.groupType, groupView({ ...group, members }, configuration, link));
  });
  return Promise.all(views);
}

export interface Subject {
  readonly name: 'User' | 'Group';
  readonly list: ListStore;
  filterSql(filter: ResolvedFilter, scope: FilterScope): CompiledFilter;
  sortKey(target: FilterTarget, scope: FilterScope): SortKey;
  typeOf(configuration: Configuration): ResourceType;
  /** What the source is shown: the resources that a filter has to be about. */
  views(app: TestApp, context: DirectoryContext): Promise<ScimObject[]>;
}

export const subjects: readonly Subject[] = [
  {
    name: 'User',
    list: userList,
    filterSql: userFilterSql,
    sortKey: userSortKey,
    typeOf: ({ userType }) => userType,
    views: userViews,
  },
  {
    name: 'Group',
    list: groupList,
    filterSql: groupFilterSql,
    sortKey: groupSortKey,
    typeOf: ({ groupType }) => groupType,
    views: groupViews,
  },
];

/** Every attribute, or part of a complex one, that has values to compare. */
export function leavesOf(resourceType: ResourceType): FilterTarget[] {
  return attributesOf(resourceType).flatMap((attribute): FilterTarget[] =>
    attribute.type === 'complex'
      ? partsOf(attribute).map((part) => ({ attribute, subAttribute: part, leaf: part }))
      : [{ attribute, subAttribute: undefined, leaf: attribute }],
  );
}

export function attributesOf(resourceType: ResourceType): AttributeDefinition[] {
  const extensions = [...new Set(resourceType.extensionsByUrn.values())];
  const maps = [resourceType.attributes, ...extensions.map((extension) => extension.attributes)];
  return maps.flatMap((map) => [...new Set(map.values())]).filter((each) => each.returned !== 'never');
}

function partsOf(attribute: AttributeDefinition): AttributeDefinition[] {
  return [...new Set(attribute.children.values())].filter((part) => part.type !== 'complex');
}
