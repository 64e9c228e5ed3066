import { describe, expect, test } from 'bun:test';
import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dialects } from '../support/database.ts';
import { type ImportHouse, openImportHouse, profileXml, userXml } from './support.ts';

const orphan = `1-${'e'.repeat(32)}`;

/** What a killed process has left, and what runs still need; all of it long before the clock of the house. */
function leaveOrphans(house: ImportHouse): void {
  writeFileSync(join(house.folder, 'drop', `${orphan}.partial`), 'x');
  writeFileSync(join(house.folder, 'archive', '1', `${orphan}.xml.gz`), 'x');
  for (const folder of ['drop', 'archive/1'] as const) {
    for (const name of house.files(folder === 'drop' ? 'drop' : 'archive')) {
      const path = join(house.folder, folder === 'drop' ? 'drop' : 'archive', name);
      if (name !== '1') utimesSync(path, 0, 0);
    }
  }
}

const orphans = (house: ImportHouse) =>
  [...house.files('drop'), ...house.files('archive')].filter((name) => name.includes(orphan));

for (const dialect of dialects()) {
  describe(`a processor that goes on working, on ${dialect}`, () => {
    test('removes orphans of both folders every ten minutes, and nothing that a run names', async () => {
      await using house = await openImportHouse({ dialect });
      await house.import(profileXml([userXml('a', 'anna')]));
      const processor = house.processor();
      await processor.drain();
      await house.accept(profileXml([userXml('b', 'bert')]));
      const files = [...house.files('drop'), ...house.files('archive')];
      leaveOrphans(house);
      expect(orphans(house)).toHaveLength(2);
      house.advance(601);
      await processor.drain();
      expect(orphans(house)).toEqual([]);
      expect(house.files('archive')).toEqual(expect.arrayContaining(files.filter((f) => f.endsWith('.gz'))));
      expect(await house.runs.get(2)).toMatchObject({ status: 'completed' });
    });
  });
}
