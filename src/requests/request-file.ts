import { Database as Sqlite, type Statement } from 'bun:sqlite';
import { closeSync, existsSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { idAt, type RequestRecord, type RetentionLimits } from './record.ts';
import { RepairTally } from './repair-tally.ts';

/** The statements that bring a file from one version to the next; a file knows its own. */
const versions: readonly (readonly string[])[] = [
  [
    // What a search compares stands first: the rest of a row is then not looked at.
    `create table request (
      id integer primary key, source integer, status integer not null, resource_type text, resource_id integer,
      at_gate integer not null, time integer not null, duration real not null, method text not null, path text not null,
      query text, client text not null, request_id text not null, name text, refusal text, touched text, repairs text,
      ignored text, bulk text)`,
    'create index request_at_gate on request (id) where at_gate = 1',
    'create table body (id integer primary key, body text, decoded text)',
    `create table repair_count (
      day integer not null, source integer not null, code text not null, attribute text not null,
      count integer not null, last_id integer not null, primary key (day, source, code, attribute)) without rowid`,
  ],
];

const setAsideMax = 2;
/** Rows that one piece of pruning removes: about a millisecond of work. */
const pieceRows = 1_000;
const atGateRowsMax = 10_000;
const freePagesMin = 2_048;
const freedPagesMax = 256;
const dayMs = 24 * 60 * 60 * 1_000;

/** The one connection that writes the file. Everything here throws what SQLite throws; the log decides what that means. */
export class RequestFile {
  readonly #sqlite: Sqlite;
  readonly #tally = new RepairTally();
  readonly #insert: Statement;
  readonly #insertBody: Statement;
  readonly #count: Statement;
  #lastId: number;

  constructor(path: string) {
    createPrivately(path);
    this.#sqlite = new Sqlite(path, { create: true, strict: true });
    try {
      prepareFile(this.#sqlite);
      const marks = new Array(19).fill('?').join(', ');
      this.#insert = this.#sqlite.prepare(`insert into request values (${marks})`);
      this.#insertBody = this.#sqlite.prepare('insert into body values (?, ?, ?)');
      this.#count = this.#sqlite.prepare(
        `insert into repair_count values (?, ?, ?, ?, ?, ?) on conflict (day, source, code, attribute)
         do update set count = count + excluded.count, last_id = excluded.last_id`,
      );
      this.#lastId = this.#number('select max(id) from request');
    } catch (error) {
      this.#sqlite.close();
      throw error;
    }
  }

  /** Writes the records in one transaction: all of them, or none. `nowMs` is when the last of them was answered. */
  append(records: readonly RequestRecord[], nowMs: number): void {
    const firstId = Math.max(this.#lastId + 1, idAt(nowMs));
    this.#transaction(() => {
      let id = firstId;
      for (const record of records) {
        this.#insertOne(id, record);
        if (record.repairs.length > 0) this.#tally.add(id, record);
        id += 1;
      }
      for (const counted of this.#tally.take()) this.#count.run(...counted);
    });
    this.#lastId = firstId + records.length - 1;
  }

  #insertOne(id: number, record: RequestRecord): void {
    const { touched, repairs, ignored } = record;
    const first = touched[0];
    this.#insert.run(
      id,
      record.sourceId,
      record.status,
      first === undefined ? null : first.resourceType,
      first === undefined ? null : first.resourceId,
      record.isAtGate ? 1 : 0,
      record.timeMs,
      record.durationMs,
      record.method,
      record.path,
      record.query,
      record.clientAddress,
      record.requestId,
      record.name,
      record.refusal,
      touched.length > 1 ? touchedText(touched) : null,
      repairs.length > 0 ? JSON.stringify(repairs) : null,
      ignored.length > 0 ? JSON.stringify(ignored) : null,
      record.bulk === null ? null : JSON.stringify(record.bulk),
    );
    if (record.body !== null || record.decoded !== null)
      this.#insertBody.run(id, record.body, record.decoded);
  }

  /** Removes a little of what is too old or too much; true when there may be more of it. */
  prunePiece(limits: RetentionLimits, nowMs: number): boolean {
    const oldBodies = this.#boundary('body', idAt(nowMs - limits.bodyDays * dayMs));
    if (oldBodies > 0) return this.#remove(['body'], oldBodies);
    const oldest = this.#boundary('request', this.#endOfLife(limits, nowMs));
    if (oldest > 0) return this.#remove(['request', 'body'], oldest);
    this.#sqlite.run('delete from repair_count where day < ?', [Math.floor(nowMs / dayMs) - limits.days]);
    return this.#pruneAtGate() || this.#shrink();
  }

  /** Rows before this id are to go: by age, or all while the file holds too much. */
  #endOfLife({ days, bytesMax }: RetentionLimits, nowMs: number): number {
    const usedPages = this.#number('pragma page_count') - this.#number('pragma freelist_count');
    const isTooMuch = usedPages * this.#number('pragma page_size') > bytesMax;
    return isTooMuch ? Number.MAX_SAFE_INTEGER : idAt(nowMs - days * dayMs);
  }

  /** The last id of the first piece of `table` that lies before `end`; 0 for none. */
  #boundary(table: 'request' | 'body', end: number): number {
    return this.#number(
      `select max(id) from (select id from ${table} where id < ? order by id limit ${pieceRows})`,
      end,
    );
  }

  #remove(tables: readonly ('request' | 'body')[], lastId: number): true {
    this.#transaction(() => {
      for (const table of tables) this.#sqlite.run(`delete from ${table} where id <= ?`, [lastId]);
    });
    return true;
  }

  /** However many strangers knock: what the sources sent stays. */
  #pruneAtGate(): boolean {
    const tooMany = this.#number('select count(*) from request where at_gate = 1') - atGateRowsMax;
    if (tooMany <= 0) return false;
    this.#sqlite.run(
      'delete from request where id in (select id from request where at_gate = 1 order by id limit ?)',
      [Math.min(tooMany, pieceRows)],
    );
    return true;
  }

  /** Gives back pages once many are free; a few are used again soon. */
  #shrink(): boolean {
    const free = this.#number('pragma freelist_count');
    if (free < freePagesMin || free * 4 < this.#number('pragma page_count')) return false;
    this.#sqlite.run(`pragma incremental_vacuum(${freedPagesMax})`);
    return this.#number('pragma freelist_count') < free;
  }

  #number(query: string, ...parameters: number[]): number {
    const row = this.#sqlite.query(query).values(...parameters)[0];
    return Number(row?.[0] ?? 0);
  }

  #transaction(work: () => void): void {
    this.#sqlite.run('begin immediate');
    try {
      work();
      this.#sqlite.run('commit');
    } catch (error) {
      this.#tally.forget();
      if (this.#sqlite.inTransaction) this.#sqlite.run('rollback');
      throw error;
    }
  }

  close(): void {
    // A statement that is left over would keep the file open, and its write-ahead log with it.
    for (const statement of [this.#insert, this.#insertBody, this.#count]) statement.finalize();
    this.#sqlite.close();
  }
}

/** `,User:7,User:8,` for the requests that touched more than one: a search looks for `,User:7,` in it. */
function touchedText(touched: RequestRecord['touched']): string {
  return `,${touched.map(({ resourceType, resourceId }) => `${resourceType}:${resourceId}`).join(',')},`;
}

/**
 * Checkpoints are synced (NORMAL), commits are not: a power cut costs the last seconds of this log, and never the file.
 * FULL would take the disk away from the commits that clients wait for; OFF would let a power cut break the file.
 */
function prepareFile(sqlite: Sqlite): void {
  sqlite.run('pragma busy_timeout = 0');
  const version = versionOf(sqlite);
  if (version > versions.length || (version === 0 && !isEmpty(sqlite))) throw new ForeignFile();
  sqlite.run('pragma auto_vacuum = incremental');
  sqlite.run('pragma journal_mode = wal');
  sqlite.run('pragma synchronous = normal');
  sqlite.run(`pragma journal_size_limit = ${64 * 1024 * 1024}`);
  sqlite.run('pragma trusted_schema = 0');
  for (const [index, statements] of versions.entries()) {
    if (index < version) continue;
    sqlite.run('begin immediate');
    for (const statement of statements) sqlite.run(statement);
    sqlite.run(`pragma user_version = ${index + 1}`);
    sqlite.run('commit');
  }
}

export const currentVersion: number = versions.length;

export function versionOf(sqlite: Sqlite): number {
  const { user_version: version } = sqlite.query('pragma user_version').get() as { user_version: number };
  return version;
}

function isEmpty(sqlite: Sqlite): boolean {
  return sqlite.query('select 1 from sqlite_master limit 1').get() === null;
}

/** Nothing is written to a file that another program, or a newer release, has made. */
class ForeignFile extends Error {
  constructor() {
    super('the file is not a request log of this release or one before it');
    this.name = 'ForeignFile';
  }
}

/** What people were doing is for the owner of the file alone. SQLite's own files take after this one. */
function createPrivately(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch {
    // It is there already, or SQLite will say what is wrong with the path.
  }
}

/** Whether the file is not one that can be used again: broken, no database at all, or of another release. */
export function isUnusable(error: unknown): boolean {
  const code = (error as { code?: string } | null)?.code ?? '';
  return error instanceof ForeignFile || /^SQLITE_(CORRUPT|NOTADB)/.test(code);
}

/** Renames a file that cannot be used, with what belongs to it, and returns its new path. Only the last ones are kept. */
export function setAside(path: string, now: Date): string {
  const mark = `${basename(path)}.unusable-`;
  const folder = dirname(path);
  const former = readdirSync(folder).filter((name) => name.startsWith(mark) && !/-(wal|shm)$/.test(name));
  for (const name of former.toSorted().slice(0, Math.max(0, former.length - setAsideMax + 1))) {
    for (const ending of ['', '-wal', '-shm']) rmSync(join(folder, name + ending), { force: true });
  }
  const place = join(folder, mark + now.toISOString().replaceAll(/[:.]/g, '-'));
  if (existsSync(`${path}-wal`)) renameSync(`${path}-wal`, `${place}-wal`);
  rmSync(`${path}-shm`, { force: true });
  renameSync(path, place);
  return place;
}
