import { mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Subprocess } from 'bun';

/** A server under measurement: the executable or one of the reference points. */
export interface Server {
  readonly pid: number;
  readonly origin: string;
  /** Milliseconds from its start to its first answer. */
  readonly startMs: number;
  /** Asks it to stop and waits; after `stopMsMax` ends it. */
  stop(): Promise<void>;
}

export interface StartOptions {
  readonly command: readonly string[];
  readonly port: number;
  /** A file that takes what it writes to standard error: its log, as a service's goes to a journal. */
  readonly log: string;
  /** All that it finds in its environment. */
  readonly environment?: Readonly<Record<string, string>>;
}

const startMsMax = 20_000;
const stopMsMax = 20_000;
/** Long enough not to take the second processor from the server that starts, short enough not to be seen. */
const askAgainMs = 1;

const running = new Set<Subprocess>();

/** For a bench that is interrupted: its servers do not outlive it. */
export function killServers(): void {
  for (const child of running) child.kill('SIGKILL');
}

/** Starts a server and waits until /healthz answers 200. */
export async function startServer({ command, port, log, environment = {} }: StartOptions): Promise<Server> {
  const startedMs = performance.now();
  const child = Bun.spawn([...command], {
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: Bun.file(log),
    // What the machine's owner has set must not change what is measured.
    env: { ...environment },
  });
  running.add(child);
  const origin = `http://127.0.0.1:${port}`;
  while (!(await answers(`${origin}/healthz`))) {
    if (child.exitCode === null && performance.now() - startedMs < startMsMax) await Bun.sleep(askAgainMs);
    else throw new Error(`${command.join(' ')} did not start: ${(await Bun.file(log).text()).slice(-2_000)}`);
  }
  return { pid: child.pid, origin, startMs: performance.now() - startedMs, stop: () => stop(child) };
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false;
  }
}

async function stop(child: Subprocess): Promise<void> {
  child.kill('SIGTERM');
  const killer = setTimeout(() => child.kill('SIGKILL'), stopMsMax);
  await child.exited;
  clearTimeout(killer);
  running.delete(child);
}

/** A port of this machine that nobody listens on just now. */
export async function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      probe.close(() => resolve(port));
    });
  });
}

/** `rollcall serve` on a data folder inside `folder`, which is made if it is not there. */
export async function startProduct(executable: string, folder: string): Promise<Server> {
  mkdirSync(folder, { recursive: true });
  const port = await freePort();
  const command = [executable, 'serve', '--data', join(folder, 'data'), '--port', String(port)];
  return startServer({ command, port, log: join(folder, 'log') });
}

export interface MadeSource {
  readonly id: number;
  readonly token: string;
}

/** `rollcall source create` beside the server on the same data folder. */
export function createSource(
  executable: string,
  folder: string,
  {
    kind,
    name,
    settings = [],
  }: { readonly kind: 'scim' | 'general'; readonly name: string; readonly settings?: readonly string[] },
): MadeSource {
  const set = settings.length === 0 ? [] : ['--set', ...settings];
  const words = [
    'source',
    'create',
    '--kind',
    kind,
    '--name',
    name,
    ...set,
    '--data',
    join(folder, 'data'),
    '--json',
  ];
  return JSON.parse(runCommand(executable, words)) as MadeSource;
}

/** `rollcall settings set` on the data folder inside `folder`. */
export function setSetting(
  executable: string,
  folder: string,
  [key, value]: readonly [string, string],
): void {
  runCommand(executable, ['settings', 'set', key, value, '--data', join(folder, 'data')]);
}

function runCommand(executable: string, words: readonly string[]): string {
  const ran = Bun.spawnSync([executable, ...words]);
  if (!ran.success) throw new Error(`rollcall ${words.join(' ')}: ${ran.stderr.toString().trim()}`);
  return ran.stdout.toString();
}

/** A file of bench/reference, run by the same Bun that runs the bench. */
export function referenceCommand(file: string, ...words: readonly string[]): string[] {
  return [process.execPath, join(import.meta.dir, 'reference', file), ...words];
}
