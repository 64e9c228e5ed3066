import { Database as Sqlite } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { restore } from '../../src/cli/backup.ts';
import { loadConfig } from '../../src/config/config.ts';
import { takeInstanceLock } from '../../src/storage/instance-lock.ts';
import { type Json, readFailure, Workplace } from './support.ts';

async function withSource(name: string): Promise<Workplace> {
  const place = new Workplace();
  await place.json('source', 'create', '--kind', 'scim', '--name', name);
  return place;
}

async function sourceNames(place: Workplace): Promise<unknown[]> {
  const { sources } = await place.json('source', 'list');
  return (sources as Json[]).map(({ name }) => name);
}

describe('rollcall migrate', () => {
  test('makes the tables once', async () => {
    using place = new Workplace();
    const { applied } = await place.json('migrate');
    expect(applied).toContain('0001-init');
    expect(await place.json('migrate')).toEqual({ applied: [] });
  });

  test('refuses a database that a newer release has changed', async () => {
    using place = new Workplace();
    await place.json('migrate');
    using sqlite = new Sqlite(join(place.data, 'rollcall.db'));
    sqlite.run("insert into kysely_migration values ('9999-future', '2030-01-01T00:00:00.000Z')");
    expect(readFailure(await place.run('migrate'))).toBe(
      'The database was written by a newer release of rollcall; start that release, or restore a backup.',
    );
  });

  test('leaves the tables alone while a service on the former ones runs', async () => {
    using place = new Workplace();
    mkdirSync(place.data);
    writeFileSync(join(place.data, 'rollcall.db'), '');
    const lock = takeInstanceLock(join(place.data, 'serve.lock'));
    expect(readFailure(await place.run('migrate'))).toBe(
      'The database needs an upgrade and an older rollcall is serving it; stop that one first.',
    );
    lock?.release();
    expect((await place.json('migrate')).applied).toContain('0001-init');
  }, 20_000);
});

describe('rollcall doctor', () => {
  function wrong(stdout: string): unknown[] {
    const { checks } = JSON.parse(stdout) as { checks: Json[] };
    return checks.filter(({ passed }) => passed === false).map(({ name }) => name);
  }

  test('finds nothing wrong with a new folder', async () => {
    using place = await withSource('Okta');
    const { passed, checks } = await place.json('doctor');
    expect(passed).toBe(true);
    const names = (checks as Json[]).map(({ name }) => name);
    expect(names).toEqual([
      'data folder',
      'secret key',
      'free space',
      'database',
      'tables',
      'counts',
      'key',
      'brake',
      'service',
    ]);
  });

  const damages: [what: string, damage: (data: string) => void, found: string[]][] = [
    ['a folder that others may read', (data) => chmodSync(data, 0o755), ['data folder']],
    ['a key that others may read', (data) => chmodSync(join(data, 'secret.key'), 0o644), ['secret key']],
    ['another key', (data) => writeFileSync(join(data, 'secret.key'), 'ab'.repeat(32)), ['key']],
    ['a missing key', (data) => rmSync(join(data, 'secret.key')), ['secret key', 'key']],
    ['a missing database', (data) => rmSync(join(data, 'rollcall.db')), ['database']],
    [
      'a damaged database',
      (data) => writeFileSync(join(data, 'rollcall.db'), 'x'.repeat(8_192)),
      ['database'],
    ],
    ['a list that says another length', (data) => miscount(join(data, 'rollcall.db')), ['counts']],
    ['a missing folder', (data) => rmSync(data, { recursive: true }), ['data folder']],
  ];
  test.each(damages)('finds %s, and changes nothing', async (_what, damage, found) => {
    using place = await withSource('Okta');
    damage(place.data);
    const before = existsSync(place.data) ? readdirSync(place.data).toSorted() : [];
    const { status, stdout, stderr } = await place.run('doctor', '--json');
    expect(wrong(stdout)).toEqual(found);
    expect(status).toBe(1);
    expect(stderr).toMatch(/^rollcall: \d of \d checks found something wrong\.\n$/);
    const after = existsSync(place.data) ? readdirSync(place.data) : [];
    expect(after.filter((name) => !/\.db-(wal|shm)$/.test(name)).toSorted()).toEqual(before);
  });
});

function miscount(path: string): void {
  using database = new Sqlite(path);
  database.run("insert into resource_block (resource_type, block, live) values ('User', 0, 7)");
}

