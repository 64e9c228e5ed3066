import { describe, expect, test } from 'bun:test';
import { sql } from 'kysely';
import { brokenUniqueRule, StaleRead } from '../../src/storage/constraints.ts';
import type { Database, Tx } from '../../src/storage/database.ts';
import { inNumbers, inTexts } from '../../src/storage/list-parameter.ts';
import { openPostgres } from '../../src/storage/postgres.ts';
import { reserveIds } from '../../src/storage/sequence-store.ts';
import { statement } from '../../src/storage/statement.ts';
import { dialects, openTestDatabase } from '../support/database.ts';

const now = '2030-01-01T00:00:00.000Z';

function userRow(id: number, key: string) {
  return {
    id,
    state: 'active' as const,
    owner_source_id: null,
    user_name: key,
    user_name_key: key,
    display_name: key,
    display_name_key: null,
    family_name_key: null,
    employee_number_key: null,
    manager_id: null,
    password_hash: null,
    do_not_synchronise: 0 as const,
    document: '{}',
    version: 1,
    created: now,
    modified: now,
  };
}

function insertUser(tx: Tx, id: number, key: string) {
  return tx.insertInto('user').values(userRow(id, key)).execute();
}

async function userNames(database: Database): Promise<string[]> {
  const rows = await database.read.selectFrom('user').select('user_name').orderBy('id').execute();
  return rows.map((row) => row.user_name);
}

describe.each(dialects())('Database.write on %s', (dialect) => {
  test('commits what the work has written, and returns its value', async () => {
    await using place = await openTestDatabase(dialect);
    expect(await place.database.write(async (tx) => insertUser(tx, 1, 'ann').then(() => 'done'))).toBe(
      'done',
    );
    expect(await userNames(place.database)).toEqual(['ann']);
  });

  test('undoes the work that fails and keeps what was written beside it', async () => {
    await using place = await openTestDatabase(dialect);
    const outcomes = await Promise.allSettled([
      place.database.write((tx) => insertUser(tx, 1, 'ann')),
      place.database.write(async (tx) => {
        await insertUser(tx, 2, 'bob');
        throw new Error('no');
      }),
      place.database.write((tx) => insertUser(tx, 3, 'cid')),
    ]);
    expect(outcomes.map((outcome) => outcome.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await userNames(place.database)).toEqual(['ann', 'cid']);
  });

  test('loses none of many increments that read before they write', async () => {
    await using place = await openTestDatabase(dialect);
    const firsts = await Promise.all(
      Array.from({ length: 100 }, () => place.database.write((tx) => reserveIds(tx, 'User', 2))),
    );
    expect(firsts.toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 100 }, (_, index) => 1 + 2 * index),
    );
  });

  test('gives an id that was reserved and not used to nobody else', async () => {
    await using place = await openTestDatabase(dialect);
    const first = await place.database.write((tx) => reserveIds(tx, 'User', 10));
    expect(await place.database.write((tx) => reserveIds(tx, 'User', 1))).toBe(first + 10);
    expect(await place.database.write((tx) => reserveIds(tx, 'Group', 1))).toBe(1);
  });
});

describe.each(dialects())('brokenUniqueRule on %s', (dialect) => {
  test('names the rule that a write breaks', async () => {
    await using place = await openTestDatabase(dialect);
    const { database } = place;
    await database.write((tx) => insertUser(tx, 1, 'ann'));
    const sameName = database.write((tx) => insertUser(tx, 2, 'ann'));
    expect(await sameName.catch(brokenUniqueRule)).toBe('user_name_live');
    const sameId = database.write((tx) => insertUser(tx, 1, 'bob'));
    expect(await sameId.catch(brokenUniqueRule)).toBe('other');
  });

  test('names the rules of sources, links and groups', async () => {
    await using place = await openTestDatabase(dialect);
    const { database } = place;
    const source = { kind: 'scim' as const, name: 'A', name_key: 'a', active: 1 as const, settings: '{}' };
    const times = { created: now, modified: now };
    const { id } = await database.write((tx) =>
      tx
        .insertInto('source')
        .values({ ...source, ...times })
        .returning('id')
        .executeTakeFirstOrThrow(),
    );
    const link = { source_id: id, resource_type: 'User' as const, external_id: 'e', digest: null };
    const group = {
      state: 'existing' as const,
      owner_source_id: null,
      group_type: 'company',
      document: '{}',
    };
    const named = { display_name: 'G', display_name_key: 'g', version: 1, ...times };
    const insertLink = (resourceId: number) =>
      database.write((tx) =>
        tx
          .insertInto('source_link')
          .values({ ...link, resource_id: resourceId })
          .execute(),
      );
    const insertGroup = (groupId: number, state: 'existing' | 'deleted') =>
      database.write((tx) =>
        tx
          .insertInto('group_')
          .values({ id: groupId, ...group, ...named, state })
          .execute(),
      );
    await insertLink(1);
    await insertGroup(1, 'existing');
    const again = database.write((tx) =>
      tx
        .insertInto('source')
        .values({ ...source, ...times })
        .execute(),
    );
    expect(await again.catch(brokenUniqueRule)).toBe('source_name');
    expect(await insertLink(2).catch(brokenUniqueRule)).toBe('source_link_external');
    expect(await insertGroup(2, 'existing').catch(brokenUniqueRule)).toBe('group_name_live');
    await insertGroup(3, 'deleted');
  });

  test('knows nothing of other failures', () => {
    for (const other of [new Error('x'), undefined, { code: '23502' }, { code: 'SQLITE_BUSY' }])
      expect(brokenUniqueRule(other)).toBeUndefined();
  });
});

