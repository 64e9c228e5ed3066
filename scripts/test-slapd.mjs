// Finds OpenLDAP's slapd for the tests of the connector `ldap`; they start it with a configuration and data of their own.
// It never uses a directory that the machine runs, and starts none when it installs the package.

import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { installPackage } from './system-packages.mjs';

export async function findSlapd() {
  const path = find() ?? install();
  return { url: path, stop: async () => undefined };
}

/** slapd and slapadd stand beside each other, outside of an ordinary PATH. */
function find() {
  const folders = [
    ...(process.env.PATH ?? '').split(delimiter),
    '/usr/sbin',
    '/usr/local/libexec',
    '/usr/lib/openldap',
  ];
  const folder = folders.find((each) => existsSync(join(each, 'slapd')) && existsSync(join(each, 'slapadd')));
  return folder === undefined ? undefined : join(folder, 'slapd');
}

function install() {
  // Debian starts no service in run level 1.
  process.env.RUNLEVEL = '1';
  installPackage('slapd', 'slapd is not on PATH. Install OpenLDAP, or run as root on Debian or Ubuntu.');
  delete process.env.RUNLEVEL;
  const path = find();
  if (path === undefined) throw new Error('apt-get installed the package slapd, but slapd is not in it.');
  return path;
}
