import { rm } from 'node:fs/promises';
import { setPriority } from 'node:os';
import { DomainError } from '../errors.ts';
import { ConnectorLog, type LogLine, logBytesMax } from './connector-log.ts';
import type { RunLimits } from './connectors.ts';
import { endMarked, groupSizeMax, groupUse, signalGroup } from './process-group.ts';
import type { SecretMask } from './secrets.ts';
import { folderBytes, makeWorkFolder, sweepWorkFolders } from './work-folder.ts';

/** Requests come first, but a connector must not starve. */
const niceness = 5;
const watchMs = 200;
/** Files are looked at more seldom than memory. */
const watchesPerFolder = 5;
const termMs = 1_000;
/** How long whoever holds the output of a process that has ended may keep it. */
const heldMsMax = 2_000;
const folderBytesMax = 1024 ** 3;
/** The system's own limit lies above the one that is watched: it is for who allocates faster than anybody can look. */
const dataReserveBytes = 1024 ** 3;
const blockBytes = 512;

/** What every process of a connector is started with. */
export interface ProcessParts {
  /** How this program starts itself. */
  readonly selfCommand: readonly string[];
  /** The environment of the child, but for what its folder is. */
  readonly environment: Readonly<Record<string, string>>;
  /** In here each run has a folder of its own while it lasts. */
  readonly workFolder: string;
}

