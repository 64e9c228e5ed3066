// Random filters over random people and groups: SQL finds whom `evaluateFilter` finds among what the client is shown.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { DirectoryContext } from '../../src/directory/context.ts';
import {
  type Condition,
  filterScope,
  groupFilterSql,
  userFilterSql,
} from '../../src/directory/filter-sql.ts';
import { groupList, userList } from '../../src/directory/list-store.ts';
import { groupView, type Link, userView } from '../../src/directory/resource-view.ts';
import { evaluateFilter } from '../../src/resource/filter-evaluate.ts';
import { readFilter } from '../../src/resource/filter-resolve.ts';
import { normaliseResource, withSchemas } from '../../src/resource/normalise.ts';
import type { AttributeDefinition, ResourceType } from '../../src/resource/schema.ts';
import { isArray, isObject, type ScimObject, type ScimValue } from '../../src/resource/value.ts';
import type { Dialect } from '../../src/storage/database.ts';
import {
  enterpriseUrn,
  fieldsUrn,
  openTestApp,
  platformGroupUrn,
  platformUrn,
  type TestApp,
} from '../support/app.ts';
import { dialects } from '../support/database.ts';

const base = 'https://id.example.com/scim';
const link: Link = (resourceType, id) => `${base}/${resourceType}s/${id}`;

const texts = fc.constantFrom(
  ...[
    'Ann',
    'ANN',
    'ann',
    'İlker',
    'ılker',
    'ilker',
    'Straße',
    'STRASSE',
    'e\u0301va',
    'Éva',
    'éva',
    'Σίσυφος',
    'σίσυφοσ',
  ],
  ...[
    '😀',
    'a😀b',
    '\u{1F469}\u200D\u{1F4BB}',
    '\uFFFD',
    '\uFF21nn',
    ' padded ',
    '\tx\n',
    'x\u00a0',
    '  ',
    "d'or",
    '"',
    '\\',
  ],
  ...[
    '100%',
    'a_b',
    '%',
    '_',
    '*',
    'ann@x.org',
    'ANN@X.org',
    '\uFB01n',
    'fin',
    '\uD7FF',
    '\uE000',
    '\u{10FFFF}',
    '0',
    '1',
    '10',
  ],
  ...['2024-02-29T10:00:00Z', 'true', 'null', '[]', '{}', 'line\nbreak', 'work', 'Sales', 'SALES'],
);
/** Names by which a resource is shown have no control characters. */
const names = texts.map((text) => text.replaceAll(/\p{Cc}/gu, '-'));
const zones = fc.constantFrom('Z', '', '+14:00', '-14:00', '+05:30');
const dateTimes = fc
  .record({
    day: fc.constantFrom('2024-02-29', '1969-12-31', '0001-01-01', '9999-12-31', '2030-01-01'),
    time: fc.constantFrom('00:00:00', '23:59:59', '12:00:00.5', '12:00:00.123456', '00:00:00.000'),
    zone: zones,
  })
  .map(({ day, time, zone }) => `${day}T${time}${zone}`);
