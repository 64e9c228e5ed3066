import { existsSync, statfsSync, statSync } from 'node:fs';
import type { Config } from '../config/options.ts';
import { isHeld } from '../directory/brake.ts';
import { listBrakes } from '../directory/brake-store.ts';
import { findMiscounts } from '../directory/list-store.ts';
import { openSecretBox } from '../security/secret-key.ts';
import { Sources } from '../sources/sources.ts';
import type { Database } from '../storage/database.ts';
import { isUpToDate } from '../storage/migrate.ts';
import { openSqlite } from '../storage/sqlite.ts';
import { integrityProblems } from '../storage/sqlite-copy.ts';
import { type DataFolder, dataFolder, requireWritable } from './data-folder.ts';
import { isServed } from './locks.ts';

/** One thing that was looked at. */
export interface Check {
  readonly name: string;
  readonly passed: boolean;
  /** What was found, and what to do about it when it is wrong. */
  readonly detail: string;
}

const freeBytesMin = 1024 ** 3;

/** Looks at a data folder and its database, and changes neither. */
export async function examine(config: Config): Promise<Check[]> {
  const folder = dataFolder(config.data);
  if (!existsSync(folder.path)) {
    return [failed('data folder', `There is none at ${folder.path}.`)];
  }
  const refusal = refusalOf(folder);
  const files = [
    refusal ?? checkMode('data folder', folder.path, 0o700),
    checkMode('secret key', folder.secretKey, 0o600),
    checkSpace(folder),
  ];
  // Even looking at the database needs files beside it, so the other checks would only say the same in other words.
  if (refusal !== undefined) return files;
  const database =
    config.database === undefined ? await examineFile(folder) : await examineServer(config.database, folder);
  return [...files, ...database];
}

function refusalOf(folder: DataFolder): Check | undefined {
  try {
    requireWritable(folder);
    return undefined;
  } catch (error) {
    return failed('data folder', messageOf(error));
  }
}

function checkMode(name: string, path: string, wanted: number): Check {
  if (!existsSync(path))
    return failed(name, `There is none at ${path}; restore it, or start the service to make one.`);
  const mode = statSync(path).mode & 0o777;
  if (process.platform === 'win32') return passed(name, path);
  if ((mode & ~wanted) === 0) return passed(name, `${path}, for its owner alone`);
  return failed(name, `Others may use ${path}; run "chmod ${wanted.toString(8)} ${path}".`);
}

function checkSpace({ path }: DataFolder): Check {
  const { bavail, bsize } = statfsSync(path);
  const gibibytes = ((bavail * bsize) / 1024 ** 3).toFixed(1);
  if (bavail * bsize >= freeBytesMin) return passed('free space', `${gibibytes} GiB`);
  return failed('free space', `Only ${gibibytes} GiB are free; make room.`);
}

async function examineFile(folder: DataFolder): Promise<Check[]> {
  const { database: path } = folder;
  if (!existsSync(path)) return [failed('database', `There is none at ${path}.`)];
  try {
    const problems = integrityProblems(path);
    if (problems.length > 0) return [failed('database', `${problems.join('; ')}. Restore a backup.`)];
    await using opened = closing(openSqlite({ path }));
    const served = isServed(folder) ? 'a service runs on this folder' : 'no service runs on this folder';
    return [
      passed('database', `${path} is sound`),
      ...(await examineContents(opened.database, folder)),
      passed('service', served),
    ];
  } catch (error) {
    return [failed('database', `${path} cannot be read: ${messageOf(error)}.`)];
  }
}

async function examineServer(url: string, folder: DataFolder): Promise<Check[]> {
  const { openPostgres } = await import('../storage/postgres.ts');
  await using opened = closing(openPostgres({ url }));
  try {
    await opened.database.read.selectNoFrom((select) => select.lit(1).as('one')).execute();
    return [passed('database', 'it answers'), ...(await examineContents(opened.database, folder))];
  } catch (error) {
    return [failed('database', `It cannot be used: ${messageOf(error)}.`)];
  }
}

async function examineContents(database: Database, folder: DataFolder): Promise<Check[]> {
  if (!(await isUpToDate(database))) {
    return [failed('tables', 'They are not those of this release; run "rollcall migrate".')];
  }
  return [
    passed('tables', 'they are those of this release'),
    await checkCounts(database),
    await checkKey(database, folder),
    await checkBrakes(database, folder),
  ];
}

/** Lists take their length from counts that the database keeps beside the people and groups. */
async function checkCounts(database: Database): Promise<Check> {
  const miscounts = await findMiscounts(database.read);
  if (miscounts.length === 0) return passed('counts', 'lists are as long as they say');
  const blocks = miscounts.map(({ resourceType, block }) => `${resourceType} ${block}`);
  return failed(
    'counts',
    `The counts of ${blocks.slice(0, 5).join(', ')} are not what is there; restore a backup.`,
  );
}

/** A source that is held keeps people active who should not be: somebody has to decide. */
async function checkBrakes(database: Database, { secretKey }: DataFolder): Promise<Check> {
  if (!existsSync(secretKey)) return passed('brake', 'not looked at without a key');
  const sources = new Sources({ database, secretBox: openSecretBox(secretKey), clock: () => new Date() });
  const brakes = new Map((await listBrakes(database.read)).map((brake) => [brake.sourceId, brake]));
  const now = new Date().toISOString();
  const held = (await sources.list()).filter(
    (source) => source.kind === 'scim' && isHeld(brakes.get(source.id), source.settings.brakeLimit, now),
  );
  if (held.length === 0) return passed('brake', 'no source is held');
  const names = held.map(({ name }) => JSON.stringify(name)).join(', ');
  return failed(
    'brake',
    `It holds deactivations and deletions of ${names}; "rollcall source release NAME" lets them go on.`,
  );
}

/** The key fits when it opens a token that was sealed under it. */
async function checkKey(database: Database, { secretKey }: DataFolder): Promise<Check> {
  if (!existsSync(secretKey))
    return failed('key', 'There is no key to open the tokens with; put the right secret.key back.');
  const sources = new Sources({ database, secretBox: openSecretBox(secretKey), clock: () => new Date() });
  const [first] = await sources.list();
  if (first === undefined) return passed('key', 'nothing is sealed under it yet');
  try {
    await sources.revealToken(first);
    return passed('key', 'it opens the stored tokens');
  } catch {
    return failed(
      'key',
      'It is not the key that the tokens were stored under; put the right secret.key back.',
    );
  }
}

function closing(database: Database): AsyncDisposable & { readonly database: Database } {
  return { database, [Symbol.asyncDispose]: () => database.close() };
}

function passed(name: string, detail: string): Check {
  return { name, passed: true, detail };
}

function failed(name: string, detail: string): Check {
  return { name, passed: false, detail };
}

function messageOf(error: unknown): string {
  const { code, message } = error as { code?: string; message?: string };
  return message || code || String(error);
}
