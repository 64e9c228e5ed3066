import { describe, expect, test } from 'bun:test';
import { dialects } from '../support/database.ts';
import { openImportHouse, profileXml, userXml, withWrite } from './support.ts';

for (const dialect of dialects()) {
  describe(`completeRun on ${dialect}`, () => {
    test('comes after the managers of people whom the file disables', async () => {
      await using house = await openImportHouse({ dialect });
      await house.import(profileXml([userXml('a', 'anna'), userXml('b', 'bert'), userXml('c', 'carl')]));
      const leaving = '<active>false</active><manager>bert</manager>';
      const unknown = '<active>false</active><manager>nobody</manager>';
      const run = await house.import(
        profileXml([userXml('a', 'anna', leaving), userXml('b', 'bert'), userXml('c', 'carl', unknown)]),
      );
      expect((await house.person('anna')).state).toBe('inactive');
      expect((await house.person('anna')).manager?.displayName).toBe('bert');
      expect((await house.runs.issues(run.id)).map(({ recordId, code }) => `${recordId} ${code}`)).toEqual([
        'c managerNotFound',
      ]);
    });

    test('refuses to complete a run of which a row waits for a phase that is over', async () => {
      await using house = await openImportHouse({ dialect });
      const { importId } = await house.accept(profileXml([userXml('a', 'anna'), userXml('b', 'bert')]));
      let isMoved = false;
      const disturbed = withWrite(house.database, async (write) => {
        const result = await write();
        const { progress } = await house.runs.get(importId);
        if (!isMoved && progress?.phase === 'missing') {
          isMoved = true;
          await house.database.write((tx) =>
            tx.updateTable('import_plan').set({ phase: 'managers' }).where('record_id', '=', 'b').execute(),
          );
        }
        return result;
      });
      await house.processor(disturbed).drain();
      expect(isMoved).toBe(true);
      expect(await house.runs.get(importId)).toMatchObject({ status: 'failed' });
      expect(house.logged.join('')).toContain('wait for the phase managers');
    });
  });
}
