// A server that speaks the documented shapes of Microsoft Graph v1.0 and of the login endpoint, with a small tenant in memory.

import { type PeopleApi, servePeople } from './people-api.ts';

export interface GraphUser {
  readonly id: string;
  readonly displayName: string;
  readonly manager?: string;
  readonly [property: string]: unknown;
}

export interface GraphGroup {
  readonly id: string;
  readonly displayName: string;
  /** Ids of people and of groups. */
  readonly members: readonly string[];
}

export interface Tenant {
  users: GraphUser[];
  groups: GraphGroup[];
  /** What the next delta query of people and of groups tells. */
  userChanges: readonly object[];
  groupChanges: readonly object[];
  /** Objects in a page, whatever is asked for. */
  pageSize: number;
  /** The answer to a request instead of the usual one. */
  interrupt?: (url: URL, number: number) => Response | undefined;
}

export interface GraphServer extends PeopleApi {
  readonly tenant: Tenant;
}

export function serveGraph(tenant: Tenant, secret: string): GraphServer {
  const api = servePeople(async (url, request, number) => {
    const interrupted = tenant.interrupt?.(url, number);
    if (interrupted !== undefined) return interrupted;
    if (url.pathname.endsWith('/oauth2/v2.0/token')) return token(api.requests.at(-1)?.body ?? '', secret);
    if (request.headers.get('authorization') !== 'Bearer graph-token')
      return fault(401, 'InvalidAuthenticationToken', 'Access token is empty.');
    return answer(tenant, url);
  });
  return Object.assign(api, { tenant });
}

function token(body: string, secret: string): Response {
  const form = new URLSearchParams(body);
  if (form.get('client_secret') === secret)
    return Response.json({
      token_type: 'Bearer',
      expires_in: 3599,
      ext_expires_in: 3599,
      access_token: 'graph-token',
    });
  const error_description = `AADSTS7000215: Invalid client secret provided. Ensure the secret being sent is the client secret value. Trace ID: 1`;
  return Response.json(
    { error: 'invalid_client', error_description, error_codes: [7000215] },
    { status: 401 },
  );
}

export function fault(
  status: number,
  code: string,
  message: string,
  headers: Record<string, string> = {},
): Response {
  return Response.json(
    { error: { code, message, innerError: { date: '2026-01-01T00:00:00' } } },
    { status, headers },
  );
}

function answer(tenant: Tenant, url: URL): Response {
  const [kind = '', id = '', relation = ''] = url.pathname
    .replace('/v1.0/', '')
    .split('/')
    .map(decodeURIComponent);
  if (id === 'delta') return delta(tenant, kind, url);
  const objects: readonly (GraphUser | GraphGroup)[] = kind === 'users' ? tenant.users : tenant.groups;
  if (id === '') {
    const met = kind === 'users' ? filtered(tenant.users, url) : objects;
    return page(tenant, url, met);
  }
  const known = objects.find((each) => each.id === id);
  if (known === undefined) return fault(404, 'Request_ResourceNotFound', `Resource '${id}' does not exist.`);
  if (relation === '') return Response.json(shown(known, url));
  return page(tenant, url, related(tenant, id, relation));
}

/** Filters of the tests: by id, and by a property that equals a text, joined by and. */
function filtered(users: readonly GraphUser[], url: URL): readonly GraphUser[] {
  const filter = url.searchParams.get('$filter') ?? '';
  const tests = [...filter.matchAll(/(\w+) eq '([^']*)'/g)];
  return tests.length === 0
    ? users
    : users.filter((user) => tests.every(([, name = '', value]) => user[name] === value));
}

function shown(object: object, url: URL): object {
  const names = new Set(['@odata.type', ...(url.searchParams.get('$select') ?? '').split(',')]);
  const manager =
    'manager' in object && url.searchParams.has('$expand')
      ? { manager: { '@odata.type': '#microsoft.graph.user', id: object.manager } }
      : {};
  const properties = Object.entries(object).filter(([name]) => names.has(name));
  return { ...Object.fromEntries(properties), ...manager };
}

function related({ groups }: Tenant, id: string, relation: string): readonly object[] {
  const isDown = /members$/i.test(relation);
  const step = (from: string): readonly string[] =>
    isDown
      ? (groups.find((group) => group.id === from)?.members ?? [])
      : groups.filter(({ members }) => members.includes(from)).map((group) => group.id);
  const found = new Set(step(id));
  if (relation.startsWith('transitive'))
    for (const each of found) for (const next of step(each)) found.add(next);
  const groupIds = new Set(groups.map((group) => group.id));
  const type = (each: string) => (groupIds.has(each) ? '#microsoft.graph.group' : '#microsoft.graph.user');
  return [...found].map((each) => ({ '@odata.type': type(each), id: each }));
}

function page({ pageSize }: Tenant, url: URL, all: readonly object[]): Response {
  const from = Number(url.searchParams.get('$skiptoken') ?? 0);
  const next = new URL(url);
  next.searchParams.set('$skiptoken', String(from + pageSize));
  const more = from + pageSize < all.length ? { '@odata.nextLink': next.href } : {};
  return Response.json({
    '@odata.context': `${url.origin}/v1.0/$metadata`,
    ...more,
    value: all.slice(from, from + pageSize).map((each) => shown(each, url)),
  });
}

/** An empty page with a nextLink comes first, as Graph does it. */
function delta(tenant: Tenant, kind: string, url: URL): Response {
  const changes = kind === 'users' ? tenant.userChanges : tenant.groupChanges;
  const link = (token: string) => `${url.origin}/v1.0/${kind}/delta?$deltatoken=${token}`;
  const given = url.searchParams.get('$deltatoken');
  if (given === 'latest') return Response.json({ value: [], '@odata.deltaLink': link('one') });
  if (given === 'one') return Response.json({ value: [], '@odata.nextLink': link('rest') });
  if (given === 'rest') return Response.json({ value: changes, '@odata.deltaLink': link('two') });
  return fault(410, 'syncStateNotFound', 'The sync state generation is not found.');
}
