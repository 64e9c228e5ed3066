import { describe, expect, test } from 'bun:test';
import type { RunProgress } from '../../src/imports/runs.ts';
import { dialects } from '../support/database.ts';
import { decider, openImportHouse, profileXml, strictGuard, userXml, withWrite } from './support.ts';

const people = (count: number) => Array.from({ length: count }, (_, i) => userXml(`p${i}`, `person${i}`));
/** The log without its times and durations. */
const timeless = (log: string) =>
  log.replaceAll(/^\d{4}-\S+Z {2}/gm, '').replaceAll(/ in [\d.]+ s(, \d+ a second)?$/gm, ' in SOME TIME');

for (const dialect of dialects()) {
  describe(`the log of a run on ${dialect}`, () => {
    test('tells of options and whose they are, plan, guard, phases, warnings and issues', async () => {
      await using house = await openImportHouse({ dialect, settings: { syncManagers: 'false' } });
      const users = [...people(3), userXml('p0', 'again'), userXml('m', 'm', '<userType>King</userType>')];
      const options = { syncCompanies: 'false', favouriteColour: 'blue' };
      const { id } = await house.import(profileXml(users, { options }), { file: 'people.xml' });
      const log = await house.runs.log(id);
      expect(log).toStartWith('Import 1 of the source "Human Resources" (id 1)\nDocument: people.xml, ');
      expect(log).toContain(', 5 users, 0 groups, SHA-256 ');
      expect(log).toContain('Status: completed-with-errors\n');
      expect(log).toContain('  mode = full (file)\n');
      expect(log).toContain('  syncCompanies = false (file)\n  syncDepartments = true (source)\n');
      expect(log).toContain('  syncManagers = false (source)\n');
      expect(log).toContain('  defaultCulture = (none) (source)\n');
      const [, , events = '', warnings, issues] = timeless(log).split('\n\n');
      expect(events.split('\n')).toEqual([
        'taken in (upload), queued',
        'planning begins',
        'plan: done, 5 rows in SOME TIME',
        'planned: created 3, issues 2',
        'guard: 0 of 0 active users would be disabled or archived (limit: 15 %, and at least 10); 5 users in the file; 2 records in error (limit: 100 %)',
        'guard: lets it go on',
        'groups: 0 rows to do',
        'renames: 0 rows to do',
        'users: 3 rows to do',
        'users: done, 3 rows in SOME TIME',
        'disabled: 0 rows to do',
        'managers: 0 rows to do',
        'passwords: 0 rows to do',
        'missing: 0 rows to do',
        'completed-with-errors: created 3, issues 2',
      ]);
      expect(warnings).toContain('favouriteColour');
      expect(issues).toStartWith('Issues:\n  line 8, p0 [duplicateRecord] The id "p0" is given twice');
    });

    test('tells what the guard held, and who let it go on', async () => {
      await using house = await openImportHouse({ dialect });
      await house.import(profileXml(people(40)));
      await house.import(profileXml(people(20)));
      expect(timeless(await house.runs.log(2))).toEndWith(
        'guard: 20 of 40 active users would be disabled or archived (limit: 15 %, and at least 10); 20 users in the file, 40 in the last full one (limit: 100 % fewer); 0 records in error (limit: 100 %)\nguard: holds it for approval\n',
      );
      await house.runs.approve(2, decider);
      await house.processor().drain();
      const log = timeless(await house.runs.log(2));
      expect(log).toContain(
        'guard: holds it for approval\napproved on the command line by tester\ntaken up again\n',
      );
      expect(log).toEndWith('missing: done, 20 rows in SOME TIME\ncompleted: disabled 20, unchanged 20\n');
    });

    test('tells who rejected or cancelled it, and what took its place', async () => {
      await using house = await openImportHouse({ dialect, settings: strictGuard });
      await house.import(profileXml(people(40)));
      for (const count of [20, 21, 22]) await house.import(profileXml(people(count)));
      await house.runs.reject(2, { kind: 'administrator', name: 'ada' });
      await house.runs.cancel(3, { kind: 'command' });
      await house.import(profileXml(people(39)));
      expect(timeless(await house.runs.log(2))).toEndWith('rejected by the administrator ada\nrejected\n');
      expect(timeless(await house.runs.log(3))).toEndWith('cancelled on the command line\ncancelled\n');
      expect(timeless(await house.runs.log(4))).toEndWith('superseded: Import 5 took its place.\n');
    });

    test('is there for a run that waits, and for a dry run', async () => {
      await using house = await openImportHouse({ dialect });
      await house.accept(profileXml(people(2)));
      const log = await house.runs.log(1);
      expect(log.split('\n\n')).toHaveLength(2);
      expect(timeless(log)).toEndWith('\ntaken in (upload), queued\n');
      await house.runs.cancel(1, decider);
      await house.import(profileXml(people(2)), { dryRun: true });
      expect(timeless(await house.runs.log(2))).toContain('(id 1), a dry run\n');
      expect(timeless(await house.runs.log(2))).toEndWith(
        'guard: lets it go on\ncompleted; nothing was changed\n',
      );
    });

    test('is refused for a run of another source', async () => {
      await using house = await openImportHouse({ dialect });
      await house.import(profileXml(people(1)));
      await expect(house.runs.log(1, 2)).rejects.toMatchObject({ kind: 'notFound' });
      await expect(house.runs.log(7)).rejects.toMatchObject({ kind: 'notFound' });
    });
  });

  describe(`the progress of a run on ${dialect}`, () => {
    test('has the rate and the time left once there is something to go by', async () => {
      await using house = await openImportHouse({ dialect });
      await house.accept(profileXml(people(200)));
      const seen: (RunProgress | undefined)[] = [];
      const watched = withWrite(house.database, async (write) => {
        const result = await write();
        house.advance(10);
        seen.push((await house.runs.get(1)).progress);
        return result;
      });
      await house.processor(watched).drain();
      const paces = seen.filter((progress) => progress?.rate !== undefined);
      expect(paces.length).toBeGreaterThan(2);
      for (const { done, total, rate = 0, secondsLeft = -1 } of paces as RunProgress[]) {
        // The rate is shown with one digit behind the point.
        const left = (total - done) / rate;
        expect(Math.abs(secondsLeft - left)).toBeLessThan(2 + left * (0.05 / rate));
      }
      expect((await house.runs.get(1)).progress).toBeUndefined();
    });
  });
}

test('a log has no line that a file wrote', async () => {
  await using house = await openImportHouse();
  const users = [
    userXml('p&#10;2030-01-01T00:00:00.000Z  approved by the administrator', 'x', '<userType>K</userType>'),
  ];
  await house.import(profileXml(users), { file: 'a\nb.xml' });
  const log = await house.runs.log(1);
  expect(log).toContain('Document: a\ufffdb.xml, ');
  expect(log.split('\n').filter((line) => line.endsWith('approved by the administrator'))).toEqual([]);
});
