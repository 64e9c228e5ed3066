import { describe, expect, test } from 'bun:test';
import * as fc from 'fast-check';
import {
  type Answer,
  enterpriseUrn,
  type Json,
  openTestApp,
  platformUrn,
  type TestApp,
} from '../support/app.ts';
import { dialects } from '../support/database.ts';
import {
  type Element,
  type ListName,
  lists,
  NaiveUser,
  nested,
  type Plain,
  partOf,
  Refused,
  type Single,
  type Step,
  singles,
} from './naive-user.ts';

const bosses = ['1', '2'];
const types = ['work', 'home', 'other'];
const words = ['Ann', 'Bob', 'Élan', '𝒢 x', 'a"b\\c'];

const typesOf = (list: ListName) => (list === 'ims' ? ['chat', 'skype'] : types);

function valuesOf(path: Single): fc.Arbitrary<Plain> {
  if (path === 'active') return fc.boolean();
  if (path.endsWith('manager.value')) return fc.constantFrom(...bosses);
  return fc.constantFrom(...words);
}

const single = fc.constantFrom(...singles);
const assigned = single.chain((path) => valuesOf(path).map((value) => [path, value] as const));
const assignments = fc.uniqueArray(assigned, { selector: ([path]) => path, maxLength: 5 });

function element(list: ListName): fc.Arbitrary<Element> {
  return fc
    .record({
      text: fc.constantFrom('a@x.org', 'b@x.org', 'c@x.org'),
      type: fc.constantFrom(...typesOf(list)),
    })
    .map(({ text, type }) => ({ [partOf(list)]: text, type }));
}

const primaries = fc.option(fc.nat(), { freq: 2 });

/** At most one is the primary one. */
function elements(list: ListName, minLength = 0): fc.Arbitrary<Element[]> {
  const distinct = fc.uniqueArray(element(list), {
    selector: (each) => JSON.stringify(each),
    minLength,
    maxLength: 3,
  });
  return fc
    .tuple(distinct, primaries)
    .map(([found, primary]) =>
      found.map((each, index) => (index === primary ? { ...each, primary: true } : each)),
    );
}

const setting = fc.constantFrom('add' as const, 'replace' as const);

const listStep: fc.Arbitrary<Step> = fc.constantFrom(...lists).chain((list) => {
  const type = fc.constantFrom(...typesOf(list));
  return fc.oneof<fc.Arbitrary<Step>[]>(
    fc.record({
      kind: fc.constant('list'),
      op: setting,
      list: fc.constant(list),
      elements: elements(list, 1),
    }),
    fc.record({ kind: fc.constant('clear'), list: fc.constant(list) }),
    fc.record({ kind: fc.constant('removeWhere'), list: fc.constant(list), type }),
    fc.record({
      kind: fc.constant('elementWhere'),
      op: setting,
      list: fc.constant(list),
      type,
      element: elements(list, 1).map((found) => found[0] as Element),
    }),
    fc.record({
      kind: fc.constant('partWhere'),
      op: fc.constantFrom('add' as const, 'replace' as const, 'remove' as const),
      list: fc.constant(list),
      type,
      value: fc.constantFrom('a@x.org', 'd@x.org'),
    }),
  );
});

const singleStep = fc.oneof<fc.Arbitrary<Step>[]>(
  fc.tuple(setting, assigned).map(([op, [path, value]]) => ({ kind: 'set', op, path, value })),
  single.map((path) => ({ kind: 'unset', path })),
  fc.record({
    kind: fc.constant('pathless'),
    op: setting,
    attributes: assignments.filter((found) => found.length > 0),
    isDotted: fc.boolean(),
  }),
);

interface Body {
  readonly singles: readonly (readonly [Single, Plain])[];
  readonly lists: Readonly<Record<ListName, readonly Element[]>>;
}

const body: fc.Arbitrary<Body> = fc.record({
  singles: assignments,
  lists: fc.record({
    emails: elements('emails'),
    phoneNumbers: elements('phoneNumbers'),
    ims: elements('ims'),
    addresses: elements('addresses'),
  }),
});

type Request = { readonly put: Body } | { readonly patch: readonly Step[] };

const request: fc.Arbitrary<Request> = fc.oneof(
  { weight: 1, arbitrary: fc.record({ put: body }) },
  {
    weight: 4,
    arbitrary: fc.record({ patch: fc.array(fc.oneof(singleStep, listStep), { minLength: 1, maxLength: 4 }) }),
  },
);

function toOperation(step: Step): object {
  switch (step.kind) {
    case 'set':
      return { op: step.op, path: step.path, value: step.value };
    case 'unset':
      return { op: 'remove', path: step.path };
    case 'list':
      return { op: step.op, path: step.list, value: step.elements };
    case 'clear':
      return { op: 'remove', path: step.list };
    case 'removeWhere':
      return { op: 'remove', path: `${step.list}[type eq "${step.type}"]` };
    case 'elementWhere':
      return { op: step.op, path: `${step.list}[type eq "${step.type}"]`, value: step.element };
    case 'partWhere': {
      const path = `${step.list}[type eq "${step.type}"].${partOf(step.list)}`;
      return step.op === 'remove' ? { op: 'remove', path } : { op: step.op, path, value: step.value };
    }
    case 'pathless':
      return {
        op: step.op,
        value: step.isDotted ? Object.fromEntries(step.attributes) : nested(step.attributes),
      };
  }
}

