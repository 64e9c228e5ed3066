import { describe, expect, test } from 'bun:test';
import { settledJournalSeq } from '../../src/directory/journal-horizon-store.ts';
import type { Database, Tx } from '../../src/storage/database.ts';
import { dialects, openTestDatabase } from '../support/database.ts';

/** As every change is journalled: after it has been written. */
async function append(tx: Tx): Promise<number> {
  const id = crypto.randomUUID();
  await tx.insertInto('setting').values({ key: id, value: '' }).execute();
  const row = await tx
    .insertInto('journal')
    .values({
      time: '2030-01-01T00:00:00.000Z',
      actor_kind: 'system',
      actor_id: null,
      request_id: null,
      run_id: null,
      resource_type: 'User',
      resource_id: 1,
      action: 'update',
      before: null,
      after: null,
    })
    .returning('seq')
    .executeTakeFirstOrThrow();
  return row.seq;
}

async function seqs(database: Database): Promise<number[]> {
  const rows = await database.read.selectFrom('journal').select('seq').orderBy('seq').execute();
  return rows.map((row) => row.seq);
}

describe.each(dialects())('settledJournalSeq on %s', (dialect) => {
  test('is 0 for an empty journal, and the last row of one that nobody is writing', async () => {
    await using place = await openTestDatabase(dialect);
    const { database } = place;
    expect(await settledJournalSeq(database.read)).toBe(0);
    await database.write(append);
    const last = await database.write(append);
    expect(await settledJournalSeq(database.read)).toBe(last);
  });

  test('names no number below which a row appears later, while many write', async () => {
    await using place = await openTestDatabase(dialect);
    const { database } = place;
    const writers = Array.from({ length: 40 }, (_, index) =>
      database.write(async (tx) => {
        await append(tx);
        // Those who began first end last.
        if (dialect === 'postgres') await Bun.sleep((40 - index) % 7);
        await append(tx);
      }),
    );
    const seen: { readonly upTo: number; readonly rows: number[] }[] = [];
    for (let look = 0; look < 10; look += 1) {
      const upTo = await settledJournalSeq(database.read);
      seen.push({ upTo, rows: (await seqs(database)).filter((seq) => seq <= upTo) });
    }
    await Promise.all(writers);
    const all = await seqs(database);
    for (const { upTo, rows } of seen) expect(rows).toEqual(all.filter((seq) => seq <= upTo));
    expect(await settledJournalSeq(database.read)).toBe(all.at(-1) ?? 0);
  });
});

describe('settledJournalSeq on PostgreSQL', () => {
  const only = dialects().filter((dialect) => dialect === 'postgres');

  test.each(only)('waits for a change that has its number and is not committed yet (%s)', async (dialect) => {
    await using place = await openTestDatabase(dialect);
    const { database } = place;
    const [numbered, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const slow = database.write(async (tx) => {
      const seq = await append(tx);
      numbered.resolve();
      await ended.promise;
      return seq;
    });
    await numbered.promise;
    const later = await database.write(append);
    let isSettled = false;
    const settled = settledJournalSeq(database.read).then((seq) => {
      isSettled = true;
      return seq;
    });
    await Bun.sleep(50);
    expect(isSettled).toBe(false);
    ended.resolve();
    expect(await slow).toBeLessThan(later);
    expect(await settled).toBe(later);
  });
});
