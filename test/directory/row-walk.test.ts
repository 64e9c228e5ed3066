import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { DirectoryContext } from '../../src/directory/context.ts';
import { FirstRows, type RankedRow, rankOrder } from '../../src/directory/first-rows.ts';
import { readFilter } from '../../src/resource/filter-resolve.ts';
import { openTestApp, type TestApp } from '../support/app.ts';
import { dialects } from '../support/database.ts';

describe('FirstRows', () => {
  test('keeps of any rows the first ones in their order', async () => {
    const key = fc.oneof(
      fc.constant(null),
      fc.constantFrom('a', 'b', 'z\u{1F600}', 'z\u{FF5E}'),
      fc.integer({ min: -3, max: 3 }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(key, { maxLength: 30 }), { maxLength: 20 }),
        fc.boolean(),
        fc.integer({ min: 0, max: 40 }),
        async (keys, isDescending, max) => {
          let id = 0;
          const runs: RankedRow[][] = keys.map((run) => run.map((each) => ({ id: ++id, key: each })));
          const order = rankOrder(isDescending);
          const first = new FirstRows(order, max);
          for (const run of runs) await first.add(run);
          expect(await first.sorted()).toEqual(runs.flat().toSorted(order).slice(0, max));
        },
      ),
    );
  });

  test('holds no more than about twice as many as it keeps', async () => {
    const order = rankOrder(false);
    const first = new FirstRows(order, 10);
    for (let run = 0; run < 60; run += 1)
      await first.add(
        Array.from({ length: 2_048 }, (_, index) => ({
          id: run * 2_048 + index + 1,
          key: (index * 7_919 + run) % 1_009,
        })),
      );
    const kept = await first.sorted();
    expect(kept).toHaveLength(10);
    expect(kept.every((row) => row.key === 0)).toBe(true);
  });
});

async function openWithMany(dialect: 'sqlite' | 'postgres'): Promise<TestApp> {
  const app = await openTestApp({ dialect });
  await app.addSource('Other');
  await app.database.write(async (tx) => {
    for (let start = 1; start <= 9_000; start += 500) {
      const users = Array.from({ length: 500 }, (_, index) => ({
        id: start + index,
        state: 'active' as const,
        owner_source_id: 1,
        user_name: `u${start + index}`,
        user_name_key: `u${start + index}`,
        display_name: 'x',
        document: '{"title":"common"}',
        do_not_synchronise: 0 as const,
        version: 1,
        created: '2030-01-01T00:00:00.000Z',
        modified: '2030-01-01T00:00:00.000Z',
      }));
      await tx.insertInto('user').values(users).execute();
    }
  });
  return app;
}

async function contextOf(app: TestApp, sourceId: number): Promise<DirectoryContext> {
  return {
    actor: { kind: 'source', id: sourceId },
    sourceId,
    scope: 'all',
    unknownReferences: 'reject',
    requestId: null,
    runId: null,
    configuration: await app.configurations.current(),
    now: '2030-01-01T00:00:00.000Z',
  };
}

describe.each(dialects())('queries that look at everything, on %s', (dialect) => {
  test('of one source leave room for those of another', async () => {
    await using app = await openWithMany(dialect);
    const [first, second] = [await contextOf(app, 1), await contextOf(app, 2)];
    const { filter } = readFilter(first.configuration.userType, 'title eq "common"');
    const ask = (context: DirectoryContext) =>
      app.people.queryRows(context, { filter, startIndex: 1, count: 10 });
    const finished: string[] = [];
    const crowd = Array.from({ length: 80 }, () => ask(first).then(() => finished.push('first')));
    const guest = ask(second).then((selection) => {
      finished.push('second');
      return selection;
    });
    const outcomes = await Promise.allSettled(crowd);
    expect(await guest).toMatchObject({ totalResults: 9_000 });
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(refused.length).toBeGreaterThan(0);
    for (const { reason } of refused)
      expect(reason).toMatchObject({ kind: 'unavailable', retryAfterSeconds: 2 });
    // Many walks of the first source stood in line before it.
    expect(finished.indexOf('second')).toBeLessThan(finished.length - 1);
  }, 60_000);

  test('end when their client has gone', async () => {
    await using app = await openWithMany(dialect);
    const client = new AbortController();
    const context = { ...(await contextOf(app, 1)), signal: client.signal };
    const { filter } = readFilter(context.configuration.userType, 'title eq "common"');
    const asked = app.people.queryRows(context, { filter, startIndex: 1, count: 10 });
    client.abort();
    expect(await asked.catch((error: Error) => error.name)).toBe('AbortError');
  });
});
