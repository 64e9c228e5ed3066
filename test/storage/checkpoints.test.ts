import { Database as Sqlite } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Checkpoints } from '../../src/storage/checkpoints.ts';

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
  const checkpoints = new Checkpoints(place.sqlite, true);
  place.fill();
  expect(place.bytes()).toBeLessThan(100_000);
  checkpoints.ended();
  while (place.bytes() < 100_000) await Bun.sleep(10);
  checkpoints.stop();
});

test('a borrower whose time comes within a transaction waits for its end', async () => {
  using place = openLogged();
  const checkpoints = new Checkpoints(place.sqlite, true);
  place.fill();
  checkpoints.ended();
  checkpoints.beforeBegin();
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
  const checkpoints = new Checkpoints(place.sqlite, false);
  const pages = () => place.sqlite.query('PRAGMA wal_autocheckpoint').values()[0]?.[0];
  place.sqlite.run('PRAGMA wal_autocheckpoint = 1000');
  checkpoints.lending();
  checkpoints.beforeBegin();
  expect(pages()).toBe(0);
  checkpoints.ended();
  checkpoints.idle();
  expect(place.bytes()).toBeLessThan(100_000);
});

test('a log that cannot be brought in ends nothing', async () => {
  const sqlite = new Sqlite(':memory:');
  const checkpoints = new Checkpoints(sqlite, true);
  checkpoints.ended();
  sqlite.close();
  await Bun.sleep(1_200);
  checkpoints.ended();
  checkpoints.idle();
  checkpoints.stop();
});
