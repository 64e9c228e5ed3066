import { readdirSync, readFileSync } from 'node:fs';

/** The kernel tells times in ticks; Linux has 100 of them a second on every platform that we build for. */
const microsPerTick = 10_000;
const kibPerMib = 1_024;

/** The middle value; of an even number of values, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length >> 1;
  const upper = sorted[half] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] ?? Number.NaN) + upper) / 2;
}

/** The value below which `share` (0 to 1) of the values lie. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? Number.NaN;
}

interface ProcessTimes {
  readonly pid: number;
  readonly parent: number;
  /** Of all its threads, and of its children that have ended. */
  readonly cpuMicros: number;
}

/** Fields of /proc/PID/stat after the command's name, which may itself hold blanks and brackets (proc(5)). */
function readTimes(pid: number): ProcessTimes | undefined {
  const text = readProc(pid, 'stat');
  if (text === undefined) return undefined;
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [utime, stime, cutime, cstime] = fields.slice(11, 15).map(Number);
  const ticks = (utime ?? 0) + (stime ?? 0) + (cutime ?? 0) + (cstime ?? 0);
  return { pid, parent: Number(fields[1]), cpuMicros: ticks * microsPerTick };
}

/** Undefined for a process that has just ended. */
function readProc(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return undefined;
  }
}

/** The process and everything that it started, as they are now. */
function readTree(root: number): ProcessTimes[] {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readTimes(Number(name)))
    .filter((times) => times !== undefined);
  const found = all.filter(({ pid }) => pid === root);
  // Children are appended behind their parents, so that theirs are found in the same walk.
  for (const { pid } of found) found.push(...all.filter(({ parent }) => parent === pid));
  return found;
}

/** CPU time in microseconds that the process and its children have used so far, to 20 ms for each process. */
export function cpuMicrosOf(root: number): number {
  return readTree(root).reduce((sum, { cpuMicros }) => sum + cpuMicros, 0);
}

/** CPU microseconds that `work` made the process and its children use, and how long it took. */
export async function withCpu<T>(
  root: number,
  work: () => Promise<T>,
): Promise<{ cpuMicros: number; ms: number; value: T }> {
  const before = cpuMicrosOf(root);
  const startedMs = performance.now();
  const value = await work();
  const ms = performance.now() - startedMs;
  return { cpuMicros: cpuMicrosOf(root) - before, ms, value };
}

export interface Memory {
  /** Resident in all processes; pages that they share, such as the executable, count in each. */
  readonly residentMib: number;
  /** The same with every shared page divided among those who share it. */
  readonly proportionalMib: number;
}

export function memoryOf(root: number): Memory {
  const rollups = readTree(root).map(({ pid }) => readProc(pid, 'smaps_rollup') ?? '');
  return {
    residentMib: sumMib(rollups, /^Rss:\s+(\d+) kB/m),
    proportionalMib: sumMib(rollups, /^Pss:\s+(\d+) kB/m),
  };
}

function sumMib(texts: readonly string[], form: RegExp): number {
  return texts.reduce((sum, text) => sum + Number(form.exec(text)?.[1] ?? 0), 0) / kibPerMib;
}

const sampleMsDefault = 50;

/** Watches the greatest resident size of the processes of a tree, also of those that end meanwhile. */
export class PeakMemory implements Disposable {
  readonly #root: number;
  readonly #peaks = new Map<number, { readonly role: string; readonly mib: number }>();
  readonly #timer: ReturnType<typeof setInterval>;
  #togetherMib = 0;

  constructor(root: number, sampleMs = sampleMsDefault) {
    this.#root = root;
    this.#timer = setInterval(() => this.#sample(), sampleMs);
    this.#sample();
  }

  /**
   * MiB by what the process does: `serve`, `processor`, `inspect` (of several of one kind, the greatest), and
   * `together` of all of them at one moment.
   */
  peaks(): Readonly<Record<string, number>> {
    this.#sample();
    const byRole: Record<string, number> = { together: this.#togetherMib };
    for (const { role, mib } of this.#peaks.values()) byRole[role] = Math.max(byRole[role] ?? 0, mib);
    return byRole;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #sample(): void {
    let togetherKib = 0;
    for (const { pid } of readTree(this.#root)) {
      const status = readProc(pid, 'status') ?? '';
      togetherKib += Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0);
      const peakKib = /^VmHWM:\s+(\d+) kB/m.exec(status)?.[1];
      if (peakKib !== undefined)
        this.#peaks.set(pid, { role: roleOf(pid), mib: Number(peakKib) / kibPerMib });
    }
    this.#togetherMib = Math.max(this.#togetherMib, togetherKib / kibPerMib);
  }
}

const roles = ['serve', 'processor', 'inspect'];

function roleOf(pid: number): string {
  const words = (readProc(pid, 'cmdline') ?? '').split('\0');
  return roles.find((role) => words.includes(role)) ?? 'other';
}
