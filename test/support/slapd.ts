// An OpenLDAP server of its own for one test file: configuration, data and certificates in a temporary folder.
// Without one, tests on it say so loudly, and fail under CI=true.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { freePort } from './free-port.ts';
import { makeAuthority } from './tls.ts';

const variable = 'ROLLCALL_TEST_SLAPD';
const suffix = 'dc=example,dc=com';
const attemptsMax = 400;

export interface Slapd extends AsyncDisposable {
  readonly host: '127.0.0.1';
  readonly port: number;
  readonly tlsPort: number;
  /** The authority of its certificate, which is for `ldap.test` and 127.0.0.1. */
  readonly ca: string;
  readonly suffix: string;
  readonly reader: { readonly bindDn: string; readonly password: string };
  /** May see 100 entries in all. */
  readonly limited: { readonly bindDn: string; readonly password: string };
  stop(): Promise<void>;
}

/** Path of slapd, or undefined after a loud line. Throws under CI=true. */
export function slapdPath(): string | undefined {
  const path = [process.env[variable], '/usr/sbin/slapd'].find((each) => each && existsSync(each));
  if (path !== undefined) return path;
  const sentence = `slapd is not installed and ${variable} is not set: NOTHING IS TESTED ON OPENLDAP. Use "npm test -- FILE".`;
  if (process.env.CI === 'true') throw new Error(sentence);
  console.warn(`\n!!! ${sentence}\n`);
  return undefined;
}

/** `ldif` goes below dc=example,dc=com; `settings` are further lines of slapd.conf. */
export async function startSlapd(path: string, ldif: string, settings = ''): Promise<Slapd> {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-slapd-'));
  const authority = makeAuthority();
  const [reader, limited] = ['reader', 'limited'].map((name) => ({
    bindDn: `cn=${name},${suffix}`,
    password: crypto.randomUUID(),
  }));
  if (reader === undefined || limited === undefined) throw new Error('unreachable');
  const certificate = authority.issue('slapd', ['DNS:ldap.test', 'IP:127.0.0.1']);
  mkdirSync(join(folder, 'data'));
  const conf = join(folder, 'slapd.conf');
  writeFileSync(
    conf,
    configuration({ folder, ca: join(authority.folder, 'ca.pem'), ...certificate, settings }),
  );
  const data = join(folder, 'data.ldif');
  writeFileSync(data, [base(), account(reader), account(limited), ldif].join('\n'));
  const added = spawnSync(join(dirname(path), 'slapadd'), ['-q', '-f', conf, '-l', data], {
    encoding: 'utf8',
  });
  if (added.status !== 0) throw new Error(`slapadd failed: ${added.stderr.slice(-2_000)}`);
  const [port, tlsPort] = [await freePort(), await freePort()];
  const urls = `ldap://127.0.0.1:${port} ldaps://127.0.0.1:${tlsPort}`;
  const server = spawn(path, ['-d', '0', '-f', conf, '-h', urls], { stdio: 'ignore' });
  const stop = async () => {
    await ended(server);
    rmSync(folder, { recursive: true, force: true });
    authority[Symbol.dispose]();
  };
  await listening(port, server);
  return {
    host: '127.0.0.1',
    port,
    tlsPort,
    ca: authority.ca,
    suffix,
    reader,
    limited,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

interface Configuration {
  readonly folder: string;
  readonly ca: string;
  readonly keyFile: string;
  readonly certFile: string;
  readonly settings: string;
}

function configuration({ folder, ca, keyFile, certFile, settings }: Configuration): string {
  const schemas = ['core', 'cosine', 'inetorgperson', 'nis', 'msuser'];
  return `${schemas.map((name) => `include /etc/ldap/schema/${name}.schema`).join('\n')}
pidfile ${folder}/slapd.pid
modulepath /usr/lib/ldap
moduleload back_mdb
TLSCACertificateFile ${ca}
TLSCertificateFile ${certFile}
TLSCertificateKeyFile ${keyFile}
sizelimit 100
${settings}
database mdb
suffix "${suffix}"
directory ${folder}/data
maxsize 1073741824
dbnosync
index objectClass eq
limits dn.exact="cn=reader,${suffix}" size=unlimited
access to attrs=userPassword by anonymous auth by * none
access to dn.subtree="ou=hidden,${suffix}" by * none
access to * by * read
`;
}

function base(): string {
  return `dn: ${suffix}\nobjectClass: organization\nobjectClass: dcObject\ndc: example\no: Example\n`;
}

function account({ bindDn, password }: { readonly bindDn: string; readonly password: string }): string {
  return `dn: ${bindDn}\nobjectClass: organizationalRole\nobjectClass: simpleSecurityObject\nuserPassword: ${password}\n`;
}

async function listening(port: number, server: ChildProcess): Promise<void> {
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    if (server.exitCode !== null) throw new Error(`slapd stopped with exit code ${server.exitCode}.`);
    if (await answers(port)) return;
    await Bun.sleep(25);
  }
  server.kill('SIGKILL');
  throw new Error('slapd does not listen.');
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

async function ended(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const exit = new Promise((resolve) => server.once('exit', resolve));
  server.kill('SIGTERM');
  await exit;
}
