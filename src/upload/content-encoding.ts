import { pipeline, Readable, type Transform } from 'node:stream';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { DomainError } from '../errors.ts';

export type ContentEncoding = 'identity' | 'gzip' | 'zstd';

/** XML shrinks to a tenth; a hundredth is made to fill memory or disk. Small bodies may do as they like. */
const ratioMax = 100;
const ratioFreeBytes = 4 * 1024 * 1024;

const decoders: Readonly<Record<Exclude<ContentEncoding, 'identity'>, () => Transform>> = {
  gzip: () => createGunzip(),
  zstd: () => createZstdDecompress(),
};

/** How compressed files begin (RFC 1952 §2.3.1, RFC 8878 §3.1.1). No XML document begins so. */
const beginnings: readonly (readonly [name: string, bytes: readonly number[]])[] = [
  ['gzip', [0x1f, 0x8b]],
  ['zstd', [0x28, 0xb5, 0x2f, 0xfd]],
];

/** Throws `unsupportedMediaType` for an encoding that is not taken, or several at once. */
export function readEncoding(header: string | null): ContentEncoding {
  const name = (header ?? 'identity').trim().toLowerCase();
  if (name === 'identity' || name === '') return 'identity';
  if (name === 'gzip' || name === 'x-gzip') return 'gzip';
  if (name === 'zstd') return 'zstd';
  throw new DomainError('unsupportedMediaType', 'The Content-Encoding must be gzip, zstd or none.');
}

/** The bytes without their encoding. Throws `invalidValue` for bytes that are not so encoded, or that swell too much. */
export async function* decoded(
  stream: AsyncIterable<Uint8Array>,
  encoding: ContentEncoding,
): AsyncGenerator<Uint8Array> {
  if (encoding === 'identity') {
    yield* unencoded(stream);
    return;
  }
  const input = { bytes: 0, error: undefined as unknown };
  const decoder = decoders[encoding]();
  pipeline(Readable.from(counted(stream, input)), decoder, () => undefined);
  let bytes = 0;
  try {
    for await (const chunk of decoder) {
      bytes += chunk.length;
      if (bytes > ratioFreeBytes && bytes > input.bytes * ratioMax) throw swollen();
      yield chunk;
    }
  } catch (error) {
    throw input.error ?? (error instanceof DomainError ? error : notEncoded(encoding, error));
  } finally {
    decoder.destroy();
  }
}

/** A compressed file is sent without its header easily, and would be refused as XML full of strange characters. */
async function* unencoded(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let isFirst = true;
  for await (const chunk of stream) {
    const found = isFirst
      ? beginnings.find(([, bytes]) => bytes.every((byte, at) => chunk[at] === byte))
      : undefined;
    if (found !== undefined) {
      throw new DomainError('invalidValue', `The body is ${found[0]}; send Content-Encoding: ${found[0]}.`);
    }
    isFirst = false;
    yield chunk;
  }
}

/** Keeps what went wrong with the input apart from what is wrong with its content. */
async function* counted(
  stream: AsyncIterable<Uint8Array>,
  input: { bytes: number; error: unknown },
): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of stream) {
      input.bytes += chunk.length;
      yield chunk;
    }
  } catch (error) {
    input.error = error;
    throw error;
  }
}

function swollen(): DomainError {
  return new DomainError(
    'invalidValue',
    `The file grows to more than ${ratioMax} times its size when it is decompressed; send it uncompressed.`,
  );
}

function notEncoded(encoding: ContentEncoding, cause: unknown): DomainError {
  return new DomainError('invalidValue', `The body is not valid ${encoding}, or ends too early.`, { cause });
}
