import { Readable } from 'node:stream';
import { Busboy, type BusboyConfig, type BusboyInstance } from '@fastify/busboy';
import { DomainError } from '../errors.ts';

/** Beside its file a form may have some fields, which are read over. */
const fieldsMax = 20;
const fieldBytesMax = 64 * 1024;
const headersMax = 100;

/**
 * The one file of a form, as it streams in. Whether there is only one shows at the end: a second file, or a form that
 * breaks off, is an error then. Throws `invalidValue`.
 */
export async function* fileOf(
  stream: AsyncIterable<Uint8Array>,
  contentType: string,
): AsyncGenerator<Uint8Array> {
  const form = readForm(stream, contentType);
  const file = await form.file;
  if (file === undefined) throw new DomainError('invalidValue', 'The form has no file; add the file to it.');
  try {
    for await (const chunk of file) yield chunk;
  } catch (error) {
    throw error instanceof DomainError ? error : broken(error);
  }
  await form.end;
}

interface Form {
  readonly file: Promise<Readable | undefined>;
  readonly end: Promise<void>;
}

function readForm(stream: AsyncIterable<Uint8Array>, contentType: string): Form {
  const busboy = openBusboy(contentType);
  const source = Readable.from(stream);
  const file = Promise.withResolvers<Readable | undefined>();
  const end = Promise.withResolvers<void>();
  // Each is awaited only after the other: a failure must not count as unhandled in between.
  end.promise.catch(() => undefined);
  let first: Readable | undefined;
  const fail = (error: unknown) => {
    const known = error instanceof DomainError ? error : broken(error);
    first?.destroy(known);
    file.reject(known);
    end.reject(known);
    source.destroy();
  };
  busboy.on('file', (_name, part) => {
    if (first !== undefined) {
      part.resume();
      end.reject(new DomainError('invalidValue', 'The form has several files; send one at a time.'));
      return;
    }
    first = part;
    file.resolve(part);
  });
  busboy.on('finish', () => {
    file.resolve(undefined);
    end.resolve();
  });
  // What is beyond the bounds would be read over, part by part, while nobody else is served.
  for (const limit of ['fieldsLimit', 'partsLimit'] as const) busboy.on(limit, () => fail(tooManyFields()));
  busboy.on('error', fail);
  source.on('error', fail);
  source.pipe(busboy);
  return { file: file.promise, end: end.promise };
}

function openBusboy(contentType: string): BusboyInstance {
  const limits = {
    fields: fieldsMax,
    fieldSize: fieldBytesMax,
    headerPairs: headersMax,
    parts: fieldsMax + 2,
  };
  try {
    return new Busboy({ headers: { 'content-type': contentType }, limits } satisfies BusboyConfig);
  } catch (error) {
    throw broken(error);
  }
}

function tooManyFields(): DomainError {
  return new DomainError('invalidValue', `The form has more than ${fieldsMax} fields; send the file alone.`);
}

function broken(cause: unknown): DomainError {
  return new DomainError('invalidValue', 'The form is not valid multipart/form-data, or ends too early.', {
    cause,
  });
}
