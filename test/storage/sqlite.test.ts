import { Database as Sqlite } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { sql } from 'kysely';
import type { Database, Reader } from '../../src/storage/database.ts';
import { migrateToLatest } from '../../src/storage/migrate.ts';
import { openSqlite } from '../../src/storage/sqlite.ts';
import { emptyDatabase, openTestDatabase } from '../support/database.ts';

async function pragma(db: Reader, name: string): Promise<unknown> {
  const { rows } = await sql<Record<string, unknown>>`${sql.raw(`pragma ${name}`)}`.execute(db);
  return Object.values(rows[0] ?? {})[0];
}

async function pragmas(db: Reader, names: readonly string[]): Promise<Record<string, unknown>> {
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await pragma(db, name)])));
}

describe('openSqlite', () => {
  test('writes with the settings that a durable commit needs', async () => {
    await using place = await openTestDatabase('sqlite');
    const wanted = {
      journal_mode: 'wal',
      synchronous: 2,
      foreign_keys: 1,
      trusted_schema: 0,
      cell_size_check: 1,
      mmap_size: 0,
      busy_timeout: 0,
      secure_delete: 2,
    };
    const writer = place.database.migrator as Reader;
    await place.database.write(async () => undefined);
    expect(await pragmas(writer, Object.keys(wanted))).toEqual(wanted);
  });

  test('gives readers a connection that refuses to write', async () => {
    await using place = await openTestDatabase('sqlite');
    const write = place.database.read.insertInto('setting').values({ key: 'a', value: 'b' }).execute();
    await expect(write).rejects.toThrow('readonly');
  });

  test('shows readers nothing before the commit', async () => {
    await using place = await openTestDatabase('sqlite');
    const { database } = place;
    await database.write(async (tx) => {
      await tx.insertInto('setting').values({ key: 'a', value: 'b' }).execute();
      expect(await database.read.selectFrom('setting').selectAll().execute()).toEqual([]);
    });
    expect(await database.read.selectFrom('setting').selectAll().execute()).toHaveLength(1);
  });

  test('keeps at most 512 statements prepared and answers all the same', async () => {
    await using place = await openTestDatabase('sqlite');
    for (let number = 0; number < 1_100; number += 1) {
      const { rows } = await sql`${sql.raw(`select ${number} as number`)}`.execute(place.database.read);
      expect(rows).toEqual([{ number }]);
    }
  });
});

describe('Database.write on a locked SQLite file', () => {
  test('waits for another process without stopping the event loop', async () => {
    await using place = await openTestDatabase('sqlite');
    const other = new Sqlite(place.location);
    other.run('BEGIN IMMEDIATE');
    const write = place.database.write(async () => 'written');
    let beats = 0;
    const heart = setInterval(() => {
      beats += 1;
    }, 1);
    while (beats < 10) await Bun.sleep(1);
    clearInterval(heart);
    expect(await Promise.race([write, 'waiting'])).toBe('waiting');
    other.run('COMMIT');
    other.close();
    expect(await write).toBe('written');
  });

  test('answers unavailable when the lock is kept beyond the limit, and writes once it is free', async () => {
    await using place = await openTestDatabase('sqlite');
    const database = openSqlite({ path: place.location, lockWaitMsMax: 20 });
    const other = new Sqlite(place.location);
    other.run('BEGIN IMMEDIATE');
    await expect(database.write(async () => 1)).rejects.toMatchObject({
      kind: 'unavailable',
      retryAfterSeconds: 2,
    });
    other.close();
    expect(await database.write(async () => 2)).toBe(2);
    await database.close();
  });
});

