import { describe, expect, test } from 'bun:test';
import { toChains } from '../../src/imports/plan-chains.ts';
import type { ImportRun } from '../../src/imports/runs.ts';
import { type AcceptOptions, type ImportHouse, openImportHouse, profileXml, userXml } from './support.ts';

async function imported(house: ImportHouse, xml: string, options: AcceptOptions = {}): Promise<ImportRun> {
  const id = await house.queue(xml, options);
  await house.processor().drain();
  return house.runs.get(id);
}

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);
/** Each takes the name of the next. */
const chainOf = (count: number) => new Map(numbers(count).map((n) => [n, n + 1]));

describe('rows that take names of others', () => {
  test('are applied together, those of a ring too', () => {
    const givers = new Map([
      [1, 2],
      [3, 4],
      [4, 5],
      [7, 8],
      [8, 7],
    ]);
    expect(toChains(givers)).toEqual([
      [1, 2],
      [3, 4, 5],
      [7, 8],
    ]);
  });

  test('are cut into pieces when they are many, and begin where a name is free', () => {
    const chains = toChains(chainOf(1_200));
    expect(chains.map(({ length }) => length)).toEqual([500, 500, 201]);
    expect(chains[0]?.at(-1)).toBe(1_200);
    expect(chains[2]?.[0]).toBe(0);
  });

  test('are left alone when they are a ring of more than 500', () => {
    const ring = (count: number) => new Map(numbers(count).map((n) => [n, (n + 1) % count]));
    expect(toChains(ring(500))).toHaveLength(1);
    expect(toChains(ring(501))).toEqual([]);
  });

  test('may be a hundred thousand, in any order', () => {
    const givers = new Map(
      [...chainOf(100_000)].toSorted(([a], [b]) => ((a * 7_919) % 100_003) - ((b * 7_919) % 100_003)),
    );
    expect(toChains(givers).flat()).toHaveLength(100_001);
  });
});

describe('a file in which 1,500 people move up by one name', () => {
  test('ends with everybody under the new one', async () => {
    await using house = await openImportHouse();
    const people = numbers(1_500);
    await imported(house, profileXml(people.map((n) => userXml(`p${n}`, `user${n}`))));
    const run = await imported(house, profileXml(people.map((n) => userXml(`p${n}`, `user${n + 1}`))));
    expect(run).toMatchObject({ status: 'completed', counts: { updated: 1_500, issues: 0 } });
    const names = (await house.people()).map(({ resource }) => `${resource.externalId} ${resource.userName}`);
    expect(names).toEqual(people.map((n) => `p${n} user${n + 1}`));
  });

  test('ends with everybody as before when the last name is not free', async () => {
    await using house = await openImportHouse();
    const people = numbers(1_500);
    await imported(house, profileXml(people.map((n) => userXml(`p${n}`, `user${n}`))));
    const other = await house.addSource('Other');
    const taken = profileXml([userXml('x', 'user1500')], { domain: 'Other', ldapid: '2' });
    await imported(house, taken, { source: other });
    const run = await imported(house, profileXml(people.map((n) => userXml(`p${n}`, `user${n + 1}`))));
    expect(run).toMatchObject({ status: 'completed-with-errors', counts: { updated: 0, issues: 1_500 } });
  });
});
