import { describe, expect, test } from 'bun:test';
import type { Attribute, Schema } from '../../src/resource/schema.ts';
import {
  enterpriseUrn,
  fieldsUrn,
  groupUrn,
  type Json,
  openTestApp,
  platformGroupUrn,
  platformUrn,
  type TestApp,
  userUrn,
} from '../support/app.ts';
import { dialects } from '../support/database.ts';

/** An attribute with the path by which PATCH and filters name it. */
interface Place {
  readonly path: string;
  readonly attribute: Attribute;
  /** URN of the extension in which it stands; '' for a core attribute. */
  readonly extension: string;
}

const boss = '1';
/** Values that have to mean something: a manager and a member who exist, and two names of one company. */
const given: Readonly<Record<string, unknown>> = {
  [`${enterpriseUrn}:manager`]: { value: boss },
  [`${enterpriseUrn}:organization`]: 'Acme',
  [`${platformUrn}:company`]: 'Acme',
  members: [{ value: boss }],
};

const samples: Readonly<Record<string, unknown>> = {
  boolean: true,
  integer: 7,
  decimal: 1.5,
  dateTime: '2001-02-03T04:05:06Z',
  binary: 'YWJj',
  reference: 'https://example.com/Photo',
};

function sampleOf({ path, attribute }: Place): unknown {
  return given[path] ?? exampleOf(attribute);
}

function exampleOf(attribute: Attribute): unknown {
  const one =
    attribute.type === 'complex'
      ? Object.fromEntries(writable(attribute.subAttributes ?? []).map((sub) => [sub.name, exampleOf(sub)]))
      : (attribute.canonicalValues?.at(-1) ?? samples[attribute.type] ?? `Value of ${attribute.name}`);
  return attribute.multiValued ? [one] : one;
}

function writable(attributes: readonly Attribute[]): Attribute[] {
  return attributes.filter(({ mutability }) => mutability !== 'readOnly');
}

async function openTruth(dialect: 'sqlite' | 'postgres' = 'sqlite'): Promise<TestApp> {
  const app = await openTestApp({ dialect });
  for (const type of ['string', 'boolean', 'integer', 'decimal', 'dateTime'] as const)
    await app.configurations.createField(`Field ${type}`, type, null);
  await app.createUser({ userName: 'boss', displayName: 'The Boss' });
  return app;
}

/** Every attribute of the schemas that /ResourceTypes names for this type. */
async function placesOf(app: TestApp, name: 'User' | 'Group'): Promise<Place[]> {
  const type = (await app.call('GET', `/ResourceTypes/${name}`)).body;
  const urns = ['', ...type.schemaExtensions.map(({ schema }: { schema: string }) => schema)];
  const schemas: Schema[] = (await app.call('GET', '/Schemas')).body.Resources;
  return urns.flatMap((extension: string) => {
    const schema = schemas.find(({ id }) => id === (extension || type.schema));
    const prefix = extension === '' ? '' : `${extension}:`;
    return (schema?.attributes ?? []).map((attribute) => ({
      path: prefix + attribute.name,
      attribute,
      extension,
    }));
  });
}

function bodyOf(places: readonly Place[], value = sampleOf): Record<string, unknown> {
  const body: Record<string, Record<string, unknown> | unknown> = {};
  for (const place of places) {
    const { extension, attribute } = place;
    if (extension === '') body[attribute.name] = value(place);
    else body[extension] = { ...(body[extension] as object), [attribute.name]: value(place) };
  }
  return body;
}

function read(resource: Json, { extension, attribute }: Place): unknown {
  return (extension === '' ? resource : resource[extension])?.[attribute.name];
}

const schemaOf = { User: userUrn, Group: groupUrn };
const isHidden = ({ attribute }: Place) => attribute.returned === 'never';