describe.each(dialects())('statement on %s', (dialect) => {
  const byId = statement<{ id: number }, { user_name: string }>((db, place) =>
    db.selectFrom('user').select('user_name').where('id', '=', place('id')),
  );

  test('answers each call with its own values, on readers and in transactions', async () => {
    await using place = await openTestDatabase(dialect);
    const { database } = place;
    const seen = await database.write(async (tx) => {
      await insertUser(tx, 1, 'ann');
      await insertUser(tx, 2, 'bob');
      return byId(tx, { id: 2 });
    });
    expect(seen).toEqual([{ user_name: 'bob' }]);
    expect(await byId(database.read, { id: 1 })).toEqual([{ user_name: 'ann' }]);
    expect(await byId(database.read, { id: 3 })).toEqual([]);
  });

  test('is built for each engine once', async () => {
    await using place = await openTestDatabase(dialect);
    let built = 0;
    const counted = statement<{ id: number }, { user_name: string }>((db, at) => {
      built += 1;
      return db.selectFrom('user').select('user_name').where('id', '=', at('id'));
    });
    for (let id = 1; id <= 5; id += 1) await counted(place.database.read, { id });
    expect(built).toBe(1);
  });

  test('takes a list of any length as one parameter', async () => {
    await using place = await openTestDatabase(dialect);
    const { database } = place;
    await database.write(async (tx) => {
      await insertUser(tx, 1, 'ann');
      await insertUser(tx, 2, 'bøb "x"');
    });
    const listed = statement<{ ids: string; keys: string }, { id: number }>((db, at) =>
      db
        .selectFrom('user')
        .select('id')
        .where('id', 'in', inNumbers(db, at('ids')))
        .where('user_name_key', 'in', inTexts(db, at('keys')))
        .orderBy('id'),
    );
    const ids = JSON.stringify([1, 2, ...Array.from({ length: 5_000 }, (_, index) => index + 10)]);
    const keys = JSON.stringify(['ann', 'bøb "x"', "'; drop table user"]);
    expect(await listed(database.read, { ids, keys })).toEqual([{ id: 1 }, { id: 2 }]);
    expect(await listed(database.read, { ids: '[]', keys })).toEqual([]);
  });
});

describe('Database.write on PostgreSQL', () => {
  const only = dialects().filter((dialect) => dialect === 'postgres');

  test.each(only)('runs the work again after a stale read, and gives up in the end (%s)', async (dialect) => {
    await using place = await openTestDatabase(dialect);
    let runs = 0;
    const work = async () => {
      runs += 1;
      if (runs < 3) throw new StaleRead('A row');
      return runs;
    };
    expect(await place.database.write(work)).toBe(3);
    const hopeless = place.database.write(async () => {
      throw new StaleRead('A row');
    });
    await expect(hopeless).rejects.toMatchObject({ kind: 'unavailable' });
  });

  test.each(only)('answers unavailable when the server ends the connection (%s)', async (dialect) => {
    await using place = await openTestDatabase(dialect);
    const write = place.database.write((tx) =>
      sql`select pg_terminate_backend(pg_backend_pid())`.execute(tx),
    );
    await expect(write).rejects.toMatchObject({ kind: 'unavailable' });
    expect(await place.database.write(async () => 'again')).toBe('again');
  });

  test.each(only)('tells of a connection that is lost while nobody uses it (%s)', async (dialect) => {
    await using place = await openTestDatabase(dialect);
    const lost: Error[] = [];
    const database = openPostgres({ url: place.location, onConnectionError: (error) => lost.push(error) });
    try {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(database.read);
      await sql`select pg_terminate_backend(${rows[0]?.pid}::int)`.execute(place.database.read);
      for (let waits = 0; lost.length === 0 && waits < 500; waits += 1) await Bun.sleep(10);
      expect(lost[0]).toMatchObject({ code: '57P01' });
      expect(await database.write(async () => 'again')).toBe('again');
    } finally {
      await database.close();
    }
  });
});
