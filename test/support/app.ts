// A whole service for tests: a real database, the real gate and surfaces, on a real port of the loopback address.
// Only the clock is faked; it stands still until a test moves it.
// What the service logs is kept, so that tests can look for what must not be in it.

import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Groups } from '../../src/directory/groups.ts';
import { Users } from '../../src/directory/users.ts';
import { Gate } from '../../src/http/gate.ts';
import { hostRules } from '../../src/http/hosts.ts';
import { RequestLimits } from '../../src/http/limits.ts';
import { HttpMetrics } from '../../src/http/metrics.ts';
import type { Surface } from '../../src/http/surface.ts';
import { systemSurface } from '../../src/http/system.ts';
import { createLog, type Log } from '../../src/log.ts';
import { RequestLog } from '../../src/requests/request-log.ts';
import { type LoggedRequest, RequestReader } from '../../src/requests/request-reader.ts';
import { SourceActivity } from '../../src/scim/activity.ts';
import { scimBase } from '../../src/scim/call.ts';
import { observeSources } from '../../src/scim/metrics.ts';
import { scimSurface } from '../../src/scim/scim.ts';
import { PasswordHasher } from '../../src/security/password-hash.ts';
import { secretBox } from '../../src/security/secret-key.ts';
import { Configurations } from '../../src/settings/configuration.ts';
import { Sources } from '../../src/sources/sources.ts';
import type { Database, Dialect } from '../../src/storage/database.ts';
import type { JournalTable } from '../../src/storage/schema.ts';
import { openTestDatabase } from './database.ts';

export const userUrn = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const groupUrn = 'urn:ietf:params:scim:schemas:core:2.0:Group';
export const enterpriseUrn = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
export const platformUrn = 'urn:ietf:params:scim:schemas:extension:platform:2.0:User';
export const platformGroupUrn = 'urn:ietf:params:scim:schemas:extension:platform:2.0:Group';
export const fieldsUrn = 'urn:ietf:params:scim:schemas:extension:platformadditionalfields:2.0:User';
const patchOpUrn = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

// biome-ignore lint/suspicious/noExplicitAny: answers are outside data that each test reads in its own way
export type Json = any;

const testBox = secretBox(Buffer.alloc(32, 7));

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Json;
  readonly text: string;
}

export interface CallOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Another source's token; '' for none. */
  readonly token?: string;
}

export interface TestAppOptions {
  readonly dialect?: Dialect;
  /** Settings of the first source, as the command line takes them. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly surfaces?: readonly Surface[];
  /** Puts something around the SCIM surface. */
  readonly around?: (scim: Surface) => Surface;
}

export interface TestClock {
  (): Date;
  advance(seconds: number): void;
}

/** Stands at one moment, so that what has not changed can be told from what has. */
export function testClock(start = '2030-01-01T00:00:00.000Z'): TestClock {
  let nowMs = Date.parse(start);
  return Object.assign(() => new Date(nowMs), {
    advance: (seconds: number) => {
      nowMs += seconds * 1_000;
    },
  });
}

/** Opens a service with one SCIM source named "Directory". */
export async function openTestApp(options: TestAppOptions = {}): Promise<TestApp> {
  const { database, location, ...place } = await openTestDatabase(options.dialect ?? 'sqlite');
  const app = new TestApp({ database, location, close: () => place[Symbol.asyncDispose](), options });
  await app.addSource('Directory', options.settings);
  return app;
}

interface TestAppParts {
  readonly database: Database;
  readonly location?: string;
  readonly close: () => PromiseLike<void>;
  readonly options: TestAppOptions;
}

export class TestApp implements AsyncDisposable {
  readonly clock = testClock();
  readonly database: Database;
  /** By which another connection opens the database. */
  readonly location: string;
  readonly sources: Sources;
  readonly configurations: Configurations;
  readonly people: Users;
  readonly groups: Groups;
  /** Every line that was logged, as JSON text. */
  readonly logged: string[] = [];
  /** Where the request log is, once `requests` has been called. */
  readonly requestLogPath = join(tmpdir(), `rollcall-requests-${crypto.randomUUID()}.db`);
  readonly requestLog: RequestLog;
  #hasReadRequests = false;
  readonly port: number;
  readonly #server: Bun.Server<undefined>;
  readonly #close: () => PromiseLike<void>;
  #token = '';

