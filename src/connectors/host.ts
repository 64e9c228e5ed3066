// The process of one run of a connector in TypeScript: reads one JSON object from standard input, runs the connector,
// and writes its document to standard output, its log to standard error, its checkpoint to the working directory.
// It opens no database and no data folder. An executable in another language does the same by itself.

import { writeFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { checkpointFile, type HostRequest } from './connectors.ts';
import type {
  Connector,
  ConnectorContext,
  ConnectorRecord,
  Json,
  Mapping,
  RecordMapper,
} from './contract.ts';
import { createFetch } from './guarded-fetch.ts';
import { compileMapping, sourceRecordOf } from './mapping.ts';
import { loadShipped } from './registry.ts';
import { createResolveHost, systemResolve } from './resolve-host.ts';
import { RecordWriter, toDocument } from './to-document.ts';

const failed = 1;
/** Less than the second after which the process is killed. */
const abortGraceMs = 800;
const parentCheckMs = 1_000;

type RunRequest = Exclude<HostRequest, { action: 'describe' }>;

/** Does what standard input asks; resolves with the exit status once everything is written. */
export async function connectorHost(): Promise<number> {
  keepStandardOutput();
  endWithParent();
  try {
    const request = JSON.parse(await Bun.stdin.text()) as HostRequest;
    const out = new Output();
    if (request.action === 'describe') await describe(request.file, out);
    else await run(request, out);
    return 0;
  } catch (error) {
    writeLine('error', messageOf(error));
    return failed;
  }
}

/** Standard output is the document's: what a connector prints goes to the log. */
function keepStandardOutput(): void {
  for (const method of ['log', 'info', 'warn', 'error', 'debug', 'trace'] as const) {
    const level = method === 'warn' || method === 'error' ? 'warn' : method === 'debug' ? 'debug' : 'info';
    console[method] = (...words: unknown[]) =>
      writeLine(level, words.map((word) => (typeof word === 'string' ? word : Bun.inspect(word))).join(' '));
  }
}

/** A process whose starter was killed would go on for as long as its source answers. */
function endWithParent(): void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid !== parent) process.exit(failed);
  }, parentCheckMs);
  timer.unref();
}

function writeLine(level: string, message: string): void {
  const lines = message.split(/\r?\n/).filter((line) => line.trim() !== '');
  process.stderr.write(lines.map((line) => `${level}: ${line}\n`).join(''));
}

/** One sentence: the causes of an error are its author's concern. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return oneLine(String(error));
  const { code } = error as { code?: unknown };
  return oneLine(error.message || (typeof code === 'string' ? code : error.name));
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim() || 'It threw an error that says nothing.';
}

/** Standard output, whose reader decides on the pace. */
class Output {
  readonly #sink = Bun.stdout.writer();

  /** Resolves once the reader has taken the text. */
  async write(text: string): Promise<void> {
    this.#sink.write(text);
    await this.#sink.flush();
  }
}

async function describe(file: string, out: Output): Promise<void> {
  const description = await loadFile(file).then(
    ({ kind, summary, configSchema, canDelta }) => ({ kind, summary, configSchema, canDelta }),
    (error: unknown) => ({ problem: messageOf(error) }),
  );
  await out.write(JSON.stringify(description));
}

async function loadFile(file: string): Promise<Connector<never>> {
  const module = await importFile(file);
  const { connector } = module as { connector?: Connector<never> };
  if (typeof connector !== 'object' || connector === null)
    throw new Error('connector.ts has no export named connector; write "export const connector = …".');
  for (const name of ['test', 'read'] as const) {
    if (typeof connector[name] !== 'function') throw new Error(`The connector has no function ${name}.`);
  }
  return connector;
}

async function importFile(file: string): Promise<object> {
  try {
    return (await import(pathToFileURL(file).href)) as object;
  } catch (error) {
    const first = error instanceof AggregateError ? (error.errors[0] as unknown) : error;
    const { position } = first as { position?: { line?: number } | null };
    const place = position?.line === undefined ? '' : ` (line ${position.line})`;
    throw new Error(`connector.ts cannot be loaded${place}: ${messageOf(first)}`);
  }
}

