// Installs what only the system's package manager has, where that is possible: as root, with apt-get.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const installMsMax = 15 * 60_000;
const logCharactersMax = 4_000;

/** Runs a command to its end and returns its output; throws with what it said when it fails. */
export function run(command, args, options = {}) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' };
  const result = spawnSync(command, args, { env, encoding: 'utf8', timeout: installMsMax, ...options });
  if (result.status === 0) return result.stdout;
  const said = (result.error?.message ?? `${result.stdout}${result.stderr}`).trim().slice(-logCharactersMax);
  throw new Error(`${command} ${args[0]} failed: ${said}`);
}

/** Installs a Debian package, or throws `otherwise`: the sentence that says what a person can do instead. */
export function installPackage(name, otherwise) {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) throw new Error(otherwise);
  console.log(`Installing ${name} with apt-get …`);
  run('apt-get', ['update']);
  run('apt-get', ['install', '-y', '--no-install-recommends', name]);
}
