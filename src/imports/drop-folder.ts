import type { InboxEntry, InboxFolder, TakenFile } from '../archive/inbox-folder.ts';
import { type Clock, timestamp } from '../clock.ts';
import { DomainError, type ErrorKind } from '../errors.ts';
import type { Log } from '../log.ts';
import type { GeneralSource } from '../sources/source-store.ts';
import type { Sources } from '../sources/sources.ts';
import type { Database } from '../storage/database.ts';
import { DocumentRefused } from './document-refused.ts';
import type { Intake } from './intake.ts';
import { isTicketUsed } from './run-store.ts';

export interface DropFolderParts {
  readonly inbox: InboxFolder;
  readonly database: Database;
  readonly sources: Sources;
  readonly intake: Pick<Intake, 'accept'>;
  readonly clock: Clock;
  /** Milliseconds of a clock that only goes forward. */
  readonly monotonicMs: () => number;
  readonly log: Log;
}

const lookEveryMs = 1_000;
/** A file that nobody has changed for so long is whole. */
const settleMs = 5_000;
/** Many programs make a file first and write it later. */
const emptySettleMs = 60_000;
const retryAfterMs = 10_000;

interface Sight {
  readonly stamp: string;
  readonly sinceMs: number;
}

/** Takes in what is put into the folders of sources, as if it had been uploaded. */
export class DropFolder {
  readonly #parts: DropFolderParts;
  readonly #stop = new AbortController();
  readonly #busy = new Map<string, Promise<void>>();
  readonly #seen = new Map<string, Sight>();
  readonly #notBeforeMs = new Map<string, number>();
  readonly #complaints = new Set<string>();
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(parts: DropFolderParts) {
    this.#parts = parts;
  }

  /** Looks every second. */
  start(): void {
    this.#timer ??= setInterval(() => void this.look(), lookEveryMs);
  }

  /** Resolves once nothing is being taken in any more; what was is taken in after the next start. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#stop.abort();
    await Promise.all(this.#busy.values());
  }

  /** Looks once at every folder that it is not at work on, and resolves when what it found whole has been dealt with. */
  async look(): Promise<void> {
    const { inbox } = this.#parts;
    try {
      const names = await inbox.folders((name, reason) =>
        this.#complain(`${name} ${reason}`, { name, reason }, 'a drop folder cannot be used'),
      );
      const idle = names.filter((name) => !this.#busy.has(name));
      await Promise.all(idle.map((name) => this.#begin(name)));
    } catch (error) {
      this.#complain(`look ${codeOf(error)}`, { err: error }, 'the drop folder cannot be read');
    }
  }

  #begin(name: string): Promise<void> {
    const work = this.#serve(name).catch((error: unknown) => {
      this.#pause(name);
      if (!this.#stop.signal.aborted) {
        this.#complain(`${name} ${codeOf(error)}`, { name, err: error }, 'a drop folder cannot be served');
      }
    });
    const ended = work.finally(() => this.#busy.delete(name));
    this.#busy.set(name, ended);
    return ended;
  }

  async #serve(name: string): Promise<void> {
    const { inbox, monotonicMs } = this.#parts;
    if ((this.#notBeforeMs.get(name) ?? 0) > monotonicMs()) return;
    const source = await this.#sourceOf(name);
    if (source === undefined) return;
    for (const taken of await inbox.taken(name)) await this.#takeIn(source, taken);
    for (const entry of this.#settled(name, await inbox.entries(name))) {
      this.#stop.signal.throwIfAborted();
      const taken = await inbox.take(name, entry.name);
      if (taken !== undefined) await this.#takeIn(source, taken);
    }
  }

  async #sourceOf(name: string): Promise<GeneralSource | undefined> {
    try {
      const source = await this.#parts.sources.get(name);
      if (source.kind === 'general') return source;
    } catch (error) {
      if (!(error instanceof DomainError) || error.kind !== 'notFound') throw error;
    }
    const reason = 'no general source has this name or id';
    this.#complain(`${name} ${reason}`, { name, reason }, 'a drop folder cannot be used');
    return undefined;
  }

  /** The entries that have stayed as they are for long enough. */
  #settled(folder: string, entries: readonly InboxEntry[]): InboxEntry[] {
    const nowMs = this.#parts.monotonicMs();
    const keyOf = (name: string) => `${folder}/${name}`;
    const known = new Set(entries.map(({ name }) => keyOf(name)));
    for (const key of this.#seen.keys()) {
      if (key.startsWith(`${folder}/`) && !known.has(key)) this.#seen.delete(key);
    }
    return entries.filter(({ name, stamp, bytes }) => {
      const sight = this.#seen.get(keyOf(name));
      if (sight?.stamp !== stamp) this.#seen.set(keyOf(name), { stamp, sinceMs: nowMs });
      const waitMs = bytes === 0 ? emptySettleMs : settleMs;
      return sight?.stamp === stamp && nowMs - sight.sinceMs >= waitMs;
    });
  }

