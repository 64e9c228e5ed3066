// The body of an answer, unzipped by us, bounded in bytes and in the time that it may be silent.
// A few kilobytes of gzip can become gigabytes: what comes out is counted, and nothing is unzipped before it is asked for.

import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { DomainError } from '../errors.ts';

export interface BodyBounds {
  /** After decompression. */
  readonly bytesMax: number;
  /** Called whenever something arrives. */
  readonly alive: () => void;
  /** Called once, when the body is done with, whichever way. */
  readonly done: () => void;
  /** What the failure of a read means, as a sentence. */
  readonly fault: (error: unknown) => unknown;
  /** Who sends it, for sentences. */
  readonly where: string;
}

/** Null for an answer without a body. Throws `unsupportedMediaType` for an encoding that was not asked for. */
export function boundedBody(response: Response, bounds: BodyBounds): ReadableStream<Uint8Array> | null {
  if (response.body === null) {
    bounds.done();
    return null;
  }
  const encoding = (response.headers.get('content-encoding') ?? 'identity').trim().toLowerCase();
  const raw = arriving(response.body, bounds);
  if (encoding === 'identity' || encoding === '') return toStream(counted(raw, bounds));
  if (encoding === 'gzip' || encoding === 'x-gzip') return toStream(counted(unzipped(raw, bounds), bounds));
  bounds.done();
  throw new DomainError(
    'unsupportedMediaType',
    `${bounds.where} sent an answer in an encoding that it was not asked for.`,
  );
}

async function* arriving(
  body: ReadableStream<Uint8Array>,
  { alive, done, fault }: BodyBounds,
): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done: isEnd, value } = await reader.read();
      if (isEnd) return;
      alive();
      yield value;
    }
  } catch (error) {
    throw fault(error);
  } finally {
    done();
    await reader.cancel().catch(() => undefined);
  }
}

async function* unzipped(raw: AsyncGenerator<Uint8Array>, { where }: BodyBounds): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip();
  let fault: unknown;
  async function* remembering(): AsyncGenerator<Uint8Array> {
    try {
      yield* raw;
    } catch (error) {
      fault = error;
      throw error;
    }
  }
  pipeline(Readable.from(remembering()), gunzip, () => undefined);
  try {
    for await (const chunk of gunzip) yield chunk;
  } catch (error) {
    throw (
      fault ??
      new DomainError('invalidValue', `${where} sent an answer that says gzip and is not.`, { cause: error })
    );
  } finally {
    gunzip.destroy();
    await raw.return(undefined);
  }
}

async function* counted(
  chunks: AsyncGenerator<Uint8Array>,
  { bytesMax, where }: BodyBounds,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > bytesMax)
      throw new DomainError('payloadTooLarge', `${where} sent an answer of more than ${bytesMax} bytes.`);
    yield chunk;
  }
}

function toStream(chunks: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await chunks.next();
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          controller.error(error);
        }
      },
      cancel: async () => void (await chunks.return(undefined)),
    },
    { highWaterMark: 0 },
  );
}