describe.each(dialects())('what /Schemas says of every attribute on %s', (dialect) => {
  test.each(['User', 'Group'] as const)(
    'of a %s that can be written is so by POST, PUT and PATCH',
    async (name) => {
      await using app = await openTruth(dialect);
      const all = (await placesOf(app, name)).filter(({ attribute }) => attribute.mutability !== 'readOnly');
      expect(all.length).toBeGreaterThan(3);
      const shown = all.filter((place) => !isHidden(place));
      const expectAll = (resource: Json) => {
        for (const place of shown) {
          const value = { [place.path]: read(resource, place) };
          expect(value).toMatchObject({ [place.path]: sampleOf(place) as object });
        }
        for (const place of all.filter(isHidden)) expect(read(resource, place)).toBeUndefined();
      };
      const created = await app.call('POST', `/${name}s`, { schemas: [schemaOf[name]], ...bodyOf(all) });
      expect(created.status).toBe(201);
      const at = `/${name}s/${created.body.id}`;
      expectAll((await app.call('GET', at)).body);

      const optional = shown.filter(({ attribute }) => !attribute.required);
      const removal = optional.map(({ path }) => ({ op: 'remove', path }));
      const bare = (await app.patch(at, removal)).body;
      // Of these there is always one: silence means active, an Intranet User, a security group.
      const standing = new Set(['active', 'userType', `${platformGroupUrn}:groupType`]);
      for (const place of optional.filter(({ path }) => !standing.has(path)))
        expect({ [place.path]: read(bare, place) }).toEqual({ [place.path]: undefined });
      for (const place of shown) {
        const operation = { op: 'add', path: place.path, value: sampleOf(place) };
        expect({ path: place.path, ...(await app.patch(at, [operation])) }).toMatchObject({
          path: place.path,
          status: 200,
        });
      }
      expectAll((await app.call('GET', at)).body);

      await app.call('PUT', at, bodyOf(all.filter(({ attribute }) => attribute.required)));
      expect((await app.call('PUT', at, bodyOf(all))).status).toBe(200);
      expectAll((await app.call('GET', at)).body);
    },
    60_000,
  );

  test.each(['User', 'Group'] as const)(
    'of a %s that is read-only is ignored in PUT and refused in PATCH',
    async (name) => {
      await using app = await openTruth(dialect);
      const places = await placesOf(app, name);
      const required = bodyOf(places.filter(({ attribute }) => attribute.required));
      const { body } = await app.call('POST', `/${name}s`, required);
      const at = `/${name}s/${body.id}`;
      await app.createGroup({ displayName: 'Some', members: [{ value: name === 'User' ? body.id : boss }] });
      const before = (await app.call('GET', at)).body;
      const readOnly = places.filter(({ attribute }) => attribute.mutability === 'readOnly');
      const common = ['id', 'meta', 'schemas'].map((path) => ({
        path,
        value: path === 'id' ? '99' : [{ value: 'x' }],
      }));
      const forged = bodyOf(readOnly, () => [{ value: '99', display: 'Forged' }]);
      const put = await app.call('PUT', at, { ...required, ...forged, id: '99', meta: { created: 'never' } });
      expect(put).toMatchObject({ status: 200, body: before });
      for (const { path, value } of [
        ...readOnly.map(({ path }) => ({ path, value: [{ value: '99' }] })),
        ...places.flatMap(({ path, attribute }) =>
          (attribute.subAttributes ?? [])
            .filter((sub) => sub.mutability === 'readOnly')
            .map((sub) => ({ path: `${path}.${sub.name}`, value: 'Forged' })),
        ),
        ...common,
      ]) {
        const answer = await app.patch(at, [{ op: 'replace', path, value }]);
        expect({ path, status: answer.status, scimType: answer.body.scimType }).toEqual({
          ...{ path, status: 400, scimType: 'mutability' },
        });
      }
      expect((await app.call('GET', at)).body).toEqual(before);
    },
    60_000,
  );

  test.each(['User', 'Group'] as const)(
    'of a %s about letter case, a filter confirms',
    async (name) => {
      await using app = await openTruth(dialect);
      const all = (await placesOf(app, name)).filter(({ attribute }) => attribute.mutability !== 'readOnly');
      await app.call('POST', `/${name}s`, bodyOf(all));
      for (const { path, attribute } of all.filter((place) => !isHidden(place))) {
        const leaves = attribute.type === 'complex' ? writable(attribute.subAttributes ?? []) : [attribute];
        for (const leaf of leaves) {
          const value = given[path] === undefined ? [exampleOf(leaf)].flat()[0] : undefined;
          if (leaf.type !== 'string' || typeof value !== 'string') continue;
          const named = leaf === attribute ? path : `${path}.${leaf.name}`;
          const count = async (text: string) =>
            (await app.find(`/${name}s`, `${named} eq ${JSON.stringify(text)}`)).body.totalResults;
          const found = { named, same: await count(value), other: await count(value.toUpperCase()) };
          const same = await count(value);
          expect(found).toEqual({ named, same, other: leaf.caseExact ? 0 : same });
          expect(same).toBeGreaterThan(0);
        }
      }
    },
    60_000,
  );
});

