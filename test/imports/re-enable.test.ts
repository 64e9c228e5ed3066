import { describe, expect, test } from 'bun:test';
import { dialects } from '../support/database.ts';
import { openImportHouse, profileXml, userXml } from './support.ts';

const five = ['a', 'b', 'c', 'd', 'e'].map((id) => userXml(id, `user-${id}`));

for (const dialect of dialects()) {
  describe(`re-enable on ${dialect}`, () => {
    test('makes people active again whom a run disabled, missing ones and those its file calls inactive', async () => {
      await using house = await openImportHouse({ dialect });
      await house.import(profileXml(five));
      const b = userXml('b', 'user-b', '<active>false</active>');
      await house.import(profileXml([five[0] ?? '', b]));
      expect(await house.states()).toEqual([
        'user-a active',
        'user-b inactive',
        'user-c inactive',
        'user-d inactive',
        'user-e inactive',
      ]);
      expect(await house.runs.reEnable(2)).toEqual({ enabled: 4, left: 0 });
      expect((await house.states()).every((state) => state.endsWith(' active'))).toBe(true);
      expect(await house.runs.reEnable(2)).toEqual({ enabled: 0, left: 4 });
    });

    test('writes each of them to the journal as the act of an administrator', async () => {
      await using house = await openImportHouse({ dialect });
      await house.import(profileXml(five.slice(0, 2)));
      await house.import(profileXml(five.slice(0, 1)));
      await house.runs.reEnable(2);
      const last = await house.database.read
        .selectFrom('journal')
        .select(['action', 'resource_id', 'actor_kind', 'run_id'])
        .orderBy('seq', 'desc')
        .executeTakeFirst();
      expect(last).toEqual({
        action: 'reactivate',
        resource_id: 2,
        actor_kind: 'administrator',
        run_id: null,
      });
    });

    test('leaves those alone whom a later run disabled again', async () => {
      await using house = await openImportHouse({ dialect });
      await house.import(profileXml(five));
      await house.import(profileXml(five.slice(0, 3)));
      await house.runs.reEnable(2);
      await house.import(profileXml(five.slice(0, 4)));
      expect(await house.runs.reEnable(2)).toEqual({ enabled: 0, left: 2 });
      expect(await house.states()).toContain('user-e inactive');
    });

    test('refuses a run that is not over, one that is not there, and one whose records are gone', async () => {
      await using house = await openImportHouse({ dialect });
      await house.accept(profileXml(five));
      await expect(house.runs.reEnable(1)).rejects.toThrow(
        'Import 1 is queued; cancel it before you undo what it has done.',
      );
      await expect(house.runs.reEnable(9)).rejects.toMatchObject({ kind: 'notFound' });
      await house.processor().drain();
      await house.configurations.setSetting('archiveRunsKept', '1');
      for (const count of [4, 3]) await house.import(profileXml(five.slice(0, count)));
      await expect(house.runs.reEnable(1)).rejects.toThrow('are not kept any more');
    });
  });
}
