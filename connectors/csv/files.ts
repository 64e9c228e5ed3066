// Finds the files of a delivery inside one folder, and reads each of them whole or not at all.
// A file that somebody is still writing is the rule, not the exception: half a file is half the people.

import type { Stats } from 'node:fs';
import { type FileHandle, open, realpath, stat } from 'node:fs/promises';
import { basename, isAbsolute, join, relative, sep } from 'node:path';
import { DomainError } from '../../src/errors.ts';

export interface SourceFile {
  /** As sentences call it: its path inside the folder. */
  readonly name: string;
  /** After resolving links. */
  readonly path: string;
  readonly bytes: number;
  /** Milliseconds since 1970, with a fraction. */
  readonly modifiedMs: number;
  readonly inode: number;
}

export const filesMax = 1_000;
const entriesMax = 100_000;
export const fileBytesMax = 2 * 1024 * 1024 * 1024;
const readBytes = 256 * 1024;

/**
 * The files of a path or glob inside `folder`, by name. Throws DomainError with one sentence when there is none, when one
 * lies elsewhere (by `..` or a link), is no regular file, is too large, or may not be read.
 */
export async function findFiles(folder: string, pattern: string): Promise<readonly SourceFile[]> {
  if (!isAbsolute(folder)) throw refusal(`The folder "${folder}" has to be a full path.`);
  const root = await resolved(folder, `The folder ${folder}`);
  const names = await namesOf(root, pattern);
  if (names.length === 0) throw refusal(`No file in ${folder} is called "${pattern}".`);
  return Promise.all(names.map((name) => describe(root, name)));
}

async function namesOf(root: string, pattern: string): Promise<readonly string[]> {
  if (isAbsolute(pattern) || pattern.split(/[/\\]/).includes('..'))
    throw refusal(`"${pattern}" leads out of the folder: name files inside it.`);
  if (!/[*?{[]/.test(pattern)) return [pattern];
  const names: string[] = [];
  let entries = 0;
  for await (const name of new Bun.Glob(pattern).scan({ cwd: root, onlyFiles: false })) {
    entries += 1;
    if (entries > entriesMax)
      throw refusal(`"${pattern}" matches more than ${entriesMax} names; say it more closely.`);
    if ((await stat(join(root, name)).catch(() => undefined))?.isDirectory() !== true) names.push(name);
    if (names.length > filesMax) throw refusal(`"${pattern}" matches more than ${filesMax} files.`);
  }
  return names.sort();
}

async function describe(root: string, name: string): Promise<SourceFile> {
  const path = await resolved(join(root, name), `The file ${name}`);
  const inside = relative(root, path);
  if (inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside))
    throw refusal(`The file ${name} is a link that leads out of the folder; it is not read.`);
  const found = await stat(path);
  if (!found.isFile()) throw refusal(`${name} is not a regular file.`);
  if (found.size > fileBytesMax)
    throw refusal(`The file ${name} is larger than ${fileBytesMax / 1024 ** 3} GB.`);
  return { name, path, bytes: found.size, modifiedMs: found.mtimeMs, inode: found.ino };
}

async function resolved(path: string, what: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    throw unreadable(what, error);
  }
}

function unreadable(what: string, error: unknown): DomainError {
  const { code } = error as { code?: unknown };
  if (code === 'ENOENT' || code === 'ENOTDIR') return refusal(`${what} does not exist.`);
  if (code === 'EACCES' || code === 'EPERM')
    return refusal(`${what} may not be read by the user that Rollcall runs as; change its permissions.`);
  return refusal(`${what} cannot be read (${typeof code === 'string' ? code : 'unknown reason'}).`);
}

/**
 * The bytes of a file. Throws at its end when the file is not what it was at the beginning, or when another one bears its
 * name: whatever has been read by then is to be thrown away.
 */
export async function* readFile(file: SourceFile, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const handle = await openFile(file);
  try {
    if (!isSame(file, await handle.stat())) throw changed(file);
    const bytes = yield* pieces(handle, signal);
    const after = [await handle.stat(), await stat(file.path).catch(() => undefined)];
    if (bytes !== file.bytes || after.some((each) => !isSame(file, each))) throw changed(file);
  } finally {
    await handle.close();
  }
}

async function openFile(file: SourceFile): Promise<FileHandle> {
  try {
    return await open(file.path, 'r');
  } catch (error) {
    throw unreadable(`The file ${file.name}`, error);
  }
}

/** Returns how many bytes there were. */
async function* pieces(handle: FileHandle, signal: AbortSignal): AsyncGenerator<Uint8Array, number> {
  let position = 0;
  while (position <= fileBytesMax) {
    signal.throwIfAborted();
    const { bytesRead, buffer } = await handle.read(new Uint8Array(readBytes), 0, readBytes, position);
    if (bytesRead === 0) break;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
  return position;
}

function isSame(file: SourceFile, found: Stats | undefined): boolean {
  return found?.ino === file.inode && found.size === file.bytes && found.mtimeMs === file.modifiedMs;
}

function changed({ name }: SourceFile): DomainError {
  return refusal(
    `The file ${name} was changed while it was read. Let it be written under another name and renamed, or raise "minAgeSeconds".`,
  );
}

export interface Readiness {
  readonly folder: string;
  /** Name of a file that says that all others are complete; empty for none. */
  readonly completeMarker: string;
  readonly minAgeSeconds: number;
  readonly now: Date;
}

/** Throws DomainError `unavailable` while a delivery may still be under way. */
export async function requireComplete(files: readonly SourceFile[], ready: Readiness): Promise<void> {
  const newest = files.reduce<SourceFile | undefined>(
    (best, each) => (best === undefined || each.modifiedMs > best.modifiedMs ? each : best),
    undefined,
  );
  if (newest === undefined) return;
  const seconds = Math.max(0, ready.now.getTime() - newest.modifiedMs) / 1_000;
  if (seconds < ready.minAgeSeconds) {
    throw waiting(
      `The file ${newest.name} was written ${Math.floor(seconds)} s ago and may not be complete; it is read once it is ${ready.minAgeSeconds} s old ("minAgeSeconds").`,
    );
  }
  if (ready.completeMarker !== '') await requireMarker(newest, ready);
}

async function requireMarker(newest: SourceFile, { folder, completeMarker }: Readiness): Promise<void> {
  const name = basename(completeMarker);
  const marker = await stat(join(folder, name)).catch(() => undefined);
  if (marker === undefined) throw waiting(`The delivery is not complete: the file ${name} is not there yet.`);
  if (marker.mtimeMs < newest.modifiedMs)
    throw waiting(`The delivery is not complete: the file ${name} is older than ${newest.name}.`);
}

/** Throws when the files are not the same, name by name, as when the run began: a part may have come meanwhile. */
export function requireSame(before: readonly SourceFile[], after: readonly SourceFile[]): void {
  for (let at = 0; at < Math.max(before.length, after.length); at += 1) {
    const [old, now] = [before[at], after[at]];
    if (old !== undefined && now !== undefined && isUnchanged(old, now)) continue;
    throw refusal(
      `The files changed while they were read (${now?.name ?? old?.name}). Run again once all of them are there, or name a "completeMarker".`,
    );
  }
}

function isUnchanged(old: SourceFile, now: SourceFile): boolean {
  return old.path === now.path && old.bytes === now.bytes && old.modifiedMs === now.modifiedMs;
}

function waiting(detail: string): DomainError {
  return new DomainError('unavailable', detail);
}

function refusal(detail: string): DomainError {
  return new DomainError('invalidValue', detail);
}
