// Documents of earlier runs that are taken in once more, whole or only what went wrong in them.
// They come from the archive, where passwords are masked: people whom such a run creates get no password from it.

import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { DocumentStore } from '../archive/archive.ts';
import { DomainError } from '../errors.ts';
import type { GeneralSource } from '../sources/source-store.ts';
import type { Database } from '../storage/database.ts';
import { readDocument } from '../xml/reader.ts';
import type { DocumentItem } from '../xml/records.ts';
import { writeDocument } from '../xml/write.ts';
import { isActive, type RunStatus } from './imports.ts';
import type { Intake, Receipt } from './intake.ts';
import { listIssueLines } from './issue-store.ts';
import { findRun, type RunRow } from './run-store.ts';

export interface RerunParts {
  readonly database: Database;
  readonly documents: DocumentStore;
  readonly intake: Intake;
}

export interface RerunOptions {
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal;
}

/** A run whose document is still in the archive. */
type ArchivedRun = RunRow & { readonly archive: string };

/** The run with this id, if its document is kept. Throws `notFound`, or `invalidValue` for one that is not over. */
export async function requireArchived({ read }: Database, id: number): Promise<ArchivedRun> {
  const run = await findRun(read, id);
  if (run === undefined) throw new DomainError('notFound', `There is no import with the id ${id}.`);
  if (isActive(run.status as RunStatus) || run.status === 'awaiting-approval') {
    const detail = `Import ${id} is ${run.status}; wait until it is over, or cancel it.`;
    throw new DomainError('invalidValue', detail);
  }
  if (run.archive !== null) return { ...run, archive: run.archive };
  const detail = `The document of import ${id} is not kept any more (setting archiveRunsKept).`;
  throw new DomainError('invalidValue', detail);
}

/** Imports the document of an earlier run again, as if it came in now. */
export function rerun(
  { documents, intake }: RerunParts,
  source: GeneralSource,
  run: ArchivedRun,
  options: RerunOptions = {},
): Promise<Receipt> {
  return intake.accept({
    source,
    stream: unpacked(documents, run),
    origin: 'rerun',
    force: true,
    ...options,
  });
}

/**
 * Imports again those users of an earlier run's document about whom the run has issues. Nobody counts as missing. Throws
 * `invalidValue` when there are none.
 */
export async function retry(
  { database, documents, intake }: RerunParts,
  source: GeneralSource,
  run: ArchivedRun,
  options: RerunOptions = {},
): Promise<Receipt> {
  const lines = await listIssueLines(database.read, run.id);
  const items = () => selected(readDocument(unpacked(documents, run)), lines);
  if (!(await hasUser(items()))) {
    const detail = `No user of import ${run.id} went wrong; there is nothing to retry.`;
    throw new DomainError('invalidValue', detail);
  }
  const stream = encoded(writeDocument(items()));
  return intake.accept({ source, stream, origin: 'retry', force: true, ...options });
}

async function* unpacked(documents: DocumentStore, { id, archive }: ArchivedRun): AsyncGenerator<Uint8Array> {
  try {
    // A failure of either end reaches whoever reads.
    yield* pipeline(documents.readArchive(archive), createGunzip(), () => undefined);
  } catch (error) {
    if ((error as { code?: string }).code !== 'ENOENT') throw error;
    const detail = `The document of import ${id} is gone from the folder archive/; put it back, or send the file again.`;
    throw new DomainError('notFound', detail, { cause: error });
  }
}

async function* selected(
  batches: AsyncIterable<readonly DocumentItem[]>,
  lines: ReadonlySet<number>,
): AsyncGenerator<DocumentItem> {
  for await (const batch of batches) {
    for (const item of batch) {
      if (item.kind === 'head') yield { ...item, head: asDelta(item.head) };
      else if (item.kind === 'group' || lines.has(item.record.line)) yield item;
    }
  }
}

function asDelta<H extends { readonly options: ReadonlyMap<string, string> }>(head: H): H {
  return { ...head, options: new Map([...head.options, ['mode', 'delta']]) };
}

async function hasUser(items: AsyncIterable<DocumentItem>): Promise<boolean> {
  for await (const item of items) if (item.kind === 'user') return true;
  return false;
}

async function* encoded(pieces: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for await (const piece of pieces) yield encoder.encode(piece);
}
