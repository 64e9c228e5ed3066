import { describe, expect, test } from 'bun:test';
import { sql } from 'kysely';
import { Blocks } from '../../src/directory/blocks.ts';
import type { Database, Reader } from '../../src/storage/database.ts';
import { openTestDatabase } from '../support/database.ts';

/** Users with the ids from 1 to `count`, without every `gap`-th. */
async function insertUsers(database: Database, count: number, gap: number): Promise<void> {
  await database.write(async (tx) => {
    await sql`insert into user (id, state, user_name, user_name_key, display_name, document, version, created, modified)
      with recursive number (id) as (select 1 union all select id + 1 from number where id < ${count})
      select id, 'active', 'u' || id, 'u' || id, '', '{}', 1, '', '' from number where id % ${gap} <> 0`.execute(
      tx,
    );
  });
}

async function archive(database: Database, from: number, to: number): Promise<void> {
  await database.write((tx) =>
    tx.updateTable('user').set({ state: 'archived' }).where('id', '>=', from).where('id', '<=', to).execute(),
  );
}

async function liveIds(db: Reader): Promise<number[]> {
  const rows = await db
    .selectFrom('user')
    .select('id')
    .where('state', '<>', 'archived')
    .orderBy('id')
    .execute();
  return rows.map(({ id }) => id);
}

/** Places at which a block begins or ends, and some between. */
const skips = [0, 1, 7, 8, 9, 2_045, 2_046, 2_047, 2_048, 2_049, 4_000, 4_095, 4_096, 5_999, 6_000, 9_000];

async function expectExact(blocks: Blocks, db: Reader): Promise<void> {
  const ids = await liveIds(db);
  expect(blocks.total(db)).toBe(ids.length);
  for (const skip of [...skips, ids.length - 1, ids.length, ids.length + 1]) {
    for (const count of [1, 8, 100, 5_000])
      expect([skip, count, blocks.ids(db, skip, count)]).toEqual([
        skip,
        count,
        ids.slice(skip, skip + count),
      ]);
  }
}

describe('Blocks', () => {
  test.each([7_000, 2, 3, 64])('knows each page of a list without every %i-th id', async (gap) => {
    await using test = await openTestDatabase('sqlite');
    const { database } = test;
    const blocks = new Blocks();
    expect(blocks.ids(database.read, 0, 10)).toEqual([]);
    await insertUsers(database, 6_500, gap);
    await expectExact(blocks, database.read);
    await archive(database, 2_040, 2_060);
    await expectExact(blocks, database.read);
    await archive(database, 2_048, 4_095);
    await expectExact(blocks, database.read);
    await database.write((tx) =>
      tx.updateTable('user').set({ state: 'active' }).where('id', '=', 3_001).execute(),
    );
    await expectExact(blocks, database.read);
    await archive(database, 1, 7_000);
    await expectExact(blocks, database.read);
  });
});
