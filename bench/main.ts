// The bench: builds the executable, starts it beside reference servers, lets them take turns, and prints medians, ratios
// and the targets that are met or missed. It is no test and fails nothing; it ends with 1 only when it cannot run.
// How to read what it prints is told in README.md beside this file.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { measureAttacks } from './attacks.ts';
import { measureConnectors } from './connectors.ts';
import { measureImports } from './imports.ts';
import { type BenchContext, type BenchOptions, type Part, readOptions, usage } from './options.ts';
import { measurePeers } from './peers.ts';
import { formatReport } from './report.ts';
import { measureScale } from './scale.ts';
import { measureScim } from './scim.ts';
import { killServers } from './server.ts';
import { measureStart } from './start-up.ts';
import { type Results, targetsOf } from './targets.ts';

const root = join(import.meta.dir, '..');

async function main(words: readonly string[]): Promise<void> {
  const options = readOptions(words);
  if (options === 'help') return console.log(usage);
  if (process.platform !== 'linux') throw new Error('The bench reads /proc and runs on Linux only.');
  const executable = options.executable === undefined ? build() : resolve(options.executable);
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-bench-'));
  removeWhenInterrupted(folder);
  try {
    const results = await measure(options, { executable, folder });
    const machine = { processors: navigator.hardwareConcurrency, bun: Bun.version };
    const all = {
      ...machine,
      rounds: options.rounds,
      quick: options.quick,
      ...results,
      targets: targetsOf(results),
    };
    console.log(options.json ? JSON.stringify(all) : formatReport(results));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A million people are gigabytes: they do not stay behind when somebody has waited long enough. */
function removeWhenInterrupted(folder: string): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      killServers();
      rmSync(folder, { recursive: true, force: true });
      process.exit(1);
    });
  }
}

/** Path of a fresh dist/rollcall. What the build says goes to standard error: standard output is for the result. */
function build(): string {
  const built = Bun.spawnSync([process.execPath, join(root, 'scripts', 'build.ts')], { cwd: root });
  process.stderr.write(built.stdout);
  if (!built.success) throw new Error(`The executable cannot be built: ${built.stderr.toString().trim()}`);
  return join(root, 'dist', 'rollcall');
}

interface Place {
  readonly executable: string;
  readonly folder: string;
}

async function measure(options: BenchOptions, place: Place): Promise<Results> {
  const run = async <T>(part: Part, work: (context: BenchContext) => Promise<T>): Promise<T | undefined> => {
    if (!options.parts.includes(part)) return undefined;
    const folder = join(place.folder, part);
    mkdirSync(folder);
    const say = (line: string) => void process.stderr.write(`${line}\n`);
    const result = await work({ options, executable: place.executable, folder, say });
    rmSync(folder, { recursive: true, force: true });
    return result;
  };
  const scim = await run('scim', measureScim);
  const peers = await run('peers', measurePeers);
  const scale = await run('scale', measureScale);
  const imports = await run('import', measureImports);
  const start = await run('start', measureStart);
  const connectors = await run('connectors', measureConnectors);
  const attacks = await run('attacks', measureAttacks);
  return {
    ...(scim === undefined ? {} : { scim }),
    ...(peers === undefined ? {} : { peers }),
    ...(scale === undefined ? {} : { scale }),
    ...(imports === undefined ? {} : { import: imports }),
    ...(start === undefined ? {} : { start }),
    ...(connectors === undefined ? {} : { connectors }),
    ...(attacks === undefined ? {} : { attacks }),
  };
}

try {
  await main(Bun.argv.slice(2));
} catch (error) {
  console.error(`bench: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
