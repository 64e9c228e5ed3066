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
    yield* stream;
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
