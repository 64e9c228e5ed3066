import { DomainError } from '../errors.ts';

/** The whole body, at most `bytesMax`; refused as soon as it is known to be longer. */
export async function readBody(request: Request, bytesMax: number): Promise<Uint8Array> {
  const announced = request.headers.get('content-length');
  if (Number(announced ?? '0') > bytesMax) throw tooLarge(bytesMax);
  if (request.body === null) return new Uint8Array();
  if (announced !== null) return new Uint8Array(await request.arrayBuffer());
  return readChunks(request.body, bytesMax);
}

async function readChunks(body: ReadableStream<Uint8Array>, bytesMax: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > bytesMax) throw tooLarge(bytesMax);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}

function tooLarge(bytesMax: number): DomainError {
  return new DomainError(
    'payloadTooLarge',
    `The body is longer than ${bytesMax} bytes; send less in one request.`,
  );
}
