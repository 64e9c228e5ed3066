import { lstat, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, timestamp } from '../clock.ts';
import { DomainError } from '../errors.ts';
import { type Checkpoint, findCheckpoint, saveCheckpoint } from '../imports/checkpoint-store.ts';
import type { Intake, IntakeRequest, Receipt } from '../imports/intake.ts';
import { sha256Hex } from '../security/secret-key.ts';
import type { Database, Reader } from '../storage/database.ts';
import { readDocument } from '../xml/reader.ts';
import { writeGroup, writeUser } from '../xml/write.ts';
import { clean, type LogLine } from './connector-log.ts';
import { ConnectorProcess, type ProcessParts } from './connector-process.ts';
import {
  type Config,
  type ConfigSchema,
  type ConnectorAction,
  type ConnectorKind,
  checkpointBytesMax,
  checkpointFile,
  type PreviewRecord,
  type RunLimits,
  testMsMax,
} from './connectors.ts';
import type { Json } from './contract.ts';
import { startOf } from './host-command.ts';
import { SecretMask, secretsOf, withoutSecrets } from './secrets.ts';

const answerBytesMax = 64 * 1024;
const previewBytesMax = 64 * 1024 * 1024;
const messageCharactersMax = 2_000;

/** What one run is about. */
export interface ConnectorCall {
  readonly kind: ConnectorKind;
  /** As `checkConfig` returns it. */
  readonly config: Config;
  readonly source: { readonly name: string; readonly id: number };
  readonly mode: 'full' | 'delta';
  readonly checkpoint: Json;
  readonly limits: RunLimits;
  readonly allowedHosts: readonly string[];
  /** Told of every line of the log as it comes, secrets struck out. */
  readonly onLine?: (line: LogLine) => void;
  readonly signal?: AbortSignal;
}

/** Starts the process of a call, which is gone when it is disposed of. */
function start(
  parts: ProcessParts,
  call: ConnectorCall,
  asked: { readonly action: ConnectorAction; readonly preview?: number },
): Promise<ConnectorProcess> {
  const { kind, config, source, mode, checkpoint, limits, allowedHosts, onLine, signal } = call;
  const request = { action: asked.action, config, source, mode, checkpoint };
  const started = startOf(kind, request, { ...parts, allowedHosts, preview: asked.preview });
  const mask = maskOf(call);
  return ConnectorProcess.start(parts, { ...started, limits, mask, onLine, signal });
}

function maskOf({ kind, config }: ConnectorCall): SecretMask {
  return new SecretMask(secretsOf(kind.configSchema, config));
}

/** Tries to reach the source; the sentence says what was found. Throws `unavailable` with the one that says why not. */
export async function testConnector(parts: ProcessParts, call: ConnectorCall): Promise<string> {
  const milliseconds = Math.min(call.limits.milliseconds, testMsMax);
  const bounded = { ...call, limits: { ...call.limits, milliseconds } };
  await using child = await start(parts, bounded, { action: 'test' });
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of child.output()) {
    chunks.push(chunk);
    bytes += chunk.length;
    const isDocument = /^\s*</.test(Buffer.from(chunks[0] ?? []).toString('utf8'));
    if (isDocument) return 'The connector knows no test, and has begun to write its document.';
    if (bytes > answerBytesMax) break;
  }
  const [line = ''] = Buffer.concat(chunks).toString('utf8').trim().split('\n');
  const sentence = clean(maskOf(call).strike(line)).slice(0, messageCharactersMax);
  return sentence === '' ? 'The connector says that it can reach its source.' : sentence;
}

/** The first groups and users, `count` of each, secrets struck out; the process is ended after them. */
export async function previewConnector(
  parts: ProcessParts,
  call: ConnectorCall,
  count: number,
): Promise<PreviewRecord[]> {
  await using child = await start(parts, call, { action: 'read', preview: count });
  const isExecutable = call.kind.form.form === 'executable';
  const output = bounded(child.output());
  const records = isExecutable ? await documentPreview(output, count) : await hostPreview(output);
  return maskOf(call).strikeIn(records);
}

async function* bounded(output: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of output) {
    bytes += chunk.length;
    if (bytes > previewBytesMax)
      throw new DomainError('payloadTooLarge', 'The first records are too long to be shown.');
    yield chunk;
  }
}

async function hostPreview(output: AsyncIterable<Uint8Array>): Promise<PreviewRecord[]> {
  const text = (await Array.fromAsync(output, (chunk) => Buffer.from(chunk).toString('latin1'))).join('');
  return Buffer.from(text, 'latin1')
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as PreviewRecord);
}

