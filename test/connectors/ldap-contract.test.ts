// The shared contract for `ldap`, against OpenLDAP with 100,000 people.

import { afterAll, describe } from 'bun:test';
import { type Slapd, slapdPath, startSlapd } from '../support/slapd.ts';
import { type ContractSource, describeConnectorContract, largeCount } from './contract.ts';
import { serveLdap } from './ldap-server.ts';

const root = 'dc=example,dc=com';
const path = slapdPath();
let started: Promise<Slapd> | undefined;

afterAll(async () => {
  await (await started)?.stop();
});

/** Three people in ou=few, nobody in ou=none, and everybody managed by the first in ou=many. */
function data(): string {
  const unit = (name: string) => `dn: ou=${name},${root}\nobjectClass: organizationalUnit\nou: ${name}\n`;
  const person = (at: number, where: string) =>
    `dn: uid=u${at},ou=${where},${root}\nobjectClass: inetOrgPerson\nuid: u${at}\ncn: P ${at}\nsn: N${at}\nmanager: uid=u0,ou=${where},${root}\n`;
  const people = (count: number, where: string) =>
    Array.from({ length: count }, (_, at) => person(at, where));
  return [...['few', 'none', 'many'].map(unit), ...people(3, 'few'), ...people(largeCount, 'many')].join(
    '\n',
  );
}

async function open(): Promise<ContractSource> {
  started ??= startSlapd(path ?? '', data());
  const slapd = await started;
  const { promise, resolve } = Promise.withResolvers<void>();
  const silence = await serveLdap(() => {
    resolve();
    return { raw: 'nothing' };
  });
  const config = (where: string, over: object = {}) => ({
    product: 'openldap',
    host: slapd.host,
    port: slapd.port,
    caCertificate: slapd.ca,
    ...slapd.reader,
    userBaseDns: [`ou=${where},${root}`],
    ...over,
  });
  return {
    config: config('few'),
    badCredentials: config('few', { password: 'contract-secret-0815' }),
    empty: config('none'),
    large: config('many', { pageSize: 1_000 }),
    silent: { config: config('few', { port: silence.port, encryption: 'none' }), reached: promise },
    [Symbol.asyncDispose]: async () => silence[Symbol.dispose](),
  };
}

describe.skipIf(path === undefined)('with OpenLDAP', () => {
  describeConnectorContract({ kind: 'ldap', open });
});
