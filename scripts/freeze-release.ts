// Writes down what the files of a release make of an empty directory: test/fixtures/releases/README.md tells when.

import { join } from 'node:path';
import { importRelease, releasesFolder } from '../test/imports/release-files.ts';

const [release] = Bun.argv.slice(2);
if (release === undefined || !/^\d+\.\d+\.\d+$/.test(release)) {
  console.error('Name the release: bun scripts/freeze-release.ts 0.2.0');
  process.exit(1);
}
const outcomes = await importRelease(release, 'sqlite');
await Bun.write(join(releasesFolder, release, 'expected.json'), `${JSON.stringify(outcomes, null, 2)}\n`);
