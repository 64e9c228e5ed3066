// Files as a release accepted them, and the directory that they made there: test/fixtures/releases/README.md.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { User } from '../../src/directory/user.ts';
import type { Dialect } from '../../src/storage/database.ts';
import { type ContentEncoding, decoded } from '../../src/upload/content-encoding.ts';
import { type ImportHouse, openImportHouse } from './support.ts';

export const releasesFolder = join(import.meta.dir, '..', 'fixtures', 'releases');

/** What an import of one of the files left behind. */
export interface Outcome {
  readonly file: string;
  readonly status: string;
  readonly counts: Readonly<Record<string, number>>;
  readonly warnings: readonly string[];
  readonly people: readonly unknown[];
  readonly groups: readonly unknown[];
}

/** The files of a release, in the order in which they are imported. */
export function filesOf(release: string): string[] {
  return readdirSync(join(releasesFolder, release))
    .filter((name) => /\.xml(\.gz|\.zst)?$/.test(name))
    .toSorted();
}

/** Imports the files of a release one after the other, as they would be uploaded. */
export async function importRelease(release: string, dialect: Dialect): Promise<Outcome[]> {
  await using house = await openImportHouse({ dialect });
  await house.configurations.createField('costcentre', 'string', null);
  await house.configurations.createField('since', 'dateTime', null);
  const outcomes: Outcome[] = [];
  for (const file of filesOf(release)) outcomes.push(await importFile(house, release, file));
  return outcomes;
}

async function importFile(house: ImportHouse, release: string, file: string): Promise<Outcome> {
  const bytes = Bun.file(join(releasesFolder, release, file)).stream();
  const stream = decoded(bytes, encodingOf(file));
  const { importId } = await house.intake.accept({ source: house.source, origin: 'upload', stream });
  await house.processor().drain();
  const { status, counts, warnings } = await house.runs.get(importId);
  const users = await house.people();
  const people = users.map((user) => comparable(user, users));
  return { file, status, counts, warnings, people, groups: await groupsOf(house) };
}

function encodingOf(file: string): ContentEncoding {
  if (file.endsWith('.gz')) return 'gzip';
  return file.endsWith('.zst') ? 'zstd' : 'identity';
}

/** Without ids and times, which are another installation's. */
function comparable({ state, resource, groups, manager, doNotSynchronise }: User, all: readonly User[]) {
  const managerName = all.find(({ id }) => id === manager?.id)?.resource.userName;
  const withName = (name: string, value: unknown) => (name === 'manager' ? managerName : value);
  return {
    state,
    doNotSynchronise,
    resource: JSON.parse(JSON.stringify(resource), withName),
    groups: groups
      .map((each) => `${each.groupType} ${each.displayName}${each.isPrimary ? ' (primary)' : ''}`)
      .toSorted(),
  };
}

async function groupsOf({ database }: ImportHouse): Promise<unknown[]> {
  const rows = await database.read
    .selectFrom('group_')
    .select(['group_type as type', 'display_name as name', 'state', 'document'])
    .orderBy('group_type')
    .orderBy('display_name_key')
    .execute();
  return rows.map(({ document, ...row }) => ({ ...row, document: JSON.parse(document) }));
}
