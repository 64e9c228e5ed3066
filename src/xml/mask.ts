import { decodeDocument } from './decode.ts';
import { DocumentScanner } from './scanner.ts';
import { type XmlLimits, xmlLimits } from './xml.ts';

/**
 * The document as text with the content of every `password` element replaced by `passwordMask`, and so that of options
 * and fields, of comments and of instructions that name a secret; all else as it stands and in its line. An empty
 * password stays empty. Throws XmlError for a document that is not in balance or out of bounds.
 */
export async function* maskPasswords(
  stream: AsyncIterable<Uint8Array>,
  limits: Partial<XmlLimits> = {},
): AsyncGenerator<string> {
  const bounds = { ...xmlLimits, ...limits };
  let masked: string[] = [];
  const scanner = new DocumentScanner(bounds, {
    raw: () => {},
    masked: (text) => masked.push(text),
    section: () => {},
    sectionEnd: () => {},
    record: () => {},
  });
  for await (const text of decodeDocument(stream, bounds)) {
    scanner.push(text);
    if (masked.length > 0) yield masked.join('');
    masked = [];
  }
  scanner.end();
}