async function run(request: RunRequest, out: Output): Promise<void> {
  const { connector: which, action } = request;
  const connector = 'kind' in which ? await loadShipped(which.kind) : await loadFile(which.file);
  const abort = new AbortController();
  process.once('SIGTERM', () => {
    abort.abort(new Error('The run was cancelled.'));
    setTimeout(() => process.exit(failed), abortGraceMs);
  });
  const checkpoint: { last?: Json } = {};
  const { config } = request;
  const defaults = connector.defaultMappingFor?.(config as never) ?? connector.defaultMapping;
  const mapped = await compileMapping(config.mapping as Mapping | undefined, defaults, {
    remembersSources: request.preview !== undefined,
  });
  const context = contextOf(request, { signal: abort.signal, checkpoint, mapped });
  if (action === 'test') return out.write(`${await connector.test(context)}\n`);
  const { preview: count } = request;
  if (count !== undefined) return preview(connector.read(context), count, out);
  const isWritten = await writeDocument(connector.read(context), request, out);
  abort.signal.throwIfAborted();
  for (const sentence of mapped.warnings()) writeLine('warn', sentence);
  if (isWritten && checkpoint.last !== undefined)
    await writeFile(checkpointFile, JSON.stringify(checkpoint.last), { mode: 0o600 });
}

interface Run {
  readonly signal: AbortSignal;
  /** Where the connector's checkpoint is kept until its end. */
  readonly checkpoint: { last?: Json };
  readonly mapped: RecordMapper;
}

function contextOf(
  { config, source, mode, checkpoint: stored, allowedHosts }: RunRequest,
  { signal, checkpoint, mapped }: Run,
): ConnectorContext<never> {
  const log = (level: string) => (message: string) => writeLine(level, String(message));
  return {
    config: config as never,
    source,
    mode,
    checkpoint: stored ?? undefined,
    setCheckpoint: (value) => {
      checkpoint.last = value;
    },
    log: { debug: log('debug'), info: log('info'), warn: log('warn') },
    fetch: createFetch({ allow: allowedHosts, resolve: systemResolve, signal }),
    resolveHost: createResolveHost({ allow: allowedHosts, resolve: systemResolve }),
    signal,
    now: () => new Date(),
    mapped,
  };
}

/** False when there were groups and nobody: a delta of them is no document, and they have to be read again. */
async function writeDocument(
  records: AsyncIterable<ConnectorRecord>,
  request: RunRequest,
  out: Output,
): Promise<boolean> {
  const { source, mode } = request;
  let [read, written] = [0, 0];
  const counted = async function* () {
    for await (const record of records) {
      read += 1;
      yield record;
    }
  };
  const head = { domain: source.name, ldapid: String(source.id), options: new Map([['mode', mode]]) };
  const warn = (sentence: string) => writeLine('warn', sentence);
  for await (const piece of toDocument(counted(), { head, mode, warn })) {
    written += piece.length;
    await out.write(piece);
  }
  if (read === 0 || written > 0) return true;
  warn('Only groups have changed; they are imported with the next person who changes.');
  return false;
}

/** The first groups and users as JSON lines: what the source said, what was made of it, and its XML. */
async function preview(records: AsyncIterable<ConnectorRecord>, count: number, out: Output): Promise<void> {
  const writer = new RecordWriter();
  const shown = { group: 0, user: 0 };
  for await (const record of records) {
    const xml = writer.write(record);
    if (shown[record.kind] >= count) continue;
    shown[record.kind] += 1;
    await out.write(`${JSON.stringify({ source: sourceRecordOf(record) ?? null, record, xml })}\n`);
    if (shown.user >= count) break;
  }
  for (const sentence of writer.warnings()) writeLine('warn', sentence);
}
