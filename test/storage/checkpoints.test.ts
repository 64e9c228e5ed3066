import { Database as Sqlite } from 'bun:sqlite';
import { describe, expect, spyOn, test } from 'bun:test';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Checkpoints } from '../../src/storage/checkpoints.ts';
import { openSqlite } from '../../src/storage/sqlite.ts';
import { openTestDatabase } from '../support/database.ts';

function never(error: unknown): never {
  throw error;
}

function openLogged() {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-checkpoints-'));
  const path = join(folder, 'x.db');
  const sqlite = new Sqlite(path, { create: true, strict: true });
  sqlite.run('PRAGMA journal_mode = wal');
  sqlite.run('PRAGMA wal_autocheckpoint = 0');
  sqlite.run('CREATE TABLE text (value text)');
  const fill = () => sqlite.run('INSERT INTO text VALUES (?)', ['x'.repeat(100_000)]);
  const bytes = () => statSync(path).size;
  return {
    sqlite,
    fill,
    bytes,
    [Symbol.dispose]() {
      sqlite.close();
      rmSync(folder, { recursive: true });
    },
  };
}

test('a borrower brings the log into the database a while after its transaction has ended', async () => {
  using place = openLogged();
  const checkpoints = new Checkpoints(place.sqlite, { isBorrower: true, onFatal: never });
  place.fill();
  expect(place.bytes()).toBeLessThan(100_000);
  checkpoints.ended();
  while (place.bytes() < 100_000) await Bun.sleep(10);
  checkpoints.stop();
});

test('a borrower whose time comes within a transaction waits for its end', async () => {
  using place = openLogged();
  const checkpoints = new Checkpoints(place.sqlite, { isBorrower: true, onFatal: never });
  place.fill();
  checkpoints.ended();
  checkpoints.beforeBegin(true);
  place.sqlite.run('BEGIN');
  await Bun.sleep(1_200);
  expect(place.bytes()).toBeLessThan(100_000);
  place.sqlite.run('COMMIT');
  checkpoints.ended();
  checkpoints.idle();
  expect(place.bytes()).toBeGreaterThan(100_000);
  checkpoints.stop();
});

test('an owner leaves the log alone, and has commits bring it in but while it lends turns', () => {
  using place = openLogged();
  const checkpoints = new Checkpoints(place.sqlite, { isBorrower: false, onFatal: never });
  const pages = () => place.sqlite.query('PRAGMA wal_autocheckpoint').values()[0]?.[0];
  place.sqlite.run('PRAGMA wal_autocheckpoint = 1000');
  checkpoints.lending();
  checkpoints.beforeBegin(true);
  expect(pages()).toBe(0);
  checkpoints.ended();
  checkpoints.idle();
  expect(place.bytes()).toBeLessThan(100_000);
});

test('an owner whose steps are not synced brings in the log itself, where a failed sync is seen', async () => {
  using place = openLogged();
  const checkpoints = new Checkpoints(place.sqlite, { isBorrower: false, onFatal: never });
  const pages = () => place.sqlite.query('PRAGMA wal_autocheckpoint').values()[0]?.[0];
  checkpoints.beforeBegin(false);
  expect(pages()).toBe(0);
  place.fill();
  checkpoints.ended();
  while (place.bytes() < 100_000) await Bun.sleep(10);
  checkpoints.beforeBegin(true);
  expect(pages()).toBe(1_000);
  checkpoints.ended();
  checkpoints.stop();
});

/** From here on every checkpoint fails with `code`, on every connection. */
function failCheckpoints(code: string): Disposable & { readonly count: number } {
  const query = Sqlite.prototype.query;
  let count = 0;
  const spy = spyOn(Sqlite.prototype, 'query').mockImplementation(function (this: Sqlite, text: string) {
    if (!text.includes('wal_checkpoint')) return query.call(this, text);
    count += 1;
    throw Object.assign(new Error('the disk says no'), { code });
  } as typeof query);
  return {
    get count() {
      return count;
    },
    [Symbol.dispose]: () => spy.mockRestore(),
  };
}

const turn = { isWanted: false, giveBack: () => undefined };
const roles = [
  ['the owner of turns', {}],
  ['a borrower of turns', { takeTurn: async () => turn }],
] as const;

describe.each(roles)('a log that %s cannot bring in', (_, role) => {
  test('because a sync has failed is fatal: nothing is acknowledged after it', async () => {
    await using place = await openTestDatabase('sqlite');
    const fatal: unknown[] = [];
    const database = openSqlite({ path: place.location, ...role, onFatal: (error) => fatal.push(error) });
    using _failing = failCheckpoints('SQLITE_IOERR_FSYNC');
    await database.writeStep((tx) => tx.insertInto('setting').values({ key: 'a', value: 'b' }).execute());
    while (fatal.length === 0) await Bun.sleep(10);
    expect(fatal).toEqual([expect.objectContaining({ code: 'SQLITE_IOERR_FSYNC' })]);
    await expect(database.write(async () => 'acknowledged')).rejects.toMatchObject({
      cause: { code: 'SQLITE_IOERR_FSYNC' },
    });
    await database.close();
  });

  test.each(['SQLITE_BUSY', 'SQLITE_FULL'])('because of %s stays where it is until later', async (code) => {
    await using place = await openTestDatabase('sqlite');
    const fatal: unknown[] = [];
    const database = openSqlite({ path: place.location, ...role, onFatal: (error) => fatal.push(error) });
    using failing = failCheckpoints(code);
    await database.writeStep((tx) => tx.insertInto('setting').values({ key: 'a', value: 'b' }).execute());
    while (failing.count === 0) await Bun.sleep(10);
    expect(await database.write(async () => 'acknowledged')).toBe('acknowledged');
    expect(fatal).toEqual([]);
    await database.close();
  });
});