describe('what /Schemas says', () => {
  test('is required is so: a create without it and its removal are refused', async () => {
    await using app = await openTruth();
    for (const name of ['User', 'Group'] as const) {
      const required = (await placesOf(app, name)).filter(({ attribute }) => attribute.required);
      expect(required.map(({ path }) => path)).toEqual([name === 'User' ? 'userName' : 'displayName']);
      const { body } = await app.call('POST', `/${name}s`, bodyOf(required));
      for (const { path } of required) {
        const without = {
          schemas: [schemaOf[name]],
          ...bodyOf(required.filter((other) => other.path !== path)),
        };
        const refused = await app.call('POST', `/${name}s`, without);
        expect(refused).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
        expect(refused.body.detail).toContain(path);
        const removed = await app.patch(`/${name}s/${body.id}`, [{ op: 'remove', path }]);
        expect(removed).toMatchObject({ status: 400, body: { scimType: 'mutability' } });
      }
    }
  });

  test('is unique in the server is so, and the rest may be shared', async () => {
    await using app = await openTruth();
    for (const name of ['User', 'Group'] as const) {
      const all = (await placesOf(app, name)).filter(({ attribute }) => attribute.mutability !== 'readOnly');
      const unique = all.filter(({ attribute }) => attribute.uniqueness === 'server');
      expect(unique.map(({ path }) => path)).toEqual([name === 'User' ? 'userName' : 'displayName']);
      // People are matched by their primary e-mail; that is no rule of uniqueness.
      const one = bodyOf(all.filter(({ path }) => path !== 'emails'));
      const [key = ''] = unique.map(({ path }) => path);
      const first = await app.call('POST', `/${name}s`, one);
      const second = await app.call('POST', `/${name}s`, { ...one, [key]: 'Another' });
      expect([first.status, second.status]).toEqual([201, 201]);
      const taken = await app.patch(`/${name}s/${second.body.id}`, [
        { op: 'replace', path: key, value: String(one[key]).toUpperCase() },
      ]);
      expect(taken).toMatchObject({ status: 409, body: { scimType: 'uniqueness' } });
    }
  });

  test('is never returned is not, not even when it is asked for, and password cannot be changed', async () => {
    await using app = await openTruth();
    const hidden = (await placesOf(app, 'User')).filter(isHidden);
    expect(hidden.map(({ path, attribute }) => [path, attribute.mutability])).toEqual([
      ['password', 'immutable'],
    ]);
    await app.createUser({ userName: 'ann', password: 'Secret-1' });
    for (const path of ['/Users/2', '/Users/2?attributes=password', '/Users?attributes=userName,password'])
      expect((await app.call('GET', path)).text).not.toMatch(/password|Secret/);
    expect((await app.find('/Users', 'password pr')).status).toBe(400);
  });

  test('of the only values there are is so where others are refused', async () => {
    await using app = await openTruth();
    const places = [...(await placesOf(app, 'User')), ...(await placesOf(app, 'Group'))];
    const closed = [`userType`, `${platformUrn}:loginType`, `${platformGroupUrn}:groupType`];
    await app.createGroup({ displayName: 'G' });
    for (const path of closed) {
      const at = path === closed[2] ? '/Groups/1' : '/Users/1';
      const values = places.find((place) => place.path === path)?.attribute.canonicalValues ?? [];
      expect(values.length).toBeGreaterThan(2);
      const refused = await app.patch(at, [{ op: 'replace', path, value: 'Else' }]);
      expect(refused).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
      expect(refused.body.detail).toContain(values.join(', '));
    }
    const open = await app.patch('/Users/1', [
      { op: 'add', path: 'emails', value: [{ type: 'boat', value: 'a@x' }] },
    ]);
    expect(open.body.emails).toEqual([{ type: 'boat', value: 'a@x' }]);
  });

  test('of members tells that lists of groups leave them out', async () => {
    await using app = await openTruth();
    const members = (await placesOf(app, 'Group')).find(({ path }) => path === 'members');
    expect(members?.attribute.description).toMatch(/list/i);
    await app.createGroup({ displayName: 'G', members: [{ value: boss }] });
    expect((await app.call('GET', '/Groups')).body.Resources[0].members).toBeUndefined();
    expect((await app.call('GET', '/Groups?attributes=members')).body.Resources[0].members).toHaveLength(1);
    expect((await app.call('GET', '/Groups/1')).body.members).toHaveLength(1);
  });

  test('follows the additional fields, of each type', async () => {
    await using app = await openTruth();
    const fields = (await placesOf(app, 'User')).filter(({ extension }) => extension === fieldsUrn);
    expect(fields.map(({ attribute }) => attribute.type)).toEqual([
      'string',
      'boolean',
      'integer',
      'decimal',
      'dateTime',
    ]);
    for (const { path, attribute } of fields) {
      const wrong = attribute.type === 'string' ? {} : 'wrong';
      const refused = await app.patch('/Users/1', [{ op: 'add', path, value: wrong }]);
      expect(refused).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
      expect(refused.body.detail).toContain(path);
    }
  });
});

