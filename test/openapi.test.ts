import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { buildGate, buildSurfaces } from '../src/app.ts';
import { HttpMetrics } from '../src/http/metrics.ts';
import { openApiDocument } from '../src/openapi.ts';
import { Invitations } from '../src/security/invitations.ts';
import { readJson, Workplace } from './cli/support.ts';
import { partsOf } from './imports/service.ts';
import { type ImportHouse, openImportHouse, profileXml, userXml } from './imports/support.ts';
import { enterpriseUrn, groupUrn, type Json, platformGroupUrn, platformUrn, userUrn } from './support/app.ts';
import { schemaProblems } from './support/json-schema.ts';

const api: Json = openApiDocument('1.2.3');
const operations: { method: string; path: string; operation: Json }[] = Object.entries<Json>(
  api.paths,
).flatMap(([path, item]) => Object.entries(item).map(([method, operation]) => ({ method, path, operation })));

function resolve(ref: string): Json {
  const names = ref.split('/').slice(1);
  const found = names.reduce((part: Json, name) => part?.[name], api);
  if (!ref.startsWith('#/') || found === undefined) throw new Error(`${ref} leads nowhere`);
  return found;
}

/** Every object inside `value`, itself included. */
function* objectsIn(value: Json): Generator<Json> {
  if (typeof value !== 'object' || value === null) return;
  yield value;
  for (const inner of Object.values(value)) yield* objectsIn(inner);
}

function parametersOf(operation: Json): Json[] {
  return (operation.parameters ?? []).map((each: Json) => (each.$ref ? resolve(each.$ref) : each));
}

describe('openApiDocument', () => {
  test('has the frame of OpenAPI 3.1', () => {
    expect(api.openapi).toBe('3.1.0');
    expect(api.info).toMatchObject({ title: 'Rollcall', version: '1.2.3' });
    expect(api.servers.map(({ url }: Json) => url)).toEqual(['/']);
    const keys = ['components', 'info', 'openapi', 'paths', 'servers', 'tags'];
    expect(Object.keys(api).toSorted()).toEqual(keys);
  });

  test('names every operation once, with a summary, a known tag and a known way to authenticate', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    const tags = api.tags.map(({ name }: Json) => name);
    const schemes = Object.keys(api.components.securitySchemes);
    for (const { operation } of operations) {
      expect(operation.summary).toBeString();
      expect(tags).toContain(operation.tags[0]);
      const used = operation.security.flatMap(Object.keys);
      expect(used.filter((name: string) => !schemes.includes(name))).toEqual([]);
    }
  });

  test('gives every operation answers with a status and a sentence', () => {
    for (const { operation } of operations) {
      expect(Object.keys(operation.responses).length).toBeGreaterThan(1);
      for (const [status, response] of Object.entries<Json>(operation.responses)) {
        expect(status).toMatch(/^[2-5]\d\d$/);
        expect(response.description).toMatch(/\.$/);
      }
    }
  });

  test('closes no list that a Power User can make longer, and no spelling that is taken', () => {
    const { UserRequest, PatchOp } = api.components.schemas;
    expect(UserRequest.properties.userType).not.toHaveProperty('enum');
    expect(UserRequest.properties.userType.examples).toContain('Intranet User');
    const { op } = PatchOp.properties.Operations.items.properties;
    for (const text of ['add', 'Replace', 'REMOVE']) expect(schemaProblems(op, text, resolve)).toEqual([]);
    expect(schemaProblems(op, 'delete', resolve)).not.toEqual([]);
  });

  test('describes exactly the variables that a path has', () => {
    for (const { path, operation } of operations) {
      const inPath = parametersOf(operation).filter((parameter) => parameter.in === 'path');
      expect(inPath.every(({ required }) => required === true)).toBe(true);
      const variables = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '');
      expect(inPath.map(({ name }) => name).toSorted()).toEqual(variables.toSorted());
    }
  });

  test('has no reference that leads nowhere, and no shape or parameter that nothing refers to', () => {
    const refs = [...objectsIn(api)].map(({ $ref }) => $ref).filter((ref) => typeof ref === 'string');
    for (const ref of refs) expect(resolve(ref)).toBeObject();
    const { schemas, parameters } = api.components;
    const names = [
      ...Object.keys(schemas).map((name) => `#/components/schemas/${name}`),
      ...Object.keys(parameters).map((name) => `#/components/parameters/${name}`),
    ];
    expect(names.filter((name) => !refs.includes(name))).toEqual([]);
  });

  test('never shows a password, and never takes what is readOnly', () => {
    const { User, UserRequest } = api.components.schemas;
    expect(User.properties).not.toHaveProperty('password');
    expect(UserRequest.properties.password).toMatchObject({ type: 'string', writeOnly: true });
    expect(UserRequest.properties).not.toHaveProperty('groups');
    expect(User.properties.groups).toMatchObject({ type: 'array', readOnly: true });
    expect([UserRequest.required, User.required]).toEqual([['userName'], ['schemas', 'id']]);
  });
});

