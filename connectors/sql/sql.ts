// The connector kind `sql`: people, groups and memberships from queries to PostgreSQL, MySQL, MariaDB or SQLite.
// It never writes: every engine is asked in a transaction, session or file that cannot.

import type { Connector, ConnectorRecord, Mapping, MappingRule } from '../../src/connectors/contract.ts';
import { requireColumns } from '../../src/connectors/mapping.ts';
import { userMappingOfSameNames } from '../../src/connectors/mapping-defaults.ts';
import { Memberships } from '../../src/connectors/memberships.ts';
import { configSchema, type SqlConfig } from './config.ts';
import { type Batch, refusal, type SqlContext, type SqlSession } from './session.ts';

const groupMapping: Readonly<Record<string, MappingRule>> = {
  id: 'id',
  type: { column: 'type', otherwise: 'security group' },
  name: 'name',
  description: 'description',
};

export const connector: Connector<SqlConfig> = {
  kind: 'sql',
  summary: 'Reads people and groups from queries to PostgreSQL, MySQL, MariaDB or SQLite.',
  configSchema,
  defaultMappingFor,
  test: testConnection,
  read,
};

/** PostgreSQL makes small letters of names without quotes: `userType` arrives as `usertype`. */
function defaultMappingFor({ engine }: SqlConfig): Mapping {
  if (engine !== 'postgres') return { user: userMappingOfSameNames, group: groupMapping };
  const entries = Object.keys(userMappingOfSameNames).map((key) => [key, key.toLowerCase()]);
  return { user: Object.fromEntries(entries), group: groupMapping };
}

/** A driver is loaded when its engine is asked for. */
async function open(context: SqlContext): Promise<SqlSession> {
  const { engine } = context.config;
  if (engine === 'postgres') return (await import('./postgres.ts')).openPostgres(context);
  if (engine === 'mysql') return (await import('./mysql.ts')).openMysql(context);
  return (await import('./sqlite.ts')).openSqlite(context);
}

async function* read(context: SqlContext): AsyncGenerator<ConnectorRecord> {
  const { config, mapped, log } = context;
  const session = await open(context);
  try {
    if (config.groups !== undefined)
      for await (const { records } of batches(session, context, 'groups'))
        for (const record of records) yield mapped.group(record);
    const memberships = await readMemberships(session, context);
    let count = 0;
    for await (const { records } of batches(session, context, 'people')) {
      for (const record of records) {
        const user = mapped.user(record);
        yield memberships === undefined ? user : memberships.applyTo(user);
      }
      count += records.length;
    }
    for (const sentence of memberships?.warnings() ?? []) log.warn(sentence);
    log.info(`Read ${count} people from ${session.about}.`);
  } finally {
    await session.close();
  }
}

type Purpose = 'people' | 'groups' | 'memberships';

const members = { people: 'users', groups: 'groups', memberships: 'memberships' } as const;

/** The rows of one query; refuses a mapping that names a column which the query does not give. */
async function* batches(
  session: SqlSession,
  { config }: SqlContext,
  purpose: Purpose,
): AsyncGenerator<Batch> {
  let isFirst = true;
  for await (const batch of session.query(config[members[purpose]] ?? '', purpose)) {
    const place = `The query for ${purpose}`;
    if (isFirst && purpose === 'memberships') requirePair(batch.columns, place);
    else if (isFirst)
      requireColumns(config.mapping?.[purpose === 'people' ? 'user' : 'group'], {
        columns: batch.columns,
        place,
      });
    isFirst = false;
    yield batch;
  }
}

function requirePair(columns: readonly string[], place: string): void {
  if (columns.length >= 2) return;
  throw refusal(`${place} has to give two columns: the id of the person, and the group.`);
}

async function readMemberships(session: SqlSession, context: SqlContext): Promise<Memberships | undefined> {
  const { memberships: statement, groups } = context.config;
  if (statement === undefined) return undefined;
  const memberships = new Memberships({ hasGroups: groups !== undefined });
  for await (const { columns, records } of batches(session, context, 'memberships')) {
    const [user = '', group = ''] = columns;
    for (const record of records) memberships.add(cell(record[user]), cell(record[group]));
  }
  return memberships;
}

function cell(value: unknown): string {
  return value === null || value === undefined ? '' : String(value).trim();
}

/** What the queries give, and what becomes of their first rows: names of attributes, nobody's values. */
async function testConnection(context: SqlContext): Promise<string> {
  const given = (['people', 'groups', 'memberships'] as const).filter(
    (purpose) => context.config[members[purpose]] !== undefined,
  );
  const sentences: string[] = [];
  for (const purpose of given) {
    // A connection each: the rest of a query that is not read to its end would have to be fetched first.
    const session = await open(context);
    try {
      if (sentences.length === 0) sentences.push(`Connected to ${session.about}.`);
      sentences.push(await describe(session, context, purpose));
    } finally {
      await session.close();
    }
  }
  return sentences.join(' ');
}

async function describe(session: SqlSession, context: SqlContext, purpose: Purpose): Promise<string> {
  for await (const { columns, records } of batches(session, context, purpose)) {
    const about = `The query for ${purpose} gives the columns ${columns.join(', ')}`;
    const [first] = records;
    if (first === undefined) return `${about}, and no rows.`;
    if (purpose === 'memberships') return `${about}.`;
    const mapped = purpose === 'people' ? context.mapped.user(first) : context.mapped.group(first);
    return `${about}; its first row gives ${Object.keys(mapped)
      .filter((name) => name !== 'kind')
      .join(', ')}.`;
  }
  throw refusal(`The query for ${purpose} gives nothing.`);
}
