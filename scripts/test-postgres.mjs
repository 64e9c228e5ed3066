// A throw-away PostgreSQL for one test run: a fresh cluster in a temporary folder, on a free port of 127.0.0.1.
// It never uses a cluster of the machine. Durability is off, because nothing in it outlives the run.
// Its collation is ICU's en-US where PostgreSQL has it, so that nothing comes to rely on SQLite's order of bytes.

import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { installPackage, run } from './system-packages.mjs';
import { freePort, startServer, stopServer } from './throw-away-server.mjs';

const user = 'rollcall';
const isRoot = process.getuid?.() === 0;

export async function startPostgres() {
  const programs = findPrograms() ?? installPrograms();
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-postgres-'));
  try {
    const password = initialise(programs, folder);
    const port = await freePort();
    const server = await start(programs, folder, port);
    // Fast shutdown, and the hard one.
    const stop = () => stopServer(server, folder, { soft: 'SIGINT', hard: 'SIGQUIT' });
    return { url: `postgres://${user}:${password}@127.0.0.1:${port}/postgres`, stop };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

/** The folder that holds initdb and postgres: on PATH, else the newest of Debian's versions. */
function findPrograms() {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...(process.env.PATH ?? '').split(delimiter),
    ...versions.map((version) => join(debian, version, 'bin')),
  ];
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')));
}

function installPrograms() {
  const otherwise =
    'initdb and postgres are not on PATH. Install PostgreSQL, or run as root on Debian or Ubuntu.';
  installPackage('postgresql', otherwise);
  const programs = findPrograms();
  if (programs === undefined)
    throw new Error('apt-get installed the package postgresql, but initdb is not in it.');
  return programs;
}

/** PostgreSQL refuses to run as root, so root becomes the user that its package made, or nobody. */
function unprivileged(command, args) {
  if (!isRoot) return [command, args];
  const name = unprivilegedUser();
  return ['setpriv', [`--reuid=${name}`, `--regid=${id(name, '-g')}`, '--clear-groups', command, ...args]];
}

function unprivilegedUser() {
  return spawnSync('id', ['postgres']).status === 0 ? 'postgres' : 'nobody';
}

function id(name, flag) {
  return Number(run('id', [flag, name]));
}

/** Makes the cluster in `folder` and returns the password of its only user. */
function initialise(programs, folder) {
  const password = randomBytes(16).toString('hex');
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (isRoot)
    for (const path of [folder, passwordFile])
      chownSync(path, id(unprivilegedUser(), '-u'), id(unprivilegedUser(), '-g'));
  const initdb = join(programs, 'initdb');
  const hasIcu = run(...unprivileged(initdb, ['--help']), { cwd: folder }).includes('--icu-locale');
  const icu = hasIcu ? ['--locale-provider=icu', '--icu-locale=en-US'] : [];
  const access = [`--username=${user}`, `--pwfile=${passwordFile}`, '--auth=scram-sha-256'];
  const args = [
    `--pgdata=${join(folder, 'data')}`,
    '--no-sync',
    '--encoding=UTF8',
    '--locale=C',
    ...icu,
    ...access,
  ];
  run(...unprivileged(initdb, args), { cwd: folder });
  return password;
}

const settings = [
  'fsync=off',
  'synchronous_commit=off',
  'full_page_writes=off',
  'max_connections=200',
  'unix_socket_directories=',
];

function start(programs, folder, port) {
  const given = settings.flatMap((each) => ['-c', each]);
  const words = ['-D', join(folder, 'data'), '-h', '127.0.0.1', '-p', String(port), ...given];
  const [command, args] = unprivileged(join(programs, 'postgres'), words);
  const env = { ...process.env, LC_ALL: 'C' };
  return startServer({
    ...{ name: 'PostgreSQL', command, args, folder, env },
    readyText: 'ready to accept connections',
  });
}
