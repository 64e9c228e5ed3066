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
