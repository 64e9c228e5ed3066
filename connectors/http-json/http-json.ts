// JSON over HTTP: reports and lists of HR systems, page by page. It reads with GET and keeps one page in memory.

import type { Connector, ConnectorContext, ConnectorRecord } from '../../src/connectors/contract.ts';
import { HttpSource } from '../../src/connectors/http-source.ts';
import { DomainError } from '../../src/errors.ts';
import { configSchema, type HttpJsonConfig } from './http-json-config.ts';
import { type PageList, pagesOf } from './pages.ts';

export const connector: Connector<HttpJsonConfig> = {
  kind: 'http-json',
  summary: 'Reads people, and groups, from a JSON API: Workday reports, BambooHR, Personio and the like.',
  configSchema,
  defaultMapping: {
    user: { id: 'id' },
    group: { id: 'id', name: 'name', type: { constant: 'security group' } },
  },

  async test(context) {
    const source = open(context);
    const { origin } = new URL(context.config.userUrl);
    for await (const records of pagesOf(source, people(context.config))) {
      const [first] = records;
      if (first === undefined) return `${origin} answers; its first page holds nobody.`;
      const columns = Object.keys(first).slice(0, 30).join(', ').slice(0, 500);
      return `${origin} answers; its first page holds ${records.length} people with the columns ${columns}.`;
    }
    return `${origin} answers with nothing.`;
  },

  async *read(context): AsyncGenerator<ConnectorRecord> {
    const { config, log, mapped } = context;
    const source = open(context);
    if (config.groupUrl !== undefined) {
      let groups = 0;
      for await (const records of pagesOf(source, { ...people(config), ...groupList(config) }))
        for (const record of records) {
          groups += 1;
          yield mapped.group(record);
        }
      requireSome(groups, 'no group', 'groupUrl and groupRecords');
      log.info(`Groups read: ${groups}.`);
    }
    let users = 0;
    for await (const records of pagesOf(source, people(config)))
      for (const record of records) {
        users += 1;
        yield mapped.user(record);
      }
    requireSome(users, 'nobody', 'userUrl and userRecords');
    log.info(`People read: ${users}.`);
  },
};

function open(context: ConnectorContext<HttpJsonConfig>): HttpSource {
  const { userUrl, auth, headers, caCertificate } = context.config;
  return new HttpSource({ context, base: userUrl, auth, headers, caCertificate });
}

function people({ userUrl, userRecords, paging }: HttpJsonConfig): PageList {
  return { url: userUrl, records: userRecords, paging, what: 'people' };
}

function groupList({ groupUrl = '', groupRecords }: HttpJsonConfig): Partial<PageList> {
  return { url: groupUrl, records: groupRecords, what: 'groups' };
}

function requireSome(count: number, what: string, where: string): void {
  if (count > 0) return;
  throw new DomainError(
    'invalidValue',
    `The source gives ${what}: check ${where}, and what the credentials may see.`,
  );
}
