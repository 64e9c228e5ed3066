import { namesSecret } from '../log.ts';
import {
  cdataEnd,
  closes,
  closeTagEnd,
  commentEnd,
  instructionEnd,
  markupKind,
  newOpenTag,
  scanOpenTag,
} from './markup.ts';
import { advance, type TextPosition, XmlError, type XmlErrorKind, type XmlLimits } from './xml.ts';

/** What the scanner tells while the document passes. All text is told, in order and without gaps. */
export interface ScanEvents {
  /** Text exactly as it stands. Ends before each record and after each start tag of root and section. */
  raw(text: string): void;
  /** The same text with every password replaced, and everything that says itself that it is a secret; lines stay. */
  masked?(text: string): void;
  /** The start tag of the root (depth 1), or of one of its children (depth 2), whose text was just told. */
  section(name: string, tag: string, depth: number): void;
  sectionEnd(name: string): void;
  /** A user or group begins with the next text. `nodes` counts elements and attributes since the one before. */
  record(nodes: number, position: () => TextPosition): void;
}

export const passwordMask = '********';

/**
 * Follows the structure of a document in one pass: tags in balance, one root, no DOCTYPE, bounds kept. What it
 * does not judge (names, attributes, references, content) is left to libxml2, which sees all of the text.
 */
export class DocumentScanner {
  readonly #limits: XmlLimits;
  readonly #events: ScanEvents;
  readonly #tag = newOpenTag();
  readonly #stack: string[] = [];
  readonly #records = { users: 0, groups: 0 };
  #text = '';
  #position: TextPosition = { line: 1, column: 1 };
  #toldTo = 0;
  #maskedTo = 0;
  /** Depth of the element that is being masked, 0 outside. */
  #maskDepth = 0;
  #maskHasContent = false;
  /** Line breaks in what is being masked. */
  #maskBreaks = '';
  #textCharacters = 0;
  #recordCharacters = 0;
  #recordNodes = 0;
  #recordPassages = 0;
  #isRootOpen = false;
  #isRootClosed = false;

  constructor(limits: XmlLimits, events: ScanEvents) {
    this.#limits = limits;
    this.#events = events;
  }

  get users(): number {
    return this.#records.users;
  }

  get groups(): number {
    return this.#records.groups;
  }

  push(chunk: string): void {
    this.#text = this.#text === '' ? chunk : this.#text + chunk;
    const end = this.#scan();
    this.#tell(end);
    this.#tellMasked(end);
    this.#position = advance(this.#position, this.#text, 0, end);
    this.#text = this.#text.slice(end);
    this.#toldTo = 0;
    this.#maskedTo = 0;
  }

