// The profile file (schemas/profile-sync.xsd): decoding, reading, validating, masking and writing.
// It never touches disk, network, database or clock: streams go in, records and errors come out.
// It renders XML 1.0 (fifth edition) without DTDs, and XML Schema 1.0 through libxml2.

/** A place in the decoded document. Both start at 1; a column counts characters, a tab being one. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

/** Why a document was refused: `tooLarge` is a matter of size alone, the others of content. */
export type XmlErrorKind = 'encoding' | 'doctype' | 'malformed' | 'schema' | 'limit' | 'tooLarge';

/** The one error of this folder. `message` is a sentence that is safe to show to the uploader. */
export class XmlError extends Error {
  readonly kind: XmlErrorKind;
  readonly line: number;
  readonly column: number;
  /** Such as `/syncdata/users/user[17]/email`; empty where no element is meant. */
  readonly path: string;

  constructor(kind: XmlErrorKind, message: string, position: TextPosition, path = '') {
    super(message);
    this.name = 'XmlError';
    this.kind = kind;
    this.line = position.line;
    this.column = position.column;
    this.path = path;
  }

  /** The same error, moved to where the caller knows it happened. */
  at(position: TextPosition, path: string): XmlError {
    return new XmlError(this.kind, this.message, position, path);
  }
}

/** Position of an error whose place is not known where it is found; the reader fills it in. */
export const unknownPosition: TextPosition = { line: 0, column: 0 };

/** Bounds of one document. Characters are UTF-16 code units. */
export interface XmlLimits {
  readonly documentBytesMax: number;
  readonly usersMax: number;
  readonly groupsMax: number;
  readonly depthMax: number;
  readonly nameCharactersMax: number;
  readonly attributesMax: number;
  readonly attributeCharactersMax: number;
  readonly textCharactersMax: number;
  /** Elements and attributes of one user or group: bounds the work that one bad record can cause. */
  readonly recordNodesMax: number;
  /** Comments, instructions and CDATA sections of one: libxml2 needs thirty times the memory of their text. */
  readonly recordPassagesMax: number;
  readonly recordCharactersMax: number;
}

export const xmlLimits: XmlLimits = {
  documentBytesMax: 256 * 1024 * 1024,
  usersMax: 1_000_000,
  groupsMax: 1_000_000,
  depthMax: 64,
  nameCharactersMax: 256,
  attributesMax: 64,
  attributeCharactersMax: 64 * 1024,
  textCharactersMax: 1024 * 1024,
  recordNodesMax: 10_000,
  recordPassagesMax: 50_000,
  recordCharactersMax: 8 * 1024 * 1024,
};

const lineBreak = /\r\n?|\n/g;

/** Where `text.slice(from, to)` ends, when it begins at `start`. Never call it inside a CR LF pair. */
export function advance(start: TextPosition, text: string, from = 0, to = text.length): TextPosition {
  const passage = text.slice(from, to);
  let line = start.line;
  let lineStart = -1;
  if (passage.includes('\r')) {
    for (const found of passage.matchAll(lineBreak)) {
      line += 1;
      lineStart = found.index + found[0].length;
    }
  } else {
    for (let at = passage.indexOf('\n'); at !== -1; at = passage.indexOf('\n', at + 1)) {
      line += 1;
      lineStart = at + 1;
    }
  }
  if (lineStart === -1) return { line, column: start.column + countCharacters(passage) };
  return { line, column: 1 + countCharacters(passage.slice(lineStart)) };
}

/** A pair of surrogates is one character. */
function countCharacters(text: string): number {
  let count = text.length;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code >= 0xdc00 && code <= 0xdfff) count -= 1;
  }
  return count;
}
