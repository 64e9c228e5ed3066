// Installs the packages that package-lock.json names, with whichever of npm and Bun is there.
// It never changes the lock file: Bun reads the same package-lock.json, so one file pins both.
// Runs on Node 20 and on Bun, before anything is installed, and so uses nothing but what they bring.

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder that package.json lies in. */
export const root = fileURLToPath(new URL('..', import.meta.url));

const installMsMax = 20 * 60_000;
const windows = process.platform === 'win32';

/** Path of the Bun that package.json pins; it is what builds and tests, whoever started the script. */
export const bun = join(root, 'node_modules', 'bun', 'bin', 'bun.exe');

/** Makes node_modules what the lock file says, and the pinned Bun runnable. Throws with the reason otherwise. */
export function installDependencies() {
  const outdated = outdatedPackages();
  if (outdated.length > 0) {
    console.log(`Installing packages (${summary(outdated)}) …`);
    runInstaller();
  }
  if (!answers(bun)) placeBun();
}

/** Names of the packages whose version on disk is not the one that the lock file names. */
function outdatedPackages() {
  const lock = readJson(join(root, 'package-lock.json'));
  return Object.entries(lock?.packages ?? {})
    .filter(([path, locked]) => path !== '' && !isInstalled(path, locked))
    .map(([path]) => path.replace(/^.*node_modules\//, ''));
}

function isInstalled(path, locked) {
  const found = readJson(join(root, path, 'package.json'));
  // An optional package is usually one for another operating system, which is rightly absent.
  return found === undefined ? locked.optional === true : found.version === locked.version;
}

function readJson(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

function summary(names) {
  return names.length <= 3 ? names.join(', ') : `${names.length} of them`;
}

function runInstaller() {
  const installer = findInstaller();
  if (installer === undefined)
    throw new Error('Neither npm nor Bun was found. Install Node 20 or newer, or Bun.');
  const { command, args } = installer;
  // The build tools are development dependencies, so NODE_ENV=production must not leave them out.
  const env = { ...process.env, NODE_ENV: 'development' };
  const result = spawnSync(command, args, {
    cwd: root,
    env,
    encoding: 'utf8',
    shell: needsShell(command),
    timeout: installMsMax,
  });
  if (result.status === 0) return;
  process.stderr.write(`${result.stdout ?? ''}${result.stderr ?? ''}`);
  throw new Error(
    `"${basename(command)} ${args.join(' ')}" failed (${result.error?.message ?? `exit code ${result.status}`}).`,
  );
}

const npmArgs = ['ci', '--no-audit', '--no-fund', '--loglevel=error'];
const bunArgs = ['install', '--frozen-lockfile'];

/** The package manager that started this script, else npm, else the Bun that runs it. */
function findInstaller() {
  const starter = process.env.npm_execpath ?? '';
  if (/^npm-cli\.c?js$/.test(basename(starter)))
    return { command: process.execPath, args: [starter, ...npmArgs] };
  if (/^bunx?(\.exe)?$/.test(basename(starter))) return { command: starter, args: bunArgs };
  if (process.versions.bun !== undefined) return { command: process.execPath, args: bunArgs };
  if (answers('npm')) return { command: 'npm', args: npmArgs };
  return answers('bun') ? { command: 'bun', args: bunArgs } : undefined;
}

function answers(command) {
  const options = { stdio: 'ignore', shell: needsShell(command), timeout: 60_000 };
  return spawnSync(command, ['--version'], options).status === 0;
}

/** On Windows npm is a batch file, which only a shell can start. */
function needsShell(command) {
  return windows && command === 'npm';
}

/** A package manager that runs no install scripts leaves a stub in place of Bun: run that one script here. */
function placeBun() {
  spawnSync(process.execPath, ['install.js'], {
    cwd: join(root, 'node_modules', 'bun'),
    timeout: installMsMax,
  });
  if (answers(bun)) return;
  const hint = windows ? 'Remove the folder node_modules' : 'Run "rm -rf node_modules"';
  throw new Error(`The Bun in node_modules does not run on this machine. ${hint} and try again.`);
}
