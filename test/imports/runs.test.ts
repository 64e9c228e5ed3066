import { describe, expect, test } from 'bun:test';
import { dialects } from '../support/database.ts';
import { decider, type ImportHouse, openImportHouse, profileXml, userXml } from './support.ts';

const manyUsers = (count: number) =>
  profileXml(Array.from({ length: count }, (_, i) => userXml(`m${i}`, `many${i}`)));

async function openWithHeld(dialect: 'sqlite' | 'postgres'): Promise<ImportHouse> {
  const house = await openImportHouse({ dialect });
  await house.import(manyUsers(40));
  expect(await house.import(manyUsers(20))).toMatchObject({ id: 2, status: 'awaiting-approval' });
  return house;
}

for (const dialect of dialects()) {
  describe(`approve on ${dialect}`, () => {
    test('refuses a run after which another one of the source is queued', async () => {
      await using house = await openWithHeld(dialect);
      await house.accept(manyUsers(39));
      await expect(house.runs.approve(2, decider)).rejects.toMatchObject({
        kind: 'invalidValue',
        detail:
          'Import 2 cannot be approved, because the later import 3 of its source is queued; reject import 2, or cancel import 3 first.',
      });
      expect(await house.runs.get(2)).toMatchObject({ status: 'awaiting-approval' });
    });

    test('refuses the older of two that wait, and approving the newer one ends the older', async () => {
      await using house = await openWithHeld(dialect);
      expect(await house.import(manyUsers(25))).toMatchObject({ id: 3, status: 'awaiting-approval' });
      await expect(house.runs.approve(2, decider)).rejects.toThrow(
        'the later import 3 of its source is awaiting-approval',
      );
      await house.runs.approve(3, decider);
      await house.processor().drain();
      expect(await house.runs.get(2)).toMatchObject({ status: 'superseded' });
      expect(await house.runs.get(3)).toMatchObject({ status: 'completed', counts: { disabled: 15 } });
    });

    test('does not mind a later dry run, a later run that was rejected, or one of another source', async () => {
      await using house = await openWithHeld(dialect);
      await house.import(manyUsers(39), { dryRun: true });
      await house.import(manyUsers(25));
      await house.runs.reject(4, decider);
      const source = await house.addSource('Sales');
      await house.accept(profileXml([userXml('s', 'sam')], { domain: 'Sales', ldapid: '2' }), { source });
      expect(await house.runs.approve(2, decider)).toMatchObject({ status: 'applying' });
    });
  });
}