describe('Database.write on a full disk', () => {
  test('answers storageFull, keeps what is there and writes again when there is room', async () => {
    await using place = await emptyDatabase('sqlite');
    const database = openSqlite({ path: place.location });
    await migrateToLatest(database);
    const writer = database.migrator as Reader;
    const fill = (key: string) =>
      database.write((tx) =>
        tx
          .insertInto('setting')
          .values({ key, value: 'x'.repeat(200_000) })
          .execute(),
      );
    await fill('before');
    const pages = await pragma(writer, 'page_count');
    await pragma(writer, `max_page_count = ${pages}`);
    const outcomes = await Promise.allSettled([
      fill('one'),
      fill('two'),
      database.write((tx) => tx.selectFrom('setting').select('key').execute()),
    ]);
    for (const outcome of outcomes.slice(0, 2)) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { kind: 'storageFull' } });
    }
    await pragma(writer, 'max_page_count = 1000000');
    await fill('after');
    const keys = await database.read.selectFrom('setting').select('key').orderBy('key').execute();
    expect(keys.map((row) => row.key)).toEqual(['after', 'before']);
    await database.close();
  });
});

describe('Database.close on SQLite', () => {
  test('lets go of connections that nothing has used yet', async () => {
    await using place = await emptyDatabase('sqlite');
    const database = openSqlite({ path: place.location });
    await database.close();
    await expect(database.read.selectFrom('setting').selectAll().execute()).rejects.toThrow('closed');
  });
});

/** How many commits have written to the log, of its index: each of them is synced unless it is a step. */
function commitsIn(location: string): number {
  return readFileSync(`${location}-shm`).readUInt32LE(8);
}

describe('Database.write that changes nothing on SQLite', () => {
  const step = (database: Database, key: string) =>
    database.writeStep((tx) => tx.insertInto('setting').values({ key, value: 'x' }).execute());
  const look = (database: Database) =>
    database.write((tx) => tx.selectFrom('setting').select('key').execute());

  /** Commits to the log that each of `writes` has added. */
  async function commitsOf(location: string, writes: readonly (() => Promise<unknown>)[]): Promise<number[]> {
    const added: number[] = [];
    for (const write of writes) {
      const before = commitsIn(location);
      await write();
      added.push(commitsIn(location) - before);
    }
    return added;
  }

  test('makes the step before it durable by a commit of its own, once', async () => {
    await using place = await openTestDatabase('sqlite');
    const { database, location } = place;
    await step(database, 'a');
    expect(await commitsOf(location, [() => look(database), () => look(database)])).toEqual([1, 0]);
  });

  test('does so after a turn was lent, in which another process may have left a step', async () => {
    await using place = await openTestDatabase('sqlite');
    const { database, location } = place;
    await step(database, 'a');
    await look(database);
    await database.lendTurn(async () => undefined);
    expect(await commitsOf(location, [() => look(database), () => look(database)])).toEqual([1, 0]);
  });

  test('does so first of all, for a process that was killed may have left a step', async () => {
    await using place = await openTestDatabase('sqlite');
    await step(place.database, 'a');
    const next = openSqlite({ path: place.location });
    expect(await commitsOf(place.location, [() => look(next), () => look(next)])).toEqual([1, 0]);
    await next.close();
  });

  test('does so in every borrowed turn, for whoever wrote before may have left a step', async () => {
    await using place = await openTestDatabase('sqlite');
    const turn = { isWanted: false, giveBack: () => undefined };
    const borrower = openSqlite({ path: place.location, takeTurn: async () => turn });
    await look(borrower);
    await step(place.database, 'a');
    expect(await commitsOf(place.location, [() => look(borrower)])).toEqual([1]);
    await borrower.close();
  });

  test('still owes it after a write that was undone', async () => {
    await using place = await openTestDatabase('sqlite');
    const { database, location } = place;
    await step(database, 'a');
    const undone = database.write(() => Promise.reject(new Error('no')));
    await expect(undone).rejects.toThrow('no');
    expect(await commitsOf(location, [() => look(database)])).toEqual([1]);
  });

  test('costs nothing in a step: that owes nobody anything', async () => {
    await using place = await openTestDatabase('sqlite');
    const { database, location } = place;
    await step(database, 'a');
    expect(await commitsOf(location, [() => database.writeStep(async () => undefined)])).toEqual([0]);
  });
});
