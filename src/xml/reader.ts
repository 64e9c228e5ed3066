import { SaxesParser } from 'saxes';
import { decodeDocument } from './decode.ts';
import { commentEnd, instructionEnd, markupKind } from './markup.ts';
import { RecordBuilder } from './record-builder.ts';
import type { DocumentHead, DocumentItem } from './records.ts';
import { passwordFault } from './scanner.ts';
import { advance, type TextPosition, XmlError, type XmlErrorKind, type XmlLimits, xmlLimits } from './xml.ts';

/** Items of one batch: awaiting each record would cost more than reading it. */
export const batchItemsMax = 500;

/**
 * Reads a profile file in one pass and flat memory: batches of at most `batchItemsMax` items, the head first,
 * then groups and users in the order of the file. Throws XmlError with line, column and path for anything that
 * is not a well-formed profile file within bounds; what the schema says of values is not checked again.
 */
export async function* readDocument(
  stream: AsyncIterable<Uint8Array>,
  limits: Partial<XmlLimits> = {},
): AsyncGenerator<DocumentItem[]> {
  const bounds = { ...xmlLimits, ...limits };
  const reader = new DocumentReader(bounds);
  try {
    for await (const text of decodeDocument(stream, bounds)) {
      reader.write(text);
      yield* reader.take();
    }
    reader.end();
  } catch (error) {
    throw error instanceof XmlError && error.line === 0 ? reader.place(error) : error;
  }
  yield* reader.take();
}

/** As a document comes: the bound on what grows in the parser is looked at between the pieces. */
const headPieceCharacters = 64 * 1024;

export interface HeadReading {
  readonly head: DocumentHead | undefined;
  /** What is wrong with source and options. */
  readonly problems: readonly XmlError[];
  /** What else kept the head from being read. */
  readonly fault: XmlError | undefined;
}

/** Reads the text of a document up to the end of its `syncoptions`. */
export function readHead(text: string, limits: XmlLimits): HeadReading {
  const reader = new DocumentReader(limits);
  let fault: XmlError | undefined;
  try {
    for (let at = 0; at < text.length; at += headPieceCharacters) {
      reader.write(text.slice(at, at + headPieceCharacters));
    }
  } catch (error) {
    if (!(error instanceof XmlError)) throw error;
    fault = error;
  }
  const [item] = reader.builder.items;
  return { head: item?.kind === 'head' ? item.head : undefined, problems: reader.builder.problems, fault };
}

