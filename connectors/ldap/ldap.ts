// LDAP and Active Directory (RFC 4511): people, groups with nested groups, and managers.
// It never writes, never follows a referral, and takes an answer that is not whole for none.

import { readFile } from 'node:fs/promises';
import type { Connector, ConnectorContext, ConnectorRecord } from '../../src/connectors/contract.ts';
import { mappedColumns } from '../../src/connectors/mapped-columns.ts';
import { DomainError } from '../../src/errors.ts';
import { parseFilter } from './filter.ts';
import { configSchema, type LdapConfig, products } from './ldap-config.ts';
import { DirectoryReader } from './reader.ts';
import { Session } from './session.ts';

export const connector: Connector<LdapConfig> = {
  kind: 'ldap',
  summary: 'Reads people and groups from LDAP or Active Directory.',
  configSchema,
  defaultMappingFor: ({ product }) => products[product].mapping,

  async test(context) {
    await using opened = await open(context);
    const { user, group } = await opened.reader.firstNames();
    const { host, bindDn, encryption } = context.config;
    const how = encryption === 'none' ? 'unencrypted' : `by ${encryption === 'ldaps' ? 'LDAPS' : 'StartTLS'}`;
    const people = user === undefined ? 'finds nobody' : `finds ${user} first`;
    const groups = group === undefined ? 'finds none' : `finds ${group} first`;
    const groupPart = context.config.groupBaseDns === undefined ? '' : `; the search of groups ${groups}`;
    return `Connected to ${host} ${how} as ${bindDn ?? 'nobody in particular'}; the search of people ${people}${groupPart}.`;
  },

  async *read(context): AsyncGenerator<ConnectorRecord> {
    await using opened = await open(context);
    yield* opened.reader.records();
  },
};

interface OpenDirectory extends AsyncDisposable {
  readonly reader: DirectoryReader;
}

async function open(context: ConnectorContext<LdapConfig>): Promise<OpenDirectory> {
  const { config } = context;
  checkConfig(context);
  const session = await Session.open({
    host: config.host,
    address: await context.resolveHost(config.host),
    port: config.port ?? (config.encryption === 'ldaps' ? 636 : 389),
    encryption: config.encryption,
    ca: await certificate(config),
    signal: context.signal,
    timeLimitSeconds: config.timeLimitSeconds,
    ignoreReferrals: config.ignoreReferrals,
    isActiveDirectory: config.product === 'active-directory',
  });
  try {
    await session.bind(config.bindDn ?? '', config.password ?? '');
  } catch (error) {
    session.close();
    throw error;
  }
  const columns = mappedColumns(config.mapping, products[config.product].mapping);
  return {
    reader: new DirectoryReader(session, context, columns),
    [Symbol.asyncDispose]: async () => session.close(),
  };
}

/** What the schema cannot say. A name without a password would count as anonymous (RFC 4513 §5.1.2). */
function checkConfig({ config, log }: ConnectorContext<LdapConfig>): void {
  const { bindDn = '', password = '', encryption, caCertificate, caFile } = config;
  if ((bindDn === '') !== (password === ''))
    throw refusal('Give both bindDn and password, or neither: then the directory is asked anonymously.');
  if (caCertificate !== undefined && caFile !== undefined)
    throw refusal('Give caCertificate or caFile, not both.');
  for (const text of [config.userFilter, config.groupFilter]) if (text !== undefined) parseFilter(text);
  if (encryption === 'none' && bindDn !== '')
    log.warn('The connection is not encrypted: whoever sees the network sees the password and the people.');
}

async function certificate({ caCertificate, caFile }: LdapConfig): Promise<string | undefined> {
  if (caFile === undefined && caCertificate === undefined) return undefined;
  const text = caCertificate ?? (await readCertificate(caFile ?? ''));
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
  throw refusal('The certificate of the authority is not PEM: it begins with -----BEGIN CERTIFICATE-----.');
}

async function readCertificate(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new DomainError('invalidValue', `The file ${path} (caFile) cannot be read.`, { cause });
  }
}

function refusal(detail: string): DomainError {
  return new DomainError('invalidValue', detail);
}
