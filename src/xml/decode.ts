import { type DetectedEncoding, detectEncoding, encodingError, readDeclaration } from './encoding.ts';
import { unknownPosition, XmlError, type XmlLimits } from './xml.ts';

// Small chunks are gathered, so that a client who sends single bytes cannot make the scans quadratic; large
// ones are cut, so that memory stays flat when the whole document arrives at once.
const chunkBytesMin = 64 * 1024;
const chunkBytesMax = 256 * 1024;

/**
 * Bytes to text, in pieces that never end inside a character or between CR and LF. Good text before a fault is
 * yielded first; then XmlError `encoding` or `tooLarge` is thrown at `unknownPosition`, to be placed by the caller.
 */
export async function* decodeDocument(
  stream: AsyncIterable<Uint8Array>,
  limits: Pick<XmlLimits, 'documentBytesMax'>,
): AsyncGenerator<string> {
  const decoder = new DocumentDecoder();
  let waiting: Uint8Array[] = [];
  let waitingBytes = 0;
  let totalBytes = 0;
  for await (const chunk of stream) {
    totalBytes += chunk.length;
    if (totalBytes > limits.documentBytesMax) throw tooLarge(limits.documentBytesMax);
    waiting.push(chunk);
    waitingBytes += chunk.length;
    if (waitingBytes < chunkBytesMin) continue;
    yield* decodeParts(decoder, join(waiting, waitingBytes));
    waiting = [];
    waitingBytes = 0;
  }
  yield* decodeParts(decoder, join(waiting, waitingBytes));
  yield* emit(decoder.end());
}

function* decodeParts(decoder: DocumentDecoder, bytes: Uint8Array): Generator<string> {
  for (let at = 0; at < bytes.length; at += chunkBytesMax) {
    yield* emit(decoder.push(bytes.subarray(at, at + chunkBytesMax)));
  }
}

function* emit({ text, fault }: Decoded): Generator<string> {
  if (text !== '') yield text;
  if (fault !== undefined) throw fault;
}

interface Decoded {
  readonly text: string;
  readonly fault?: XmlError;
}

class DocumentDecoder {
  #detected: DetectedEncoding | undefined;
  #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  #rest: Uint8Array = new Uint8Array(0);
  #carriageReturn = '';

  push(bytes: Uint8Array): Decoded {
    const all = this.#rest.length === 0 ? bytes : join([this.#rest, bytes], this.#rest.length + bytes.length);
    if (this.#detected === undefined && all.length < 4) return this.#keep(all);
    return this.#decode(all, false);
  }

  end(): Decoded {
    return this.#decode(this.#rest, true);
  }

  #keep(bytes: Uint8Array): Decoded {
    this.#rest = bytes;
    return { text: '' };
  }

  #decode(all: Uint8Array, final: boolean): Decoded {
    const isFirst = this.#detected === undefined;
    let detected: DetectedEncoding;
    try {
      detected = this.#detect(all);
    } catch (error) {
      return faultOf(error);
    }
    const bytes = isFirst ? all.subarray(detected.markBytes) : all;
    const complete = final ? bytes.length : completeLength(bytes, detected.encoding);
    this.#rest = bytes.slice(complete);
    const decoded = decodeFatal(this.#decoder, bytes.subarray(0, complete));
    return this.#finish(decoded, isFirst, final);
  }

  #detect(bytes: Uint8Array): DetectedEncoding {
    if (this.#detected === undefined) {
      this.#detected = detectEncoding(bytes);
      this.#decoder = new TextDecoder(this.#detected.encoding, { fatal: true, ignoreBOM: true });
    }
    return this.#detected;
  }

  #finish(decoded: Decoded, isFirst: boolean, final: boolean): Decoded {
    let text = this.#carriageReturn + decoded.text;
    this.#carriageReturn = '';
    if (!final && text.endsWith('\r')) {
      this.#carriageReturn = '\r';
      text = text.slice(0, -1);
    }
    if (isFirst && this.#detected !== undefined) {
      try {
        text = readDeclaration(text, this.#detected);
      } catch (error) {
        return faultOf(error);
      }
    }
    return refuseNul(decoded.fault === undefined ? { text } : { text, fault: decoded.fault });
  }
}

function faultOf(error: unknown): Decoded {
  if (error instanceof XmlError) return { text: '', fault: error };
  throw error;
}

function refuseNul(decoded: Decoded): Decoded {
  const at = decoded.text.indexOf('\0');
  if (at === -1) return decoded;
  return { text: decoded.text.slice(0, at), fault: encodingError('The file contains a NUL character.') };
}

function decodeFatal(decoder: TextDecoder, bytes: Uint8Array): Decoded {
  try {
    return { text: decoder.decode(bytes) };
  } catch {
    const good = goodLength(decoder.encoding, bytes);
    const text = new TextDecoder(decoder.encoding, { ignoreBOM: true }).decode(bytes.subarray(0, good), {
      stream: true,
    });
    return { text, fault: encodingError(`The bytes that follow are not ${decoder.encoding.toUpperCase()}.`) };
  }
}

/** Bisects for the longest beginning that can be decoded; runs once, on the chunk that failed. */
function goodLength(encoding: string, bytes: Uint8Array): number {
  let good = 0;
  let bad = bytes.length + 1;
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (isDecodable(encoding, bytes.subarray(0, middle))) good = middle;
    else bad = middle;
  }
  return good;
}

function isDecodable(encoding: string, bytes: Uint8Array): boolean {
  try {
    new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}

/** How many bytes form whole characters; the rest waits for the next chunk. */
function completeLength(bytes: Uint8Array, encoding: DetectedEncoding['encoding']): number {
  return encoding === 'utf-8' ? completeUtf8(bytes) : completeUtf16(bytes, encoding === 'utf-16le');
}

function completeUtf8(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return bytes.length;
    if (byte < 0xc0) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return needed > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

function completeUtf16(bytes: Uint8Array, isLittleEndian: boolean): number {
  const even = bytes.length - (bytes.length % 2);
  const high = bytes[even - (isLittleEndian ? 1 : 2)] ?? 0;
  return high >= 0xd8 && high <= 0xdb ? even - 2 : even;
}

function join(parts: readonly Uint8Array[], length: number): Uint8Array {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only;
  const joined = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

function tooLarge(documentBytesMax: number): XmlError {
  const shown = documentBytesMax.toLocaleString('en');
  return new XmlError('tooLarge', `The document is larger than ${shown} bytes.`, unknownPosition);
}
