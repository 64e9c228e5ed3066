// Compiles Rollcall into one executable: dist/rollcall for this machine, with --all one for each system.
// It never downloads a runtime by itself: those for other systems are packages of the same registry and version.
// Usage: bun scripts/build.ts [--all]

import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

interface Target {
  readonly name: string;
  readonly compile: Bun.Build.CompileTarget;
  /** The registry package, and the file in it, that holds the Bun runtime of this system. */
  readonly runtimePackage: string;
  readonly runtimeFile: string;
}

const root = join(import.meta.dir, '..');
const dist = join(root, 'dist');
/** The program, and the threads that are started by their place under src/. */
const entries = [
  join(root, 'src', 'main.ts'),
  join(root, 'src', 'pattern', 'pcre2-worker.ts'),
  join(root, 'src', 'imports', 'reading-thread.ts'),
];
const installMsMax = 10 * 60_000;

const targets: readonly Target[] = [
  target('linux-x64', 'linux-x64'),
  target('linux-arm64', 'linux-aarch64'),
  target('darwin-arm64', 'darwin-aarch64'),
  target('darwin-x64', 'darwin-x64'),
  target('windows-x64', 'windows-x64'),
];

function target(
  name: 'linux-x64' | 'linux-arm64' | 'darwin-arm64' | 'darwin-x64' | 'windows-x64',
  runtime: string,
): Target {
  const runtimeFile = name.startsWith('windows') ? 'bin/bun.exe' : 'bin/bun';
  return { name, compile: `bun-${name}`, runtimePackage: `@oven/bun-${runtime}`, runtimeFile };
}

async function main(): Promise<void> {
  if (process.argv.includes('--all')) return buildAll();
  await compile(join(dist, withSuffix('rollcall', process.platform === 'win32')), {});
}

async function buildAll(): Promise<void> {
  const host = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  for (const each of targets) {
    const outfile = join(dist, withSuffix(`rollcall-${each.name}`, each.name.startsWith('windows')));
    await compile(outfile, { target: each.compile, executablePath: findRuntime(each) });
    console.log(
      each.name === host
        ? `  ${runVersion(outfile)}`
        : '  not tried: it runs on another system than this one',
    );
  }
}

function withSuffix(name: string, windows: boolean): string {
  return windows ? `${name}.exe` : name;
}

/**
 * Bundles the entries into `outfile` and says its size. The executable reads no .env and no bunfig.toml from the
 * folder it is started in: settings come from flags, ROLLCALL_* and rollcall.toml alone.
 */
async function compile(outfile: string, other: Bun.CompileBuildOptions): Promise<void> {
  await Bun.build({
    entrypoints: entries,
    compile: { outfile, autoloadDotenv: false, autoloadBunfig: false, ...other },
    target: 'bun',
    format: 'esm',
    minify: true,
    bytecode: true,
    define: {
      ROLLCALL_VERSION: JSON.stringify(await packageVersion()),
      ROLLCALL_COMMIT: JSON.stringify(commit()),
    },
  });
  const megabytes = (statSync(outfile).size / 1_000_000).toFixed(1);
  console.log(`${relative(root, outfile)}  ${megabytes} MB`);
}

async function packageVersion(): Promise<string> {
  const { version } = (await Bun.file(join(root, 'package.json')).json()) as { version: string };
  return version;
}

/** The commit that is built; a build outside a clone is told it, or says "unknown". */
function commit(): string {
  const git = Bun.which('git');
  const shown =
    git === null
      ? undefined
      : Bun.spawnSync([git, 'rev-parse', '--short=12', 'HEAD'], { cwd: root, stderr: 'ignore' });
  if (shown?.success) return shown.stdout.toString().trim();
  return process.env.ROLLCALL_BUILD_COMMIT ?? 'unknown';
}

/** Path of the Bun runtime for another system, installed once into node_modules/.cache, checked as any package is. */
function findRuntime(each: Target): string {
  const folder = join(root, 'node_modules', '.cache', 'rollcall', `bun-${Bun.version}`, each.name);
  const runtime = join(folder, 'node_modules', each.runtimePackage, each.runtimeFile);
  if (!existsSync(runtime)) installRuntime(each, folder);
  return runtime;
}

function installRuntime(each: Target, folder: string): void {
  console.log(`Installing ${each.runtimePackage}@${Bun.version} …`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  const [system, processor] = each.runtimePackage.replace('@oven/bun-', '').split('-');
  const os = system === 'windows' ? 'win32' : system;
  const cpu = processor === 'aarch64' ? 'arm64' : processor;
  const added = Bun.spawnSync(
    [
      process.execPath,
      'add',
      '--exact',
      `--os=${os}`,
      `--cpu=${cpu}`,
      `${each.runtimePackage}@${Bun.version}`,
    ],
    { cwd: folder, timeout: installMsMax },
  );
  if (!added.success)
    throw new Error(`${each.runtimePackage} cannot be installed: ${added.stderr.toString().trim()}`);
}

function runVersion(executable: string): string {
  const ran = Bun.spawnSync([executable, 'version'], { cwd: dist });
  if (!ran.success) throw new Error(`${executable} version: ${ran.stderr.toString().trim()}`);
  return `"version" says: ${ran.stdout.toString().trim()}`;
}

await main();
