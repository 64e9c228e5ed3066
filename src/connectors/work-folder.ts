import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { endMarked } from './process-group.ts';

const entriesMax = 1_000;
const sweptMax = 1_000;
/** Tells this process from a former one that had its id. */
const startedMs = Math.floor(performance.timeOrigin);

/** Makes a folder for one run within `parent`, for the owner alone. */
export async function makeWorkFolder(parent: string): Promise<string> {
  await mkdir(parent, { recursive: true, mode: 0o700 });
  return mkdtemp(join(parent, `${process.pid}-${startedMs}-`));
}

/** Removes what runs have left whose starter was killed, their processes included. */
export async function sweepWorkFolders(parent: string): Promise<void> {
  const names = await readdir(parent).catch(() => []);
  for (const name of names.slice(0, sweptMax)) {
    if (!isAbandoned(name)) continue;
    const folder = join(parent, name);
    await endMarked(folder);
    await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }
}

function isAbandoned(name: string): boolean {
  const [, pid, started] = /^(\d+)-(\d+)-/.exec(name) ?? [];
  if (pid === undefined) return false;
  if (Number(pid) === process.pid) return Number(started) !== startedMs;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as { code?: string }).code === 'ESRCH';
  }
}

/** Bytes of the files within; Infinity when there are more of them than a run needs. */
export async function folderBytes(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch(() => []);
  if (entries.length > entriesMax) return Number.POSITIVE_INFINITY;
  const files = entries.filter((entry) => entry.isFile());
  const sizes = files.map(async ({ parentPath, name }) => {
    const found = await stat(join(parentPath, name)).catch(() => undefined);
    return found?.size ?? 0;
  });
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}
