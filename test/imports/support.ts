// A place where documents are imported: a real database, real folders, real child processes.
// Only the clock is the test's: each look at it is one millisecond later.

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { DocumentStore } from '../../src/archive/archive.ts';
import type { User } from '../../src/directory/user.ts';
import { selectUsers } from '../../src/directory/user-store.ts';
import { inspectDocument } from '../../src/imports/inspect.ts';
import { Intake, type IntakeRequest, type Receipt } from '../../src/imports/intake.ts';
import { Processor, type ProcessorParts } from '../../src/imports/processor.ts';
import { circumstancesOf } from '../../src/imports/record-digest.ts';
import { insertRun } from '../../src/imports/run-store.ts';
import { type ImportRun, ImportRuns } from '../../src/imports/runs.ts';
import { createLog, type Log } from '../../src/log.ts';
import type { Operator } from '../../src/security/audit.ts';
import { PasswordHasher } from '../../src/security/password-hash.ts';
import { secretBox } from '../../src/security/secret-key.ts';
import { Configurations } from '../../src/settings/configuration.ts';
import type { GeneralSource } from '../../src/sources/source-store.ts';
import { Sources } from '../../src/sources/sources.ts';
import type { Database, Dialect, Tx } from '../../src/storage/database.ts';
import { openTestDatabase } from '../support/database.ts';

export const selfCommand = [process.execPath, join(import.meta.dir, 'inspect-main.ts')];

export interface HouseOptions {
  readonly dialect?: Dialect;
  /** Settings of the source, as the command line takes them. */
  readonly settings?: Readonly<Record<string, string>>;
}

export type AcceptOptions = Partial<Omit<IntakeRequest, 'stream'>>;

export class ImportHouse implements AsyncDisposable {
  readonly folder: string;
  readonly sources: Sources;
  readonly configurations: Configurations;
  readonly documents: DocumentStore;
  readonly intake: Intake;
  readonly runs: ImportRuns;
  /** Every line that was logged. */
  readonly logged: string[] = [];
  readonly log: Log;
  #nowMs = Date.parse('2030-01-01T00:00:00.000Z');
  #source: GeneralSource | undefined;
  readonly #close: () => PromiseLike<void>;

  constructor(
    readonly database: Database,
    close: () => PromiseLike<void>,
    /** Of the database: the SQLite file, or the address. */
    readonly location: string,
  ) {
    this.#close = close;
    this.folder = mkdtempSync(join(tmpdir(), 'rollcall-imports-'));
    this.log = createLog({ level: 'debug', destination: { write: (line) => void this.logged.push(line) } });
    this.sources = new Sources({ database, secretBox: this.secretBox, clock: this.clock });
    this.configurations = new Configurations(database);
    this.documents = new DocumentStore(this.folder);
    this.intake = new Intake({ ...this, clock: this.clock, selfCommand });
    this.runs = new ImportRuns({ ...this, database, clock: this.clock });
  }

  get secretBox() {
    return secretBox(Buffer.alloc(32, 7));
  }