function toModel({ singles: attributes, lists: held }: Body, active: Plain): NaiveUser {
  const user = new NaiveUser();
  user.singles = new Map([['active', active], ...attributes]);
  for (const list of lists) if (held[list].length > 0) user.lists.set(list, held[list]);
  return user;
}

const toResource = (userName: string, { singles: attributes, lists: held }: Body) => ({
  userName,
  ...nested(attributes),
  ...Object.fromEntries(Object.entries(held).filter(([, found]) => found.length > 0)),
});

/** What a user shows of what the model knows: company has two names. */
function expected(user: NaiveUser): object {
  const attributes = new Map<string, unknown>(user.singles);
  const company = user.singles.get(`${enterpriseUrn}:organization`);
  if (company !== undefined) attributes.set(`${platformUrn}:company`, company);
  return { ...nested(attributes), ...Object.fromEntries(user.lists) };
}

function shown({
  id: _id,
  meta: _meta,
  schemas: _schemas,
  userName: _userName,
  userType: _type,
  ...rest
}: Json): object {
  const { groups: _groups, ...user } = structuredClone(rest);
  const manager = user[enterpriseUrn]?.manager;
  if (manager !== undefined) user[enterpriseUrn].manager = { value: manager.value };
  return user;
}

/** The user as its journal tells it. */
async function replayed(app: TestApp, id: string): Promise<object> {
  const entries = (await app.journal()).filter(
    (row) => row.resource_type === 'User' && String(row.resource_id) === id,
  );
  let state: Json = {};
  for (const { before, after } of entries) state = withChange(state, before ?? {}, after ?? {});
  return shown(state);
}

/** Extensions and complex values are told part by part, and so can end with none. */
function withChange(state: Json, before: Json, after: Json): Json {
  const next = { ...state };
  for (const name of Object.keys(before)) if (!(name in after)) delete next[name];
  for (const [name, value] of Object.entries<Json>(after)) {
    const isPartial = isPlainObject(value) && isPlainObject(before[name]) && isPlainObject(state[name]);
    next[name] = isPartial ? withChange(state[name], before[name], value) : value;
  }
  return next;
}

function isPlainObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

let count = 0;

async function check(app: TestApp, first: Body, requests: readonly Request[]): Promise<void> {
  const userName = `user${++count}`;
  const created = await app.createUser(toResource(userName, first));
  expect(created.status).toBe(201);
  try {
    await checkRequests(app, created, { model: toModel(first, true), requests });
  } finally {
    // Else the next one would be matched by its address.
    await app.call('DELETE', `/Users/${created.body.id}`);
  }
}

interface Course {
  readonly model: NaiveUser;
  readonly requests: readonly Request[];
}

async function checkRequests(app: TestApp, created: Answer, course: Course): Promise<void> {
  const path = `/Users/${created.body.id}`;
  let { model } = course;
  let held = (await app.call('GET', path)).body;
  expect(created.body).toEqual(held);
  for (const each of course.requests) {
    expect(shown(held)).toEqual(expected(model));
    const next = outcome(model, each);
    const answer =
      'put' in each
        ? await app.call('PUT', path, toResource(created.body.userName, each.put))
        : await app.patch(path, each.patch.map(toOperation));
    expect(answer.status).toBe(next === undefined ? 400 : 200);
    const after = (await app.call('GET', path)).body;
    if (next !== undefined) expect(answer.body).toEqual(after);
    expect(after.meta.version !== held.meta.version).toBe(!Bun.deepEquals(shown(after), shown(held)));
    model = next ?? model;
    held = after;
  }
  expect(shown(held)).toEqual(expected(model));
  expect(await replayed(app, created.body.id)).toEqual(shown(held));
}

/** Undefined when the request is to be refused as a whole. */
function outcome(model: NaiveUser, each: Request): NaiveUser | undefined {
  if ('put' in each) return toModel(each.put, model.singles.get('active') ?? true);
  const next = model.copy();
  try {
    for (const step of each.patch) next.apply(step);
    // Whoever is active stays so, and whoever is not as well, when it is taken away.
    if (!next.singles.has('active')) next.singles.set('active', model.singles.get('active') ?? true);
    return next;
  } catch (error) {
    if (error instanceof Refused) return undefined;
    throw error;
  }
}

describe.each(dialects())('users on %s', (dialect) => {
  test('are after any POST, PUTs and PATCHes what a naive reading of the RFC says', async () => {
    await using app = await openTestApp({ dialect });
    for (const userName of ['boss1', 'boss2']) await app.createUser({ userName });
    const runs = fc.asyncProperty(body, fc.array(request, { maxLength: 8 }), (first, requests) =>
      check(app, first, requests),
    );
    await fc.assert(runs, { numRuns: 60 });
  }, 120_000);
});
