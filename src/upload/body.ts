import { DomainError } from '../errors.ts';
import { decoded, readEncoding } from './content-encoding.ts';
import { fileOf } from './multipart.ts';

const documentTypes = ['application/xml', 'text/xml', 'application/octet-stream'];
const uploadMsMax = 15 * 60 * 1_000;
/** After a time to start up, a body must come at least this fast: slower is a connection kept open for nothing. */
const graceMs = 10_000;
const bytesPerSecondMin = 64 * 1024;

/**
 * The bytes of the document in a request: raw, compressed, or the one file of a form. Refuses the type before reading;
 * `signal` says that the client has gone.
 */
export function documentOf(request: Request, signal: AbortSignal): AsyncIterable<Uint8Array> {
  const contentType = request.headers.get('content-type') ?? 'application/octet-stream';
  const mediaType = contentType.split(';')[0]?.trim().toLowerCase() ?? '';
  const encoding = readEncoding(request.headers.get('content-encoding'));
  const isForm = mediaType === 'multipart/form-data';
  if (!isForm && !documentTypes.includes(mediaType)) throw wrongType(mediaType);
  if (request.body === null) throw new DomainError('invalidValue', 'The request has no body; send the file.');
  const bytes = decoded(paced(request.body, signal), encoding);
  return isForm ? fileOf(bytes, contentType) : bytes;
}

/** The body as it comes, for as long as it comes fast enough. A client that goes away is an error, not an end. */
async function* paced(body: ReadableStream<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const startedMs = performance.now();
  let bytes = 0;
  for await (const chunk of body) {
    signal.throwIfAborted();
    bytes += chunk.length;
    const elapsedMs = performance.now() - startedMs;
    const isSlow = elapsedMs > graceMs && bytes < ((elapsedMs - graceMs) / 1_000) * bytesPerSecondMin;
    if (isSlow || elapsedMs > uploadMsMax) throw tooSlow();
    yield chunk;
  }
  signal.throwIfAborted();
}

function wrongType(mediaType: string): DomainError {
  return new DomainError(
    'unsupportedMediaType',
    `Send the file as ${documentTypes.join(', ')}, or as multipart/form-data with one file; not as "${mediaType.slice(0, 100)}".`,
  );
}

function tooSlow(): DomainError {
  return new DomainError(
    'unavailable',
    'The upload is too slow; send the file compressed, or over a faster line.',
    {
      retryAfterSeconds: 60,
    },
  );
}
