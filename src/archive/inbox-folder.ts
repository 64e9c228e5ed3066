// The folder into which other programs put files, and what happens to these on the disk: taken, given back, refused.
// It trusts nothing that lies there: a link is never followed, and what is not a plain file is never opened.
// A file that is being taken in lies under `.taking/TICKET/`, where a process that starts again finds it.

import { randomBytes } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { lstat, mkdir, open, readdir, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Something in the folder of a source. */
export interface InboxEntry {
  readonly name: string;
  /** Changes when the file does. */
  readonly stamp: string;
  readonly bytes: number;
  readonly modifiedMs: number;
}

/** A file that nobody else takes. */
export interface TakenFile {
  readonly folder: string;
  /** Names the taking, not the file: a file that comes again under the same name has another. */
  readonly ticket: string;
  readonly name: string;
}

const takingName = '.taking';
const refusedName = 'refused';
const ticketForm = /^[0-9a-f]{32}$/;
/** Other programs write under such names until a file is whole. */
const unfinished = /^\.|\.(tmp|temp|part|partial|filepart|crdownload|swp)$|~$/i;
const foldersMax = 1_000;
const entriesMax = 1_000;
const readBytes = 256 * 1024;
const othersMayWrite = 0o002;

export class InboxFolder {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Names of the folders in it; none when it is not there. `onUnsafe` hears of what cannot be used, by its name ("" for
   * the inbox itself), with a reason.
   */
  async folders(onUnsafe: (name: string, reason: string) => void): Promise<string[]> {
    if (!(await isUsable(this.#path, (reason) => onUnsafe('', reason)))) return [];
    const usable: string[] = [];
    for (const name of (await readdir(this.#path)).toSorted().slice(0, foldersMax)) {
      const isShown = !name.startsWith('.');
      const path = join(this.#path, name);
      if (isShown && (await isUsable(path, (reason) => onUnsafe(name, reason)))) usable.push(name);
    }
    return usable;
  }

  /** What lies in the folder and is not obviously unfinished, oldest first. */
  async entries(folder: string): Promise<InboxEntry[]> {
    const names = (await readdir(join(this.#path, folder))).filter(
      (name) => name !== refusedName && !unfinished.test(name),
    );
    const entries: InboxEntry[] = [];
    for (const name of names.toSorted().slice(0, entriesMax)) {
      const found = await lstatIfThere(join(this.#path, folder, name));
      if (found !== undefined) entries.push(toEntry(name, found));
    }
    return entries.toSorted((one, other) => one.modifiedMs - other.modifiedMs);
  }

  /** Takes the file away from where others can see it. Undefined when it is there no longer. */
  async take(folder: string, name: string): Promise<TakenFile | undefined> {
    const taken = { folder, name, ticket: randomBytes(16).toString('hex') };
    await this.#ownFolder(folder, takingName);
    await mkdir(this.#ticketPath(taken), { mode: 0o700 });
    try {
      await rename(join(this.#path, folder, name), this.#pathOf(taken));
      return taken;
    } catch (error) {
      await rmdir(this.#ticketPath(taken));
      if (codeOf(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** What was taken before, by a process that has ended since. */
  async taken(folder: string): Promise<TakenFile[]> {
    const found: TakenFile[] = [];
    const taking = join(this.#path, folder, takingName);
    for (const ticket of (await namesIn(taking)).filter((name) => ticketForm.test(name))) {
      const [name] = await namesIn(join(taking, ticket));
      if (name === undefined) await rmdir(join(taking, ticket));
      else found.push({ folder, ticket, name });
    }
    return found;
  }

  /** Why the file cannot be read at all; undefined for a plain file. */
  async objectionTo(taken: TakenFile): Promise<string | undefined> {
    const found = await lstat(this.#pathOf(taken));
    if (found.isSymbolicLink()) return 'It is a link; put the file itself here.';
    if (found.isDirectory()) return 'It is a folder; put the files themselves here.';
    if (!found.isFile()) return 'It is not a plain file.';
    if (found.nlink > 1) return 'The file has another name elsewhere (a hard link); put a copy here.';
    return found.size === 0 ? 'The file is empty.' : undefined;
  }

  async *read(taken: TakenFile): AsyncGenerator<Uint8Array> {
    const file = await open(this.#pathOf(taken), constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
    try {
      for (;;) {
        const { bytesRead, buffer } = await file.read(Buffer.alloc(readBytes), 0, readBytes);
        if (bytesRead === 0) return;
        yield buffer.subarray(0, bytesRead);
      }
    } finally {
      await file.close();
    }
  }

  /** The file has been taken in. */
  async remove(taken: TakenFile): Promise<void> {
    await rm(this.#pathOf(taken), { force: true });
    await this.#removeTicket(taken);
  }

  /**
   * Moves the file to `refused/` beside it, with a text file that says why, and returns its name there. A process that is
   * killed meanwhile does it again.
   */
  async refuse(taken: TakenFile, why: string): Promise<string> {
    const refused = await this.#ownFolder(taken.folder, refusedName);
    const isFree = (await lstatIfThere(join(refused, taken.name))) === undefined;
    // A name may have 255 bytes, and ".txt" comes behind it.
    const short = Buffer.from(taken.name).length > 200 ? taken.name.slice(-40) : taken.name;
    const name = isFree && short === taken.name ? short : `${taken.ticket}-${short}`;
    await writeFile(join(refused, `${name}.txt`), why, { mode: 0o640 });
    await rename(this.#pathOf(taken), join(refused, name));
    await this.#removeTicket(taken);
    return name;
  }

  /** A folder of ours in that of a source. Whoever may look at the files there may look at it too. */
  async #ownFolder(folder: string, name: string): Promise<string> {
    const path = join(this.#path, folder, name);
    const { mode } = await lstat(join(this.#path, folder));
    await mkdir(path, { recursive: true, mode: name === refusedName ? mode & 0o770 : 0o700 });
    if ((await lstat(path)).isDirectory()) return path;
    throw Object.assign(new Error(`${name} is not a folder`), { code: 'ENOTDIR' });
  }

  async #removeTicket(taken: TakenFile): Promise<void> {
    await rmdir(this.#ticketPath(taken)).catch(() => undefined);
  }

  #ticketPath({ folder, ticket }: TakenFile): string {
    return join(this.#path, folder, takingName, ticket);
  }

  #pathOf(taken: TakenFile): string {
    return join(this.#ticketPath(taken), taken.name);
  }
}

async function isUsable(path: string, onUnsafe: (reason: string) => void): Promise<boolean> {
  const found = await lstatIfThere(path);
  if (found === undefined) return false;
  const reason = reasonAgainst(found);
  if (reason !== undefined) onUnsafe(reason);
  return reason === undefined;
}

function reasonAgainst(found: Stats): string | undefined {
  if (!found.isDirectory()) return 'it is not a folder, or a link to one';
  const isOpen = process.platform !== 'win32' && (found.mode & othersMayWrite) !== 0;
  return isOpen ? 'every user of the machine may write to it' : undefined;
}

function toEntry(name: string, { ino, size, mtimeMs, ctimeMs }: Stats): InboxEntry {
  return { name, stamp: `${ino} ${size} ${mtimeMs} ${ctimeMs}`, bytes: size, modifiedMs: mtimeMs };
}

async function lstatIfThere(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function namesIn(path: string): Promise<string[]> {
  try {
    return await readdir(path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return [];
    throw error;
  }
}

function codeOf(error: unknown): string {
  return (error as { code?: string } | null)?.code ?? '';
}