describe('rollcall schema openapi', () => {
  test('prints the document without a data folder, and makes none', async () => {
    using place = new Workplace();
    const printed: Json = readJson(await place.runPlain('schema', 'openapi', '--json'));
    expect(printed).toEqual(openApiDocument('development'));
    expect(readdirSync(place.folder)).toEqual([]);
  });
});

type Door = 'scim' | 'upload' | 'admin' | 'none';

interface Exchange {
  readonly call: `${string} ${string}`;
  /** Path of the operation in the document, when the path of the call is another. */
  readonly of?: string;
  readonly door?: Door;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly status: number;
}

const scim = '/api/v2/scim/v2';
const admin = '/api/admin/v1';
const upload = '/api/platformsync/{sourceId}/upload';
const patchOp = (...operations: object[]) => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
  Operations: operations,
});
const searchRequest = (members: object) => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'],
  ...members,
});
const user = {
  schemas: [userUrn],
  userName: 'ann',
  externalId: 'a-1',
  name: { givenName: 'Ann', familyName: 'Lee' },
  active: true,
  emails: [{ value: 'ann@example.com', type: 'work', primary: true }],
  phoneNumbers: [{ value: '+41 1 234', type: 'mobile' }],
  addresses: [{ locality: 'Bern', type: 'work' }],
  userType: 'intranet user',
  password: 'correct horse battery staple',
  [enterpriseUrn]: { department: 'Sales', organization: 'Acme', employeeNumber: '7' },
  [platformUrn]: { location: 'Bern', loginType: 'local login', omitFromSearch: false },
};
const group = { schemas: [groupUrn], displayName: 'Choir', [platformGroupUrn]: { description: 'They sing' } };
const member = { op: 'add', path: 'members', value: [{ value: '1' }] };
const bulk = {
  schemas: ['urn:ietf:params:scim:api:messages:2.0:BulkRequest'],
  Operations: [
    { method: 'POST', path: '/Users', bulkId: 'ann', data: user },
    { method: 'DELETE', path: '/Users/bulkId:ann', version: 'W/"1"' },
    { method: 'DELETE', path: '/Users/bulkId:ann' },
  ],
};
const file = profileXml([userXml('u1', 'ben')]);
const plainJson = { accept: 'application/json' };
const xml = { 'content-type': 'application/xml' };

