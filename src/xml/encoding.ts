import { unknownPosition, XmlError } from './xml.ts';

/** The encodings that a profile file may have. */
export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be';

export interface DetectedEncoding {
  readonly encoding: Encoding;
  /** Bytes of the byte order mark, 0 without one. */
  readonly markBytes: number;
}

const advice = 'Save the file as UTF-8, or as UTF-16 with a byte order mark.';

/** First bytes that tell an encoding (XML 1.0, appendix F). Longer ones first: UTF-32 begins like UTF-16. */
const signatures: readonly (readonly [readonly number[], Encoding | undefined, string, number])[] = [
  [[0x00, 0x00, 0xfe, 0xff], undefined, 'UTF-32', 0],
  [[0xff, 0xfe, 0x00, 0x00], undefined, 'UTF-32', 0],
  [[0x00, 0x00, 0x00, 0x3c], undefined, 'UTF-32', 0],
  [[0x3c, 0x00, 0x00, 0x00], undefined, 'UTF-32', 0],
  [[0x4c, 0x6f, 0xa7, 0x94], undefined, 'EBCDIC', 0],
  [[0x2b, 0x2f, 0x76], undefined, 'UTF-7', 0],
  [[0xef, 0xbb, 0xbf], 'utf-8', 'UTF-8', 3],
  [[0xfe, 0xff], 'utf-16be', 'UTF-16', 2],
  [[0xff, 0xfe], 'utf-16le', 'UTF-16', 2],
  [[0x00, 0x3c], 'utf-16be', 'UTF-16', 0],
  [[0x3c, 0x00], 'utf-16le', 'UTF-16', 0],
];

/** Tells the encoding by the first four bytes. Throws XmlError `encoding` for one that is not accepted. */
export function detectEncoding(bytes: Uint8Array): DetectedEncoding {
  const found = signatures.find(([signature]) => signature.every((byte, i) => bytes[i] === byte));
  if (found === undefined) return { encoding: 'utf-8', markBytes: 0 };
  const [, encoding, name, markBytes] = found;
  if (encoding === undefined) throw encodingError(`The encoding ${name} is not accepted. ${advice}`);
  return { encoding, markBytes };
}

const declarationStart = /^<\?xml[ \t\r\n]/;
const declarationCharactersMax = 1024;
const declaredEncoding = /[ \t\r\n]encoding[ \t\r\n]*=[ \t\r\n]*(?:"([^"]*)"|'([^']*)')/;
const accepted: Readonly<Record<Encoding, ReadonlySet<string>>> = {
  'utf-8': new Set(['utf-8', 'utf8', 'us-ascii', 'ascii']),
  'utf-16le': new Set(['utf-16', 'utf-16le']),
  'utf-16be': new Set(['utf-16', 'utf-16be']),
};
const known = new Set(Object.values(accepted).flatMap((names) => [...names]));

/**
 * Checks the XML declaration at the start of the document against the encoding of its bytes, and returns the
 * text as that of a UTF-8 document: of the same length, so that every position stays what it was.
 */
export function readDeclaration(text: string, detected: DetectedEncoding): string {
  const declaration = declarationOf(text);
  const found = declaredEncoding.exec(declaration);
  const name = found?.[1] ?? found?.[2];
  if (found === null || name === undefined) {
    if (detected.encoding === 'utf-8' || detected.markBytes > 0) return text;
    throw encodingError(
      'The file is UTF-16 without a byte order mark or a declaration. Add one, or use UTF-8.',
    );
  }
  if (!accepted[detected.encoding].has(name.toLowerCase())) throw mismatch(name, detected.encoding);
  if (detected.encoding === 'utf-8') return text;
  const quoted = found[0].slice(0, -(name.length + 2));
  const replaced = `${quoted}"UTF-8"${' '.repeat(name.length - 'UTF-8'.length)}`;
  return text.slice(0, found.index) + replaced + text.slice(found.index + found[0].length);
}

function declarationOf(text: string): string {
  if (!declarationStart.test(text)) return '';
  const end = text.indexOf('?>');
  if (end === -1 || end > declarationCharactersMax) {
    throw encodingError('The XML declaration does not end within its first 1,024 characters.');
  }
  return text.slice(0, end);
}

function mismatch(name: string, encoding: Encoding): XmlError {
  const shown = name.slice(0, 40);
  if (!known.has(name.toLowerCase())) {
    return encodingError(`The encoding '${shown}' is not accepted. ${advice}`);
  }
  const actual = encoding.toUpperCase();
  return encodingError(`The declaration says '${shown}', but the bytes are ${actual}. Make them agree.`);
}

export function encodingError(message: string): XmlError {
  return new XmlError('encoding', message, unknownPosition);
}