export interface ProcessOptions {
  readonly command: readonly string[];
  /** What is to be read from standard input, which ends after it. */
  readonly input: string;
  readonly limits: RunLimits;
  readonly mask: SecretMask;
  readonly onLine?: ((line: LogLine) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

type StopReason = 'late' | 'memory' | 'disk' | 'processes' | 'log' | 'held' | 'cancelled';

/**
 * One process of a connector with all that it starts, in a group, a folder and an environment of its own. Whatever it
 * does, it is ended within its limits, and nothing of it is left once this is disposed of.
 */
export class ConnectorProcess implements AsyncDisposable {
  readonly folder: string;
  readonly log: ConnectorLog;
  readonly #options: ProcessOptions;
  readonly #child: Bun.Subprocess<Uint8Array, 'pipe', 'pipe'>;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #errors: ReadableStreamDefaultReader<Uint8Array>;
  readonly #logged: Promise<void>;
  /** Resolves once the process and all of its group have ended. */
  readonly #ended: Promise<void>;
  readonly #timers: Timer[] = [];
  readonly #onAbort = () => this.#stop('cancelled');
  #reason: StopReason | undefined;
  #waitsSinceMs: number | undefined;
  #watches = 0;
  #memoryBytesPeak = 0;

  /** Throws `unavailable` when the command cannot be started. */
  static async start(parts: ProcessParts, options: ProcessOptions): Promise<ConnectorProcess> {
    options.signal?.throwIfAborted();
    await sweepWorkFolders(parts.workFolder);
    const folder = await makeWorkFolder(parts.workFolder);
    try {
      return new ConnectorProcess(parts, folder, options);
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      const { message } = error as Error;
      throw new DomainError('unavailable', `The connector cannot be started: ${message}.`, { cause: error });
    }
  }

  private constructor({ environment }: ProcessParts, folder: string, options: ProcessOptions) {
    this.folder = folder;
    this.log = new ConnectorLog(options.mask, options.onLine);
    this.#options = options;
    this.#child = Bun.spawn(limited(options.command, options.limits), {
      cwd: folder,
      env: { ...environment, HOME: folder, TMPDIR: folder, TEMP: folder, TMP: folder },
      stdin: Buffer.from(options.input),
      stdout: 'pipe',
      stderr: 'pipe',
      detached: process.platform !== 'win32',
    });
    lowerPriority(this.#child.pid);
    this.#reader = this.#child.stdout.getReader();
    this.#errors = this.#child.stderr.getReader();
    this.#logged = this.#readLog();
    this.#ended = this.#child.exited.then(() => this.#endGroup());
    this.#timers.push(
      setTimeout(() => this.#stop('late'), options.limits.milliseconds),
      setInterval(() => this.#watch(), watchMs),
    );
    options.signal?.addEventListener('abort', this.#onAbort, { once: true });
    if (options.signal?.aborted) this.#onAbort();
  }

  /**
   * Most memory that the process and what it started were seen to hold, every 200 ms; 0 where the system does not tell.
   * What the kernel adds up for a process begins with what its parent held when it was started.
   */
  get memoryBytesPeak(): number {
    return this.#memoryBytesPeak;
  }

  /** What it writes to standard output. Throws at its end unless the process has ended well by itself. */
  async *output(): AsyncGenerator<Uint8Array> {
    for (;;) {
      this.#waitsSinceMs = performance.now();
      const { done, value } = await this.#reader.read();
      this.#waitsSinceMs = undefined;
      if (done) break;
      yield value;
    }
    await this.#ended;
    await this.#logged;
    const failure = this.#failure();
    if (failure !== undefined) throw failure;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop('cancelled');
    await this.#ended;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#options.signal?.removeEventListener('abort', this.#onAbort);
    await Promise.all(
      [this.#reader.cancel(), this.#errors.cancel()].map((each) => each.catch(() => undefined)),
    );
    await rm(this.folder, { recursive: true, force: true }).catch(() => undefined);
  }

  /** Asks it to end, and a second later does not ask. Only the first reason counts. */
  #stop(reason: StopReason): void {
    if (this.#reason !== undefined || this.#hasExited) return;
    this.#reason = reason;
    const isUrgent = reason !== 'late' && reason !== 'cancelled';
    signalGroup(this.#child.pid, isUrgent ? 'SIGKILL' : 'SIGTERM');
    this.#timers.push(setTimeout(() => signalGroup(this.#child.pid, 'SIGKILL'), termMs));
  }

  async #endGroup(): Promise<void> {
    if (process.platform !== 'win32') signalGroup(this.#child.pid, 'SIGKILL');
    await endMarked(this.folder);
  }

  #watch(): void {
    if (this.#hasExited) this.#watchHeld();
    else this.#watchUse();
  }

  get #hasExited(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  #watchUse(): void {
    const use = groupUse(this.#child.pid);
    this.#memoryBytesPeak = Math.max(this.#memoryBytesPeak, use?.memoryBytes ?? 0);
    if (use !== undefined && use.memoryBytes > this.#options.limits.memoryBytes) this.#stop('memory');
    if (use !== undefined && use.processes > groupSizeMax) this.#stop('processes');
    this.#watches += 1;
    if (this.#watches % watchesPerFolder === 0) void this.#watchFolder();
  }

  async #watchFolder(): Promise<void> {
    if ((await folderBytes(this.folder)) > folderBytesMax) this.#stop('disk');
  }

  /** Somebody else has the output still open. */
  #watchHeld(): void {
    const since = this.#waitsSinceMs;
    if (since === undefined || performance.now() - since < heldMsMax) return;
    this.#reason ??= 'held';
    void this.#reader.cancel().catch(() => undefined);
    void this.#errors.cancel().catch(() => undefined);
  }

  async #readLog(): Promise<void> {
    try {
      for (;;) {
        const { done, value } = await this.#errors.read();
        if (done) break;
        this.log.add(value);
        if (this.log.bytes > logBytesMax) this.#stop('log');
      }
    } catch {
      // It was cancelled.
    }
    this.log.end();
  }

  #failure(): unknown {
    const { limits, signal } = this.#options;
    if (this.#reason === 'cancelled')
      return signal?.reason ?? new DomainError('unavailable', 'The run was cancelled.');
    if (this.#reason !== undefined) return new DomainError('unavailable', stopSentence(this.#reason, limits));
    const { exitCode, signalCode } = this.#child;
    if (exitCode === 0) return undefined;
    const words = this.log.lastWords;
    if (exitCode === 1 && words !== undefined)
      return new DomainError('unavailable', `The connector failed: ${sentence(words)}`);
    const how = exitCode === null ? `was ended by ${signalCode}` : `ended with exit status ${exitCode}`;
    const why = words === undefined ? ' and said nothing.' : `: ${sentence(words)}`;
    return new DomainError('unavailable', `The connector ${how}${why}`);
  }
}

function stopSentence(reason: StopReason, { milliseconds, memoryBytes }: RunLimits): string {
  switch (reason) {
    case 'late':
      return `The connector had not ended after ${milliseconds / 1_000} seconds and was stopped; connectorSecondsMax sets how long a run may take.`;
    case 'memory':
      return `The connector used more than ${memoryBytes.toLocaleString('en')} bytes of memory and was stopped; connectorMemoryBytesMax sets how much it may use.`;
    case 'disk':
      return 'The connector filled its working directory and was stopped.';
    case 'processes':
      return `The connector started more than ${groupSizeMax} processes and was stopped.`;
    case 'log':
      return `The connector wrote more than ${logBytesMax.toLocaleString('en')} bytes to standard error and was stopped.`;
    case 'held':
      return 'The connector ended, but a process that it started kept its output open.';
    case 'cancelled':
      return 'The run was cancelled.';
  }
}

function sentence(text: string): string {
  return /[.!?)]$/.test(text) ? text : `${text}.`;
}

/**
 * The command under the limits that a POSIX shell can set; one that the system does not know is left out. The kernel is
 * told to take this process first when memory runs out.
 */
function limited(command: readonly string[], { memoryBytes }: RunLimits): string[] {
  if (process.platform === 'win32') return [...command];
  const limits = [
    'ulimit -c 0',
    `ulimit -f ${folderBytesMax / blockBytes}`,
    `ulimit -d ${Math.ceil((memoryBytes + dataReserveBytes) / 1024)}`,
    'echo 500 > /proc/self/oom_score_adj',
  ];
  const script = limits.map((limit) => `{ ${limit}; } 2> /dev/null; `).join('');
  return ['/bin/sh', '-c', `${script}exec "$@"`, 'sh', ...command];
}

/** Requests come before connectors. */
function lowerPriority(pid: number): void {
  try {
    setPriority(pid, niceness);
  } catch {
    // It has ended already.
  }
}
