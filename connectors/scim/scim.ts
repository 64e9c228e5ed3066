// Another SCIM 2.0 server (RFC 7643, RFC 7644): its users, its groups and who is in them. It only reads.

import type { Connector, ConnectorContext, ConnectorRecord } from '../../src/connectors/contract.ts';
import { HttpSource } from '../../src/connectors/http-source.ts';
import { DomainError } from '../../src/errors.ts';
import { toColumns } from './columns.ts';
import { ScimMemberships } from './memberships.ts';
import { configSchema, defaultMapping, type ScimConfig } from './scim-config.ts';
import { type Endpoint, firstPage, walk } from './walk.ts';

export const connector: Connector<ScimConfig> = {
  kind: 'scim',
  summary: 'Reads users and groups from another SCIM 2.0 server.',
  configSchema,
  defaultMapping,

  async test(context) {
    const { source, users, groups } = await open(context);
    const one = { pageSize: 1 };
    const found = await firstPage(source, { ...users, ...one });
    const people = countText(found.total, found.resources.length, 'users');
    const by = users.byCursor ? 'pages by cursor' : 'pages by index';
    if (!context.config.groups) return `${new URL(users.url).origin} gives ${people}, ${by}.`;
    const { total, resources } = await firstPage(source, { ...groups, ...one });
    return `${new URL(users.url).origin} gives ${people} and ${countText(total, resources.length, 'groups')}, ${by}.`;
  },

  async *read(context): AsyncGenerator<ConnectorRecord> {
    const { config, log, mapped } = context;
    const { source, users, groups } = await open(context);
    const memberships = new ScimMemberships(config.nestedGroups);
    if (config.groups)
      for await (const resource of walk(source, groups, log)) {
        const group = mapped.group(resource);
        memberships.add(resource, group.id);
        yield group;
      }
    if (config.groups) memberships.check(log);
    let count = 0;
    for await (const resource of walk(source, users, log)) {
      count += 1;
      const columns = toColumns(resource);
      yield mapped.user(config.groups ? { ...columns, groupIds: memberships.of(resource) } : columns);
    }
    if (count === 0) throw nothing();
    log.info(`People read: ${count}.`);
  },
};

function nothing(): DomainError {
  return new DomainError(
    'invalidValue',
    'The server gives nobody: check userFilter, and what the credentials may see.',
  );
}

interface OpenServer {
  readonly source: HttpSource;
  readonly users: Endpoint;
  readonly groups: Endpoint;
}

async function open(context: ConnectorContext<ScimConfig>): Promise<OpenServer> {
  const { auth, baseUrl, caCertificate, pageSize, userFilter, groupFilter } = context.config;
  const headers = { accept: 'application/scim+json, application/json' };
  const source = new HttpSource({ context, base: baseUrl, auth, headers, caCertificate });
  const base = baseUrl.replace(/\/+$/, '');
  const byCursor = await pagesByCursor(source, base, context.config);
  return {
    source,
    users: { url: `${base}/Users`, filter: userFilter, pageSize, byCursor, what: 'users' },
    groups: { url: `${base}/Groups`, filter: groupFilter, pageSize, byCursor, what: 'groups' },
  };
}

/** What the server says of itself (RFC 9865 §4); one that says nothing pages by index. */
async function pagesByCursor(source: HttpSource, base: string, { paging }: ScimConfig): Promise<boolean> {
  if (paging !== 'auto') return paging === 'cursor';
  try {
    const { body } = await source.get(`${base}/ServiceProviderConfig`);
    const { pagination } = (body ?? {}) as { readonly pagination?: { readonly cursor?: unknown } | null };
    return pagination?.cursor === true;
  } catch (error) {
    if (error instanceof DomainError && (error.kind === 'notFound' || error.kind === 'forbidden'))
      return false;
    throw error;
  }
}

function countText(total: number | undefined, onPage: number, what: string): string {
  if (total !== undefined) return `${total} ${what}`;
  return onPage === 0 ? `no ${what}` : what;
}