  end(): void {
    if (this.#text !== '')
      this.#fail('malformed', 'The file ends inside a tag or a comment.', this.#text.length);
    const open = this.#stack.at(-1);
    if (open !== undefined) this.#fail('malformed', `The file ends inside the element '${open}'.`, 0);
    if (!this.#isRootClosed) this.#fail('malformed', 'The file contains no element.', 0);
  }

  /** Where the text that was pushed so far ends, and the element there. For faults found by others. */
  here(): { position: TextPosition; path: string } {
    return { position: advance(this.#position, this.#text), path: this.#path() };
  }

  #scan(): number {
    const text = this.#text;
    let at = 0;
    while (at < text.length) {
      const start = text.indexOf('<', at);
      const textEnd = start === -1 ? text.length : start;
      if (textEnd > at) this.#characters(at, textEnd);
      if (start === -1) return text.length;
      const end = this.#markup(start);
      if (end === -1) return this.#suspend(start);
      at = end;
    }
    return at;
  }

  #suspend(start: number): number {
    if (this.#text.length - start > this.#limits.textCharactersMax) {
      this.#fail(
        'limit',
        `A tag or comment is longer than ${this.#limits.textCharactersMax} characters.`,
        start,
      );
    }
    return start;
  }

  #markup(start: number): number {
    const kind = markupKind(this.#text, start);
    if (kind === 'open') return this.#open(start);
    if (kind === 'close') return this.#close(start);
    if (kind === 'comment') return this.#passage(start, commentEnd(this.#text, start));
    if (kind === 'instruction') return this.#passage(start, instructionEnd(this.#text, start));
    if (kind === 'cdata') return this.#cdata(start);
    if (kind === 'incomplete') return -1;
    if (kind === 'doctype')
      this.#fail('doctype', 'A DOCTYPE is not accepted. Remove it from the file.', start);
    return this.#fail('malformed', "The characters '<!' begin neither a comment nor a CDATA section.", start);
  }

  #passage(start: number, end: number): number {
    if (end === -1) return -1;
    this.#recordCharacters += end - start;
    this.#recordPassages += 1;
    this.#maskHasContent = true;
    this.#checkProlog(start);
    this.#checkRecord(start);
    if (this.#maskDepth === 0) this.#maskPassage(start, end);
    return end;
  }

  /** A record that somebody has commented out has its password still. */
  #maskPassage(start: number, end: number): void {
    if (this.#events.masked === undefined) return;
    const passage = this.#text.slice(start, end);
    if (!namesSecret(passage)) return;
    this.#tellMasked(start);
    const [opening, closing] = passage.startsWith('<?') ? ['<?masked ', '?>'] : ['<!--', '-->'];
    this.#events.masked(opening + passwordMask + breaksOf(passage) + closing);
    this.#maskedTo = end;
  }

  /** As the reader has it, which reads what stands before the root as a whole. */
  #checkProlog(start: number): void {
    const { textCharactersMax } = this.#limits;
    if (this.#isRootOpen || this.#recordCharacters <= textCharactersMax) return;
    this.#fail('limit', `The root element does not begin within ${textCharactersMax} characters.`, start);
  }

  #cdata(start: number): number {
    const end = cdataEnd(this.#text, start);
    if (end === -1) return -1;
    if (this.#stack.length === 0) this.#fail('malformed', 'Text stands outside the root element.', start);
    this.#recordPassages += 1;
    this.#characters(start, end);
    return end;
  }

  #characters(from: number, to: number): void {
    if (this.#stack.length === 0) this.#refuseText(from, to);
    this.#maskHasContent = true;
    this.#textCharacters += to - from;
    this.#recordCharacters += to - from;
    if (this.#textCharacters > this.#limits.textCharactersMax) {
      this.#fail('limit', `A text is longer than ${this.#limits.textCharactersMax} characters.`, from);
    }
    this.#checkRecord(from);
  }

  #refuseText(from: number, to: number): void {
    const at = this.#text.slice(from, to).search(/[^ \t\r\n]/);
    if (at !== -1) this.#fail('malformed', 'Text stands outside the root element.', from + at);
  }

  #open(start: number): number {
    const tag = this.#tag;
    const end = scanOpenTag(this.#text, start, tag);
    if (end === -1) return -1;
    if (tag.fault !== -1) this.#fail('malformed', "The character '<' stands inside a tag.", tag.fault);
    if (this.#isRootClosed) this.#fail('malformed', 'A second root element follows the first.', start);
    const name = this.#text.slice(start + 1, tag.nameEnd);
    const depth = this.#stack.length + 1;
    if (depth === 3) this.#openRecord(start);
    this.#checkTag(start, name, depth);
    this.#textCharacters = 0;
    this.#recordNodes += 1 + tag.attributes;
    this.#recordCharacters += end - start;
    this.#checkRecord(start);
    this.#enter(name, start, end);
    if (tag.isSelfClosing) this.#leave(name, end);
    else if (this.#maskDepth === 0 && this.#isSecret(name, start, end)) this.#startMask(end, depth);
    return end;
  }

  #isSecret(name: string, start: number, end: number): boolean {
    if (isPassword(name)) return true;
    return namedElement.test(name) && namesSecret(unescaped(this.#text.slice(start, end)));
  }

  #enter(name: string, start: number, end: number): void {
    this.#stack.push(name);
    this.#isRootOpen = true;
    const depth = this.#stack.length;
    if (depth > 2) return;
    this.#tell(end);
    this.#events.section(name, this.#text.slice(start, end), depth);
  }

  #openRecord(start: number): void {
    const section = this.#stack[1] ?? '';
    if (section !== 'users' && section !== 'groups') return;
    this.#records[section] += 1;
    const max = section === 'users' ? this.#limits.usersMax : this.#limits.groupsMax;
    if (this.#records[section] > max) this.#fail('limit', `The file has more than ${max} ${section}.`, start);
    this.#tell(start);
    this.#events.record(this.#recordNodes, () => this.#positionOf(start));
    this.#recordNodes = 0;
    this.#recordPassages = 0;
    this.#recordCharacters = 0;
  }

  #close(start: number): number {
    const end = closeTagEnd(this.#text, start);
    if (end === -1) return -1;
    const name = this.#stack.at(-1);
    if (name === undefined)
      return this.#fail('malformed', 'An end tag stands outside the root element.', start);
    if (!closes(this.#text, start, end, name)) {
      this.#fail('malformed', `This end tag does not match the start tag of the element '${name}'.`, start);
    }
    if (this.#stack.length === this.#maskDepth) this.#endMask(start, end);
    this.#recordCharacters += end - start;
    this.#leave(name, end);
    return end;
  }

  #leave(name: string, end: number): void {
    this.#stack.pop();
    this.#textCharacters = 0;
    const depth = this.#stack.length;
    if (depth === 0) this.#isRootClosed = true;
    if (depth !== 1) return;
    this.#tell(end);
    this.#events.sectionEnd(name);
  }

  #startMask(end: number, depth: number): void {
    this.#tellMasked(end);
    this.#maskDepth = depth;
    this.#maskHasContent = false;
    this.#maskBreaks = '';
  }

  /** The line breaks go into the end tag, where they are no content. */
  #endMask(start: number, end: number): void {
    this.#tellMasked(start);
    this.#maskDepth = 0;
    const endTag = this.#text.slice(start, end - 1);
    this.#events.masked?.(`${this.#maskHasContent ? passwordMask : ''}${endTag}${this.#maskBreaks}>`);
    this.#maskedTo = end;
  }

  #tell(to: number): void {
    if (to > this.#toldTo) this.#events.raw(this.#text.slice(this.#toldTo, to));
    this.#toldTo = to;
  }

  #tellMasked(to: number): void {
    if (this.#events.masked === undefined || to <= this.#maskedTo) return;
    const text = this.#text.slice(this.#maskedTo, to);
    if (this.#maskDepth > 0) this.#maskBreaks += breaksOf(text);
    else this.#events.masked(text);
    this.#maskedTo = to;
  }

  #checkTag(start: number, name: string, depth: number): void {
    const { depthMax, nameCharactersMax, attributesMax, attributeCharactersMax } = this.#limits;
    const tag = this.#tag;
    if (depth > depthMax) this.#fail('limit', `Elements are nested more than ${depthMax} deep.`, start);
    if (tag.attributes > attributesMax) {
      this.#fail('limit', `An element has more than ${attributesMax} attributes.`, start);
    }
    if (name.length > nameCharactersMax || tag.attributeNameMax > nameCharactersMax) {
      this.#fail('limit', `A name is longer than ${nameCharactersMax} characters.`, start);
    }
    if (tag.attributeValueMax > attributeCharactersMax) {
      this.#fail('limit', `An attribute is longer than ${attributeCharactersMax} characters.`, start);
    }
    if (name === '')
      this.#fail('malformed', "The character '<' is not followed by the name of an element.", start);
  }

  #checkRecord(start: number): void {
    const { recordNodesMax, recordPassagesMax, recordCharactersMax } = this.#limits;
    if (this.#recordPassages > recordPassagesMax) {
      const message = `More than ${recordPassagesMax} comments, instructions and CDATA sections stand in one record.`;
      this.#fail('limit', message, start);
    }
    if (this.#recordNodes > recordNodesMax) {
      this.#fail('limit', `More than ${recordNodesMax} elements and attributes stand in one record.`, start);
    }
    if (this.#recordCharacters > recordCharactersMax) {
      this.#fail('limit', `One record is longer than ${recordCharactersMax} characters.`, start);
    }
  }

  #positionOf(index: number): TextPosition {
    return advance(this.#position, this.#text, 0, index);
  }

  /** Ends at a password: what follows could be part of it. */
  #path(): string {
    const section = this.#stack[1];
    const steps = this.#stack.slice(0, this.#maskDepth || this.#stack.length).map((name, i) => {
      if (i !== 2 || (section !== 'users' && section !== 'groups')) return name;
      return `${name}[${this.#records[section]}]`;
    });
    return steps.length === 0 ? '' : `/${steps.join('/')}`;
  }

  /** A fault inside a password is told without its particulars, which could be part of the password. */
  #fail(kind: XmlErrorKind, message: string, index: number): never {
    const hidden = kind === 'malformed' && isPassword(this.#stack[this.#maskDepth - 1] ?? '');
    const shown = hidden ? passwordFault : message;
    throw new XmlError(kind, shown, this.#positionOf(index), this.#path());
  }
}

/** Said of every fault inside a password, so that no part of it is quoted. */
export const passwordFault = "The content of the element 'password' is not well-formed.";

export function isPassword(name: string): boolean {
  return name === 'password' || name.endsWith(':password');
}

/** Elements that say what they hold by an attribute, so that a password may stand in them. */
const namedElement = /^(?:[^:]+:)?(?:option|field)$/;

/** With character references for what they stand for. */
function unescaped(text: string): string {
  return text.replace(/&#(?:x([0-9a-f]{1,6})|([0-9]{1,7}));/gi, (_, hex?: string, decimal?: string) => {
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : '';
  });
}

function breaksOf(text: string): string {
  return text.replace(/[^\r\n]+/g, '');
}
