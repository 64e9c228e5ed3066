// A directory that answers as a test says, for what OpenLDAP cannot be made to do: ranges of Active Directory, and rubbish.

import { createServer, type Socket } from 'node:net';
import { BerReader, BerWriter } from 'ldapts';

export interface Answer {
  readonly entries?: readonly {
    readonly dn: string;
    readonly attributes: Readonly<Record<string, readonly (string | Uint8Array)[]>>;
  }[];
  readonly references?: number;
  readonly code?: number;
  readonly text?: string;
  readonly cookie?: string;
  /** Sent instead of an answer. */
  readonly raw?: Uint8Array | 'nothing' | 'close';
}

export interface Question {
  readonly kind: 'bind' | 'search' | 'other';
  readonly base: string;
  readonly attributes: readonly string[];
}

export interface ScriptedServer extends Disposable {
  readonly port: number;
  readonly questions: readonly Question[];
}

export async function serveLdap(answer: (question: Question) => Answer): Promise<ScriptedServer> {
  const questions: Question[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      const { id, question } = readQuestion(data as Buffer);
      if (question === undefined) return;
      questions.push(question);
      const said = answer(question);
      if (said.raw === 'nothing') return;
      if (said.raw === 'close') socket.destroy();
      else socket.write(said.raw ?? toBytes(id, question, said));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as { port: number }).port,
    questions,
    [Symbol.dispose]() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Requests of the kind are small: each comes in one piece. */
function readQuestion(data: Buffer): { readonly id: number; readonly question: Question | undefined } {
  const reader = new BerReader(data);
  reader.readSequence();
  const id = reader.readInt() ?? 0;
  const tag = reader.readSequence();
  if (tag === 0x42) return { id, question: undefined };
  if (tag !== 0x63)
    return { id, question: { kind: tag === 0x60 ? 'bind' : 'other', base: '', attributes: [] } };
  const base = reader.readString() ?? '';
  for (const read of ['readEnumeration', 'readEnumeration', 'readInt', 'readInt', 'readBoolean'] as const)
    reader[read]();
  reader.readSequence();
  reader.offset += reader.length;
  reader.readSequence();
  const end = reader.offset + reader.length;
  const attributes: string[] = [];
  while (reader.offset < end) attributes.push(reader.readString() ?? '');
  return { id, question: { kind: 'search', base, attributes } };
}

function toBytes(
  id: number,
  { kind }: Question,
  { entries = [], references = 0, ...result }: Answer,
): Buffer {
  const parts = entries.map(({ dn, attributes }) =>
    frame(id, 0x64, (writer) => {
      writer.writeString(dn);
      writer.startSequence();
      for (const [name, values] of Object.entries(attributes)) {
        writer.startSequence();
        writer.writeString(name);
        writer.startSequence(0x31);
        for (const value of values) writer.writeBuffer(Buffer.from(value), 0x04);
        writer.endSequence();
        writer.endSequence();
      }
      writer.endSequence();
    }),
  );
  for (let at = 0; at < references; at++)
    parts.push(frame(id, 0x73, (writer) => writer.writeString('ldap://elsewhere.test/dc=x')));
  return Buffer.concat([...parts, toResult(id, kind === 'bind' ? 0x61 : 0x65, result)]);
}

function toResult(id: number, tag: number, { code = 0, text = '', cookie }: Answer): Buffer {
  const writer = new BerWriter();
  writer.startSequence();
  writer.writeInt(id);
  writer.startSequence(tag);
  writer.writeEnumeration(code);
  writer.writeString('');
  writer.writeString(text);
  writer.endSequence();
  if (cookie !== undefined) {
    const value = new BerWriter();
    value.startSequence();
    value.writeInt(0);
    value.writeString(cookie);
    value.endSequence();
    writer.startSequence(0xa0);
    writer.startSequence();
    writer.writeString('1.2.840.113556.1.4.319');
    writer.writeBuffer(value.buffer, 0x04);
    writer.endSequence();
    writer.endSequence();
  }
  writer.endSequence();
  return writer.buffer;
}

function frame(id: number, tag: number, write: (writer: BerWriter) => void): Buffer {
  const writer = new BerWriter();
  writer.startSequence();
  writer.writeInt(id);
  writer.startSequence(tag);
  write(writer);
  writer.endSequence();
  writer.endSequence();
  return writer.buffer;
}
