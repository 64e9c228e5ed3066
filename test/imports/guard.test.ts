import { describe, expect, test } from 'bun:test';
import { type GuardNumbers, guardReason } from '../../src/imports/guard.ts';
import { openImportHouse, profileXml, strictGuard, userXml } from './support.ts';

const limits = { guardPercent: 15, guardMinimum: 10, guardShrinkPercent: 30, guardErrorPercent: 10 };
const calm: GuardNumbers = { activeUsers: 100, ending: 0, records: 100, recordsInError: 0, lastUsers: 100 };

describe('guardReason', () => {
  const held: readonly (readonly [string, Partial<GuardNumbers>])[] = [
    ['ten of few users end', { activeUsers: 20, ending: 10 }],
    ['fifteen per cent of many users end', { activeUsers: 1_000, ending: 150 }],
    ['a file has thirty per cent fewer users', { records: 70 }],
    ['more than ten per cent of records are in error', { recordsInError: 11 }],
  ];
  test.each(held)('speaks when %s', (_what, numbers) => {
    expect(guardReason({ ...calm, ...numbers }, limits, { id: 15, dryRun: false })).toStartWith(
      'The import waits for approval: ',
    );
  });

  const passed: readonly (readonly [string, Partial<GuardNumbers>])[] = [
    ['nothing ends', {}],
    ['nine of few users end', { activeUsers: 20, ending: 9 }],
    ['fewer than fifteen per cent of many end', { activeUsers: 1_000, ending: 149 }],
    ['a file has twenty-nine per cent fewer users', { records: 71 }],
    ['there is no earlier full file', { records: 1, lastUsers: undefined }],
    ['exactly ten per cent of records are in error', { recordsInError: 10 }],
    ['a first file creates everybody', { activeUsers: 0, records: 50_000, lastUsers: undefined }],
  ];
  test.each(passed)('is silent when %s', (_what, numbers) => {
    expect(guardReason({ ...calm, ...numbers }, limits, { id: 15, dryRun: false })).toBeUndefined();
  });

  test('is silent about a run that ends nobody, even without any minimum', () => {
    expect(
      guardReason(calm, { ...limits, guardMinimum: 0, guardPercent: 0 }, { id: 15, dryRun: false }),
    ).toBeUndefined();
  });

  test('names every reason with its numbers', () => {
    const reason = guardReason(
      { activeUsers: 100, ending: 40, records: 50, recordsInError: 6, lastUsers: 90 },
      limits,
      { id: 15, dryRun: false },
    );
    expect(reason).toBe(
      'The import waits for approval: it would disable or archive 40 of 100 active users (limit 15); the file has 50 users, the last one had 90 (limit 30 % fewer); 6 of 50 records are in error (limit 10 %). "rollcall run approve 15" lets it go on, "rollcall run reject 15" ends it.',
    );
  });
});

describe('the guard', () => {
  test('compares a full file with the last full one, however many deltas came since', async () => {
    await using house = await openImportHouse({
      settings: { ...strictGuard, actionMissingDeletedUsers: 'x' },
    });
    const full = (count: number) =>
      profileXml(Array.from({ length: count }, (_, n) => userXml(`p${n}`, `user${n}`)));
    await house.queue(full(10));
    await house.processor().drain();
    for (let n = 0; n < 60; n += 1) await house.queue(full(1));
    await house.database.write((tx) =>
      tx
        .updateTable('import_run')
        .set({ status: 'completed', options: '{"mode":"delta"}', document: null })
        .where('id', '>', 1)
        .execute(),
    );
    const id = await house.queue(full(5));
    await house.processor().drain();
    expect(await house.runs.get(id)).toMatchObject({
      status: 'awaiting-approval',
      message: expect.stringContaining('the file has 5 users, the last one had 10'),
    });
  });
});

test('a dry run that would be held says so, and offers no decision', () => {
  const run = { id: 15, dryRun: true };
  const reason = guardReason({ ...calm, activeUsers: 100, ending: 40 }, limits, run);
  expect(reason).toBe(
    'It would have to wait for approval: it would disable or archive 40 of 100 active users (limit 15).',
  );
});
