import { describe, expect, test } from 'bun:test';
import type { Difference } from '../../src/imports/comparison-store.ts';
import { dialects } from '../support/database.ts';
import { type ImportHouse, openImportHouse, profileXml, userXml } from './support.ts';

const title = (text: string) => `<jobtitle>${text}</jobtitle>`;

async function peopleOf(house: ImportHouse, id: number, difference: Difference, earlierId?: number) {
  const comparison = await house.runs.compare(id, earlierId);
  const people = await house.runs.compared(comparison, { difference, after: '', limit: 10 });
  return people.map(({ recordId, userName, changed }) => [recordId, userName, ...changed].join(' '));
}

for (const dialect of dialects()) {
  describe(`compare on ${dialect}`, () => {
    test('names who was added, removed and changed since the run before', async () => {
      await using house = await openImportHouse({ dialect });
      await house.import(profileXml([userXml('a', 'ann'), userXml('b', 'bob'), userXml('c', 'cem')]));
      await house.import(
        profileXml([userXml('a', 'ann'), userXml('b', 'bobby', title('boss')), userXml('d', 'dora')]),
      );
      expect(await house.runs.compare(2)).toEqual({
        sourceId: 1,
        laterId: 2,
        earlierId: 1,
        isDelta: false,
        counts: { added: 1, removed: 1, changed: 1 },
      });
      expect(await peopleOf(house, 2, 'added')).toEqual(['d dora']);
      expect(await peopleOf(house, 2, 'removed')).toEqual(['c cem']);
      expect(await peopleOf(house, 2, 'changed')).toEqual(['b bobby title userName']);
    });

    test('goes back over several runs, and past dry runs, rejected runs and those of others', async () => {
      await using house = await openImportHouse({ dialect });
      await house.import(profileXml([userXml('a', 'ann'), userXml('b', 'bob'), userXml('x', 'xaver')]));
      const sales = await house.addSource('Sales');
      const foreign = profileXml([userXml('a', 'other')], { domain: 'Sales', ldapid: '2' });
      await house.import(foreign, { source: sales });
      await house.import(
        profileXml([userXml('a', 'ann', title('one')), userXml('b', 'bob'), userXml('y', 'yves')]),
      );
      await house.import(profileXml([userXml('b', 'bob', title('never'))]), { dryRun: true });
      await house.import(
        profileXml([userXml('a', 'ann', title('one')), userXml('b', 'bob'), userXml('x', 'xaver')]),
      );
      expect(await house.runs.compare(5)).toMatchObject({
        earlierId: 3,
        counts: { added: 1, removed: 1, changed: 0 },
      });
      expect(await house.runs.compare(5, 1)).toMatchObject({ counts: { added: 0, removed: 0, changed: 2 } });
      expect(await peopleOf(house, 5, 'changed', 1)).toEqual(['a ann title', 'x xaver active']);
      expect(await peopleOf(house, 4, 'changed')).toEqual(['b bob title']);
      await expect(house.runs.compare(5, 2)).rejects.toThrow(
        'Import 2 is not an earlier import of the same source',
      );
      await expect(house.runs.compare(1, 3)).rejects.toThrow('name the later one first');
    });

    test('counts a record in error as there, and one that is given twice once', async () => {
      await using house = await openImportHouse({ dialect });
      await house.import(profileXml([userXml('a', 'ann'), userXml('b', 'bob')]));
      const wrong = userXml('b', 'bob', '<userType>King</userType>');
      await house.import(
        profileXml([userXml('a', 'ann'), wrong, userXml('n', 'new'), userXml('n', 'newer')]),
      );
      expect(await house.runs.compare(2)).toMatchObject({ counts: { added: 1, removed: 0, changed: 0 } });
      expect(await peopleOf(house, 2, 'added')).toEqual(['n new']);
    });

    test('lets nobody be removed by a delta, and compares a full file with the last full one', async () => {
      await using house = await openImportHouse({ dialect });
      await house.import(profileXml([userXml('a', 'ann'), userXml('b', 'bob')]));
      await house.import(profileXml([userXml('b', 'bob', title('x'))], { options: { mode: 'delta' } }));
      await house.import(
        profileXml([userXml('a', 'ann'), userXml('b', 'bob', title('x')), userXml('c', 'c')]),
      );
      expect(await house.runs.compare(2)).toMatchObject({
        isDelta: true,
        counts: { added: 0, removed: 0, changed: 1 },
      });
      expect(await peopleOf(house, 2, 'removed')).toEqual([]);
      expect(await house.runs.compare(3)).toMatchObject({
        earlierId: 1,
        counts: { added: 1, removed: 0, changed: 1 },
      });
    });

    test('goes on page by page', async () => {
      await using house = await openImportHouse({ dialect });
      await house.import(profileXml([userXml('a', 'ann')]));
      const many = Array.from({ length: 25 }, (_, n) => userXml(`n${n}`, `new${n}`));
      await house.import(profileXml([userXml('a', 'ann'), ...many]));
      const comparison = await house.runs.compare(2);
      const seen: string[] = [];
      for (let after: string | undefined = ''; after !== undefined; ) {
        const page = await house.runs.compared(comparison, { difference: 'added', after, limit: 10 });
        seen.push(...page.map(({ recordId }) => recordId));
        after = page.at(-1)?.recordId;
      }
      expect(seen.toSorted()).toEqual(many.map((_, n) => `n${n}`).toSorted());
    });

    test('says why when there is nothing to compare', async () => {
      await using house = await openImportHouse({ dialect });
      await house.accept(profileXml([userXml('a', 'ann')]));
      await expect(house.runs.compare(1)).rejects.toThrow('Import 1 is queued and has no complete plan');
      await house.processor().drain();
      await expect(house.runs.compare(1)).rejects.toThrow('There is no earlier import of the source');
      await expect(house.runs.compare(2)).rejects.toMatchObject({ kind: 'notFound' });
    });
  });
}
