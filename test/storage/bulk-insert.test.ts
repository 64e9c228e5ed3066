import { describe, expect, test } from 'bun:test';
import { bulkInsert } from '../../src/storage/bulk-insert.ts';
import { dialects, openTestDatabase } from '../support/database.ts';

const insertSettings = bulkInsert('setting', ['key', 'value']);
const upsertSettings = bulkInsert('setting', ['key', 'value'], (insert) =>
  insert.onConflict((conflict) =>
    conflict.column('key').doUpdateSet((row) => ({ value: row.ref('excluded.value') })),
  ),
);
const rowsOf = (count: number, value = 'v') =>
  Array.from({ length: count }, (_, i) => ({ key: `k${i}`, value: `${value}${i}` }));

for (const dialect of dialects()) {
  describe(`bulkInsert on ${dialect}`, () => {
    test.each([0, 1, 3, 64, 65, 150])('inserts %d rows, each with its own values', async (count) => {
      await using place = await openTestDatabase(dialect);
      const { database } = place;
      await database.write((tx) => insertSettings(tx, rowsOf(count)));
      const found = await database.read.selectFrom('setting').selectAll().execute();
      const byKey = (a: { key: string }, b: { key: string }) => (a.key < b.key ? -1 : 1);
      expect(found.toSorted(byKey)).toEqual(rowsOf(count).toSorted(byKey));
    });

    test('does what follows the values, with the values of this call', async () => {
      await using place = await openTestDatabase(dialect);
      const { database } = place;
      await database.write((tx) => insertSettings(tx, rowsOf(70)));
      await database.write((tx) => upsertSettings(tx, rowsOf(80, 'w')));
      const found = await database.read.selectFrom('setting').selectAll().execute();
      expect(found.filter((row) => row.value.startsWith('w'))).toHaveLength(80);
    });

    test('is undone with its transaction', async () => {
      await using place = await openTestDatabase(dialect);
      const { database } = place;
      const writing = database.write(async (tx) => {
        await insertSettings(tx, rowsOf(10));
        throw new Error('no');
      });
      await expect(writing).rejects.toThrow('no');
      expect(await database.read.selectFrom('setting').selectAll().execute()).toEqual([]);
    });
  });
}