describe('rollcall backup and restore', () => {
  test('bring back what there was, and keep what was replaced', async () => {
    using place = await withSource('first');
    const copy = join(place.folder, 'copy.db');
    expect(await place.json('backup', copy)).toEqual({ file: copy, bytes: statSync(copy).size });
    expect(statSync(copy).mode & 0o777).toBe(0o600);
    await place.json('source', 'create', '--kind', 'scim', '--name', 'second');
    const { former } = await place.json('restore', copy);
    expect(await sourceNames(place)).toEqual(['first']);
    expect(await place.json('restore', String(former))).toMatchObject({ restored: former });
    expect(await sourceNames(place)).toEqual(['first', 'second']);
  });

  test('restore keeps the log of a database that was not closed', async () => {
    using place = await withSource('first');
    const copy = join(place.folder, 'copy.db');
    await place.json('backup', copy);
    // An open connection keeps the write-ahead log in being, as a crash would.
    using open = new Sqlite(join(place.data, 'rollcall.db'));
    open.query('select count(*) from source').get();
    await place.json('source', 'create', '--kind', 'scim', '--name', 'second');
    const { former } = await place.json('restore', copy);
    using kept = new Sqlite(String(former), { readonly: true });
    expect(kept.query('select count(*) as n from source').get()).toEqual({ n: 2 });
  });

  test('a restore that fails in the middle leaves the former database whole, with all that its log holds', async () => {
    using place = await withSource('first');
    const copy = join(place.folder, 'copy.db');
    await place.json('backup', copy);
    using open = new Sqlite(join(place.data, 'rollcall.db'));
    open.query('select count(*) from source').get();
    await place.json('source', 'create', '--kind', 'scim', '--name', 'second');
    expect(statSync(join(place.data, 'rollcall.db-wal')).size).toBeGreaterThan(0);
    const now = new Date('2030-01-01T00:00:00.000Z');
    // In the place where the former database is to be kept is something else.
    mkdirSync(join(place.data, 'rollcall.db.before-2030-01-01T00-00-00-000Z'));
    const sources = { flags: { data: place.data }, environment: {}, folder: place.folder };
    const { config } = loadConfig(sources);
    await expect(restore(config, copy, now)).rejects.toMatchObject({ kind: 'invalidValue' });
    expect(await sourceNames(place)).toEqual(['first', 'second']);
  });

  test('restore takes the place of a database that is not sound, and keeps it with its log', async () => {
    using place = await withSource('first');
    const copy = join(place.folder, 'copy.db');
    await place.json('backup', copy);
    writeFileSync(join(place.data, 'rollcall.db'), 'x'.repeat(8_192));
    writeFileSync(join(place.data, 'rollcall.db-wal'), 'y'.repeat(100));
    const former = String((await place.json('restore', copy)).former);
    expect(await sourceNames(place)).toEqual(['first']);
    expect(statSync(former).size).toBe(8_192);
    expect(statSync(`${former}-wal`).size).toBe(100);
  });

  test('backup writes over no file', async () => {
    using place = await withSource('first');
    const copy = join(place.folder, 'copy.db');
    writeFileSync(copy, 'mine');
    expect(readFailure(await place.run('backup', copy))).toBe(
      `There is a file at ${copy} already; name another.`,
    );
    expect(statSync(copy).size).toBe(4);
  });

  test('restore refuses what is not there or not sound, and leaves the database as it is', async () => {
    using place = await withSource('first');
    const copy = join(place.folder, 'copy.db');
    expect(readFailure(await place.run('restore', copy))).toBe(`There is no database at ${copy}.`);
    writeFileSync(copy, 'x'.repeat(8_192));
    expect(readFailure(await place.run('restore', copy))).toBe(
      `The backup ${copy} is not sound: file is not a database.`,
    );
    expect(await sourceNames(place)).toEqual(['first']);
  });

  test('restore refuses a database of another program', async () => {
    using place = await withSource('first');
    const copy = join(place.folder, 'copy.db');
    using other = new Sqlite(copy, { create: true });
    other.run('create table user (id integer)');
    expect((await place.run('restore', copy)).status).toBe(1);
    expect(await sourceNames(place)).toEqual(['first']);
    expect(readdirSync(place.data).filter((name) => name.includes('restoring'))).toEqual([]);
  });

  test('restore refuses while the folder is served', async () => {
    using place = await withSource('first');
    const copy = join(place.folder, 'copy.db');
    await place.json('backup', copy);
    const lock = takeInstanceLock(join(place.data, 'serve.lock'));
    const outcome = await place.run('restore', copy);
    lock?.release();
    expect(readFailure(outcome)).toBe(
      `The data folder ${place.data} is being served; stop the service first.`,
    );
  });
});
