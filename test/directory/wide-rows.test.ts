import { describe, expect, spyOn, test } from 'bun:test';
import type { DirectoryContext } from '../../src/directory/context.ts';
import { WideQuestions } from '../../src/directory/filter-sql-wide.ts';
import { groupList } from '../../src/directory/list-store.ts';
import { groupMembers } from '../../src/directory/related-store.ts';
import { looksInWindowMax } from '../../src/directory/row-walk.ts';
import { readFilter } from '../../src/resource/filter-resolve.ts';
import { openTestApp, type TestApp } from '../support/app.ts';
import { dialects } from '../support/database.ts';
import { insertPeople } from '../support/people.ts';

const people = 5_000;

/** Group 1 has everybody; 2 to 7 have 1,000 each, from person 1, 501, 1001 … on; 8 has nobody. */
async function openWithGroups(dialect: 'sqlite' | 'postgres'): Promise<TestApp> {
  const app = await openTestApp({ dialect });
  await insertPeople(app.database, people);
  const sizes = [people, 1_000, 1_000, 1_000, 1_000, 1_000, 1_000, 0];
  for (const [place, count] of sizes.entries()) {
    await app.createGroup({ displayName: `Group ${place + 1}` });
    const first = place === 0 ? 1 : (place - 1) * 500 + 1;
    const rows = Array.from({ length: count }, (_, index) => ({
      group_id: place + 1,
      user_id: first + index,
    }));
    for (let start = 0; start < count; start += 500) {
      const some = rows.slice(start, start + 500);
      await app.database.write((tx) => tx.insertInto('membership').values(some).execute());
    }
  }
  return app;
}

async function contextOf(app: TestApp): Promise<DirectoryContext> {
  return {
    actor: { kind: 'source', id: 1 },
    sourceId: 1,
    scope: 'all',
    unknownReferences: 'reject',
    requestId: null,
    runId: null,
    configuration: await app.configurations.current(),
    now: '2030-01-01T00:00:00.000Z',
  };
}

const both = 'members.display eq "u1" and members.display ne "u1"';

describe.each(dialects())('groups of many members, on %s', (dialect) => {
  test('are found by what their members are, however many these are', async () => {
    await using app = await openWithGroups(dialect);
    const cases: [filter: string, found: string[]][] = [
      ['members.display eq "u5000"', ['1']],
      ['members.display co "zz"', []],
      ['not (members.display eq "u5000")', ['2', '3', '4', '5', '6', '7', '8']],
      ['members.display ne "u1"', ['1', '2', '3', '4', '5', '6', '7', '8']],
      [both, ['1', '2']],
      ['members pr', ['1', '2', '3', '4', '5', '6', '7']],
      ['members[display eq "u600" and type eq "user"]', ['1', '2', '3']],
      ['members[display eq "u600" and type eq "other"]', []],
      ['members.display eq "u5000" or members.display eq "u2"', ['1', '2']],
      ['displayName sw "group" and members.display eq "u4999"', ['1']],
      ['id eq "1" and not (members.display eq "u4999")', []],
    ];
    for (const [filter, found] of cases) {
      const { body } = await app.find('/Groups', filter);
      const shown = body.Resources.map((group: { id: string }) => group.id);
      expect({ filter, shown }).toEqual({ filter, shown: found });
    }
    const sorted = await app.call('GET', '/Groups?sortBy=members.display&attributes=id');
    const order = sorted.body.Resources.map((group: { id: string }) => group.id);
    expect(order).toEqual(['1', '2', '4', '5', '6', '7', '3', '8']);
  }, 120_000);

  test('are read so many members at a time, and fewer for a filter of more terms', async () => {
    await using app = await openWithGroups(dialect);
    const context = await contextOf(app);
    const ranges = spyOn(groupList, 'idsWithin');
    const slices = spyOn(WideQuestions.prototype, 'ask');
    const reaches = spyOn(groupMembers, 'reachOf');
    try {
      for (const terms of [1, 10]) {
        for (const spy of [ranges, slices, reaches]) spy.mockClear();
        const text = Array.from({ length: terms }, (_, i) => `members.display co "z${i}z"`).join(' or ');
        const { filter } = readFilter(context.configuration.groupType, text);
        const page = await app.groups.queryRows(context, { filter, startIndex: 1, count: 10 });
        expect(page).toMatchObject({ totalResults: 0 });
        const max = Math.floor(looksInWindowMax / terms);
        expect(slices.mock.calls.length).toBeGreaterThanOrEqual(Math.floor(people / max));
        // Ids follow each other, so a slice has as many members of group 1 as it has ids.
        const ofFirst = slices.mock.calls.slice(0, Math.ceil(people / max));
        for (const [, { after, to }] of ofFirst) expect(to - after).toBeLessThanOrEqual(max);
        expect(reaches.mock.calls.every(([, , most]) => most === max)).toBe(true);
        // Group 1 is looked at by itself; of the others no window has more members than it may.
        const held = ranges.mock.calls.map(([, , { from, to }]) => membersBetween(from, to));
        expect(held.filter((count) => count > max).length).toBeLessThanOrEqual(terms === 1 ? 2 : 14);
      }
    } finally {
      for (const spy of [ranges, slices, reaches]) spy.mockRestore();
    }
  }, 120_000);

  test('count among the rows that a query may look at', async () => {
    await using app = await openWithGroups(dialect);
    const context = await contextOf(app);
    const { filter } = readFilter(context.configuration.groupType, 'members.display co "zz"');
    const settings = { ...context.configuration.settings, filterRowsMax: 9_000 };
    const limited = { ...context, configuration: { ...context.configuration, settings } };
    const asked = app.groups.queryRows(limited, { filter, startIndex: 1, count: 10 });
    expect(await asked.catch((error: unknown) => error)).toMatchObject({ kind: 'tooMany' });

    const page = await app.groups.queryRows(limited, { filter, startIndex: 1, count: 10, cursor: {} });
    expect(page.rows).toEqual([]);
    expect(page.next).toBeDefined();
  }, 120_000);
});

function membersBetween(from: number, to: number): number {
  let sum = 0;
  for (let id = Math.max(1, from); id < Math.min(to, 9); id += 1)
    sum += id === 1 ? people : id === 8 ? 0 : 1_000;
  return sum;
}
