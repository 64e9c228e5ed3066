import { readDocument } from '../../src/xml/reader.ts';
import type { DocumentItem, UserRecord } from '../../src/xml/records.ts';
import { type InvalidDocument, type ValidationOptions, validateDocument } from '../../src/xml/validate.ts';
import type { XmlLimits } from '../../src/xml/xml.ts';
import { XmlError } from '../../src/xml/xml.ts';

export const headXml =
  '<syncoptions domain="Staff" ldapid="7"><option name="mode">full</option></syncoptions>';

/** A document around the text of `users`; everything up to `<users>` stands on line 1. */
export function documentOf(users: string, { root = '', head = headXml, before = '' } = {}): string {
  return `${before}<syncdata version="1"${root}>${head}<users>${users}</users></syncdata>`;
}

export const plainUser = '<user id="1" username="ada"><additionalfields /></user>';

export async function* streamOf(
  content: string | Uint8Array,
  chunkBytes = 64 * 1024,
): AsyncGenerator<Uint8Array> {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
}

export function validate(content: string | Uint8Array, options: ValidationOptions = {}) {
  return validateDocument(streamOf(content), options);
}

/** The first error of a document that must not be valid. */
export async function refusal(content: string | Uint8Array, options: ValidationOptions = {}) {
  const result = await validate(content, options);
  if (result.valid) throw new Error('The document was accepted.');
  return firstOf(result);
}

function firstOf(result: InvalidDocument) {
  const [first] = result.errors;
  if (first === undefined) throw new Error('The document was refused without an error.');
  return { ...first, kind: result.kind, total: result.total };
}

export async function read(
  content: string | Uint8Array,
  limits: Partial<XmlLimits> = {},
): Promise<DocumentItem[]> {
  const items: DocumentItem[] = [];
  for await (const batch of readDocument(streamOf(content), limits)) items.push(...batch);
  return items;
}

export async function readUsers(content: string): Promise<UserRecord[]> {
  const items = await read(content);
  return items.flatMap((item) => (item.kind === 'user' ? [item.record] : []));
}

/** The XmlError that reading throws. */
export async function readingError(
  content: string | Uint8Array,
  limits: Partial<XmlLimits> = {},
): Promise<XmlError> {
  try {
    await read(content, limits);
  } catch (error) {
    if (error instanceof XmlError) return error;
    throw error;
  }
  throw new Error('The document was read without an error.');
}

export function toUtf16(text: string, isLittleEndian: boolean): Uint8Array {
  const bytes = new Uint8Array(text.length * 2);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < text.length; i += 1) view.setUint16(i * 2, text.charCodeAt(i), isLittleEndian);
  return bytes;
}

export function withMark(bytes: Uint8Array, ...mark: number[]): Uint8Array {
  const marked = new Uint8Array(mark.length + bytes.length);
  marked.set(mark);
  marked.set(bytes, mark.length);
  return marked;
}