  async #takeIn(source: GeneralSource, taken: TakenFile): Promise<void> {
    const { inbox, database } = this.#parts;
    // Its run is queued already: what remains is to remove the file.
    if (await isTicketUsed(database.read, taken.ticket)) return inbox.remove(taken);
    const objection = source.active
      ? await inbox.objectionTo(taken)
      : `The source "${source.name}" is not active; activate it and put the file here again.`;
    if (objection !== undefined) return this.#refuse(source, taken, [objection]);
    try {
      await this.#accept(source, taken);
    } catch (error) {
      const sentences = refusalOf(error);
      if (sentences === undefined || this.#stop.signal.aborted) throw error;
      return this.#refuse(source, taken, sentences);
    }
    await inbox.remove(taken);
  }

  async #accept(source: GeneralSource, taken: TakenFile): Promise<void> {
    const { inbox, intake, log } = this.#parts;
    const { ticket, name: file } = taken;
    const { signal } = this.#stop;
    const stream = inbox.read(taken);
    const receipt = await intake.accept({ source, stream, origin: 'drop', file, ticket, signal });
    if (receipt.status !== 'unchanged') return;
    const facts = { sourceId: source.id, runId: receipt.importId, name: file };
    log.info(facts, 'a dropped file is the one that was imported last');
  }

  async #refuse(source: GeneralSource, taken: TakenFile, sentences: readonly string[]): Promise<void> {
    const { inbox, clock, log } = this.#parts;
    const now = timestamp(clock);
    const lines = [
      `${taken.name} was not taken in (${now}).`,
      ...sentences,
      'Put the file into the folder again once this is mended.',
    ];
    const name = await inbox.refuse(taken, `${lines.join('\n')}\n`);
    log.warn({ sourceId: source.id, name, reason: sentences[0] }, 'a dropped file was refused');
  }

  #pause(name: string): void {
    this.#notBeforeMs.set(name, this.#parts.monotonicMs() + retryAfterMs);
  }

  /** Says the same once, not every second. */
  #complain(key: string, facts: object, message: string): void {
    if (this.#complaints.has(key) || this.#complaints.size >= complaintsMax) return;
    this.#complaints.add(key);
    this.#parts.log.warn(facts, message);
  }
}

const complaintsMax = 1_000;

/** These say nothing about the file: the same will be taken in later. */
const passing: readonly ErrorKind[] = ['limitExceeded', 'unavailable', 'storageFull'];

/** Why the file is refused for good; undefined for a failure that will pass. */
function refusalOf(error: unknown): readonly string[] | undefined {
  if (error instanceof DocumentRefused) {
    const more = error.total - error.sentences.length;
    const places = error.problems.map(({ line, column }, index) => {
      return `line ${line}, column ${column}: ${error.sentences[index] ?? ''}`;
    });
    return more > 0 ? [...places, `and ${more} more`] : places;
  }
  if (error instanceof DomainError) return passing.includes(error.kind) ? undefined : [error.detail];
  const isUnreadable = codeOf(error) === 'EACCES' || codeOf(error) === 'EPERM';
  return isUnreadable ? ['The file cannot be read; let the user that runs rollcall read it.'] : undefined;
}

function codeOf(error: unknown): string {
  const { code, kind } = (error ?? {}) as { code?: string; kind?: string };
  return code ?? kind ?? '';
}
