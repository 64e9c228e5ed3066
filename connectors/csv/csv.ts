// The connector kind `csv`: people, groups and memberships from files in a folder or at an address (RFC 4180 and relatives).
// It never leaves its folder, and never yields the people of a file that changed while it was read.

import type {
  Connector,
  ConnectorContext,
  ConnectorRecord,
  Mapping,
  SourceRecord,
} from '../../src/connectors/contract.ts';
import { requireColumns } from '../../src/connectors/mapping.ts';
import { userMappingOfSameNames } from '../../src/connectors/mapping-defaults.ts';
import { Memberships } from '../../src/connectors/memberships.ts';
import { DomainError } from '../../src/errors.ts';
import { type CsvConfig, configSchema } from './config.ts';
import { findFiles, readFile, requireComplete, requireSame, type SourceFile } from './files.ts';
import { openTable, type Table, type TableFormat } from './table.ts';

const defaultMapping: Mapping = {
  user: userMappingOfSameNames,
  group: {
    id: 'id',
    type: { column: 'type', otherwise: 'security group' },
    name: 'name',
    description: 'description',
  },
};

type Context = ConnectorContext<CsvConfig>;

export const connector: Connector<CsvConfig> = {
  kind: 'csv',
  summary: 'Reads people and groups from CSV files in a folder or at an HTTPS address.',
  configSchema,
  defaultMapping,
  test: testConnection,
  read,
};

async function* read(context: Context): AsyncGenerator<ConnectorRecord> {
  const parts = await partsOf(context);
  await requireReady(parts, context);
  yield* readGroups(parts.groups, context);
  const memberships = await readMemberships(parts, context);
  let count = 0;
  for await (const records of allRecords(parts.users, context, { side: 'user' })) {
    for (const record of records) {
      const user = context.mapped.user(record);
      yield memberships === undefined ? user : memberships.applyTo(user);
    }
    count += records.length;
  }
  for (const sentence of memberships?.warnings() ?? []) context.log.warn(sentence);
  const now = await partsOf(context);
  requireSame(filesOf(parts), filesOf(now));
  context.log.info(`Read ${count} people from ${namesOf(parts.users)}.`);
}

/** What is read for one purpose: files of the folder, or what an address answers. */
type Part = { readonly files: readonly SourceFile[] } | { readonly url: string };

interface Parts {
  readonly users: Part;
  readonly groups: Part | undefined;
  readonly memberships: Part | undefined;
}

async function partsOf({ config }: Context): Promise<Parts> {
  return {
    users: await partOf(config, config.users),
    groups: config.groups === undefined ? undefined : await partOf(config, config.groups),
    memberships: config.memberships === undefined ? undefined : await partOf(config, config.memberships),
  };
}

async function partOf(config: CsvConfig, place: string): Promise<Part> {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(place)) return { url: place };
  if (config.folder === undefined)
    throw refusal('Files need a "folder" that they lie in: give its full path.');
  return { files: await findFiles(config.folder, place) };
}

function filesOf({ users, groups, memberships }: Parts): readonly SourceFile[] {
  return [users, groups, memberships].flatMap((part) =>
    part !== undefined && 'files' in part ? part.files : [],
  );
}

async function requireReady(parts: Parts, { config, now }: Context): Promise<void> {
  const { folder = '', completeMarker, minAgeSeconds } = config;
  await requireComplete(filesOf(parts), { folder, completeMarker, minAgeSeconds, now: now() });
}

async function* readGroups(part: Part | undefined, context: Context): AsyncGenerator<ConnectorRecord> {
  if (part === undefined) return;
  for await (const records of allRecords(part, context, { side: 'group' }))
    for (const record of records) yield context.mapped.group(record);
}

async function readMemberships(parts: Parts, context: Context): Promise<Memberships | undefined> {
  if (parts.memberships === undefined) return undefined;
  const memberships = new Memberships({ hasGroups: parts.groups !== undefined });
  const { membershipUser, membershipGroup } = context.config;
  for await (const table of tables(parts.memberships, context)) {
    const user = columnOf(table, membershipUser, 0);
    const group = columnOf(table, membershipGroup, 1);
    for await (const records of table.records)
      for (const record of records)
        memberships.add(String(record[user]).trim(), String(record[group]).trim());
  }
  return memberships;
}

function columnOf({ columns, place }: PlacedTable, name: string, position: number): string {
  const found = name === '' ? columns[position] : columns.find((each) => each === name);
  if (found !== undefined) return found;
  const missing = name === '' ? `${position + 1} columns` : `column ${JSON.stringify(name)}`;
  throw refusal(`${place} has no ${missing} for memberships. Its columns are: ${columns.join(', ')}.`);
}

async function* allRecords(
  part: Part,
  context: Context,
  { side }: { readonly side: 'user' | 'group' },
): AsyncGenerator<readonly SourceRecord[]> {
  for await (const { columns, place, records } of tables(part, context)) {
    requireColumns(context.config.mapping?.[side], { columns, place });
    yield* records;
  }
}

interface PlacedTable extends Table {
  /** As sentences begin: `The file people.csv`. */
  readonly place: string;
}