  readonly clock = () => {
    this.#nowMs += 1;
    return new Date(this.#nowMs);
  };

  advance(seconds: number): void {
    this.#nowMs += seconds * 1_000;
  }

  get source(): GeneralSource {
    if (this.#source === undefined) throw new Error('no source yet');
    return this.#source;
  }

  async addSource(name: string, settings: Readonly<Record<string, string>> = {}): Promise<GeneralSource> {
    const { source } = await this.sources.create('general', name, { settings });
    const general = source as GeneralSource;
    this.#source ??= general;
    return general;
  }

  /** Knows the source of a database that was there before. */
  async reload(): Promise<void> {
    this.#source = (await this.sources.get('1')) as GeneralSource;
  }

  /** Brings everything that is written into the SQLite file itself, which can then be copied. */
  async checkpoint(): Promise<void> {
    await sql`pragma wal_checkpoint(truncate)`.execute(this.database.migrator);
  }

  async set(settings: Readonly<Record<string, string>>): Promise<void> {
    this.#source = (await this.sources.change(String(this.source.id), { settings })) as GeneralSource;
  }

  /** A processor over `database`, or over another way to the same data. */
  processor(
    database: Database = this.database,
    { isAlone = true, ...others }: ProcessorOptions = {},
  ): Processor {
    const { documents, configurations, secretBox: box, clock, log } = this;
    const hasher = new PasswordHasher();
    const owner = crypto.randomUUID();
    return new Processor({
      database,
      documents,
      configurations,
      hasher,
      secretBox: box,
      clock,
      log,
      owner,
      isAlone,
      ...others,
    });
  }

  accept(xml: string | Uint8Array, options: AcceptOptions = {}): Promise<Receipt> {
    const bytes = typeof xml === 'string' ? new TextEncoder().encode(xml) : xml;
    return this.intake.accept({ source: this.source, origin: 'upload', ...options, stream: pieces(bytes) });
  }

  /**
   * Queues the document as `accept` does, with the inspection in this process: where thousands are queued, or a test has
   * nothing to say of it. Returns the id of the run.
   */
  async queue(xml: string, { source = this.source, dryRun = false }: AcceptOptions = {}): Promise<number> {
    const { documents, database } = this;
    const bytes = new TextEncoder().encode(xml);
    const spooled = await documents.spool(pieces(bytes), { sourceId: source.id, bytesMax: bytes.length });
    const verdict = await inspectDocument({ file: spooled.path, masked: spooled.maskedPath });
    if (!verdict.valid) throw new Error(`${JSON.stringify(verdict.errors)}\n${xml}`);
    const accepted = await documents.accept(spooled, source.id);
    const configuration = await this.configurations.current();
    const { users, groups, warnings } = verdict;
    const run = {
      ...accepted,
      sourceId: source.id,
      origin: 'upload' as const,
      dryRun,
      sha256: spooled.sha256,
      bytes: spooled.bytes,
      users,
      groups,
      warnings,
      circumstances: circumstancesOf(source, configuration),
      now: this.clock().toISOString(),
    };
    return database.write((tx) => insertRun(tx, run));
  }

  /** Takes the document in, imports everything that is queued, and returns its run. */
  async import(xml: string, options: AcceptOptions = {}): Promise<ImportRun> {
    const { importId } = await this.accept(xml, options);
    await this.processor().drain();
    return this.runs.get(importId);
  }

  /** Users, archived ones too, with this source's external ids. */
  async people(): Promise<User[]> {
    const rows = await this.database.read.selectFrom('user').select('id').orderBy('id').execute();
    return selectUsers(
      this.database.read,
      rows.map((row) => row.id),
      this.source.id,
    );
  }

  async person(userName: string): Promise<User> {
    const found = (await this.people()).find((user) => user.resource.userName === userName);
    if (found === undefined) throw new Error(`there is no ${userName}`);
    return found;
  }

  /** `userName state` of everyone, by id. */
  async states(): Promise<string[]> {
    return (await this.people()).map((user) => `${user.resource.userName} ${user.state}`);
  }

  files(folder: 'drop' | 'archive'): string[] {
    try {
      return (readdirSync(join(this.folder, folder), { recursive: true }) as string[]).toSorted();
    } catch {
      return [];
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    rmSync(this.folder, { recursive: true, force: true });
    await this.#close();
  }
}

type ProcessorOptions = Partial<Pick<ProcessorParts, 'documents' | 'isAlone'>>;

/** Who decides about runs in tests. */
export const decider: Operator = { kind: 'command', name: 'tester' };

/** The guard of a source compares shares, which small files exceed at once. */
const relaxedGuard = { guardShrinkPercent: '100', guardErrorPercent: '100' };
export const strictGuard = { guardShrinkPercent: '30', guardErrorPercent: '10' };

/** With one general source, "Human Resources", whose id is 1. */
export async function openImportHouse({
  dialect = 'sqlite',
  settings,
}: HouseOptions = {}): Promise<ImportHouse> {
  const test = await openTestDatabase(dialect);
  const house = new ImportHouse(test.database, () => test[Symbol.asyncDispose](), test.location);
  await house.addSource('Human Resources', { ...relaxedGuard, ...settings });
  return house;
}

type Write = <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;

/** The same database with `around` in the way of each write. */
export function withWrite(
  database: Database,
  around: <T>(write: () => Promise<T>, nth: number) => Promise<T>,
): Database {
  let count = 0;
  const write: Write = (work) => {
    count += 1;
    return around(() => database.write(work), count);
  };
  const { dialect, read, migrator } = database;
  const lendTurn: Database['lendTurn'] = (hold) => database.lendTurn(hold);
  // Transactions are then short and many: as many places to be interrupted in.
  const isAwaited = () => true;
  return {
    dialect,
    read,
    migrator,
    isAwaited,
    lendTurn,
    write,
    writeStep: write,
    close: async () => undefined,
  };
}

async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 50_000) yield bytes.subarray(at, at + 50_000);
}

export interface DocumentParts {
  readonly domain?: string;
  readonly ldapid?: string;
  readonly options?: Readonly<Record<string, string>>;
  readonly groups?: string;
}

/** A document with these `user` elements. */
export function profileXml(users: readonly string[], parts: DocumentParts = {}): string {
  const { domain = 'Human Resources', ldapid = '1', options = {}, groups } = parts;
  const given = Object.entries({ mode: 'full', ...options });
  const list = given.map(([name, value]) => `<option name="${name}">${value}</option>`).join('');
  return `<?xml version="1.0" encoding="UTF-8"?>
<syncdata version="1">
<syncoptions domain="${domain}" ldapid="${ldapid}">${list}</syncoptions>
${groups === undefined ? '' : `<groups>${groups}</groups>\n`}<users>
${users.join('\n')}
</users>
</syncdata>
`;
}

/** A user element; `content` stands before `additionalfields`. */
export function userXml(id: string, username: string, content = '', fields = ''): string {
  const idText = id === '' ? '' : ` id="${id}"`;
  return `<user${idText} username="${username}">${content}<additionalfields>${fields}</additionalfields></user>`;
}

/** A row of somebody who belongs to no source. */
export function stranger(userName: string, id = 1000) {
  const names = {
    user_name: userName,
    user_name_key: userName,
    display_name: userName,
    display_name_key: null,
  };
  const keys = { family_name_key: null, employee_number_key: null, manager_id: null, password_hash: null };
  const rest = {
    owner_source_id: null,
    document: '{}',
    do_not_synchronise: 0 as const,
    version: 1,
    created: '',
    modified: '',
  };
  return { id, state: 'active' as const, ...names, ...keys, ...rest };
}
