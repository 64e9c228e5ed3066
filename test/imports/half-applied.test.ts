// A run that ends in the middle leaves what it has done: the next file has to find that out.

import { describe, expect, test } from 'bun:test';
import { findCheckpoint } from '../../src/imports/checkpoint-store.ts';
import type { ImportRun } from '../../src/imports/runs.ts';
import { dialects } from '../support/database.ts';
import {
  decider,
  type ImportHouse,
  openImportHouse,
  profileXml,
  stranger,
  userXml,
  withWrite,
} from './support.ts';

const titled = (title: string) =>
  profileXml(
    Array.from({ length: 30 }, (_, n) => userXml(`p${n}`, `user${n}`, `<jobtitle>${title}</jobtitle>`)),
  );

const checkpoint = (value: string) => async () => ({ kind: 'test', digest: 'd', value });

/** Imports what is queued, and puts `end` in the way of the first write after `isHalfway`. */
async function processUntil(
  house: ImportHouse,
  id: number,
  isHalfway: (run: ImportRun) => boolean,
  end: () => Promise<unknown>,
): Promise<ImportRun> {
  let isEnded = false;
  const database = withWrite(house.database, async (write) => {
    if (!isEnded && isHalfway(await house.runs.get(id))) {
      isEnded = true;
      await end();
    }
    return write();
  });
  await house.processor(database).drain();
  return house.runs.get(id);
}

async function titlesOf(house: ImportHouse): Promise<unknown[]> {
  return [...new Set((await house.people()).map(({ resource }) => resource.title))];
}

describe.each(dialects())('a run that ends halfway on %s', (dialect) => {
  test.each([
    ['cancelled', (house: ImportHouse) => house.runs.cancel(2, decider)],
    ['failed', () => Promise.reject(new TypeError('a mistake in the program'))],
  ])('%s: the last good file is imported again, and not called unchanged', async (status, end) => {
    await using house = await openImportHouse({ dialect });
    await house.import(titled('One'), { checkpoint: checkpoint('1') });
    await house.accept(titled('Two'), { checkpoint: checkpoint('2') });
    const halfway = await processUntil(
      house,
      2,
      ({ counts }) => counts.updated > 0,
      () => end(house),
    );
    expect(halfway).toMatchObject({ status });
    expect(await titlesOf(house)).toContain('Two');
    const again = await house.accept(titled('One'), { checkpoint: checkpoint('3') });
    expect(again).toMatchObject({ importId: 3, status: 'queued' });
    expect(await findCheckpoint(house.database.read, 1, 'test')).toMatchObject({ value: '1' });
    await house.processor().drain();
    expect(await house.runs.get(3)).toMatchObject({ status: 'completed' });
    expect(await titlesOf(house)).toEqual(['One']);
    expect(await findCheckpoint(house.database.read, 1, 'test')).toMatchObject({ value: '3' });
    expect(await house.accept(titled('One'))).toMatchObject({ importId: 3, status: 'unchanged' });
  });

  test('leaves the last file unchanged if it ended before anything was applied', async () => {
    await using house = await openImportHouse({ dialect });
    await house.import(titled('One'));
    await house.accept(titled('Two'));
    await house.runs.cancel(2, decider);
    expect(await house.accept(titled('One'))).toMatchObject({ importId: 1, status: 'unchanged' });
  });
});

describe.each(dialects())('a run that ends before managers on %s', (dialect) => {
  const anna = (manager: string) => profileXml([userXml('a', 'anna', `<manager>${manager}</manager>`)]);

  test('gives people their managers when the same file is sent again', async () => {
    await using house = await openImportHouse({ dialect });
    await house.database.write((tx) =>
      tx
        .insertInto('user')
        .values([stranger('boss'), stranger('chief', 1001)])
        .execute(),
    );
    const cancelAtManagers = (id: number) =>
      processUntil(
        house,
        id,
        ({ progress }) => progress?.phase === 'managers',
        () => house.runs.cancel(id, decider),
      );
    for (const [file, manager] of [
      ['boss', 1000],
      ['chief', 1001],
    ] as const) {
      const { importId } = await house.accept(anna(file));
      expect(await cancelAtManagers(importId)).toMatchObject({ status: 'cancelled' });
      expect(await house.import(anna(file))).toMatchObject({ status: 'completed' });
      expect((await house.person('anna')).manager?.id).toBe(manager);
      const digests = await house.database.read.selectFrom('source_link').select('digest').execute();
      expect(digests).toEqual([{ digest: expect.any(String) }]);
    }
  });
});
