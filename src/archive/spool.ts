import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { DomainError } from '../errors.ts';

export interface Spooled {
  /** Hexadecimal. */
  readonly sha256: string;
  readonly bytes: number;
}

/** Bytes that are gathered before they are written: streams often come in pieces of a few kilobytes. */
const writeBytes = 256 * 1024;

/**
 * Writes a stream to a new file (0600) and onto the disk. Throws `payloadTooLarge` as soon as it is too long, and what
 * the stream or the file system throws; the file is then the caller's to remove.
 */
export async function spoolStream(
  stream: AsyncIterable<Uint8Array>,
  path: string,
  { bytesMax, signal }: { readonly bytesMax: number; readonly signal?: AbortSignal | undefined },
): Promise<Spooled> {
  const file = await open(path, 'wx', 0o600);
  try {
    const hash = createHash('sha256');
    const buffer = new WriteBuffer((piece) => writeWhole(file, piece));
    let bytes = 0;
    for await (const chunk of stream) {
      signal?.throwIfAborted();
      bytes += chunk.length;
      if (bytes > bytesMax) throw tooLarge(bytesMax);
      hash.update(chunk);
      await buffer.add(chunk);
    }
    await buffer.flush();
    await file.sync();
    return { sha256: hash.digest('hex'), bytes };
  } finally {
    await file.close();
  }
}

/** A write takes as much as the disk has room for, and only the next one fails (write(2)). */
async function writeWhole(file: FileHandle, piece: Uint8Array): Promise<void> {
  for (let at = 0; at < piece.length; ) at += (await file.write(piece, at)).bytesWritten;
}

class WriteBuffer {
  #pieces: Uint8Array[] = [];
  #bytes = 0;

  constructor(readonly write: (piece: Uint8Array) => Promise<unknown>) {}

  async add(piece: Uint8Array): Promise<void> {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    if (this.#bytes >= writeBytes) await this.flush();
  }

  async flush(): Promise<void> {
    if (this.#bytes > 0) await this.write(Buffer.concat(this.#pieces, this.#bytes));
    this.#pieces = [];
    this.#bytes = 0;
  }
}

function tooLarge(bytesMax: number): DomainError {
  const shown = bytesMax.toLocaleString('en');
  return new DomainError(
    'payloadTooLarge',
    `The document is larger than ${shown} bytes; send a smaller one, or raise documentBytesMax.`,
  );
}
