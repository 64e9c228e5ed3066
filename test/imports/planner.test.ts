import { describe, expect, test } from 'bun:test';
import { dialects } from '../support/database.ts';
import { decider, openImportHouse, profileXml, userXml, withWrite } from './support.ts';

const manyUsers = (count: number) => Array.from({ length: count }, (_, i) => userXml(`m${i}`, `many${i}`));

for (const dialect of dialects()) {
  describe(`planRun on ${dialect}`, () => {
    test('leaves the plan of its successor alone when it was taken for dead before it began', async () => {
      await using house = await openImportHouse({ dialect });
      await house.import(profileXml(manyUsers(40)));
      const { importId } = await house.accept(profileXml(manyUsers(30)));
      let isTaken = false;
      const slow = withWrite(house.database, async (write) => {
        if (!isTaken && (await house.runs.get(importId)).status === 'planning') {
          isTaken = true;
          house.advance(3_600);
          await house.processor().drain();
        }
        return write();
      });
      await house.processor(slow).drain();
      expect(isTaken).toBe(true);
      await house.runs.approve(importId, decider);
      await house.processor().drain();
      expect(await house.runs.get(importId)).toMatchObject({
        status: 'completed',
        counts: { disabled: 10, unchanged: 30 },
      });
      const rows = await house.database.read
        .selectFrom('import_plan')
        .select('seq')
        .where('run_id', '=', importId)
        .execute();
      expect(rows).toHaveLength(40);
      expect((await house.states()).filter((state) => state.endsWith('inactive'))).toHaveLength(10);
    });

    test('makes an issue of a field value that is too long for its pattern, and imports the rest', async () => {
      await using house = await openImportHouse({ dialect });
      await house.configurations.createField('Badge', 'string', 'B[0-9]+');
      const badge = (value: string) => `<field id="Badge">${value}</field>`;
      const run = await house.import(
        profileXml([
          userXml('a', 'anna', '', badge(`B${'1'.repeat(70_000)}`)),
          userXml('b', 'bert', '', badge('B1')),
        ]),
      );
      expect(run).toMatchObject({ status: 'completed-with-errors', counts: { created: 1, issues: 1 } });
      expect(await house.runs.issues(run.id)).toEqual([
        {
          line: 5,
          recordId: 'a',
          code: 'invalidRecord',
          message:
            'The value of the additional field "badge" cannot be compared with its pattern; shorten it, or give the field a simpler pattern.',
        },
      ]);
    });
  });
}
