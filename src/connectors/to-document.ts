// Writes what a connector yields as a profile document, piece by piece: groups, then users, at least one.
// It never holds more than a piece, and never yields the end of a document that is not whole.

import { DomainError } from '../errors.ts';
import { type HeadToWrite, writeGroup, writeHead, writeUser } from '../xml/write.ts';
import { XmlError } from '../xml/xml.ts';
import type { ConnectorRecord, User } from './contract.ts';
import { quoted } from './record-values.ts';
import { toGroupRecord, toUserRecord } from './to-record.ts';

export interface ToDocumentOptions {
  readonly head: HeadToWrite;
  readonly mode: 'full' | 'delta';
  /** For the log: sentences about what was left out, each kind of them once, when the records have ended. */
  readonly warn?: (sentence: string) => void;
}

const pieceCharacters = 64 * 1024;
/** Of head and groups that wait for the first user: without one there is no document. */
const heldCharactersMax = 16 * 1024 * 1024;

/**
 * The document, piece by piece. Throws DomainError with one sentence when a group follows a user, and when a record has no
 * id or holds a value that its attribute cannot hold. Nobody at all is refused in a full reading, for an empty answer is no
 * reason to end anybody, and is no document (not one piece) in a delta.
 */
export async function* toDocument(
  records: AsyncIterable<ConnectorRecord>,
  { head, mode, warn }: ToDocumentOptions,
): AsyncGenerator<string> {
  const writer = new RecordWriter();
  let text = `<?xml version="1.0" encoding="UTF-8"?>\n<syncdata version="1">\n${writeHead(head)}`;
  let state: 'start' | 'group' | 'user' = 'start';
  for await (const record of records) {
    const kind = recordKind(record);
    if (kind !== state) text += opening(state, kind, record);
    state = kind;
    text += writer.write(record);
    if (text.length < (state === 'user' ? pieceCharacters : heldCharactersMax)) continue;
    yield text;
    text = '';
  }
  for (const sentence of writer.warnings()) warn?.(sentence);
  if (state === 'user') yield `${text}  </users>\n</syncdata>\n`;
  else if (mode === 'full' || text === '') throw refusal('unavailable', nobody);
}

const nobody =
  'The source has answered with nobody, so nothing is imported. Check what it is asked for: a query, filter or file.';

function recordKind(record: ConnectorRecord): 'group' | 'user' {
  const kind: unknown = (record as Partial<ConnectorRecord> | null | undefined)?.kind;
  if (kind === 'group' || kind === 'user') return kind;
  throw refusal(
    'invalidValue',
    'The connector yielded something that is neither a group nor a user: its "kind" has to say which.',
  );
}

function opening(from: 'start' | 'group' | 'user', to: 'group' | 'user', record: ConnectorRecord): string {
  if (from === 'start') return to === 'group' ? '  <groups>\n' : '  <users>\n';
  if (to === 'user') return '  </groups>\n  <users>\n';
  const id = quoted(String(record.id));
  throw refusal(
    'invalidValue',
    `The group ${id} came after the first user: all groups have to come before the users.`,
  );
}

/** Writes records one by one, and remembers what it had to leave out. */
export class RecordWriter {
  #cleaned = 0;
  #cleanedFirst = '';
  readonly #unknown = new Set<string>();

  /** The element of one record. Throws DomainError as `toDocument` does. */
  write(record: ConnectorRecord): string {
    try {
      return this.#element(record);
    } catch (error) {
      // Only what XML cannot carry: looking beforehand would cost every value of every record.
      if (!(error instanceof XmlError)) throw error;
      const element = this.#element(withoutForbidden(record));
      this.#cleaned += 1;
      if (this.#cleaned === 1) this.#cleanedFirst = `${record.kind} ${quoted(String(record.id))}`;
      return element;
    }
  }

  warnings(): readonly string[] {
    const sentences = [...this.#unknown].map(
      (name) => `${quoted(name)} is not an attribute of the profile file; it was left out.`,
    );
    if (this.#cleaned === 0) return sentences;
    const many = this.#cleaned === 1 ? 'one record' : `${this.#cleaned} records`;
    const cleaned = `Control characters, which XML cannot carry, were removed from ${many}; the first is the ${this.#cleanedFirst}.`;
    return [...sentences, cleaned];
  }

  #element(record: ConnectorRecord): string {
    return record.kind === 'group'
      ? writeGroup(toGroupRecord(record))
      : writeUser(toUserRecord(record, this.#unknown));
  }
}

const forbidden = /[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;
const depthMax = 4;

/** A stray sign in a name must not stop everybody; in a key or password, leaving it out would make another one of it. */
function withoutForbidden(record: ConnectorRecord): ConnectorRecord {
  for (const key of ['id', 'username', 'password'] as const) {
    const value = String((record as Partial<User>)[key] ?? '');
    if (value.search(forbidden) === -1) continue;
    const who =
      key === 'id' ? `id of a ${record.kind}` : `${key} of the ${record.kind} ${quoted(String(record.id))}`;
    throw refusal('invalidValue', `The ${who} has a control character in it; correct it in the source.`);
  }
  return cleaned(record, 0) as ConnectorRecord;
}

function cleaned(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return value.replace(forbidden, '');
  if (typeof value !== 'object' || value === null || value instanceof Date || depth > depthMax) return value;
  if (Array.isArray(value)) return value.map((each) => cleaned(each, depth + 1));
  const entries = Object.entries(value).map(([name, each]) => [
    name.replace(forbidden, ''),
    cleaned(each, depth + 1),
  ]);
  return Object.fromEntries(entries);
}

function refusal(kind: 'invalidValue' | 'unavailable', detail: string): DomainError {
  return new DomainError(kind, detail);
}