  constructor({ database, location = '', close, options }: TestAppParts) {
    this.location = location;
    this.database = database;
    this.#close = close;
    this.sources = new Sources({ database, secretBox: testBox, clock: this.clock });
    this.configurations = new Configurations(database);
    this.people = new Users(database, new PasswordHasher());
    this.groups = new Groups(database);
    const log = createLog({ level: 'debug', destination: { write: (line) => void this.logged.push(line) } });
    // It waits for longer than a test takes: only a test that asks for it pays for a file.
    this.requestLog = new RequestLog({ path: this.requestLogPath, clock: this.clock, log, waitMs: 60_000 });
    const gate = this.#gate(log, options);
    this.#server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      development: false,
      maxRequestBodySize: 4 * 1024 ** 3,
      fetch: (request, server) => gate.handle(request, server),
    });
    this.port = this.#server.port ?? 0;
  }

  #gate(log: Log, { surfaces = [], around = (scim) => scim }: TestAppOptions): Gate {
    const { people, groups, sources, configurations, clock } = this;
    const metrics = new HttpMetrics('0.0.0-test');
    const system = systemSurface({
      metrics,
      checks: async () => ({ database: true }),
      mayReadMetrics: () => true,
      profileSchema: async () => '<schema/>',
    });
    const activity = new SourceActivity();
    observeSources(metrics, { database: this.database, sources, requests: this.requestLog, activity, clock });
    const requests = this.requestLog;
    const scim = scimSurface({
      people,
      groups,
      sources,
      configurations,
      secretBox: testBox,
      clock,
      log,
      requests,
      activity,
    });
    return new Gate({
      surfaces: [around(scim), system, ...surfaces],
      hosts: hostRules({ publicUrl: undefined, allowedHosts: ['id.example.com'], trustedProxies: [] }),
      limits: new RequestLimits(clock),
      metrics,
      log,
      publicUrl: undefined,
      createRequestId: () => crypto.randomUUID(),
    });
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${this.port}${scimBase}`;
  }

  get token(): string {
    return this.#token;
  }

  /** Adds a SCIM source without a rate limit and returns its token; the first one is used when a call names none. */
  async addSource(name: string, settings: Readonly<Record<string, string>> = {}): Promise<string> {
    const { token } = await this.sources.create('scim', name, {
      settings: { rateLimit: '0', ...settings },
    });
    this.#token ||= token;
    return token;
  }

  /** Sends one SCIM request; a text body goes out as it is. */
  async call(method: string, path: string, body?: unknown, options: CallOptions = {}): Promise<Answer> {
    const token = options.token ?? this.#token;
    const response = await fetch(this.baseUrl + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/scim+json' }),
        ...options.headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: toJson(text) };
  }

  createUser(user: object, options?: CallOptions): Promise<Answer> {
    return this.call('POST', '/Users', { schemas: [userUrn], ...user }, options);
  }

  createGroup(group: object, options?: CallOptions): Promise<Answer> {
    return this.call('POST', '/Groups', { schemas: [groupUrn], ...group }, options);
  }

  patch(path: string, operations: readonly object[], options?: CallOptions): Promise<Answer> {
    return this.call('PATCH', path, { schemas: [patchOpUrn], Operations: operations }, options);
  }

  /** The answer to a list request with this filter. */
  find(endpoint: '/Users' | '/Groups', filter: string, options?: CallOptions): Promise<Answer> {
    return this.call('GET', `${endpoint}?filter=${encodeURIComponent(filter)}`, undefined, options);
  }

  async journal(): Promise<JournalRow[]> {
    const rows = await this.database.read.selectFrom('journal').selectAll().orderBy('seq').execute();
    return rows.map((row) => ({
      ...row,
      before: row.before === null ? null : JSON.parse(row.before),
      after: row.after === null ? null : JSON.parse(row.after),
    }));
  }

  /** What the request log says, oldest first. */
  requests(): LoggedRequest[] {
    this.requestLog.flush();
    this.#hasReadRequests = true;
    using reader = new RequestReader(this.requestLogPath);
    return reader.page({}, { limit: 1_000, withBodies: true }).requests.toReversed();
  }

  /** `User 1 create` for each row, in order. */
  async history(): Promise<string[]> {
    return (await this.journal()).map((row) => `${row.resource_type} ${row.resource_id} ${row.action}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop(true);
    await this.#close();
    if (!this.#hasReadRequests) return;
    this.requestLog.close();
    for (const ending of ['', '-wal', '-shm']) rmSync(this.requestLogPath + ending, { force: true });
  }
}

type JournalRow = Omit<JournalTable, 'seq' | 'before' | 'after'> & {
  readonly seq: number;
  readonly before: Json;
  readonly after: Json;
};

function toJson(text: string): Json {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
