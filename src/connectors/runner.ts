import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DomainError } from '../errors.ts';
import type { Intake, IntakeRequest, Receipt } from '../imports/intake.ts';
import { readDocument } from '../xml/reader.ts';
import { writeGroup, writeUser } from '../xml/write.ts';
import { clean, type LogLine } from './connector-log.ts';
import { ConnectorProcess, type ProcessParts } from './connector-process.ts';
import {
  type Config,
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
import { SecretMask, secretsOf } from './secrets.ts';

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
}

export interface TakenIn {
  /** Absent when a delta has brought nothing. */
  readonly receipt?: Receipt;
  /** What the connector has left for its next run; undefined for nothing. It counts once the import is completed. */
  readonly checkpoint: Json | undefined;
  readonly memoryBytesPeak: number;
}

/**
 * Runs the connector and takes its document in. Throws what intake throws, and `unavailable` when the process does not
 * end well; nothing of its document is left then.
 */
export async function importFromConnector(
  { intake, ...parts }: ImportParts,
  call: ConnectorCall,
  request: Pick<IntakeRequest, 'source' | 'dryRun' | 'force'>,
): Promise<TakenIn> {
  await using child = await start(parts, call, { action: 'read' });
  const output = child.output();
  const first = await output.next();
  if (first.done) {
    if (call.mode === 'full') throw nobody();
    return { checkpoint: await readCheckpoint(child.folder), memoryBytesPeak: child.memoryBytesPeak };
  }
  const { kind, signal } = call;
  const stream = continued(first.value, output);
  const receipt = await intake.accept({
    ...request,
    stream,
    origin: 'connector',
    file: kind.kind,
    ...(signal === undefined ? {} : { signal }),
  });
  const { memoryBytesPeak } = child;
  return { receipt, checkpoint: await readCheckpoint(child.folder), memoryBytesPeak };
}

function nobody(): DomainError {
  const detail = 'The connector has answered with nobody, so nothing is imported.';
  return new DomainError('unavailable', detail);
}

async function* continued(first: Uint8Array, rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first;
  yield* rest;
}

/** What the process has left in `checkpoint.json` of its folder. */
async function readCheckpoint(folder: string): Promise<Json | undefined> {
  const path = join(folder, checkpointFile);
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return undefined;
  if (!found.isFile() || found.size > checkpointBytesMax)
    throw badCheckpoint(`a file of at most ${checkpointBytesMax} bytes`);
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Json;
  } catch {
    throw badCheckpoint('JSON');
  }
}

function badCheckpoint(what: string): DomainError {
  return new DomainError('unavailable', `The ${checkpointFile} that the connector has left is not ${what}.`);
}
