import type { Command } from 'commander';
import { DomainError } from '../errors.ts';
import type { LoggedRequest, RequestQuery, RequestReader } from '../requests/request-reader.ts';
import { toId } from '../resource/resource-id.ts';
import { type Answer, answering, type Call, type Exit, readNumber } from './command.ts';
import type { LogDirectory } from './log-directory.ts';
import type { SourceNames } from './log-text.ts';
import { formatTable } from './table.ts';

const limitDefault = 50;
const limitMax = 10_000;
const pageRows = 1_000;
const pollMs = 500;
const repairDaysDefault = 30;
const dayMs = 24 * 60 * 60 * 1_000;

export function registerLog(program: Command, exit: Exit): void {
  const command = program
    .command('log')
    .description('tell what was asked of the SCIM service, and what came of it')
    .option('--source <NAME>', 'only requests of this source, by its name or id')
    .option('--user <USER>', 'only requests about this user, by id or userName')
    .option('--group <GROUP>', 'only requests about this group, by id or displayName')
    .option('--status <STATUS>', 'only these: 404, 4xx, or 400-499')
    .option('--method <METHOD>', 'only requests with this method')
    .option('--since <TIME>', 'only requests since then: 30m, 2h, 7d, or a time such as 2030-01-31T12:00Z')
    .option('--request <ID>', 'only the request with this id')
    .option('--mended', 'only requests in which something had to be mended')
    .option('--repairs', 'count what had to be mended, by source, code and attribute')
    .option('--bodies', 'show bodies, of sources that log them')
    .option('--limit <N>', `requests at most (default: ${limitDefault})`)
    .option('--before <ID>', 'only requests before this one: "next" of the page before')
    .option('--follow', 'go on with what comes in, until it is interrupted');
  answering(command, exit, { action: log });
}

async function log(call: Call): Promise<Answer> {
  const { openLogDirectory } = await import('./log-directory.ts');
  const { RequestReader } = await import('../requests/request-reader.ts');
  const pages = pagesOf(call);
  checkOptions(call);
  await using directory = await openLogDirectory(call.config);
  const query = await queryOf(call, directory);
  const { names, path } = directory;
  if (call.options.follow === true) {
    const now = async () => ({ ...query, ...(await aboutNow(query, directory)) });
    await follow(call, { query: now, names, open: () => new RequestReader(path) });
    return { value: undefined };
  }
  using reader = new RequestReader(path);
  if (call.options.repairs === true) return repairs(query, names, reader);
  return await page({ ...query, ...(await aboutNow(query, directory)) }, { ...pages, names, reader });
}

/** What the journal knows of who or what is asked for: a request may change what it does not name. */
async function aboutNow(
  { about }: RequestQuery,
  directory: LogDirectory,
): Promise<Pick<RequestQuery, 'about'>> {
  if (about?.resourceId === undefined) return {};
  const changedBy = await directory.changesOf(about.resourceType, about.resourceId);
  return { about: { ...about, changedBy } };
}

/** What an option would have no effect on: an answer that looks as if it had would mislead. */
const notForRepairs = [
  'user',
  'group',
  'status',
  'method',
  'request',
  'mended',
  'bodies',
  'limit',
  'before',
  'follow',
];

function checkOptions({ options }: Call): void {
  const wrong = notForRepairs.find((name) => options[name] !== undefined);
  if (options.repairs === true && wrong !== undefined)
    throw new DomainError(
      'invalidValue',
      `--repairs counts by days, of all or of one source: it takes --source and --since, not --${wrong}.`,
    );
  const old = ['before', 'limit'].find((name) => options[name] !== undefined);
  if (options.follow === true && old !== undefined)
    throw new DomainError(
      'invalidValue',
      `--follow tells what comes from now on; leave out --${old}, or ask for what was before without --follow.`,
    );
}

interface Look {
  /** The journal goes on while the log is followed. */
  readonly query: () => Promise<RequestQuery>;
  readonly names: SourceNames;
}

interface Pages {
  readonly limit: number;
  readonly before: number;
  readonly withBodies: boolean;
}

function pagesOf(call: Call): Pages {
  const last = Number.MAX_SAFE_INTEGER;
  return {
    limit: readNumber(call, 'limit', { fallback: limitDefault, max: limitMax }),
    before: readNumber(call, 'before', { fallback: last, max: last }),
    withBodies: call.options.bodies === true,
  };
}

interface PageParts extends Pages {
  readonly names: SourceNames;
  readonly reader: RequestReader;
}

/** Newest first for a program; for a person the newest stands last, where they look. */
async function page(
  query: RequestQuery,
  { limit, before, withBodies, names, reader }: PageParts,
): Promise<Answer> {
  const { requestText } = await import('./log-text.ts');
  let next: number | undefined = before;
  const found: LoggedRequest[] = [];
  while (next !== undefined && found.length < limit) {
    const options = { before: next, limit: Math.min(limit - found.length, pageRows), withBodies };
    const { requests, next: after } = reader.page(query, options);
    found.push(...requests);
    next = after;
  }
  const older = next === undefined ? [] : [`Older requests: --before ${next}`];
  const lines = found.toReversed().map((request) => requestText(request, names));
  return {
    value: { requests: found.map((request) => toValue(request, names)), next: next ?? null },
    text: found.length === 0 ? 'There are no such requests in the log.' : [...older, ...lines].join('\n'),
  };
}

