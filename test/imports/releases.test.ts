import { describe, expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { dialects } from '../support/database.ts';
import { filesOf, importRelease, type Outcome, releasesFolder } from './release-files.ts';

const releases = readdirSync(releasesFolder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name);

test('files of at least one release are kept, raw and in every encoding', () => {
  const names = releases.flatMap(filesOf).join(' ');
  expect(names).toMatch(/\.xml .*\.xml\.gz .*utf-16\.xml .*\.xml\.zst/);
});

for (const dialect of dialects()) {
  describe.each(releases)(`the files that release %s accepted, on ${dialect}`, (release) => {
    test('are accepted today, and make the same directory', async () => {
      const file = Bun.file(join(releasesFolder, release, 'expected.json'));
      const expected: readonly Outcome[] = await file.json();
      const outcomes = await importRelease(release, dialect);
      expect(outcomes.map((outcome) => outcome.file)).toEqual(expected.map((outcome) => outcome.file));
      for (const [index, outcome] of outcomes.entries()) {
        expect(JSON.parse(JSON.stringify(outcome))).toEqual(expected[index]);
      }
    });
  });
}
