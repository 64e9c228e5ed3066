// The shared contract, for the kinds that ask over HTTP.

import { afterAll } from 'bun:test';
import { openTestApp, type TestApp } from '../support/app.ts';
import { insertPeople } from '../support/people.ts';
import { type ContractSource, describeConnectorContract, largeCount } from './contract.ts';
import { type GraphUser, serveGraph, type Tenant } from './graph-server.ts';
import { type PeopleApi, servePeople } from './people-api.ts';

const secret = 'contract-secret-4711';
const wrongSecret = 'contract-secret-0815';

/** A server that takes a request and never answers it. */
function serveSilence(): PeopleApi & { readonly reached: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const api = servePeople(() => {
    resolve();
    return new Promise<Response>(() => undefined);
  });
  return Object.assign(api, { reached: promise });
}

function stopAll(servers: readonly Disposable[]): () => Promise<void> {
  return async () => {
    for (const server of servers) server[Symbol.dispose]();
  };
}

const pageSize = 1_000;

async function openJsonApi(): Promise<ContractSource> {
  const api = servePeople((url, request) => {
    if (request.headers.get('x-api-key') !== secret) return new Response('', { status: 401 });
    const count = Number(url.pathname.slice(1));
    const from = Number(url.searchParams.get('offset'));
    const length = Math.max(0, Math.min(pageSize, count - from));
    return Response.json(
      Array.from({ length }, (_, at) => ({
        id: from + at,
        login: `n${from + at}`,
        mail: `n${from + at}@example.com`,
      })),
    );
  });
  const silence = serveSilence();
  const config = (path: string, value = secret) => ({
    userUrl: `${api.origin}/${path}`,
    auth: { type: 'header', header: 'X-Api-Key', value },
    paging: { style: 'offset' },
    mapping: { user: { username: 'login', email: 'mail' } },
  });
  return {
    config: config('3'),
    badCredentials: config('3', wrongSecret),
    empty: config('0'),
    large: config(String(largeCount)),
    silent: { config: { ...config('3'), userUrl: silence.origin }, reached: silence.reached },
    [Symbol.asyncDispose]: stopAll([api, silence]),
  };
}

describeConnectorContract({ kind: 'http-json', open: openJsonApi });

let directory: Promise<TestApp> | undefined;
afterAll(async () => {
  await (await directory)?.[Symbol.asyncDispose]();
});

/** One directory of Rollcall itself for all tests: its people are `u1` to `u100000`. */
function openDirectory(): Promise<TestApp> {
  directory ??= (async () => {
    const app = await openTestApp();
    await insertPeople(app.database, largeCount);
    return app;
  })();
  return directory;
}

async function openScim(): Promise<ContractSource> {
  const app = await openDirectory();
  const silence = serveSilence();
  const config = (over: object = {}, token = app.token) => ({
    baseUrl: app.baseUrl,
    auth: { type: 'bearer', token },
    groups: false,
    pageSize,
    ...over,
  });
  return {
    config: config({ userFilter: 'userName sw "u1234"' }),
    badCredentials: config({}, wrongSecret),
    empty: config({ userFilter: 'userName eq "nobody"' }),
    large: config(),
    silent: { config: config({ baseUrl: silence.origin }), reached: silence.reached },
    [Symbol.asyncDispose]: stopAll([silence]),
  };
}

describeConnectorContract({ kind: 'scim', open: openScim });

function tenantOf(count: number): Tenant {
  const users = Array.from(
    { length: count },
    (_, at): GraphUser => ({
      id: `p${at}`,
      displayName: `P ${at}`,
      userPrincipalName: `p${at}@corp.test`,
      accountEnabled: true,
    }),
  );
  const groups = [{ id: 'g', displayName: 'G', members: users.slice(0, 3).map(({ id }) => id) }];
  return { users, groups, userChanges: [], groupChanges: [], pageSize };
}

async function openGraph(): Promise<ContractSource> {
  const [few, none, many] = [3, 0, largeCount].map((count) => serveGraph(tenantOf(count), secret));
  const silence = serveSilence();
  const config = (server: PeopleApi | undefined, clientSecret = secret) => ({
    tenantId: 'corp.test',
    clientId: 'app',
    clientSecret,
    loginUrl: server?.origin,
    graphUrl: server?.origin,
  });
  return {
    config: config(few),
    badCredentials: config(few, wrongSecret),
    empty: config(none),
    large: config(many),
    silent: { config: config(silence), reached: silence.reached },
    [Symbol.asyncDispose]: stopAll([few, none, many, silence].filter((each) => each !== undefined)),
  };
}

describeConnectorContract({ kind: 'entra', open: openGraph });