const decimals = fc.oneof(
  fc.constantFrom(0, 0.1, 0.30000000000000004, -1.5, 1e21, 1e-7, 5e-324, 1.7976931348623157e308, 12, 2 ** 53),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const integers = fc.oneof(
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

interface World extends AsyncDisposable {
  readonly app: TestApp;
  readonly contexts: readonly DirectoryContext[];
}

/** People, groups, managers and personas of two sources, written by the services; the second source sees its own alone. */
async function openWorld(dialect: Dialect, seed: number): Promise<World> {
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
  await app.configurations.createPersona('Élite', 'any', ids.slice(0, 3));
  await app.configurations.createPersona('Everything', 'all', ids.slice(1, 3));
  await app.configurations.createPersona('One', 'all', ids.slice(4, 5));
  await app.configurations.createPersona('Nobody', 'all', ids);
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

/** What each source is shown: the resources that a filter has to be about. */
async function userViews(app: TestApp, context: DirectoryContext): Promise<ScimObject[]> {
  const { userType, personas } = context.configuration;
  const { resources } = await app.people.query(context, { startIndex: 1, count: 1000 });
  return resources.map((user) => withSchemas(userType, userView(user, personas, link)));
}

async function groupViews(app: TestApp, context: DirectoryContext): Promise<ScimObject[]> {
  const { resources } = await app.groups.query(context, { startIndex: 1, count: 1000 });
  const views = resources.map(async (group) =>
    withSchemas(
      context.configuration.groupType,
      groupView(group, await app.groups.members(context, group.id), link),
    ),
  );
  return Promise.all(views);
}

interface Leaf {
  readonly path: string;
  readonly definition: AttributeDefinition;
}

/** Everything that a filter can compare, and for the brackets of value paths the same by attribute. */
function leavesOf(resourceType: ResourceType): { leaves: Leaf[]; complex: AttributeDefinition[] } {
  const extensions = [...new Set(resourceType.extensionsByUrn.values())];
  const maps = [resourceType.attributes, ...extensions.map((extension) => extension.attributes)];
  const top = maps.flatMap((map) => [...new Set(map.values())]).filter((each) => each.returned !== 'never');
  const leaves = top.flatMap((definition) =>
    definition.type === 'complex' ? partsOf(definition) : [{ path: definition.path, definition }],
  );
  return { leaves, complex: top.filter((definition) => definition.type === 'complex') };
}

function partsOf(definition: AttributeDefinition): Leaf[] {
  return [...new Set(definition.children.values())]
    .filter((part) => part.type !== 'complex')
    .map((part) => ({ path: part.path, definition: part }));
}

/** Every value that occurs, by the name of its attribute: literals that hit something. */
function poolOf(views: readonly ScimObject[]): ReadonlyMap<string, readonly ScimValue[]> {
  const pool = new Map<string, ScimValue[]>();
  const visit = (name: string, value: ScimValue): void => {
    if (isArray(value)) for (const element of value) visit(name, element);
    else if (isObject(value)) for (const [part, inner] of Object.entries(value)) visit(part, inner);
    else pool.set(name, [...(pool.get(name) ?? []), value]);
  };
  for (const view of views) visit('', view);
  return pool;
}

const equality = ['eq', 'ne'];
const order = ['gt', 'ge', 'lt', 'le'];
const substrings = ['co', 'sw', 'ew'];

function operatorsFor({ type }: AttributeDefinition): string[] {
  if (type === 'boolean' || type === 'binary') return equality;
  return type === 'string' || type === 'reference'
    ? [...equality, ...order, ...substrings]
    : [...equality, ...order];
}

function literalFor(
  definition: AttributeDefinition,
  pool: ReadonlyMap<string, readonly ScimValue[]>,
): fc.Arbitrary<string> {
  const known = pool.get(definition.name) ?? [];
  switch (definition.type) {
    case 'boolean':
      return fc.constantFrom('true', 'false', '"True"');
    case 'integer':
    case 'decimal': {
      const numbers = known.filter((value) => typeof value === 'number');
      return fc
        .oneof(decimals, integers, fc.constantFrom(0, ...numbers))
        .map((value) => JSON.stringify(value));
    }
    case 'dateTime': {
      const times = known.filter((value) => typeof value === 'string');
      return fc
        .oneof(dateTimes, fc.constantFrom('2030-01-01T00:00:00Z', ...times))
        .map((value) => JSON.stringify(value));
    }
    default: {
      const strings = known.filter((value) => typeof value === 'string');
      return fc
        .oneof(texts, fc.constant(''), fc.constantFrom('x', ...strings).chain(variantsOf))
        .map((value) => JSON.stringify(value));
    }
  }
}

/** The text as it is, in other letters, with blanks, or a piece of it. */
function variantsOf(text: string): fc.Arbitrary<string> {
  const points = [...text];
  return fc.oneof(
    fc.constantFrom(text, text, text.toUpperCase(), text.toLowerCase(), ` ${text} `),
    fc.nat(points.length).map((length) => points.slice(0, length).join('')),
    fc.nat(points.length).map((length) => points.slice(length).join('')),
  );
}

type Pool = ReadonlyMap<string, readonly ScimValue[]>;

function filtersFor(resourceType: ResourceType, pool: Pool): fc.Arbitrary<string> {
  const { leaves, complex } = leavesOf(resourceType);
  const compareTo = (path: string, definition: AttributeDefinition) =>
    fc.oneof(
      {
        weight: 12,
        arbitrary: fc
          .tuple(fc.constantFrom(...operatorsFor(definition)), literalFor(definition, pool))
          .map(([operator, literal]) => `${path} ${operator} ${literal}`),
      },
      { weight: 1, arbitrary: fc.constantFrom(`${path} pr`, `${path} eq null`, `${path} ne null`) },
    );
  const simple = fc.constantFrom(...leaves).chain(({ path, definition }) => compareTo(path, definition));
  const complexPresent = fc.constantFrom(...complex).map(({ path }) => `${path} pr`);
  const valuePath = fc.constantFrom(...complex).chain((attribute) => {
    const inner = fc.constantFrom(...new Set(attribute.children.values())).chain((part) => {
      if (part.type !== 'complex') return compareTo(part.name, part);
      const nested = fc.constantFrom(...new Set(part.children.values())).chain((deep) =>
        fc.oneof(
          compareTo(`${part.name}.${deep.name}`, deep),
          compareTo(deep.name, deep).map((filter) => `${part.name}[${filter}]`),
        ),
      );
      return fc.oneof(nested, fc.constant(`${part.name} pr`));
    });
    return junctions(inner, 2).map((filter) => `${attribute.path}[${filter}]`);
  });
  return junctions(
    fc.oneof(
      { weight: 8, arbitrary: simple },
      { weight: 1, arbitrary: complexPresent },
      { weight: 4, arbitrary: valuePath },
    ),
    3,
  );
}

function junctions(term: fc.Arbitrary<string>, depth: number): fc.Arbitrary<string> {
  if (depth === 0) return term;
  const inner = junctions(term, depth - 1);
  return fc.oneof(
    { weight: 6, arbitrary: term },
    { weight: 1, arbitrary: inner.map((filter) => `not (${filter})`) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(inner, fc.constantFrom('and', 'or'), inner)
        .map(([a, word, b]) => `(${a}) ${word} (${b})`),
    },
  );
}

interface Subject {
  readonly name: 'User' | 'Group';
  readonly views: (app: TestApp, context: DirectoryContext) => Promise<ScimObject[]>;
}

const subjects: readonly Subject[] = [
  { name: 'User', views: userViews },
  { name: 'Group', views: groupViews },
];

/** The ids by both ways in which the filter may be asked. */
async function idsInSql(
  app: TestApp,
  context: DirectoryContext,
  name: Subject['name'],
  text: string,
): Promise<readonly number[][]> {
  const { read, dialect } = app.database;
  const scope = filterScope(dialect, context);
  const { userType, groupType } = context.configuration;
  const isUser = name === 'User';
  const { condition, driven } = isUser
    ? userFilterSql(readFilter(userType, text).filter, scope)
    : groupFilterSql(readFilter(groupType, text).filter, scope);
  const list = isUser ? userList : groupList;
  const ask = (asked: Condition) =>
    list.ids(read, { condition: asked, owner: scope.owner }, { from: 1, skip: 0, count: 1_000 });
  return [await ask(condition), await ask(driven)];
}

const runs = 300;

describe.each(dialects())('random filters on %s', (dialect) => {
  describe.each([11, 12])('over the directory of seed %d', (seed) => {
    test.each(subjects)(
      'find each $name that the client would pick by hand',
      async ({ name, views }) => {
        await using world = await openWorld(dialect, seed);
        const { app, contexts } = world;
        let hits = 0;
        for (const context of contexts) {
          const shown = await views(app, context);
          expect(shown.length).toBeGreaterThan(5);
          const type = name === 'User' ? context.configuration.userType : context.configuration.groupType;
          await fc.assert(
            fc.asyncProperty(filtersFor(type, poolOf(shown)), async (text) => {
              const { filter } = readFilter(type, text);
              const wanted = shown
                .filter((view) => evaluateFilter(filter, view))
                .map((view) => Number(view.id));
              const ids = await idsInSql(app, context, name, text);
              expect({ text, ids }).toEqual({ text, ids: [wanted, wanted] });
              if (wanted.length > 0 && wanted.length < shown.length) hits += 1;
            }),
            { numRuns: runs },
          );
        }
        // Filters that find all or nobody would prove little.
        expect(hits).toBeGreaterThan(runs / 5);
      },
      60_000,
    );
  });
});