/** In their order, on one service. `GROUP` stands for the id of the group that is created. */
const exchanges: readonly Exchange[] = [
  { call: `GET ${scim}/ServiceProviderConfig`, status: 200 },
  { call: `GET ${scim}/ServiceProviderConfig?filter=x`, status: 403 },
  { call: `GET ${scim}/ResourceTypes`, status: 200 },
  { call: `GET ${scim}/ResourceTypes/User`, of: `${scim}/ResourceTypes/{name}`, status: 200 },
  { call: `GET ${scim}/ResourceTypes/Car`, of: `${scim}/ResourceTypes/{name}`, status: 404 },
  { call: `GET ${scim}/Schemas`, status: 200 },
  { call: `GET ${scim}/Schemas/${userUrn}`, of: `${scim}/Schemas/{urn}`, status: 200 },
  { call: `POST ${scim}/Users`, body: user, status: 201 },
  { call: `POST ${scim}/Users`, body: user, status: 200 },
  { call: `POST ${scim}/Users`, body: { schemas: [userUrn] }, status: 400 },
  { call: `GET ${scim}/Users?sortBy=userName&sortOrder=descending&cursor=`, status: 200 },
  { call: `GET ${scim}/Users?cursor=x`, status: 400 },
  { call: `POST ${scim}/Users/.search`, body: searchRequest({ filter: 'userName pr' }), status: 200 },
  { call: `POST ${scim}/Users/.search`, body: searchRequest({ filter: 7 }), status: 400 },
  { call: `POST ${scim}/.search`, body: searchRequest({ cursor: '', count: 1 }), status: 200 },
  { call: `GET ${scim}?filter=meta.created%20pr`, status: 200 },
  { call: `POST ${scim}/Groups/.search`, body: searchRequest({}), status: 200 },
  { call: `POST ${scim}/Users`, body: user, headers: { 'content-type': 'text/plain' }, status: 415 },
  { call: `POST ${scim}/Groups`, body: group, status: 201 },
  { call: `PATCH ${scim}/Groups/GROUP`, of: `${scim}/Groups/{id}`, body: patchOp(member), status: 200 },
  { call: `GET ${scim}/Groups/GROUP`, of: `${scim}/Groups/{id}`, status: 200 },
  { call: `PUT ${scim}/Groups/GROUP`, of: `${scim}/Groups/{id}`, body: group, status: 200 },
  { call: `GET ${scim}/Groups?attributes=members`, status: 200 },
  { call: `GET ${scim}/Groups`, headers: plainJson, status: 200 },
  { call: `GET ${scim}/Users/1`, of: `${scim}/Users/{id}`, status: 200 },
  { call: `GET ${scim}/Users/1`, of: `${scim}/Users/{id}`, headers: { 'if-none-match': '*' }, status: 304 },
  { call: `GET ${scim}/Users/99`, of: `${scim}/Users/{id}`, door: 'none', status: 401 },
  {
    call: `GET ${scim}/Users/1`,
    of: `${scim}/Users/{id}`,
    headers: { host: 'elsewhere.example' },
    status: 421,
  },
  { call: `GET ${scim}/Users/99`, of: `${scim}/Users/{id}`, headers: plainJson, status: 404 },
  { call: `GET ${scim}/Users`, door: 'none', headers: plainJson, status: 401 },
  { call: `GET ${scim}/Users`, status: 200 },
  { call: `GET ${scim}/Users?attributes=emails.type`, status: 200 },
  { call: `GET ${scim}/Users?filter=broken`, status: 400 },
  { call: `PUT ${scim}/Users/1`, of: `${scim}/Users/{id}`, body: user, status: 200 },
  {
    call: `PATCH ${scim}/Users/1`,
    of: `${scim}/Users/{id}`,
    body: patchOp({ op: 'replace', path: 'title', value: 'Dr' }),
    headers: { 'if-match': 'W/"99"' },
    status: 412,
  },
  {
    call: `PATCH ${scim}/Users/1`,
    of: `${scim}/Users/{id}`,
    body: patchOp({ op: 'replace', path: 'title', value: 'Dr' }),
    status: 200,
  },
  { call: `DELETE ${scim}/Groups/GROUP`, of: `${scim}/Groups/{id}`, status: 204 },
  { call: `DELETE ${scim}/Users/1`, of: `${scim}/Users/{id}`, status: 204 },
  { call: `DELETE ${scim}/Users/1`, of: `${scim}/Users/{id}`, status: 404 },
  { call: `POST ${scim}/Bulk`, body: bulk, status: 200 },
  { call: `POST ${scim}/Bulk`, body: { ...bulk, Operations: [] }, status: 400 },
  {
    call: 'POST /api/platformsync/1/upload',
    of: upload,
    door: 'upload',
    body: file,
    headers: xml,
    status: 202,
  },
  {
    call: 'POST /api/platformsync/1/upload',
    of: upload,
    door: 'upload',
    body: '<a/>',
    headers: xml,
    status: 400,
  },
  { call: 'POST /api/platformsync/1/upload', of: upload, door: 'upload', body: file, status: 415 },
  {
    call: 'POST /api/platformsync/1/upload',
    of: upload,
    door: 'none',
    body: file,
    headers: xml,
    status: 401,
  },
  {
    call: 'GET /api/platformsync/1/imports/1',
    of: '/api/platformsync/{sourceId}/imports/{id}',
    door: 'upload',
    status: 200,
  },
  {
    call: 'GET /api/platformsync/1/imports/1/log',
    of: '/api/platformsync/{sourceId}/imports/{id}/log',
    door: 'upload',
    status: 200,
  },
  { call: `POST ${admin}/entry/invitation`, door: 'none', body: { token: 'none' }, status: 401 },
  { call: `POST ${admin}/entry/invitation`, door: 'admin', body: { token: 'INVITATION' }, status: 200 },
  { call: `POST ${admin}/entry/invitation`, door: 'admin', body: {}, status: 400 },
  {
    call: `POST ${admin}/entry/accept`,
    door: 'admin',
    body: { token: 'INVITATION', name: 'Ann', password: 'correct horse battery' },
    status: 201,
  },
  {
    call: `POST ${admin}/entry/sign-in`,
    door: 'admin',
    body: { name: 'Ann', password: 'correct horse battery' },
    status: 200,
  },
  { call: `GET ${admin}/me`, door: 'admin', status: 200 },
  { call: `GET ${admin}/me`, door: 'none', status: 401 },
  { call: `GET ${admin}/sources`, door: 'admin', status: 200 },
  { call: `GET ${admin}/imports?limit=5`, door: 'admin', status: 200 },
  { call: `GET ${admin}/imports?limit=0`, door: 'admin', status: 400 },
  { call: `POST ${admin}/sources`, door: 'admin', body: { kind: 'scim', name: 'Entra' }, status: 201 },
  { call: `POST ${admin}/sources`, door: 'admin', body: { kind: 'general', name: 'Entra' }, status: 409 },
  { call: `POST ${admin}/sources`, door: 'admin', body: { kind: 'scim' }, status: 400 },
  { call: `GET ${admin}/sources/1`, of: `${admin}/sources/{source}`, door: 'admin', status: 200 },
  { call: `GET ${admin}/sources/99`, of: `${admin}/sources/{source}`, door: 'admin', status: 404 },
  { call: `GET ${admin}/sources/x`, of: `${admin}/sources/{source}`, door: 'admin', status: 400 },
  {
    call: `PATCH ${admin}/sources/1`,
    of: `${admin}/sources/{source}`,
    door: 'admin',
    body: { active: true, settings: { guardPercent: 20 } },
    status: 200,
  },
  {
    call: `PATCH ${admin}/sources/1`,
    of: `${admin}/sources/{source}`,
    door: 'admin',
    body: { settings: { guardPercent: 'x' } },
    status: 400,
  },
  {
    call: `POST ${admin}/sources/1/tokens/reveal`,
    of: `${admin}/sources/{source}/tokens/reveal`,
    door: 'admin',
    body: {},
    status: 200,
  },
  {
    call: `POST ${admin}/sources/1/tokens`,
    of: `${admin}/sources/{source}/tokens`,
    door: 'admin',
    body: { overlapDays: 30 },
    status: 201,
  },
  { call: `GET ${admin}/imports/1`, of: `${admin}/imports/{run}`, door: 'admin', status: 200 },
  { call: `GET ${admin}/imports/99`, of: `${admin}/imports/{run}`, door: 'admin', status: 404 },
  { call: `GET ${admin}/imports/1/issues`, of: `${admin}/imports/{run}/issues`, door: 'admin', status: 200 },
  {
    call: `GET ${admin}/imports/1/records?action=create&limit=5`,
    of: `${admin}/imports/{run}/records`,
    door: 'admin',
    status: 200,
  },
  {
    call: `GET ${admin}/imports/1/records?action=nothing`,
    of: `${admin}/imports/{run}/records`,
    door: 'admin',
    status: 400,
  },
  { call: `GET ${admin}/imports/1/log`, of: `${admin}/imports/{run}/log`, door: 'admin', status: 200 },
  {
    call: `GET ${admin}/imports/1/comparison`,
    of: `${admin}/imports/{run}/comparison`,
    door: 'admin',
    status: 400,
  },
  {
    call: `POST ${admin}/imports/1/approve`,
    of: `${admin}/imports/{run}/approve`,
    door: 'admin',
    body: {},
    status: 400,
  },
  {
    call: `POST ${admin}/imports/1/reject`,
    of: `${admin}/imports/{run}/reject`,
    door: 'admin',
    body: {},
    status: 400,
  },
  {
    call: `POST ${admin}/imports/1/cancel`,
    of: `${admin}/imports/{run}/cancel`,
    door: 'admin',
    body: {},
    status: 200,
  },
  {
    call: `POST ${admin}/imports/1/re-enable`,
    of: `${admin}/imports/{run}/re-enable`,
    door: 'admin',
    body: {},
    status: 200,
  },
  {
    call: `POST ${admin}/imports/1/rerun`,
    of: `${admin}/imports/{run}/rerun`,
    door: 'admin',
    body: { dryRun: true },
    status: 202,
  },
  {
    call: `POST ${admin}/imports/1/retry`,
    of: `${admin}/imports/{run}/retry`,
    door: 'admin',
    body: {},
    status: 400,
  },
  { call: `GET ${admin}/users?search=a&count=5`, of: `${admin}/users`, door: 'admin', status: 200 },
  { call: `GET ${admin}/users?filter=a`, of: `${admin}/users`, door: 'admin', status: 400 },
  { call: `GET ${admin}/users/1`, of: `${admin}/users/{user}`, door: 'admin', status: 200 },
  { call: `GET ${admin}/users/9999`, of: `${admin}/users/{user}`, door: 'admin', status: 404 },
  {
    call: `GET ${admin}/users/1/history?limit=5`,
    of: `${admin}/users/{user}/history`,
    door: 'admin',
    status: 200,
  },
  { call: `POST ${scim}/Groups`, body: group, status: 201 },
  { call: `GET ${admin}/groups?search=a`, of: `${admin}/groups`, door: 'admin', status: 200 },
  { call: `GET ${admin}/groups/GROUP`, of: `${admin}/groups/{group}`, door: 'admin', status: 200 },
  { call: `GET ${admin}/groups/9999`, of: `${admin}/groups/{group}`, door: 'admin', status: 404 },
  {
    call: `GET ${admin}/groups/GROUP/history`,
    of: `${admin}/groups/{group}/history`,
    door: 'admin',
    status: 200,
  },
  { call: `GET ${admin}/requests?limit=5`, of: `${admin}/requests`, door: 'admin', status: 200 },
  { call: `GET ${admin}/requests?status=3`, of: `${admin}/requests`, door: 'admin', status: 400 },
  { call: `GET ${admin}/audit?limit=5`, of: `${admin}/audit`, door: 'admin', status: 200 },
  { call: `GET ${admin}/settings`, door: 'admin', status: 200 },
  { call: `PATCH ${admin}/settings`, door: 'admin', body: { countMax: 1000 }, status: 200 },
  { call: `PATCH ${admin}/settings`, door: 'admin', body: { countMaximum: 1000 }, status: 400 },
  {
    call: `POST ${admin}/settings/try-password`,
    door: 'admin',
    body: { regex: '(', password: 'x' },
    status: 200,
  },
  {
    call: `POST ${admin}/fields/try-pattern`,
    door: 'admin',
    body: { pattern: 'a', value: 'a' },
    status: 200,
  },
  { call: `GET ${admin}/fields`, door: 'admin', status: 200 },
  { call: `POST ${admin}/fields`, door: 'admin', body: { label: 'Badge', type: 'string' }, status: 201 },
  { call: `POST ${admin}/fields`, door: 'admin', body: { label: 'badge', type: 'string' }, status: 409 },
  {
    call: `DELETE ${admin}/fields/badge`,
    of: `${admin}/fields/{field}`,
    door: 'admin',
    body: {},
    status: 200,
  },
  {
    call: `DELETE ${admin}/fields/badge`,
    of: `${admin}/fields/{field}`,
    door: 'admin',
    body: {},
    status: 404,
  },
  { call: `GET ${admin}/personas`, door: 'admin', status: 200 },
  {
    call: `POST ${admin}/personas`,
    door: 'admin',
    body: { name: 'Board', rule: 'any', groupIds: [2] },
    status: 201,
  },
  {
    call: `POST ${admin}/personas`,
    door: 'admin',
    body: { name: 'Other', rule: 'any', groupIds: [999] },
    status: 400,
  },
  { call: `POST ${admin}/session/sign-out`, door: 'none', body: {}, status: 401 },
  {
    call: `POST ${admin}/session/sign-out`,
    door: 'admin',
    body: {},
    headers: { 'x-rollcall': '0' },
    status: 403,
  },
  { call: `POST ${admin}/session/sign-out/everywhere`, door: 'admin', body: {}, status: 204 },
  {
    call: `POST ${admin}/entry/sign-in`,
    door: 'admin',
    body: { name: 'Ann', password: 'correct horse battery' },
    status: 200,
  },
  { call: `POST ${admin}/session/sign-out`, door: 'admin', body: {}, status: 204 },
  { call: 'GET /console/', door: 'none', status: 200 },
  { call: 'GET /console/page.js', door: 'none', status: 200 },
  { call: 'GET /console/page.css', door: 'none', status: 200 },
  { call: 'GET /console/icon.svg', door: 'none', status: 200 },
  { call: 'GET /', door: 'none', status: 302 },
  { call: 'GET /healthz', door: 'none', status: 200 },
  { call: 'GET /healthz', door: 'none', headers: { host: 'elsewhere.example' }, status: 421 },
  { call: 'GET /readyz', door: 'none', status: 200 },
  { call: 'GET /metrics', door: 'none', status: 200 },
  { call: 'GET /schemas/profile-sync.xsd', door: 'none', status: 200 },
];

