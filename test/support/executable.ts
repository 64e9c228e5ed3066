// The compiled executable, used as an administrator would: copied to an empty folder, with nothing of this checkout in
// reach and nothing in its environment. Processes that are started here are ended by their id.

import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const built = join(import.meta.dir, '..', '..', 'dist', 'rollcall');
const startMsMax = 20_000;
const environment = { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8' };

/** A folder of its own with nothing in it but the executable. */
export interface Installation extends Disposable {
  readonly folder: string;
  /** Runs one command; rejects with what it wrote to standard error when it fails. */
  run(...args: string[]): Promise<string>;
  /** Runs one command with `--json` and reads its answer. */
  runJson<T>(...args: string[]): Promise<T>;
  /** Starts `serve` on a free port and resolves once `/healthz` answers 200. */
  serve(...args: string[]): Promise<Server>;
  /** Path of a data folder in the installation. */
  data(name: string): string;
}

export interface Server extends AsyncDisposable {
  readonly address: string;
  readonly pid: number;
  /** What was written to standard error so far. */
  log(): string;
  /** SIGTERM; resolves with the exit status. */
  stop(): Promise<number>;
  /** SIGKILL to the server and to every process that it has started; resolves when all are gone. */
  kill(): Promise<void>;
}

export function install(): Installation {
  if (!existsSync(built)) throw new Error('dist/rollcall is missing; run "bun run build" first');
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-e2e-'));
  const executable = join(folder, 'rollcall');
  copyFileSync(built, executable);
  chmodSync(executable, 0o755);
  const servers: Server[] = [];
  const run = (...args: string[]) => runCommand([executable, ...args], folder);
  return {
    folder,
    run,
    runJson: async (...args) => JSON.parse(await run(...args, '--json')),
    async serve(...args) {
      const server = await startServer([executable, 'serve', '--port', '0', ...args], folder);
      servers.push(server);
      return server;
    },
    data(name) {
      const path = join(folder, name);
      mkdirSync(path, { recursive: true, mode: 0o700 });
      return path;
    },
    [Symbol.dispose]() {
      for (const server of servers) void server.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function runCommand(command: string[], cwd: string): Promise<string> {
  const child = Bun.spawn(command, {
    cwd,
    env: environment,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [output, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  const status = await child.exited;
  if (status !== 0) throw new Error(`${command.slice(1).join(' ')} ended with ${status}: ${errors}`);
  return output;
}

async function startServer(command: string[], cwd: string): Promise<Server> {
  const child = Bun.spawn(command, {
    cwd,
    env: environment,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const output = collect(child.stdout);
  const errors = collect(child.stderr);
  const deadline = performance.now() + startMsMax;
  for (;;) {
    const address = /serves (http\S+)/.exec(output.text())?.[1];
    if (address !== undefined && (await isHealthy(address))) return toServer(child, address, errors.text);
    if (child.exitCode !== null || performance.now() > deadline) {
      child.kill('SIGKILL');
      throw new Error(`the server did not start: ${output.text()}${errors.text()}`);
    }
    await Bun.sleep(20);
  }
}

async function isHealthy(address: string): Promise<boolean> {
  const response = await fetch(`${address}/healthz`).catch(() => undefined);
  return response?.status === 200;
}

function toServer(child: Bun.Subprocess, address: string, log: () => string): Server {
  const kill = () => killTree(child);
  return {
    address,
    pid: child.pid,
    log,
    async stop() {
      child.kill('SIGTERM');
      return child.exited;
    },
    kill,
    [Symbol.asyncDispose]: kill,
  };
}

/** SIGKILL to the process and to every one that it has started; resolves when all are gone. */
export async function killTree(child: Bun.Subprocess): Promise<void> {
  const children = descendants(child.pid);
  child.kill('SIGKILL');
  for (const pid of children) killIfAlive(pid);
  await child.exited;
  while (children.some(isAlive)) await Bun.sleep(10);
}

/** The ids of all processes below `pid`, as the kernel lists them. */
export function descendants(pid: number): number[] {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({ pid: Number(name), parent: parentOf(Number(name)) }));
  const below = (parent: number): number[] =>
    parents.filter((each) => each.parent === parent).flatMap((each) => [each.pid, ...below(each.pid)]);
  return below(pid);
}

function parentOf(pid: number): number | undefined {
  try {
    // The name of the program stands in parentheses and may hold anything.
    const status = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(status.slice(status.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  return existsSync(`/proc/${pid}`) && !/^State:\s+Z/m.test(statusOf(pid));
}

function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return 'State: Z';
  }
}

function killIfAlive(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended with its parent.
  }
}

function collect(stream: ReadableStream<Uint8Array>): { text(): string } {
  const decoder = new TextDecoder();
  let text = '';
  void (async () => {
    for await (const chunk of stream) text += decoder.decode(chunk, { stream: true });
  })();
  return { text: () => text };
}