describe('what /ServiceProviderConfig says', () => {
  test('is what the service does', async () => {
    await using app = await openTruth();
    const { body: config } = await app.call('GET', '/ServiceProviderConfig');
    const bulk = await app.call('POST', '/Bulk', {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:BulkRequest'],
      Operations: [
        { method: 'POST', path: '/Users', bulkId: 'a', data: { schemas: [userUrn], userName: 'bulk' } },
      ],
    });
    expect(bulk.status === 200).toBe(config.bulk.supported);
    await app.createUser({ userName: 'aaa' });
    const first = async (query: string) =>
      (await app.call('GET', `/Users?${query}`)).body.Resources?.[0]?.userName;
    expect((await first('sortBy=userName')) === 'aaa').toBe(config.sort.supported);
    expect((await first('filter=userName%20eq%20%22aaa%22')) === 'aaa').toBe(config.filter.supported);
    const cursor = await app.call('GET', '/Users?cursor&count=1');
    expect(cursor.body.nextCursor !== undefined).toBe(config.pagination.cursor);
    const patched = await app.patch('/Users/1', [{ op: 'add', path: 'title', value: 'x' }]);
    expect(patched.status === 200).toBe(config.patch.supported);
    const changed = await app.patch('/Users/1', [{ op: 'replace', path: 'password', value: 'x' }]);
    expect(changed.status === 200).toBe(config.changePassword.supported);
    const { headers } = await app.call('GET', '/Users/1');
    expect((headers.get('etag') ?? '').startsWith('W/')).toBe(config.etag.supported);
    const page = await app.call('GET', `/Users?count=${config.filter.maxResults + 1}`);
    expect(page.status).toBe(200);
  });
});
