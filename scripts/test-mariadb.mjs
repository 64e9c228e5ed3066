// A throw-away MariaDB for one test run: fresh data in a temporary folder, on a free port of 127.0.0.1, with TLS on offer.
// It never uses a server of the machine. Durability is off, because nothing in it outlives the run.

import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { installPackage, run } from './system-packages.mjs';
import { freePort, startServer, stopServer } from './throw-away-server.mjs';

const user = 'rollcall';
// Writing through to the disk is most of the time that the first tables take.
const withoutSync = ['--debug-no-sync', '--innodb-flush-method=nosync', '--innodb-log-file-size=8M'];
const isRoot = process.getuid?.() === 0;

/** The address has the name of a file with the certificate authority of the server in its query: `?ca=…`. */
export async function startMariadb() {
  const programs = findPrograms() ?? installPrograms();
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-mariadb-'));
  try {
    const password = initialise(programs, folder);
    const port = await freePort();
    const server = await startServer({
      name: 'MariaDB',
      command: programs.server,
      args: settings(folder, port),
      folder,
      env: { LC_ALL: 'C' },
      readyText: 'ready for connections',
    });
    const ca = encodeURIComponent(join(folder, 'ca.pem'));
    const url = `mysql://${user}:${password}@localhost:${port}/rollcall?ca=${ca}`;
    return { url, stop: () => stopServer(server, folder, { soft: 'SIGTERM', hard: 'SIGKILL' }) };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

/** The server and the program that makes its first tables; on PATH, or where Debian has the server. */
function findPrograms() {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/bin'];
  const find = (name) => folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
  const [server, install] = [find('mariadbd'), find('mariadb-install-db')];
  return server === undefined || install === undefined ? undefined : { server, install };
}

function installPrograms() {
  const otherwise =
    'mariadbd and mariadb-install-db are not on PATH. Install MariaDB, or run as root on Debian or Ubuntu.';
  // The package starts the machine's own server where there is a service manager; this run uses none of it.
  installPackage('mariadb-server', otherwise);
  const programs = findPrograms();
  if (programs === undefined) throw new Error('apt-get installed mariadb-server, but mariadbd is not in it.');
  return programs;
}

/** MariaDB refuses to run as root, so root becomes the user that its package made, or nobody. */
function serverUser() {
  if (!isRoot) return undefined;
  return spawnSync('id', ['mysql']).status === 0 ? 'mysql' : 'nobody';
}

/** Makes the tables of the server, certificates and the one user, and returns the password of that user. */
function initialise(programs, folder) {
  const data = join(folder, 'data');
  mkdirSync(data);
  makeCertificates(folder);
  const password = randomBytes(16).toString('hex');
  writeFileSync(join(folder, 'init.sql'), firstStatements(password), { mode: 0o600 });
  const owner = serverUser();
  if (owner !== undefined) giveTo(owner, folder);
  const access = ['--skip-test-db', '--auth-root-authentication-method=normal', '--skip-name-resolve'];
  const asUser = owner === undefined ? [] : [`--user=${owner}`];
  run(programs.install, ['--no-defaults', `--datadir=${data}`, ...access, ...withoutSync, ...asUser], {
    cwd: folder,
  });
  return password;
}

function giveTo(owner, folder) {
  const [uid, gid] = ['-u', '-g'].map((flag) => Number(run('id', [flag, owner])));
  for (const path of [folder, ...readdirSync(folder).map((name) => join(folder, name))])
    chownSync(path, uid, gid);
}

function firstStatements(password) {
  return [
    'CREATE DATABASE rollcall CHARACTER SET utf8mb4;',
    `CREATE USER '${user}'@'%' IDENTIFIED BY '${password}';`,
    `GRANT ALL ON *.* TO '${user}'@'%' WITH GRANT OPTION;`,
    '',
  ].join('\n');
}

/** An authority, and a certificate of it for `localhost`. */
function makeCertificates(folder) {
  const openssl = (...args) => run('openssl', args, { cwd: folder });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  openssl(
    'req',
    '-x509',
    ...key,
    '-keyout',
    'ca.key',
    '-out',
    'ca.pem',
    '-days',
    '2',
    '-subj',
    '/CN=Rollcall test',
  );
  openssl('req', ...key, '-keyout', 'server.key', '-out', 'server.csr', '-subj', '/CN=localhost');
  writeFileSync(join(folder, 'names.ext'), 'subjectAltName=DNS:localhost\n');
  const authority = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'names.ext'];
  openssl('x509', '-req', '-in', 'server.csr', ...authority, '-days', '2', '-out', 'server.pem');
}

function settings(folder, port) {
  const owner = serverUser();
  return [
    '--no-defaults',
    `--datadir=${join(folder, 'data')}`,
    `--port=${port}`,
    '--bind-address=127.0.0.1',
    `--socket=${join(folder, 'socket')}`,
    `--pid-file=${join(folder, 'pid')}`,
    `--init-file=${join(folder, 'init.sql')}`,
    `--ssl-ca=${join(folder, 'ca.pem')}`,
    `--ssl-cert=${join(folder, 'server.pem')}`,
    `--ssl-key=${join(folder, 'server.key')}`,
    '--skip-name-resolve',
    '--skip-log-bin',
    ...withoutSync,
    '--innodb-flush-log-at-trx-commit=0',
    '--innodb-buffer-pool-size=32M',
    '--innodb-fast-shutdown=2',
    ...(owner === undefined ? [] : [`--user=${owner}`]),
  ];
}
