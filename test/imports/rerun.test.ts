import { describe, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { requireArchived, rerun, retry } from '../../src/imports/rerun.ts';
import { dialects } from '../support/database.ts';
import { type ImportHouse, openImportHouse, profileXml, userXml } from './support.ts';

async function again(house: ImportHouse, which: typeof rerun, id: number) {
  const receipt = await which(house, house.source, await requireArchived(house.database, id));
  await house.processor().drain();
  return house.runs.get(receipt.importId);
}

const titled = (id: string, title: string, more = '') =>
  userXml(id, `user-${id}`, `<jobtitle>${title}</jobtitle>${more}`);

for (const dialect of dialects()) {
  describe(`rerun on ${dialect}`, () => {
    test('brings an older file back, after another one', async () => {
      await using house = await openImportHouse({ dialect });
      await house.import(profileXml([titled('a', 'Dr'), titled('b', 'Mr')]));
      await house.import(profileXml([titled('a', 'Prof'), titled('b', 'Mr')]));
      expect(await again(house, rerun, 1)).toMatchObject({
        id: 3,
        origin: 'rerun',
        status: 'completed',
        counts: { updated: 1, unchanged: 1 },
      });
      expect((await house.person('user-a')).resource.title).toBe('Dr');
    });

    test('says so when the archived document has been removed from the disk', async () => {
      await using house = await openImportHouse({ dialect });
      await house.import(profileXml([titled('a', 'Dr'), userXml('c', 'c', '<userType>King</userType>')]));
      const [, archived = ''] = house.files('archive');
      rmSync(join(house.folder, 'archive', archived));
      const detail =
        'The document of import 1 is gone from the folder archive/; put it back, or send the file again.';
      for (const which of [rerun, retry]) {
        await expect(again(house, which, 1)).rejects.toMatchObject({ kind: 'notFound', detail });
      }
      expect(await house.runs.list()).toHaveLength(1);
      expect(house.files('drop')).toEqual([]);
    });

    test('gives nobody the stars that stand for a password, and says so', async () => {
      await using house = await openImportHouse({ dialect });
      const secret = userXml('a', 'user-a', '<password>correct horse</password>');
      await house.import(profileXml([secret, userXml('b', 'user-b')]), { dryRun: true });
      const run = await again(house, rerun, 1);
      expect(run).toMatchObject({ status: 'completed', counts: { created: 2, passwordsSet: 0 } });
      expect(run.warnings).toContain(
        'The archive keeps no passwords: people whom this import creates have none.',
      );
    });
  });

  describe(`rerun on ${dialect} of what was masked`, () => {
    test('leaves fields alone that look like secrets, and retries the right users behind a long password', async () => {
      await using house = await openImportHouse({ dialect });
      await house.configurations.createField('passwordhint', 'string', null);
      const secret = '<password>\n\none\ntwo</password>';
      const hint = '<field id="passwordhint">the dog</field>';
      const faulty = userXml('b', 'user-b', '<userType>King</userType>');
      await house.import(profileXml([userXml('a', 'user-a', secret, hint), faulty, userXml('c', 'user-c')]));
      await again(house, rerun, 1);
      const { resource } = await house.person('user-a');
      expect(JSON.stringify(resource)).toContain('the dog');
      await house.configurations.setSetting('userTypes', 'King');
      expect(await again(house, retry, 1)).toMatchObject({ users: 1, counts: { created: 1, issues: 0 } });
      expect((await house.person('user-b')).resource.userType).toBe('King');
    });
  });

  describe(`retry on ${dialect}`, () => {
    test('imports only the users that went wrong, and nobody is missing', async () => {
      await using house = await openImportHouse({ dialect });
      const faulty = userXml('c', 'user-c', '<userType>Contractor</userType>');
      const orphan = userXml('b', 'user-b', '<manager>later@example.com</manager>');
      const first = await house.import(profileXml([userXml('a', 'user-a'), orphan, faulty]));
      expect(first).toMatchObject({ status: 'completed-with-errors', counts: { issues: 2 } });
      await house.configurations.setSetting('userTypes', 'Contractor');
      await house.import(
        profileXml([userXml('x', 'user-x', '<email>later@example.com</email>')], {
          options: { mode: 'delta' },
        }),
      );
      expect(await again(house, retry, 1)).toMatchObject({
        origin: 'retry',
        status: 'completed',
        users: 2,
        counts: { created: 1, updated: 1, disabled: 0, issues: 0 },
      });
      expect((await house.person('user-b')).manager?.displayName).toBe('user-x');
      expect(await house.states()).toContain('user-a active');
    });

    test('refuses a run in which nothing went wrong, and one that is not over', async () => {
      await using house = await openImportHouse({ dialect });
      await house.import(profileXml([userXml('a', 'user-a')]));
      await expect(again(house, retry, 1)).rejects.toThrow('there is nothing to retry');
      await house.accept(profileXml([userXml('b', 'user-b')]));
      await expect(again(house, rerun, 2)).rejects.toThrow('Import 2 is queued; wait until it is over');
      await expect(again(house, rerun, 7)).rejects.toMatchObject({ kind: 'notFound' });
    });
  });
}