/** The tables of a part, one after the other. Closes the one that is not read to its end. */
async function* tables(part: Part, context: Context): AsyncGenerator<PlacedTable> {
  const format = formatOf(context.config);
  for (const { place, open } of placesOf(part, context)) {
    const table = await openTable(await open(), { format, place });
    if (table === undefined) throw refusal(`${place} is empty.`);
    try {
      yield { ...table, place };
    } finally {
      await table.close();
    }
  }
}

function formatOf({ delimiter, quote, encoding, header }: CsvConfig): TableFormat {
  return { delimiter: delimiter === 'tab' ? '\t' : delimiter, quote, encoding, hasHeader: header };
}

interface Place {
  readonly place: string;
  readonly open: () => Promise<AsyncIterable<Uint8Array>>;
}

function placesOf(part: Part, context: Context): readonly Place[] {
  if ('url' in part)
    return [{ place: `The answer of ${hostOf(part.url)}`, open: () => download(part.url, context) }];
  return part.files.map((file) => ({
    place: `The file ${file.name}`,
    open: async () => readFile(file, context.signal),
  }));
}

async function download(url: string, { config, fetch, signal }: Context): Promise<AsyncIterable<Uint8Array>> {
  requireSafe(url);
  const { authorization, caCertificate } = config;
  const response = await fetch(url, {
    signal,
    headers: {
      accept: 'text/csv, text/plain;q=0.9, */*;q=0.1',
      ...(authorization === undefined ? {} : { authorization }),
    },
    ...(caCertificate === undefined ? {} : { tls: { ca: caCertificate } }),
  });
  const { status, body } = response;
  if (status === 200 && body !== null && !isPage(response)) return body;
  await body?.cancel();
  throw new DomainError('unavailable', answerSentence(hostOf(url), response));
}

function isPage({ headers }: Response): boolean {
  return /^text\/html\b/i.test(headers.get('content-type') ?? '');
}

function answerSentence(host: string, { status }: Response): string {
  if (status === 200) return `${host} answers with a web page, not with a CSV file; check the address.`;
  if (status === 401 || status === 403)
    return `${host} refuses access (status ${status}); check "authorization" in the configuration.`;
  if (status === 404) return `${host} has no such file (status 404); check the address.`;
  return `${host} answers with status ${status} instead of a file.`;
}

/** People do not travel in the clear, except within the machine. */
function requireSafe(url: string): void {
  const parsed = URL.parse(url);
  if (parsed === null) throw refusal('The address of the file is not a URL.');
  const isLocal = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(parsed.hostname);
  if (parsed.protocol === 'https:' || (parsed.protocol === 'http:' && isLocal)) return;
  throw refusal(`The address of the file has to begin with https://, not ${parsed.protocol}//.`);
}

function hostOf(url: string): string {
  return URL.parse(url)?.host ?? 'the address';
}

function namesOf(part: Part): string {
  if ('url' in part) return hostOf(part.url);
  const [first, ...others] = part.files.map(({ name }) => name);
  return others.length === 0 ? (first ?? '') : `${others.length + 1} files (${first} …)`;
}

async function testConnection(context: Context): Promise<string> {
  const parts = await partsOf(context);
  const sentences = [await describePart('people', parts.users, context)];
  if (parts.groups !== undefined) sentences.push(await describePart('groups', parts.groups, context));
  if (parts.memberships !== undefined)
    sentences.push(await describePart('memberships', parts.memberships, context));
  const waits = await requireReady(parts, context).then(() => undefined, messageOf);
  return [...sentences, ...(waits === undefined ? [] : [waits])].join(' ');
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** What the first table is like, and what becomes of its first row: names of attributes, nobody's values. */
async function describePart(
  what: 'people' | 'groups' | 'memberships',
  part: Part,
  context: Context,
): Promise<string> {
  for await (const table of tables(part, context)) {
    const { columns, delimiter, place } = table;
    const separated = delimiter === '\t' ? 'a tab' : JSON.stringify(delimiter);
    const about = `Found ${what} in ${namesOf(part)}. ${place} has the columns ${columns.join(', ')}, separated by ${separated}.`;
    if (what === 'memberships') {
      columnOf(table, context.config.membershipUser, 0);
      columnOf(table, context.config.membershipGroup, 1);
      return about;
    }
    requireColumns(context.config.mapping?.[what === 'people' ? 'user' : 'group'], { columns, place });
    const first = await firstRecord(table);
    if (first === undefined) return `${about} It has no rows.`;
    const mapped = what === 'people' ? context.mapped.user(first) : context.mapped.group(first);
    const names = Object.keys(mapped).filter((name) => name !== 'kind');
    return `${about} Its first row gives ${names.join(', ')}.`;
  }
  throw refusal(`There are no ${what}.`);
}

async function firstRecord({ records }: Table): Promise<SourceRecord | undefined> {
  for await (const batch of records) if (batch[0] !== undefined) return batch[0];
  return undefined;
}

function refusal(detail: string): DomainError {
  return new DomainError('invalidValue', detail);
}
