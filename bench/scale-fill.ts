// Fills a data folder with a directory of any size, by the product's own writing: `saveUsers` and `createGroup` in
// transactions of a thousand people. Every row is there that an identity provider's requests would have left: the
// people, their email keys, links, departments, memberships, and the journal. Only HTTP is not passed through.

import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { DirectoryContext } from '../src/directory/context.ts';
import { createGroup } from '../src/directory/save-group.ts';
import { changeMembers } from '../src/directory/save-members.ts';
import { saveUsers } from '../src/directory/save-users.ts';
import { normaliseResource } from '../src/resource/normalise.ts';
import { coreGroupUrn } from '../src/resource/schema.ts';
import { Configurations } from '../src/settings/configuration.ts';
import type { Database } from '../src/storage/database.ts';
import { openSqlite } from '../src/storage/sqlite.ts';
import { userBody, userName } from './scim-phases.ts';
import { createSource } from './server.ts';

/** A data folder whose person n (from 0) has the id n + 1 and the name `userName(n)`. */
export interface FilledFolder {
  /** Holds `data`. */
  readonly home: string;
  readonly token: string;
  readonly people: number;
  readonly teams: number;
  /** Seconds that filling took; undefined for a folder that was kept from an earlier run. */
  readonly fillSeconds: number | undefined;
  readonly mib: number;
}

interface FillOptions {
  readonly executable: string;
  readonly home: string;
  readonly people: number;
  /** Where filled folders are kept between runs; they are copied, and stay as they were filled. */
  readonly keep: string | undefined;
  readonly say: (line: string) => void;
}

interface Note {
  readonly token: string;
  readonly form: string;
}

const peoplePerCommit = 1_000;
const peoplePerTeam = 100;
const membersOfTeam = 30;
const teamsPerCommit = 50;
const noteName = 'filled.json';

/** A folder at `home` with that many people, filled now or copied from where it was kept. */
export async function filledFolder(options: FillOptions): Promise<FilledFolder> {
  const { home, people, keep, say } = options;
  const kept = keep === undefined ? undefined : join(keep, String(people));
  const known = kept === undefined ? undefined : readNote(kept);
  const teams = Math.floor(people / peoplePerTeam);
  if (kept !== undefined && known?.form === form) {
    say(`scale: copying the kept directory of ${people} people`);
    cpSync(kept, home, { recursive: true });
    return { home, token: known.token, people, teams, fillSeconds: undefined, mib: sizeMib(home) };
  }
  say(`scale: filling a directory of ${people} people`);
  const startedMs = performance.now();
  const token = await fill(options);
  const fillSeconds = (performance.now() - startedMs) / 1_000;
  if (kept !== undefined) await keepCopy(home, kept, { token, form });
  return { home, token, people, teams, fillSeconds, mib: sizeMib(home) };
}

/** A kept folder serves as long as the tables and this file are the same; read now, for the sources may change meanwhile. */
const form = formOfTables();

function formOfTables(): string {
  const migrations = join(import.meta.dir, '..', 'src', 'storage', 'migrations');
  const hash = createHash('sha256');
  for (const name of readdirSync(migrations).toSorted()) hash.update(readFileSync(join(migrations, name)));
  return hash.update(readFileSync(import.meta.path)).digest('hex');
}

function readNote(folder: string): Note | undefined {
  const path = join(folder, noteName);
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Note) : undefined;
}

/** The note is written last, and the folder gets its name with it: a copy that was cut short is none. */
async function keepCopy(home: string, kept: string, note: Note): Promise<void> {
  const partial = `${kept}.partial`;
  for (const folder of [partial, kept]) rmSync(folder, { recursive: true, force: true });
  cpSync(home, partial, { recursive: true });
  await Bun.write(join(partial, noteName), JSON.stringify(note));
  renameSync(partial, kept);
}

function sizeMib(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return (
    files.reduce((sum, { parentPath, name }) => sum + Bun.file(join(parentPath, name)).size, 0) / 1024 ** 2
  );
}

async function fill({ executable, home, people, say }: FillOptions): Promise<string> {
  mkdirSync(home, { recursive: true });
  const { id, token } = createSource(executable, home, {
    kind: 'scim',
    name: 'bench',
    settings: ['rateLimit=0'],
  });
  const database = openSqlite({ path: join(home, 'data', 'rollcall.db') });
  try {
    const context = await contextFor(database, id);
    for (let from = 0; from < people; from += peoplePerCommit) {
      await writePeople(database, context, { from, to: Math.min(from + peoplePerCommit, people) });
      if (from > 0 && from % 100_000 === 0) say(`scale: ${from} of ${people}`);
    }
    const teams = Math.floor(people / peoplePerTeam);
    for (let from = 0; from < teams; from += teamsPerCommit) {
      await writeTeams(database, context, { from, to: Math.min(from + teamsPerCommit, teams), people });
    }
  } finally {
    await database.close();
  }
  return token;
}

async function contextFor(database: Database, sourceId: number): Promise<DirectoryContext> {
  return {
    actor: { kind: 'source', id: sourceId },
    sourceId,
    scope: 'all',
    unknownReferences: 'reject',
    requestId: null,
    runId: null,
    configuration: await new Configurations(database).current(),
    now: new Date().toISOString(),
  };
}

interface Range {
  readonly from: number;
  readonly to: number;
}

async function writePeople(
  database: Database,
  context: DirectoryContext,
  { from, to }: Range,
): Promise<void> {
  const changes = Array.from({ length: to - from }, (_, i) => {
    const body = userBody(userName(from + i), from + i);
    const { resource } = normaliseResource(context.configuration.userType, body, 'create');
    return { next: resource, mode: 'replace' as const };
  });
  const saved = await database.write((tx) => saveUsers(tx, context, changes));
  const isInOrder = saved.every(({ id }, i) => id === from + i + 1);
  if (!isInOrder) throw new Error('The ids of the filled directory do not follow each other.');
}

async function writeTeams(
  database: Database,
  context: DirectoryContext,
  { from, to, people }: Range & { readonly people: number },
): Promise<void> {
  await database.write(async (tx) => {
    for (let team = from; team < to; team += 1) {
      const id = await createGroup(tx, context, { schemas: [coreGroupUrn], displayName: `Team ${team}` });
      const values = new Set(
        Array.from({ length: membersOfTeam }, (_, i) => String(((team * 7_919 + i * 104_729) % people) + 1)),
      );
      await changeMembers(tx, context, id, [{ action: 'add', values: [...values] }]);
    }
  });
}
