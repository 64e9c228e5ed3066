import { expect, test } from 'bun:test';
import { openImportHouse, profileXml, stranger, userXml, withWrite } from './support.ts';

const people = 700;
/** Numbers of people whose usernames somebody else takes between plan and apply. */
const taken = [3, 333, 334, 699];

test('records that are refused do not keep back those who share a transaction with them', async () => {
  await using house = await openImportHouse();
  await house.accept(profileXml(Array.from({ length: people }, (_, n) => userXml(`p${n}`, `person${n}`))));
  let isTaken = false;
  const counted = withWrite(house.database, async (write) => {
    if (!isTaken && (await house.runs.get(1)).status === 'applying') {
      isTaken = true;
      await house.database.write((tx) =>
        tx
          .insertInto('user')
          .values(taken.map((n) => stranger(`person${n}`, 100_000 + n)))
          .execute(),
      );
    }
    return write();
  });
  const database = { ...counted, isAwaited: () => false };
  await house.processor(database).drain();
  const run = await house.runs.get(1);
  expect(run).toMatchObject({
    status: 'completed-with-errors',
    counts: { created: people - taken.length, issues: taken.length },
  });
  const issues = await house.runs.issues(1);
  expect(issues.map(({ recordId, code }) => `${recordId} ${code}`)).toEqual(
    taken.map((n) => `p${n} uniqueness`),
  );
  expect(await house.people()).toHaveLength(people);
});

test('nobody waits, so hundreds of people are created in a few transactions; somebody does, so in many', async () => {
  const writesWhen = async (isAwaited: boolean): Promise<number> => {
    await using house = await openImportHouse();
    await house.accept(profileXml(Array.from({ length: people }, (_, n) => userXml(`p${n}`, `person${n}`))));
    let writes = 0;
    const counted = withWrite(house.database, (write) => {
      writes += 1;
      return write();
    });
    await house.processor({ ...counted, isAwaited: () => isAwaited }).drain();
    expect(await house.people()).toHaveLength(people);
    return writes;
  };
  // Most of the writes are those of the run itself: a phase, a plan, a claim.
  expect((await writesWhen(true)) - (await writesWhen(false))).toBeGreaterThan(5);
});