/** An executable writes a document in any case; the process is ended when enough of it has been read. */
async function documentPreview(output: AsyncIterable<Uint8Array>, count: number): Promise<PreviewRecord[]> {
  const shown: PreviewRecord[] = [];
  const left = { group: count, user: count };
  for await (const items of readDocument(output)) {
    for (const item of items) {
      if (item.kind === 'head' || left[item.kind] === 0) continue;
      left[item.kind] -= 1;
      const { line: _, ...record } = item.record;
      const xml = item.kind === 'group' ? writeGroup(item.record) : writeUser(item.record);
      shown.push({ source: null, record: { kind: item.kind, ...record } as unknown as Json, xml });
      if (left.user === 0) return shown;
    }
  }
  return shown;
}

export interface ImportParts extends ProcessParts {
  readonly intake: Pick<Intake, 'accept'>;
  readonly database: Database;
  readonly clock: Clock;
}

export interface TakenIn {
  /** Absent when a delta has brought nothing. */
  readonly receipt?: Receipt;
  readonly memoryBytesPeak: number;
}

/**
 * Runs the connector and takes its document in; what it leaves for its next run counts once the import is completed, at
 * once where there is nothing to import. Throws what intake throws, and `unavailable` when the process does not
 * end well; nothing of its document is left then.
 */
export async function importFromConnector(
  { intake, database, clock, ...parts }: ImportParts,
  call: ConnectorCall,
  request: Pick<IntakeRequest, 'source' | 'dryRun' | 'force'>,
): Promise<TakenIn> {
  await using child = await start(parts, call, { action: 'read' });
  const output = child.output();
  const first = await output.next();
  if (first.done) {
    if (call.mode === 'full') throw nobody();
    const left = request.dryRun === true ? undefined : await readCheckpoint(child.folder, call);
    if (left !== undefined)
      await database.write((tx) => saveCheckpoint(tx, request.source.id, left, timestamp(clock)));
    return { memoryBytesPeak: child.memoryBytesPeak };
  }
  const { kind, signal } = call;
  const stream = continued(first.value, output);
  const receipt = await intake.accept({
    ...request,
    stream,
    origin: 'connector',
    file: kind.kind,
    checkpoint: () => readCheckpoint(child.folder, call),
    ...(signal === undefined ? {} : { signal }),
  });
  const { memoryBytesPeak } = child;
  return { receipt, memoryBytesPeak };
}

function nobody(): DomainError {
  const detail = 'The connector has answered with nobody, so nothing is imported.';
  return new DomainError('unavailable', detail);
}

async function* continued(first: Uint8Array, rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first;
  yield* rest;
}

/** What the process has left in `checkpoint.json` of its folder; undefined when it has left nothing. */
async function readCheckpoint(
  folder: string,
  { kind, config }: ConnectorCall,
): Promise<Checkpoint | undefined> {
  const path = join(folder, checkpointFile);
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return undefined;
  if (!found.isFile() || found.size > checkpointBytesMax)
    throw badCheckpoint(`a file of at most ${checkpointBytesMax.toLocaleString('en')} bytes`);
  const text = await readFile(path, 'utf8');
  try {
    const value = JSON.stringify(JSON.parse(text));
    return { kind: kind.kind, digest: configDigest(kind.configSchema, config), value };
  } catch {
    throw badCheckpoint('JSON');
  }
}

/** Tells one configuration from another. Secrets are left out: a new password asks for the same people. */
function configDigest(schema: ConfigSchema, config: Config): string {
  return sha256Hex(JSON.stringify(sorted(withoutSecrets(schema, config))));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, each]) => [name, sorted(each)] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Where a run goes on: after the last import that was completed with this configuration, or from the beginning. */
export async function beginning(
  db: Reader,
  sourceId: number,
  { kind, config }: Pick<ConnectorCall, 'kind' | 'config'>,
): Promise<Pick<ConnectorCall, 'mode' | 'checkpoint'>> {
  const found = kind.canDelta ? await findCheckpoint(db, sourceId, kind.kind) : undefined;
  if (found?.digest !== configDigest(kind.configSchema, config)) return { mode: 'full', checkpoint: null };
  return { mode: 'delta', checkpoint: JSON.parse(found.value) as Json };
}

function badCheckpoint(what: string): DomainError {
  return new DomainError('unavailable', `The ${checkpointFile} that the connector has left is not ${what}.`);
}
