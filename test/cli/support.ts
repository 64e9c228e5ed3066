import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const entry = join(import.meta.dir, '..', '..', 'src', 'main.ts');

export interface Outcome {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Json {
  readonly [name: string]: unknown;
}

/** A folder of its own in which the program runs, with nothing of ours in the environment. */
export class Workplace implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'rollcall-cli-'));
  readonly data = join(this.folder, 'data');
  readonly environment: Record<string, string> = {};
  /** Another program with its arguments, which starts this one. */
  launcher: readonly string[] = [];

  /** Runs the program on the data folder. */
  run(...args: readonly string[]): Promise<Outcome> {
    return this.runPlain(...args, '--data', this.data);
  }

  /** Runs the program with these arguments alone. */
  async runPlain(...args: readonly string[]): Promise<Outcome> {
    const child = Bun.spawn([...this.launcher, process.execPath, entry, ...args], {
      cwd: this.folder,
      env: { ...this.environment },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    });
    const [stdout, stderr] = await Promise.all([textOf(child.stdout), textOf(child.stderr)]);
    return { status: await child.exited, stdout, stderr };
  }

  /** Runs the program with --json and returns the object it printed. */
  async json(...args: readonly string[]): Promise<Json> {
    return readJson(await this.run(...args, '--json'));
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function textOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  return new Response(stream).text();
}

/** The one line of a command that went well, as an object. */
export function readJson({ status, stdout, stderr }: Outcome): Json {
  if (status !== 0 || stderr !== '') throw new Error(`exit ${status}: ${stderr}`);
  const lines = stdout.split('\n');
  if (lines.length !== 2 || lines[1] !== '') throw new Error(`not one line: ${stdout}`);
  return JSON.parse(stdout) as Json;
}

/** The sentence of a command that failed, without the program's name; throws when there is more than that. */
export function readFailure({ status, stdout, stderr }: Outcome): string {
  if (status === 0 || stdout !== '') throw new Error(`exit ${status}: ${stdout}`);
  const found = /^rollcall: ([^\n]+)\n$/.exec(stderr)?.[1];
  if (found === undefined) throw new Error(`not one sentence: ${stderr}`);
  return found;
}
