// npm start: installs what is missing, builds the executable when it is older than its sources, and serves ./data.
// It never stays in the way: further arguments, signals and the exit code pass through.
// Runs on Node 20 and on Bun.

import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { bun, installDependencies, root } from './install.mjs';

const executable = join(root, 'dist', process.platform === 'win32' ? 'rollcall.exe' : 'rollcall');
const sources = [
  'src',
  'schemas',
  'connectors',
  'scripts/build.ts',
  'tsconfig.json',
  'package.json',
  'package-lock.json',
];
const buildMsMax = 10 * 60_000;
const runnerCheckMs = 500;

try {
  installDependencies();
  if (isOutdated()) build();
  serve();
} catch (error) {
  console.error(`Rollcall cannot start: ${error.message}`);
  process.exitCode = 1;
}

function isOutdated() {
  if (!existsSync(executable)) return true;
  const builtAtMs = statSync(executable).mtimeMs;
  return sources.some((source) => existsSync(join(root, source)) && newestMs(join(root, source)) > builtAtMs);
}

/** Folders count too: their time changes when a file in them is removed. */
function newestMs(path) {
  const status = statSync(path);
  if (!status.isDirectory()) return status.mtimeMs;
  return Math.max(status.mtimeMs, ...readdirSync(path).map((name) => newestMs(join(path, name))));
}

function build() {
  console.log('Building dist/rollcall …');
  const result = spawnSync(bun, ['scripts/build.ts'], { cwd: root, encoding: 'utf8', timeout: buildMsMax });
  if (result.status === 0) return;
  process.stderr.write(`${result.stdout ?? ''}${result.stderr ?? ''}`);
  throw new Error('the build failed; its messages are above.');
}

function serve() {
  const args = ['serve', '--data', './data', ...process.argv.slice(2)];
  const server = spawn(executable, args, { cwd: root, stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      // A terminal gives Ctrl-C to the server as well; passing it on would make it look like two.
      if (signal !== 'SIGINT' || process.stdin.isTTY !== true) server.kill(signal);
    });
  }
  stopWithRunner(server);
  server.on('error', (error) => {
    console.error(`Rollcall cannot start: ${error.message}`);
    process.exit(1);
  });
  server.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
}

/** When npm is told to stop, its shell goes without passing that on; a changed parent is how it shows. */
function stopWithRunner(server) {
  if (process.env.npm_lifecycle_event === undefined) return;
  const runner = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === runner) return;
    clearInterval(watch);
    server.kill('SIGTERM');
  }, runnerCheckMs);
}