class DocumentReader {
  readonly builder: RecordBuilder;
  readonly #limits: XmlLimits;
  readonly #parser = new SaxesParser({
    xmlns: false,
    position: false,
    defaultXMLVersion: '1.0',
    forceXMLVersion: true,
  } as const);
  #prolog: string | undefined = '';
  #chunk = '';
  #chunkStart = 0;
  #eventAt = 0;
  #attributes = 0;
  #textCharacters = 0;
  #elementName = '';
  #elementEnd = 0;
  #elementLine = 0;

  constructor(limits: XmlLimits) {
    this.#limits = limits;
    this.builder = new RecordBuilder(() => this.#elementStart());
    this.#listen();
  }

  write(text: string): void {
    this.#refuseDoctype(text);
    this.#chunkStart += this.#chunk.length;
    this.#chunk = text;
    this.#parser.write(text);
    // A tag, text or comment that no event has told of yet is still growing in the parser.
    const { textCharactersMax } = this.#limits;
    if (this.#parser.position - this.#eventAt > textCharactersMax) {
      this.#fail('limit', `A text, tag or comment is longer than ${textCharactersMax} characters.`);
    }
  }

  end(): void {
    this.#parser.close();
    this.#throwProblem();
  }

  /** What has been read since the last call, in batches. */
  *take(): Generator<DocumentItem[]> {
    const { items } = this.builder;
    if (items.length === 0) return;
    this.#throwProblem();
    const all = items.splice(0);
    for (let at = 0; at < all.length; at += batchItemsMax) yield all.slice(at, at + batchItemsMax);
  }

  place(error: XmlError): XmlError {
    const { line, column } = this.#parser;
    return error.at({ line, column: column + 1 }, this.builder.path());
  }

  #throwProblem(): void {
    const [problem] = this.builder.problems;
    if (problem !== undefined) throw problem;
  }

  #listen(): void {
    const parser = this.#parser;
    const { builder } = this;
    parser.on('opentagstart', ({ name }) => this.#openStart(name));
    parser.on('attribute', ({ name, value }) => this.#attribute(name, value));
    parser.on('opentag', ({ name, attributes }) => {
      this.#eventAt = parser.position;
      builder.open(name, attributes, this.#elementLine);
      if (builder.depth === 3) this.#countRecord();
    });
    parser.on('closetag', () => {
      this.#eventAt = parser.position;
      this.#textCharacters = 0;
      builder.close();
    });
    parser.on('text', (text) => this.#text(text));
    parser.on('cdata', (text) => this.#text(text));
    parser.on('comment', () => {
      this.#eventAt = parser.position;
    });
    parser.on('processinginstruction', () => {
      this.#eventAt = parser.position;
    });
    parser.on('error', ({ message }) => this.#malformed(message));
  }

  #openStart(name: string): void {
    const parser = this.#parser;
    const { depthMax, nameCharactersMax } = this.#limits;
    this.#eventAt = parser.position;
    this.#attributes = 0;
    this.#textCharacters = 0;
    this.#elementName = name;
    this.#elementEnd = parser.position;
    // The parser has read one character more than the name; when that is a line break, it counts a line ahead.
    this.#elementLine = parser.column === 0 ? parser.line - 1 : parser.line;
    if (this.builder.depth >= depthMax)
      this.#fail('limit', `Elements are nested more than ${depthMax} deep.`);
    if (name.length > nameCharactersMax) {
      this.#fail('limit', `A name is longer than ${nameCharactersMax} characters.`);
    }
  }

  #attribute(name: string, value: string): void {
    const { attributesMax, attributeCharactersMax, nameCharactersMax } = this.#limits;
    this.#attributes += 1;
    this.#eventAt = this.#parser.position;
    if (this.#attributes > attributesMax) {
      this.#fail('limit', `An element has more than ${attributesMax} attributes.`);
    }
    if (value.length > attributeCharactersMax) {
      this.#fail('limit', `An attribute is longer than ${attributeCharactersMax} characters.`);
    }
    if (name.length > nameCharactersMax) {
      this.#fail('limit', `A name is longer than ${nameCharactersMax} characters.`);
    }
  }

  #text(text: string): void {
    const { textCharactersMax } = this.#limits;
    this.#eventAt = this.#parser.position;
    this.#textCharacters += text.length;
    if (this.#textCharacters > textCharactersMax) {
      this.#fail('limit', `A text is longer than ${textCharactersMax} characters.`);
    }
    this.builder.text(text);
  }

  #countRecord(): void {
    const { usersMax, groupsMax } = this.#limits;
    if (this.builder.users > usersMax) this.#fail('limit', `The file has more than ${usersMax} users.`);
    if (this.builder.groups > groupsMax) this.#fail('limit', `The file has more than ${groupsMax} groups.`);
  }

  /** Looks at what stands before the root, in text of its own: the parser would first read the whole DTD. */
  #refuseDoctype(text: string): void {
    if (this.#prolog === undefined) return;
    const prolog = this.#prolog + text;
    const at = doctypeOrRoot(prolog);
    if (at === 'open') {
      this.#prolog = prolog;
      if (prolog.length > this.#limits.textCharactersMax) {
        this.#fail(
          'limit',
          `The root element does not begin within ${this.#limits.textCharactersMax} characters.`,
        );
      }
      return;
    }
    this.#prolog = undefined;
    if (at === 'none') return;
    const position = advance({ line: 1, column: 1 }, prolog, 0, at);
    throw new XmlError('doctype', 'A DOCTYPE is not accepted. Remove it from the file.', position);
  }

  /** Where the element starts that is being opened; column 1 in the rare case that its chunk has passed. */
  #elementStart(): TextPosition {
    const end = this.#elementEnd - this.#chunkStart;
    const start = this.#chunk.lastIndexOf(`<${this.#elementName}`, end);
    if (start === -1 || end < 0) return { line: this.#elementLine, column: 1 };
    const lineStart =
      Math.max(this.#chunk.lastIndexOf('\n', start), this.#chunk.lastIndexOf('\r', start)) + 1;
    if (lineStart === 0 && this.#chunkStart > 0) {
      const { line, column } = this.#parser;
      const isSameLine = line === this.#elementLine;
      return { line: this.#elementLine, column: isSameLine ? column - (end - start) + 1 : 1 };
    }
    return advance({ line: this.#elementLine, column: 1 }, this.#chunk, lineStart, start);
  }

  /** The message of the parser names no text of the file, except names of elements; not even these in a password. */
  #malformed(message: string): never {
    const hidden = this.builder.path().includes('/password');
    return this.#fail('malformed', hidden ? passwordFault : `The file is not well-formed XML: ${message}`);
  }

  #fail(kind: XmlErrorKind, message: string): never {
    const { line, column } = this.#parser;
    throw new XmlError(kind, message, { line, column: Math.max(column, 1) }, this.builder.path());
  }
}

/** Index of a DOCTYPE before the root; `none` when the root comes first, `open` when neither has come yet. */
function doctypeOrRoot(text: string): number | 'none' | 'open' {
  let at = text.indexOf('<');
  while (at !== -1) {
    const kind = markupKind(text, at);
    if (kind === 'doctype') return at;
    if (kind === 'incomplete') return 'open';
    if (kind !== 'comment' && kind !== 'instruction') return 'none';
    const end = kind === 'comment' ? commentEnd(text, at) : instructionEnd(text, at);
    if (end === -1) return 'open';
    at = text.indexOf('<', end);
  }
  return 'open';
}
