// While a run waits, another source may make somebody its own whom the plan still holds to be nobody's.

import { describe, expect, test } from 'bun:test';
import { dialects } from '../support/database.ts';
import {
  decider,
  type ImportHouse,
  openImportHouse,
  profileXml,
  stranger,
  strictGuard,
  userXml,
} from './support.ts';

const inactive = '<active>false</active><jobtitle>Engineer</jobtitle>';

/** Zoe belongs to nobody; the file of source 1 ends her, and waits. */
async function openHeld(dialect: 'sqlite' | 'postgres', actionDisabledUsers: string): Promise<ImportHouse> {
  const house = await openImportHouse({
    dialect,
    settings: { ...strictGuard, actionDisabledUsers, guardMinimum: '1' },
  });
  await house.database.write((tx) => tx.insertInto('user').values(stranger('zoe')).execute());
  await house.import(profileXml([userXml('z', 'zoe', inactive)]));
  return house;
}

async function importElsewhere(house: ImportHouse): Promise<void> {
  const source = await house.addSource('Sales');
  await house.accept(profileXml([userXml('9', 'zoe')], { domain: 'Sales', ldapid: '2' }), { source });
  await house.processor().drain();
}

for (const dialect of dialects()) {
  describe(`somebody who gets an owner while a run waits, on ${dialect}`, () => {
    test.each([
      ['archive', 'a'],
      ['disable', 'd'],
    ])('stays, though the run was to %s her; the rest of her record is written', async (_what, action) => {
      await using house = await openHeld(dialect, action);
      expect(await house.person('zoe')).toMatchObject({ ownerSourceId: null, state: 'active' });
      await importElsewhere(house);
      await house.runs.approve(1, decider);
      await house.processor().drain();
      expect(await house.person('zoe')).toMatchObject({
        ownerSourceId: 2,
        state: 'active',
        resource: { title: 'Engineer' },
      });
      expect(await house.runs.get(1)).toMatchObject({
        status: 'completed',
        counts: { archived: 0, disabled: 0, updated: 1 },
        warnings: [
          'Another source took over users while the file waited; "active" of this file does not apply to them any more.',
        ],
      });
      expect((await house.runs.records(1, { after: 0, limit: 10 })).map((record) => record.action)).toEqual([
        'update',
      ]);
    });

    test('is ended by the run if nobody took her over', async () => {
      await using house = await openHeld(dialect, 'a');
      await house.runs.approve(1, decider);
      await house.processor().drain();
      expect(await house.states()).toEqual(['zoe archived']);
    });

    test('counts among the users of whom the guard speaks, and others of nobody do not', async () => {
      await using house = await openHeld(dialect, 'a');
      await house.database.write((tx) => tx.insertInto('user').values(stranger('yves', 1001)).execute());
      const { importId } = await house.accept(
        profileXml([userXml('z', 'zoe', '<active>false</active>'), userXml('x', 'xaver')]),
      );
      await house.processor().drain();
      for (const id of [1, importId])
        expect(await house.runs.get(id)).toMatchObject({
          status: 'awaiting-approval',
          message: expect.stringContaining('it would disable or archive 1 of 1 active users'),
        });
    });
  });
}
