import { Database as Sqlite } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { migrateToLatest } from '../../src/storage/migrate.ts';
import { openSqlite } from '../../src/storage/sqlite.ts';
import { dialects } from '../support/database.ts';
import { canMount, fillDisk, smallDisk } from '../support/small-disk.ts';
import { ImportHouse, openImportHouse, profileXml, userXml, withWrite } from './support.ts';

const people = (count: number) =>
  profileXml(
    Array.from({ length: count }, (_, n) => userXml(`p${n}`, `person${n}`, '<company>ACME</company>')),
  );
const gone =
  'The document of the import is gone from the folder drop/; put it back, or cancel the import and send the file again.';

/** Moves the one document in `drop/` away; the answer puts it back. */
function hideDocument(house: ImportHouse): () => void {
  const [name = ''] = house.files('drop');
  const [here, there] = [join(house.folder, 'drop', name), join(house.folder, name)];
  renameSync(here, there);
  return () => renameSync(there, here);
}

for (const dialect of dialects()) {
  describe(`a run whose document is gone, on ${dialect}`, () => {
    test('says so, is tried again ever more seldom, and goes on once the document is back', async () => {
      await using house = await openImportHouse({ dialect });
      await house.accept(people(3));
      const putBack = hideDocument(house);
      const pauses: number[] = [];
      for (let attempt = 0; attempt < 3; attempt += 1) {
        expect(await house.processor().drain()).toBe(0);
        const { status, message, retryAt = '' } = await house.runs.get(1);
        expect({ status, message }).toEqual({ status: 'planning', message: gone });
        pauses.push(Math.round((Date.parse(retryAt) - house.clock().getTime()) / 1_000));
        house.advance(100);
      }
      expect(pauses).toEqual([2, 4, 8]);
      expect(await house.runs.log(1)).toContain(`Z  interrupted: ${gone} Next attempt at 2030-`);
      putBack();
      expect(await house.processor().drain()).toBe(1);
      const run = await house.runs.get(1);
      expect(run).toMatchObject({ status: 'completed', counts: { created: 3 } });
      expect([run.message, run.retryAt]).toEqual([undefined, undefined]);
    });

    test('tells whoever sends another one, and then gives way to it', async () => {
      await using house = await openImportHouse({ dialect });
      await house.accept(people(3));
      hideDocument(house);
      await house.processor().drain();
      expect(await house.accept(people(4))).toMatchObject({
        importId: 2,
        willBeProcessed: false,
        reason: `Import 1 of this source comes first and is interrupted: ${gone}`,
      });
      house.advance(100);
      await house.processor().drain();
      expect(await house.runs.get(1)).toMatchObject({
        status: 'failed',
        message: 'The document of the import is gone from the folder drop/; a later import takes its place.',
      });
      expect(await house.runs.get(2)).toMatchObject({ status: 'completed', counts: { created: 4 } });
    });
  });
}

describe('a run that finds the database locked', () => {
  test('is let go of, and goes on where it stopped', async () => {
    await using house = await openImportHouse();
    await house.accept(people(300));
    const impatient = openSqlite({ path: house.location, lockWaitMsMax: 20 });
    using other = new Sqlite(house.location);
    let isLocked = false;
    const locked = withWrite(impatient, async (write) => {
      const isApplying = (await house.runs.get(1)).status === 'applying';
      if (isApplying && !isLocked) other.run('BEGIN IMMEDIATE');
      isLocked ||= isApplying;
      return write();
    });
    // It looks for other work, which the lock keeps it from as well.
    await expect(house.processor(locked).drain()).rejects.toMatchObject({ kind: 'unavailable' });
    await impatient.close();
    other.run('ROLLBACK');
    expect(isLocked).toBe(true);
    expect((await house.runs.get(1)).status).toBe('applying');
    expect(house.logged.join('\n')).toContain('The database cannot be written now');
    house.advance(31);
    expect(await house.processor().drain()).toBe(1);
    expect(await house.runs.get(1)).toMatchObject({ status: 'completed', counts: { created: 300 } });
  });

  test('has it in its log, even if that could not be written at the time', async () => {
    await using house = await openImportHouse();
    await house.accept(people(30));
    const impatient = openSqlite({ path: house.location, lockWaitMsMax: 20 });
    using other = new Sqlite(house.location);
    let writes = 0;
    const locked = withWrite(impatient, async (write) => {
      writes += 1;
      if (writes === 4) other.run('BEGIN IMMEDIATE');
      return write();
    });
    const processor = house.processor(locked, { isAlone: false });
    await processor.drain().catch(() => undefined);
    other.run('ROLLBACK');
    house.advance(31);
    await processor.drain();
    await impatient.close();
    expect((await house.runs.get(1)).status).toBe('completed');
    expect(await house.runs.log(1)).toMatch(
      /Z {2}interrupted: The database cannot be written now .+\n\S+Z {2}taken up again\n/,
    );
  });
});

describe('a run that finds the disk full', () => {
  test.skipIf(!canMount())('goes on where it stopped once there is space, and says so', async () => {
    using disk = smallDisk(24 * 1024 * 1024);
    const location = join(disk.folder, 'rollcall.db');
    const database = openSqlite({ path: location });
    await migrateToLatest(database);
    await using house = new ImportHouse(database, () => database.close(), location);
    await house.addSource('Human Resources', { guardShrinkPercent: '100', guardErrorPercent: '100' });
    const filler = join(disk.folder, 'filler');
    let isFull = false;
    const filling = withWrite(database, async (write) => {
      if (!isFull && (await house.runs.get(1)).progress?.phase === 'users') {
        isFull = true;
        fillDisk(filler);
      }
      return write();
    });
    await house.accept(people(1_500));
    const processor = house.processor(filling, { isAlone: false });
    await processor.drain().catch(() => undefined);
    expect(isFull).toBe(true);
    expect((await house.runs.get(1)).status).toBe('applying');
    expect(house.logged.join('\n')).toContain('The disk of the database is full');
    rmSync(filler);
    house.advance(61);
    await processor.drain();
    expect(await house.runs.get(1)).toMatchObject({ status: 'completed', counts: { created: 1_500 } });
    expect(await house.runs.log(1)).toContain('Z  interrupted: The disk of the database is full; free');
    expect(await house.people()).toHaveLength(1_500);
  });
});
