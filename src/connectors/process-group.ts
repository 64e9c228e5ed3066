import { readdirSync, readFileSync } from 'node:fs';
import { readdir, readFile, readlink } from 'node:fs/promises';

/** Processes that are looked at for one run. */
export const groupSizeMax = 256;
const sweepsMax = 5;

/** Sends a signal to every process of the group that `pid` leads; false when there is none any more. */
export function signalGroup(pid: number, signal: 'SIGTERM' | 'SIGKILL'): boolean {
  if (process.platform === 'win32') return endTree(pid);
  try {
    process.kill(-pid, signal);
    return true;
  } catch {
    return false;
  }
}

/** Windows knows no groups that a signal reaches, and no signal that asks. */
function endTree(pid: number): boolean {
  return Bun.spawnSync(['taskkill', '/pid', String(pid), '/t', '/f'], { stdout: 'ignore', stderr: 'ignore' })
    .success;
}

export interface GroupUse {
  readonly processes: number;
  /** Resident memory of all, pages that they share counted once for each. */
  readonly memoryBytes: number;
}

/** What `pid` and the processes below it use now; undefined where the system does not tell, and when it has gone. */
export function groupUse(pid: number): GroupUse | undefined {
  if (process.platform !== 'linux') return undefined;
  const own = residentBytes(pid);
  if (own === undefined) return undefined;
  const below = descendants(pid);
  const memory = below.reduce((sum, each) => sum + (residentBytes(each) ?? 0), own);
  return { processes: below.length + 1, memoryBytes: memory };
}

function descendants(pid: number): number[] {
  const found: number[] = [];
  for (let waiting = childrenOf(pid); waiting.length > 0 && found.length <= groupSizeMax; ) {
    found.push(...waiting);
    waiting = waiting.slice(0, groupSizeMax).flatMap(childrenOf);
  }
  return found;
}

/** proc_pid_task(5): each thread lists the processes that it has started. */
function childrenOf(pid: number): number[] {
  try {
    const threads = readdirSync(`/proc/${pid}/task`).slice(0, groupSizeMax);
    return threads.flatMap((thread) => {
      const text = readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8');
      return text.split(' ').filter(Boolean).map(Number);
    });
  } catch {
    return [];
  }
}

function residentBytes(pid: number): number | undefined {
  try {
    const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return kilobytes === undefined ? 0 : Number(kilobytes) * 1024;
  } catch {
    return undefined;
  }
}

/**
 * Ends the processes that have left the group of a run but still bear its mark: `folder` as their home or working
 * directory. One may start another meanwhile, so it looks again until there is none.
 */
export async function endMarked(folder: string): Promise<void> {
  if (process.platform !== 'linux') return;
  for (let sweep = 0; sweep < sweepsMax; sweep += 1) {
    const pids = await marked(folder);
    if (pids.length === 0) return;
    for (const pid of pids) end(pid);
    await Bun.sleep(10);
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

async function marked(folder: string): Promise<number[]> {
  const names = await readdir('/proc').catch(() => []);
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number);
  const isOurs = await Promise.all(pids.map((pid) => pid !== process.pid && isMarked(pid, folder)));
  return pids.filter((_, index) => isOurs[index]);
}

/** Processes of other users cannot be read, and are not ours. */
async function isMarked(pid: number, folder: string): Promise<boolean> {
  const [cwd, environment, state] = await Promise.all([
    readlink(`/proc/${pid}/cwd`).catch(() => ''),
    readFile(`/proc/${pid}/environ`, 'utf8').catch(() => ''),
    readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ''),
  ]);
  const isZombie = / Z /.test(state.slice(state.lastIndexOf(')')));
  const isWithin = cwd === folder || cwd.startsWith(`${folder}/`);
  return !isZombie && (isWithin || environment.split('\0').includes(`HOME=${folder}`));
}
