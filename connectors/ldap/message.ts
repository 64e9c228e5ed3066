// The messages of LDAP (RFC 4511) that reading a directory needs, to and from BER.
// Bytes come from the network: every length is checked against its frame, and no loop stands still.

import { BerReader, BerWriter, type Filter } from 'ldapts';

/** One value set of an entry. `values` are the bytes as the server sent them. */
export interface Attribute {
  readonly name: string;
  readonly values: readonly Uint8Array[];
}

export type Message =
  | {
      readonly kind: 'entry';
      readonly id: number;
      readonly dn: string;
      readonly attributes: readonly Attribute[];
    }
  | { readonly kind: 'reference'; readonly id: number }
  | {
      readonly kind: 'result';
      readonly id: number;
      readonly code: number;
      /** What the server says about it, in its own words. */
      readonly text: string;
      /** Of a paged search (RFC 2696): empty on the last page, undefined when the server did not page. */
      readonly cookie: Uint8Array | undefined;
    };

export interface SearchRequest {
  readonly base: string;
  readonly scope: 'base' | 'subtree';
  readonly filter: Filter;
  readonly attributes: readonly string[];
  readonly timeLimitSeconds: number;
  /** Entries in a page; 0 asks without pages. */
  readonly pageSize: number;
  readonly cookie: Uint8Array;
  /** Asks Active Directory to keep to this domain instead of referring to others (MS-ADTS 3.1.1.3.4.1.18). */
  readonly isDomainScoped: boolean;
}

const pagedResults = '1.2.840.113556.1.4.319';
const domainScope = '1.2.840.113556.1.4.1339';
const startTls = '1.3.6.1.4.1.1466.20037';
const tags = { sequence: 0x30, set: 0x31, octets: 0x04, boolean: 0x01, controls: 0xa0 } as const;

/** RFC 4511 §4.2, simple authentication; without name and password an anonymous one. */
export function bindRequest(id: number, name: string, password: string): Uint8Array {
  return message(id, (writer) => {
    writer.startSequence(0x60);
    writer.writeInt(3);
    writer.writeString(name);
    writer.writeString(password, 0x80);
    writer.endSequence();
  });
}

/** RFC 4511 §4.14. */
export function startTlsRequest(id: number): Uint8Array {
  return message(id, (writer) => {
    writer.startSequence(0x77);
    writer.writeString(startTls, 0x80);
    writer.endSequence();
  });
}

/** RFC 4511 §4.3. */
export function unbindRequest(id: number): Uint8Array {
  return message(id, (writer) => {
    writer.writeByte(0x42);
    writer.writeByte(0);
  });
}

/** RFC 4511 §4.5.1. Aliases are not followed. */
export function searchRequest(id: number, request: SearchRequest): Uint8Array {
  return message(id, (writer) => {
    writer.startSequence(0x63);
    writer.writeString(request.base);
    writer.writeEnumeration(request.scope === 'base' ? 0 : 2);
    writer.writeEnumeration(0);
    writer.writeInt(0);
    writer.writeInt(request.timeLimitSeconds);
    writer.writeBoolean(false);
    request.filter.write(writer);
    writer.startSequence(tags.sequence);
    for (const name of request.attributes) writer.writeString(name);
    writer.endSequence();
    writer.endSequence();
    writeControls(writer, request);
  });
}

function writeControls(writer: BerWriter, { pageSize, cookie, isDomainScoped }: SearchRequest): void {
  if (pageSize === 0 && !isDomainScoped) return;
  writer.startSequence(tags.controls);
  if (isDomainScoped) writeControl(writer, domainScope);
  if (pageSize > 0) {
    const value = new BerWriter();
    value.startSequence(tags.sequence);
    value.writeInt(pageSize);
    value.writeBuffer(Buffer.from(cookie), tags.octets);
    value.endSequence();
    writeControl(writer, pagedResults, value.buffer);
  }
  writer.endSequence();
}

/** With a value: critical, so that a server that cannot page refuses instead of sending what it likes. */
function writeControl(writer: BerWriter, type: string, value?: Buffer): void {
  writer.startSequence(tags.sequence);
  writer.writeString(type);
  writer.writeBoolean(value !== undefined);
  if (value !== undefined) writer.writeBuffer(value, tags.octets);
  writer.endSequence();
}

function message(id: number, write: (writer: BerWriter) => void): Uint8Array {
  const writer = new BerWriter();
  writer.startSequence(tags.sequence);
  writer.writeInt(id);
  write(writer);
  writer.endSequence();
  return writer.buffer;
}

/** Reads one whole frame. Throws Error for anything that is not a message of a server that is being read. */
export function readMessage(frame: Uint8Array): Message {
  const reader = new BerReader(Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength));
  enter(reader, tags.sequence);
  const id = reader.readInt() ?? -1;
  const tag = reader.readSequence();
  const end = endOf(reader);
  if (tag === 0x64) return { kind: 'entry', id, ...readEntry(reader) };
  if (tag === 0x73) return { kind: 'reference', id };
  if (tag !== 0x61 && tag !== 0x65 && tag !== 0x78) throw new Error('an operation that nobody asked for');
  const code = reader.readEnumeration() ?? -1;
  reader.readString();
  const text = reader.readString() ?? '';
  reader.offset = end;
  return { kind: 'result', id, code, text, cookie: readCookie(reader) };
}

function readEntry(reader: BerReader): { readonly dn: string; readonly attributes: readonly Attribute[] } {
  const dn = reader.readString() ?? '';
  const attributes: Attribute[] = [];
  each(reader, tags.sequence, () => {
    enter(reader, tags.sequence);
    const name = reader.readString() ?? '';
    const values: Uint8Array[] = [];
    each(reader, tags.set, () => values.push(reader.readString(tags.octets, true) ?? new Uint8Array()));
    attributes.push({ name, values });
  });
  return { dn, attributes };
}

function readCookie(reader: BerReader): Uint8Array | undefined {
  let cookie: Uint8Array | undefined;
  if (reader.peek() !== tags.controls) return undefined;
  each(reader, tags.controls, () => {
    enter(reader, tags.sequence);
    const end = endOf(reader);
    const type = reader.readString();
    if (reader.offset < end && reader.peek() === tags.boolean) reader.readBoolean();
    const value = reader.offset < end ? reader.readString(tags.octets, true) : null;
    if (type === pagedResults && value !== null) cookie = readPageCookie(value);
    reader.offset = end;
  });
  return cookie;
}

function readPageCookie(value: Buffer): Uint8Array {
  const reader = new BerReader(value);
  enter(reader, tags.sequence);
  reader.readInt();
  return Uint8Array.from(reader.readString(tags.octets, true) ?? []);
}

function enter(reader: BerReader, tag: number): void {
  if (reader.readSequence(tag) === null) throw new Error('a message that ends in the middle');
  endOf(reader);
}

function endOf(reader: BerReader): number {
  const end = reader.offset + reader.length;
  if (reader.length < 0 || end > reader.buffer.length) throw new Error('a length beyond its message');
  return end;
}

/** Enters the sequence and reads what is in it, one by one. */
function each(reader: BerReader, tag: number, read: () => void): void {
  enter(reader, tag);
  const end = endOf(reader);
  while (reader.offset < end) {
    const before = reader.offset;
    read();
    if (reader.offset <= before) throw new Error('a length that makes no sense');
  }
}
