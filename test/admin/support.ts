// A whole service with its admin surfaces, on a real port, for the tests of the admin API and of the console.
// Only the clock is faked. Every line that is logged, and every call that is made, goes through one place each.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { adminSurfaces } from '../../src/admin/admin.ts';
import { consoleSurface } from '../../src/admin/console-page.ts';
import { DocumentStore } from '../../src/archive/archive.ts';
import { DirectoryView } from '../../src/directory/directory-view.ts';
import type { Surface } from '../../src/http/surface.ts';
import { Intake } from '../../src/imports/intake.ts';
import { ImportRuns } from '../../src/imports/runs.ts';
import { createLog } from '../../src/log.ts';
import { RequestPages } from '../../src/requests/request-pages.ts';
import { Accounts } from '../../src/security/accounts.ts';
import { type AuditQuery, listAudit } from '../../src/security/audit.ts';
import { Invitations } from '../../src/security/invitations.ts';
import { PasswordHasher } from '../../src/security/password-hash.ts';
import { secretBox } from '../../src/security/secret-key.ts';
import { Sessions } from '../../src/security/sessions.ts';
import { Configurations } from '../../src/settings/configuration.ts';
import { Sources } from '../../src/sources/sources.ts';
import type { Database, Dialect } from '../../src/storage/database.ts';
import { type Answer, type Json, TestApp, type TestClock, testClock } from '../support/app.ts';
import { openTestDatabase } from '../support/database.ts';

export const adminName = 'Ann Lee';
export const adminPassword = 'correct horse battery staple';

export interface AdminCall {
  readonly cookie?: string | undefined;
  /** Replaces or, with '', takes away what a call sends by itself. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface AdminAppOptions {
  readonly dialect?: Dialect;
  /** Absent: the real time. */
  readonly clock?: TestClock;
}

export async function openAdminApp({
  dialect = 'sqlite',
  clock = testClock(),
}: AdminAppOptions = {}): Promise<AdminApp> {
  const { database, ...place } = await openTestDatabase(dialect);
  return new AdminApp(database, clock, () => place[Symbol.asyncDispose]());
}

export class AdminApp implements AsyncDisposable {
  readonly database: Database;
  readonly clock: TestClock;
  readonly invitations: Invitations;
  readonly sources: Sources;
  readonly surfaces: readonly Surface[];
  readonly scim: TestApp;
  readonly origin: string;
  readonly #logged: string[] = [];
  readonly #folder = mkdtempSync(join(tmpdir(), 'rollcall-admin-'));

  constructor(database: Database, clock: TestClock, close: () => PromiseLike<void>) {
    this.database = database;
    this.clock = clock;
    this.invitations = new Invitations({ database, clock });
    this.sources = new Sources({ database, secretBox: secretBox(Buffer.alloc(32, 7)), clock });
    this.surfaces = this.#surfaces();
    this.scim = new TestApp({ database, close, options: { surfaces: this.surfaces } });
    this.origin = `http://127.0.0.1:${this.scim.port}`;
  }

  #surfaces() {
    const { database, clock, invitations, sources } = this;
    const log = createLog({ level: 'debug', destination: { write: (line) => void this.#logged.push(line) } });
    const sessions = new Sessions({ database, clock });
    const passwords = new PasswordHasher();
    const elapsedMs = () => clock().getTime();
    const accounts = new Accounts({ database, clock, passwords, invitations, sessions, elapsedMs });
    const documents = new DocumentStore(this.#folder);
    const configurations = new Configurations(database);
    const runs = new ImportRuns({ database, documents, configurations, clock });
    const selfCommand = [process.execPath, join(import.meta.dir, '../../src/main.ts')];
    const intake = new Intake({ database, documents, configurations, clock, log, selfCommand });
    const reruns = { database, documents, intake };
    const own = { accounts, invitations, sessions, sources, configurations, runs, reruns, log };
    const parts = {
      ...own,
      directory: new DirectoryView({ database, configurations, clock }),
      requestLog: new RequestPages({ path: join(this.#folder, 'requests.db') }),
      listAudit: (query: AuditQuery) => listAudit(database.read, query),
      resourceBase: '/api/v2/scim/v2',
    };
    const apiUrlSuffix = ({ kind, id }: { kind: string; id: number }) => `/of/${kind}/${id}`;
    return [
      ...adminSurfaces({ ...parts, apiUrlSuffix }),
      consoleSurface(async () => (await import('../../src/console/console.ts')).consoleFiles),
    ];
  }

  /** Every line that the service logged, as JSON text. */
  get logged(): string {
    return [...this.#logged, ...this.scim.logged].join('');
  }

  /** GET without a body, else POST, as the console's page sends them. */
  async call(path: string, body?: unknown, { cookie, headers = {} }: AdminCall = {}): Promise<Answer> {
    const own = body === undefined ? {} : { 'content-type': 'application/json', 'x-rollcall': '1' };
    const all = { ...own, ...(cookie === undefined ? {} : { cookie }), ...headers };
    const sent = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
    const response = await fetch(`${this.origin}/api/admin/v1${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: sent,
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const json: Json = text === '' ? undefined : JSON.parse(text);
    return { status: response.status, headers: response.headers, text, body: json };
  }

  /** Makes the account of `adminName` and returns its cookie. */
  async setUp(name = adminName): Promise<string> {
    const { token } = await this.invitations.issue(name);
    return cookieOf(await this.call('/entry/accept', { token, name, password: adminPassword }));
  }

  async signIn(password = adminPassword, options: AdminCall = {}, name = adminName): Promise<Answer> {
    return this.call('/entry/sign-in', { name, password }, options);
  }

  /** Status of "who am I" with this cookie. */
  async statusOfMe(cookie?: string): Promise<number> {
    return (await this.call('/me', undefined, { cookie })).status;
  }

  async count(table: 'admin_account' | 'session'): Promise<number> {
    return (await this.database.read.selectFrom(table).selectAll().execute()).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.scim[Symbol.asyncDispose]();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** `name=token` of the cookie that an answer sets; '' for none. */
export function cookieOf({ headers }: Answer): string {
  return headers.get('set-cookie')?.split(';')[0] ?? '';
}