/** A running service, and what it takes to come in at each door. */
class Service implements AsyncDisposable {
  readonly #house: ImportHouse;
  readonly #server: Bun.Server<undefined>;
  readonly #words = new Map<string, string>();
  #cookie = '';

  constructor(house: ImportHouse) {
    this.#house = house;
    const gate = buildGate(partsOf(house));
    this.#server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      development: false,
      fetch: (request, server) => gate.handle(request, server),
    });
  }

  async prepare(): Promise<void> {
    const { sources, source, database, clock } = this.#house;
    this.#words.set(
      'SCIM',
      (await sources.create('scim', 'Directory', { settings: { rateLimit: '0' } })).token,
    );
    this.#words.set('UPLOAD', await sources.revealToken(source));
    this.#words.set('INVITATION', (await new Invitations({ database, clock }).issue('Ann')).token);
  }

  async exchange({
    call,
    door = 'scim',
    body,
    headers,
  }: Exchange): Promise<{ response: Response; text: string }> {
    const [method = '', path = ''] = this.#filled(call).split(' ');
    const response = await fetch(`http://127.0.0.1:${this.#server.port}${path}`, {
      method,
      redirect: 'manual',
      headers: { ...this.#credentials(door), ...(body === undefined ? {} : typeOf(door)), ...headers },
      ...(body === undefined
        ? {}
        : { body: this.#filled(typeof body === 'string' ? body : JSON.stringify(body)) }),
    });
    this.#cookie = response.headers.get('set-cookie')?.split(';')[0] ?? this.#cookie;
    const text = await response.text();
    if (call.startsWith(`POST ${scim}/Groups`)) this.#words.set('GROUP', JSON.parse(text).id);
    return { response, text };
  }

  #filled(text: string): string {
    return text.replaceAll(/\b[A-Z]{5,}\b/g, (word) => this.#words.get(word) ?? word);
  }

  #credentials(door: Door): Record<string, string> {
    if (door === 'scim') return { authorization: `Bearer ${this.#words.get('SCIM')}` };
    if (door === 'upload') return { 'x-apikey': this.#words.get('UPLOAD') ?? '' };
    return door === 'admin' ? { cookie: this.#cookie } : {};
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop(true);
    await this.#house[Symbol.asyncDispose]();
  }
}

function typeOf(door: Door): Record<string, string> {
  if (door === 'scim') return { 'content-type': 'application/scim+json' };
  if (door === 'upload') return { 'content-type': 'application/json' };
  return { 'content-type': 'application/json', 'x-rollcall': '1' };
}

function operationOf({ call, of }: Exchange): string {
  const [method = '', path = ''] = call.split(' ');
  return `${method.toLowerCase()} ${of ?? path.split('?')[0]}`;
}

/** What of an answer the description does not have. */
function undescribed(operation: Json, response: Response, text: string): string[] {
  const described = operation.responses[response.status];
  if (described === undefined) return [`status ${response.status}`];
  const lacking = Object.keys(described.headers ?? {}).filter(
    (name) => name !== 'retry-after' && !response.headers.has(name),
  );
  if (text === '') return [...lacking, ...Object.keys(described.content ?? {})];
  const mediaType = response.headers.get('content-type')?.split(';')[0] ?? '';
  const content = described.content?.[mediaType];
  if (content === undefined) return [...lacking, `${response.status} as ${mediaType}`];
  if (content.schema === undefined) return lacking;
  return [...lacking, ...schemaProblems(content.schema, JSON.parse(text), resolve)];
}

describe('the description', () => {
  let house: ImportHouse;
  let service: Service;

  beforeAll(async () => {
    house = await openImportHouse({ settings: { allowPlainHttp: 'true' } });
    service = new Service(house);
    await service.prepare();
  });

  afterAll(() => service[Symbol.asyncDispose]());

  test('has every route of the running surfaces that does not only refuse, and nothing else', () => {
    const surfaces = buildSurfaces(partsOf(house), new HttpMetrics('1.2.3'));
    const names = surfaces.map(({ name }) => name).toSorted();
    expect(names).toEqual(['admin', 'admin.entry', 'console', 'scim', 'system', 'upload']);
    const routes = surfaces
      .flatMap((surface) => surface.routes)
      .filter(({ method }) => method !== 'ALL')
      .map(({ method, path }) => `${method.toLowerCase()} ${path.replaceAll(/:(\w+)/g, '{$1}')}`);
    expect(operations.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(routes.toSorted());
  });

  test('is tried on every operation', () => {
    const tried = new Set(exchanges.map(operationOf));
    const described = operations.map(({ method, path }) => `${method} ${path}`);
    expect([...tried].toSorted()).toEqual(described.toSorted());
  });

  test('is what the service does', async () => {
    for (const exchange of exchanges) {
      const [method, path] = operationOf(exchange).split(' ');
      const found = operations.find((each) => each.method === method && each.path === path);
      const { response, text } = await service.exchange(exchange);
      const problems = undescribed(found?.operation, response, text);
      expect({ call: exchange.call, status: response.status, problems }).toEqual({
        call: exchange.call,
        status: exchange.status,
        problems: [],
      });
    }
  });
});
