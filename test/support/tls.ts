// A certificate authority of its own for one test: keys are made while the test is set up, and nowhere kept.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface TestAuthority extends Disposable {
  readonly folder: string;
  /** The authority's certificate, PEM. */
  readonly ca: string;
  /** Key and certificate for the names, as PEM and as files of the folder. */
  issue(name: string, alternatives: readonly string[]): IssuedCertificate;
}

export interface IssuedCertificate {
  readonly key: string;
  readonly cert: string;
  readonly keyFile: string;
  readonly certFile: string;
}

/** `alternatives` of `issue` are like `DNS:ldap.test` and `IP:127.0.0.1`. */
export function makeAuthority(): TestAuthority {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-tls-'));
  const file = (name: string) => join(folder, name);
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const caFiles = ['-keyout', file('ca.key'), '-out', file('ca.pem')];
  openssl('req', '-x509', ...newKey, ...caFiles, '-subj', '/CN=Test authority', '-days', '2');
  return {
    folder,
    ca: readFileSync(file('ca.pem'), 'utf8'),
    issue(name, alternatives) {
      const [keyFile, certFile] = [file(`${name}.key`), file(`${name}.pem`)];
      writeFileSync(file('names'), `subjectAltName=${alternatives.join(',')}\n`);
      openssl('req', ...newKey, '-keyout', keyFile, '-out', file('request'), '-subj', `/CN=${name}`);
      const authority = ['-CA', file('ca.pem'), '-CAkey', file('ca.key'), '-CAcreateserial'];
      const wanted = ['-extfile', file('names'), '-in', file('request'), '-out', certFile, '-days', '2'];
      openssl('x509', '-req', ...authority, ...wanted);
      return {
        key: readFileSync(keyFile, 'utf8'),
        cert: readFileSync(certFile, 'utf8'),
        keyFile,
        certFile,
      };
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function openssl(...args: readonly string[]): void {
  const { status, stderr, error } = spawnSync('openssl', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`openssl ${args[0]} failed: ${error?.message ?? stderr}`);
}
