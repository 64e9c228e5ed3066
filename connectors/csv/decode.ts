// Turns the bytes of a file into text. A byte order mark decides the encoding, then the configuration.
// A byte that does not belong there is an error with its line, never a replacement sign in somebody's name.

import { DomainError } from '../../src/errors.ts';

export const encodings = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'] as const;
export type Encoding = (typeof encodings)[number];

const marks: readonly { readonly bytes: readonly number[]; readonly encoding: Encoding }[] = [
  { bytes: [0xef, 0xbb, 0xbf], encoding: 'utf-8' },
  { bytes: [0xff, 0xfe], encoding: 'utf-16le' },
  { bytes: [0xfe, 0xff], encoding: 'utf-16be' },
];
const markBytesMax = 3;

/** Bytes 81, 8D, 8F, 90 and 9D, which Windows-1252 leaves open and decoders turn into control characters. */
const undefinedSigns = /[\u0081\u008d\u008f\u0090\u009d]/;

/**
 * Text in pieces that end with a line, without byte order marks. Throws DomainError `invalidValue` naming `place` and the
 * line for bytes that are not of the encoding, and for text that looks like UTF-16 and was not said to be.
 */
export async function* decodeText(
  chunks: AsyncIterable<Uint8Array>,
  { encoding: configured, place }: { readonly encoding: Encoding; readonly place: string },
): AsyncGenerator<string> {
  let decoder: LineDecoder | undefined;
  let held: Uint8Array = new Uint8Array(0);
  for await (const chunk of chunks) {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    if (decoder === undefined && held.length < markBytesMax) continue;
    decoder ??= new LineDecoder(markOf(held) ?? configured, place);
    const end = decoder.endOfLines(held);
    yield decoder.decode(held.subarray(0, end));
    held = held.subarray(end);
  }
  if (held.length === 0) return;
  decoder ??= new LineDecoder(markOf(held) ?? configured, place);
  yield decoder.decode(held);
}

function markOf(bytes: Uint8Array): Encoding | undefined {
  return marks.find((mark) => mark.bytes.every((byte, at) => bytes[at] === byte))?.encoding;
}

const lineBytesMax = 16 * 1024 * 1024;

class LineDecoder {
  readonly #encoding: Encoding;
  readonly #place: string;
  readonly #decoder: TextDecoder;
  #line = 1;

  constructor(encoding: Encoding, place: string) {
    this.#encoding = encoding;
    this.#place = place;
    this.#decoder = new TextDecoder(encoding, { fatal: true });
  }

  /** How many bytes make whole lines; all of them have to wait when a line has no end yet. */
  endOfLines(bytes: Uint8Array): number {
    const end = this.#encoding.startsWith('utf-16')
      ? this.#endOfWideLines(bytes)
      : bytes.lastIndexOf(0x0a) + 1;
    if (bytes.length - end > lineBytesMax)
      throw this.#fault(this.#line, `is longer than ${lineBytesMax / 1024 / 1024} MB: is it a CSV file?`);
    return end;
  }

  #endOfWideLines(bytes: Uint8Array): number {
    const low = this.#encoding === 'utf-16le' ? 0 : 1;
    for (let at = bytes.length - (bytes.length % 2) - 2; at >= 0; at -= 2)
      if (bytes[at + low] === 0x0a && bytes[at + 1 - low] === 0) return at + 2;
    return 0;
  }

  decode(bytes: Uint8Array): string {
    const text = this.#tryDecode(bytes) ?? this.#refuse(bytes);
    const fault = this.#faultIn(text);
    if (fault !== undefined)
      throw this.#fault(this.#line + breaksIn(text.slice(0, fault.at)), fault.sentence);
    this.#line += breaksIn(text);
    // A file put together of several has marks inside.
    return text.includes('\ufeff') ? text.replaceAll('\ufeff', '') : text;
  }

  #tryDecode(bytes: Uint8Array): string | undefined {
    try {
      return this.#decoder.decode(bytes);
    } catch {
      return undefined;
    }
  }

  /** Looks for the first line that cannot be decoded. */
  #refuse(bytes: Uint8Array): never {
    let from = 0;
    for (let line = this.#line; from < bytes.length; line += 1) {
      const end = this.#lineEnd(bytes, from);
      if (this.#tryDecode(bytes.subarray(from, end)) === undefined) throw this.#fault(line, this.#advice());
      from = end;
    }
    throw this.#fault(this.#line, this.#advice());
  }

  #lineEnd(bytes: Uint8Array, from: number): number {
    const isWide = this.#encoding.startsWith('utf-16');
    let found = bytes.indexOf(0x0a, from);
    while (isWide && found !== -1 && !this.#isWideBreak(bytes, found)) found = bytes.indexOf(0x0a, found + 1);
    if (found === -1) return bytes.length;
    return found + (this.#encoding === 'utf-16le' ? 2 : 1);
  }

  #isWideBreak(bytes: Uint8Array, at: number): boolean {
    return this.#encoding === 'utf-16le'
      ? at % 2 === 0 && bytes[at + 1] === 0
      : at % 2 === 1 && bytes[at - 1] === 0;
  }

  #faultIn(text: string): { at: number; sentence: string } | undefined {
    const zero = text.indexOf('\0');
    if (zero !== -1)
      return { at: zero, sentence: 'holds null characters: is it UTF-16? Then set "encoding".' };
    const open = this.#encoding === 'windows-1252' ? text.search(undefinedSigns) : -1;
    return open === -1 ? undefined : { at: open, sentence: this.#advice() };
  }

  #advice(): string {
    const other = this.#encoding === 'utf-8' ? 'windows-1252 or utf-16le' : 'what the file is';
    return `is not ${this.#encoding}: save the file as UTF-8, or set "encoding" to ${other}.`;
  }

  #fault(line: number, sentence: string): DomainError {
    return new DomainError('invalidValue', `${this.#place}: line ${line} ${sentence}`);
  }
}

function breaksIn(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}