function repairs({ sourceId, sinceMs }: RequestQuery, names: SourceNames, reader: RequestReader): Answer {
  const counted = reader.repairs(sinceMs ?? Date.now() - repairDaysDefault * dayMs, sourceId);
  const named = counted.map((count) => ({ source: names.get(count.sourceId) ?? null, ...count }));
  const rows = named.map((row) => [
    row.source ?? String(row.sourceId),
    row.code,
    row.attribute,
    String(row.count),
    row.firstDay,
    row.lastDay,
  ]);
  const headings = ['SOURCE', 'REPAIR', 'ATTRIBUTE', 'TIMES', 'FROM', 'TO'];
  const text = rows.length === 0 ? 'Nothing had to be mended.' : formatTable(headings, rows);
  return { value: { repairs: named }, text };
}

/** The file is opened anew each time: it may be begun, or be set aside, while somebody follows it. */
async function follow(
  call: Call,
  { query, names, open }: Look & { readonly open: () => RequestReader },
): Promise<void> {
  const { requestText } = await import('./log-text.ts');
  const isJson = call.options.json === true;
  const stop = interrupted();
  let last: number | undefined;
  while (!stop.aborted) {
    const newest = look(open, (reader) => reader.newest());
    last ??= newest;
    if (last !== undefined && newest !== undefined && newest !== last) {
      const from = newest < last ? 0 : last;
      const wanted = await query();
      const requests = look(open, (reader) => reader.later(wanted, from, call.options.bodies === true)) ?? [];
      for (const request of requests) {
        await Bun.write(
          Bun.stdout,
          `${isJson ? JSON.stringify(toValue(request, names)) : requestText(request, names)}\n`,
        );
      }
      last = Math.max(newest, requests.at(-1)?.id ?? 0);
    }
    await Bun.sleep(pollMs);
  }
}

function interrupted(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => controller.abort());
  return controller.signal;
}

/** Undefined while there is no log. */
function look<T>(open: () => RequestReader, work: (reader: RequestReader) => T): T | undefined {
  try {
    using reader = open();
    return work(reader);
  } catch (error) {
    if (error instanceof DomainError && error.kind === 'notFound') return undefined;
    throw error;
  }
}

function toValue(request: LoggedRequest, names: SourceNames) {
  const { sourceId } = request;
  return { ...request, source: sourceId === null ? null : (names.get(sourceId) ?? null) };
}

async function queryOf({ options }: Call, directory: LogDirectory): Promise<RequestQuery> {
  const { source, status, method, since, request, mended } = options;
  const about = await aboutOf(options, directory);
  return {
    ...(source === undefined ? {} : { sourceId: await directory.sourceId(source) }),
    ...(about === undefined ? {} : { about }),
    ...(status === undefined ? {} : { status: readStatus(status) }),
    ...(method === undefined ? {} : { method: String(method).toUpperCase() }),
    ...(since === undefined ? {} : { sinceMs: readSince(since) }),
    ...(request === undefined ? {} : { requestId: request }),
    ...(mended === true ? { hasRepairs: true } : {}),
  };
}

/** Somebody who is not in the directory may still have been asked for, by a name. */
async function aboutOf(
  { user, group }: Call['options'],
  directory: LogDirectory,
): Promise<RequestQuery['about']> {
  if (user !== undefined && group !== undefined)
    throw new DomainError('invalidValue', 'Give --user or --group, not both.');
  const text = user ?? group;
  if (text === undefined) return undefined;
  const resourceType = user === undefined ? 'Group' : 'User';
  const found = await directory.named(resourceType, text);
  return found === undefined
    ? { resourceType, ...(toId(text) > 0 ? { resourceId: toId(text) } : {}), name: text }
    : { resourceType, resourceId: found.id, name: found.name };
}

function readStatus(text: string): readonly [number, number] {
  const found = /^([1-5])xx$|^([1-5]\d\d)(?:-([1-5]\d\d))?$/i.exec(text);
  if (found === null)
    throw new DomainError('invalidValue', `--status takes 404, 4xx or 400-499, not "${text}".`);
  const [, hundred, from, to] = found;
  if (hundred !== undefined) return [Number(hundred) * 100, Number(hundred) * 100 + 99];
  return [Number(from), Number(to ?? from)];
}

const units: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: dayMs };

function readSince(text: string): number {
  const [, amount, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const ms = amount === undefined ? Date.parse(text) : Date.now() - Number(amount) * (units[unit] ?? 0);
  if (!Number.isNaN(ms)) return ms;
  throw new DomainError(
    'invalidValue',
    `--since takes a span such as 30m, 2h or 7d, or a time such as 2030-01-31T12:00Z, not "${text}".`,
  );
}
