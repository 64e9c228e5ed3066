import { describe, expect, test } from 'bun:test';
import { PlanBuffer } from '../../src/imports/plan-buffer.ts';
import { planRow } from '../../src/imports/plan-row.ts';
import { claimRun } from '../../src/imports/run-store.ts';
import { RunWriter } from '../../src/imports/run-writer.ts';
import { dialects } from '../support/database.ts';
import { type ImportHouse, openImportHouse, profileXml, userXml } from './support.ts';

const issue = (line: number) =>
  ({ line, recordId: `g${line}`, code: 'invalidRecord', message: 'x' }) as const;
const row = (seq: number) => planRow(seq, { kind: 'user', record_id: `p${seq}`, line: seq });

async function claimedWriter({ database, clock }: ImportHouse): Promise<RunWriter> {
  const now = clock();
  const lease = {
    owner: 'tester',
    now: now.toISOString(),
    until: new Date(now.getTime() + 60_000).toISOString(),
  };
  const run = await database.write((tx) => claimRun(tx, lease));
  if (run === undefined) throw new Error('nothing to claim');
  return new RunWriter(database, clock, run);
}

for (const dialect of dialects()) {
  describe(`PlanBuffer on ${dialect}`, () => {
    test('writes issues that come without rows, before any row and after', async () => {
      await using house = await openImportHouse({ dialect });
      const id = await house.queue(profileXml([userXml('a', 'anna')]));
      const writer = await claimedWriter(house);
      const buffer = new PlanBuffer(writer);
      await buffer.add({ rows: [], issues: [issue(1)] }, 1);
      await buffer.flush();
      await buffer.add({ rows: [row(1), row(2)], issues: [issue(2)] }, 3);
      await buffer.flush();
      await buffer.add({ rows: [], issues: [issue(3)] }, 1);
      await buffer.flush();
      expect(await house.runs.issues(id)).toEqual([issue(1), issue(2), issue(3)]);
      expect(writer.progress).toMatchObject({ cursor: 2, done: 5, counts: { issues: 3 } });
    });
  });
}
