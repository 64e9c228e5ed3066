// The archive owns accepted documents on disk: `drop/` while a run needs them, `archive/` for good, compressed and masked.
// It never looks into a document, and never makes a file name of anything that a client sent.
// Folders are 0700 and files 0600; a document counts as accepted once it and its folder are on the disk (fsync).

import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DomainError } from '../errors.ts';
import { spoolStream } from './spool.ts';

/** A document on its way in: nobody but the one who spooled it knows of it. */
export interface SpooledDocument {
  /** Name without folder or ending; all files of the document are called so. */
  readonly name: string;
  /** The bytes as they came. */
  readonly path: string;
  /** Where the masked, compressed copy is to be written. */
  readonly maskedPath: string;
  readonly sha256: string;
  readonly bytes: number;
}

export interface SpoolOptions {
  readonly sourceId: number;
  readonly bytesMax: number;
  readonly signal?: AbortSignal | undefined;
}

/** What an accepted document is called in each of the two folders. */
export interface AcceptedDocument {
  readonly document: string;
  readonly archive: string;
}

const partialEnding = '.partial';
const acceptedForm = /^[1-9]\d*-[0-9a-f]{32}\.xml$/;
const archivedForm = /^[1-9]\d*\/[1-9]\d*-[0-9a-f]{32}\.xml\.gz$/;
const sourceForm = /^[1-9]\d*$/;
const privateFolder = 0o700;

export class DocumentStore {
  readonly #drop: string;
  readonly #archive: string;

  /** `folder` is the data folder; `drop/` and `archive/` are made in it when they are needed. */
  constructor(folder: string) {
    this.#drop = join(folder, 'drop');
    this.#archive = join(folder, 'archive');
  }

  /** Writes the stream to a private file. Throws `payloadTooLarge`, `storageFull`, or what the stream throws. */
  async spool(
    stream: AsyncIterable<Uint8Array>,
    { sourceId, bytesMax, signal }: SpoolOptions,
  ): Promise<SpooledDocument> {
    await ownFolder(this.#drop);
    const name = `${sourceId}-${randomBytes(16).toString('hex')}`;
    const path = join(this.#drop, name + partialEnding);
    const maskedPath = join(this.#drop, `${name}.xml.gz${partialEnding}`);
    try {
      return { name, path, maskedPath, ...(await spoolStream(stream, path, { bytesMax, signal })) };
    } catch (error) {
      await rm(path, { force: true });
      throw toDiskError(error);
    }
  }

  /** Gives both files their lasting places. Durable when it resolves; on failure neither is left. */
  async accept(spooled: SpooledDocument, sourceId: number): Promise<AcceptedDocument> {
    const document = `${spooled.name}.xml`;
    const archive = `${sourceId}/${spooled.name}.xml.gz`;
    const folder = join(this.#archive, String(sourceId));
    try {
      await ownFolder(this.#archive);
      await ownFolder(folder);
      await syncFile(spooled.maskedPath);
      await rename(spooled.maskedPath, join(this.#archive, archive));
      await rename(spooled.path, join(this.#drop, document));
      await syncFolder(folder);
      await syncFolder(this.#archive);
      await syncFolder(this.#drop);
    } catch (error) {
      await this.discard(spooled);
      await this.forget({ document, archive });
      throw toDiskError(error);
    }
    return { document, archive };
  }

  /** Removes what was spooled and is not wanted. */
  async discard({ path, maskedPath }: SpooledDocument): Promise<void> {
    await rm(path, { force: true });
    await rm(maskedPath, { force: true });
  }

  /** Removes an accepted document whose run could not be queued. */
  async forget({ document, archive }: AcceptedDocument): Promise<void> {
    await this.removeDocument(document);
    await this.removeArchive(archive);
  }

  /** The bytes of an accepted document. Throws what the file system throws when it is gone. */
  read(document: string): AsyncIterable<Uint8Array> {
    return createReadStream(this.#dropPath(document), { highWaterMark: 256 * 1024 });
  }

  /** The archived copy: gzip, passwords masked. */
  readArchive(archive: string): AsyncIterable<Uint8Array> {
    return createReadStream(this.#archivePath(archive));
  }

  async removeDocument(document: string): Promise<void> {
    await rm(this.#dropPath(document), { force: true });
  }

  async removeArchive(archive: string): Promise<void> {
    await rm(this.#archivePath(archive), { force: true });
  }

  /**
   * Removes from `drop/` what a killed process has left: every file of before `olderThan` for which `isNeeded` does not
   * speak. Returns how many there were.
   */
  async sweep(olderThan: Date, isNeeded: (document: string) => boolean): Promise<number> {
    return removeOld(this.#drop, await namesIn(this.#drop), { olderThan, isNeeded });
  }

  /**
   * The same for `archive/`, where only copies of accepted documents are ever removed, and only beside one that is
   * needed: a database that knows none of a source's copies is the wrong one for this folder.
   */
  async sweepArchive(olderThan: Date, isNeeded: (archive: string) => boolean): Promise<number> {
    let removed = 0;
    for (const source of (await namesIn(this.#archive)).filter((name) => sourceForm.test(name))) {
      const names = (await namesIn(join(this.#archive, source))).map((name) => `${source}/${name}`);
      const copies = names.filter((name) => archivedForm.test(name));
      if (copies.some(isNeeded)) removed += await removeOld(this.#archive, copies, { olderThan, isNeeded });
    }
    return removed;
  }

  #dropPath(document: string): string {
    if (!acceptedForm.test(document)) throw new Error('not the name of an accepted document');
    return join(this.#drop, document);
  }

  #archivePath(archive: string): string {
    if (!archivedForm.test(archive)) throw new Error('not the name of an archived document');
    return join(this.#archive, archive);
  }
}

/** Makes the folder if need be. A link in its place would lead documents elsewhere. */
async function ownFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: privateFolder });
  if ((await lstat(path)).isDirectory()) return;
  throw new DomainError('unavailable', 'The folder for documents is a link; replace it by a folder.');
}

async function removeOld(
  folder: string,
  names: readonly string[],
  { olderThan, isNeeded }: { readonly olderThan: Date; readonly isNeeded: (name: string) => boolean },
): Promise<number> {
  let removed = 0;
  for (const name of names) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => undefined);
    if (found === undefined || found.mtime >= olderThan || isNeeded(name)) continue;
    await rm(path, { force: true });
    removed += 1;
  }
  return removed;
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return [];
    throw error;
  }
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Windows cannot sync a folder, and keeps names by other means. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function toDiskError(error: unknown): unknown {
  if (codeOf(error) !== 'ENOSPC' && codeOf(error) !== 'EDQUOT') return error;
  return new DomainError('storageFull', 'The disk is full; free some space and send the document again.', {
    cause: error,
  });
}

function codeOf(error: unknown): string {
  return (error as { code?: string } | null)?.code ?? '';
}
