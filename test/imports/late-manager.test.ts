import { describe, expect, test } from 'bun:test';
import { dialects } from '../support/database.ts';
import { openImportHouse, profileXml, userXml } from './support.ts';

const reporting = userXml('a', 'user-a', '<manager>boss@example.com</manager>');
const boss = userXml('b', 'boss', '<email>boss@example.com</email>');

for (const dialect of dialects()) {
  describe(`a manager who arrives after a file on ${dialect}`, () => {
    test('is set by the next file, in which the record is the same', async () => {
      await using house = await openImportHouse({ dialect });
      const other = await house.addSource('Branch');
      expect(await house.import(profileXml([reporting]))).toMatchObject({
        counts: { created: 1, issues: 1 },
      });
      const { importId } = await house.accept(profileXml([boss], { domain: 'Branch', ldapid: '2' }), {
        source: other,
      });
      await house.processor().drain();
      expect(await house.runs.get(importId)).toMatchObject({ status: 'completed' });
      expect(await house.import(profileXml([reporting]))).toMatchObject({
        status: 'completed',
        counts: { updated: 1, issues: 0 },
      });
      expect((await house.person('user-a')).manager?.displayName).toBe('boss');
    });

    test('is still an issue of the next file when nobody has arrived', async () => {
      await using house = await openImportHouse({ dialect });
      await house.import(profileXml([reporting]));
      expect(await house.import(profileXml([reporting]), { force: true })).toMatchObject({
        status: 'completed-with-errors',
        counts: { unchanged: 1, issues: 1 },
      });
    });
  });
}

describe('a manager who cannot be created', () => {
  const newBoss = userXml('n', 'bert');
  const anna = userXml('a', 'anna', '<manager>n</manager>');
  // Bert keeps his name, as nothing is said of it.
  const bert = userXml('b', 'bert').replace(' username="bert"', '');

  test.each([
    ['before', [newBoss, anna, bert]],
    ['after', [anna, newBoss, bert]],
  ])('leaves without one who stands %s them in the file', async (_place, users) => {
    await using house = await openImportHouse();
    const imported = async (xml: string) => {
      const id = await house.queue(xml);
      await house.processor().drain();
      return house.runs.get(id);
    };
    await imported(profileXml([userXml('a', 'anna', '<manager>b</manager>'), userXml('b', 'bert')]));
    expect((await house.person('anna')).manager?.displayName).toBe('bert');
    const run = await imported(profileXml(users));
    const issues = await house.runs.issues(run.id);
    expect(issues.map(({ recordId, code }) => `${recordId} ${code}`).toSorted()).toEqual([
      'a managerNotFound',
      'n uniqueness',
    ]);
    expect((await house.person('anna')).manager).toBeUndefined();
  });
});
