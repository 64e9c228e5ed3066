import { DomainError, type ErrorKind } from '../errors.ts';
import type { AttributePath, FilterLiteral } from './filter.ts';

/**
 * Reads the tokens that paths and filters share (RFC 7644 §3.4.2.2, §3.5.2, §3.10). Holds the text and a position;
 * every failure names the position as a one-based character number.
 */
export class TextScanner {
  readonly text: string;
  position = 0;
  private readonly kind: ErrorKind;
  private readonly subject: string;

  constructor(text: string, kind: 'invalidFilter' | 'invalidPath') {
    this.text = text;
    this.kind = kind;
    this.subject = kind === 'invalidFilter' ? 'filter' : 'path';
  }

  get atEnd(): boolean {
    return this.position >= this.text.length;
  }

  /** A refusal at a position; names the text around it, so that a long filter can be mended. */
  refuse(problem: string, position = this.position, kind = this.kind): DomainError {
    const near = this.text.slice(position, position + 24).toWellFormed();
    const place = near === '' ? 'at its end' : `at character ${position + 1}, near "${near}"`;
    return new DomainError(kind, `The ${this.subject} cannot be read ${place}: ${problem}.`);
  }

  skipBlanks(): void {
    while (this.text.charCodeAt(this.position) === 0x20) this.position += 1;
  }

  /** Takes the character when it comes next. */
  take(character: string): boolean {
    if (this.text[this.position] !== character) return false;
    this.position += 1;
    return true;
  }

  /** The word (letters only, any case) that comes next, in lower case, without taking it. */
  peekWord(): string {
    let end = this.position;
    while (isLetter(this.text.charCodeAt(end))) end += 1;
    return this.text.slice(this.position, end).toLowerCase();
  }

  takeWord(word: string): boolean {
    if (this.peekWord() !== word) return false;
    this.position += word.length;
    return true;
  }

  attributePath(): AttributePath {
    const start = this.position;
    while (isPathCharacter(this.text.charCodeAt(this.position))) this.position += 1;
    const text = this.text.slice(start, this.position);
    const path = readAttributePath(text, start);
    if (path === undefined) {
      throw this.refuse(
        text === '' ? 'an attribute name is missing' : `"${text}" is no attribute name`,
        start,
      );
    }
    return path;
  }

  /** One name after `]`, such as `value` in `emails[type eq "work"].value`. */
  name(): string {
    const start = this.position;
    while (isNameCharacter(this.text.charCodeAt(this.position))) this.position += 1;
    const name = this.text.slice(start, this.position);
    if (!namePattern.test(name)) throw this.refuse('a sub-attribute name is expected', start);
    return name;
  }

  /** A JSON literal; with `unquotedValues` also a bare word, up to a blank or a closing bracket. */
  literal(unquotedValues: boolean): FilterLiteral {
    const start = this.position;
    if (this.text[start] === '"') return this.quoted(start);
    while (isBareCharacter(this.text[this.position])) this.position += 1;
    const text = this.text.slice(start, this.position);
    if (text === '') throw this.refuse('a value is missing', start);
    const value = readBareLiteral(text);
    if (value !== undefined) return { value, text, position: start, unquoted: false };
    if (!unquotedValues || !isStorableText(text)) {
      throw this.refuse('the value must be a quoted text, a number, true, false or null', start);
    }
    return { value: text, text, position: start, unquoted: true };
  }

  private quoted(start: number): FilterLiteral {
    let end = start + 1;
    while (end < this.text.length && this.text[end] !== '"') end += this.text[end] === '\\' ? 2 : 1;
    if (end >= this.text.length) throw this.refuse('the closing quotation mark is missing', start);
    this.position = end + 1;
    const text = this.text.slice(start, end + 1);
    const value = readQuoted(text);
    if (value === undefined || !isStorableText(value))
      throw this.refuse('the quoted text has a bad escape or character', start);
    return { value, text, position: start, unquoted: false };
  }
}

const namePattern = /^[A-Za-z$][\w$-]*$/;
const numberPattern = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

/** A text that both databases keep as it is: no NUL, no half of a surrogate pair. */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\u0000');
}

export function hasControlCharacter(text: string): boolean {
  return /\p{Cc}/u.test(text);
}

function readAttributePath(text: string, position: number): AttributePath | undefined {
  const colon = text.lastIndexOf(':');
  const urn = colon < 0 ? undefined : text.slice(0, colon);
  if (urn !== undefined && !/^urn:[^:]/i.test(urn)) return undefined;
  const [name = '', subName, more] = text.slice(colon + 1).split('.', 3);
  if (!namePattern.test(name) || more !== undefined) return undefined;
  if (subName !== undefined && !namePattern.test(subName)) return undefined;
  return {
    text,
    ...(urn === undefined ? {} : { urn }),
    name,
    ...(subName === undefined ? {} : { subName }),
    position,
  };
}

function readBareLiteral(text: string): number | boolean | null | undefined {
  if (text === 'true') return true;
  if (text === 'false') return false;
  if (text === 'null') return null;
  if (!numberPattern.test(text)) return undefined;
  const number = Number(text);
  return Number.isFinite(number) ? number : undefined;
}

function readQuoted(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}

function isBareCharacter(character: string | undefined): boolean {
  return character !== undefined && !' ()[]"'.includes(character);
}

function isLetter(unit: number): boolean {
  return (unit >= 0x41 && unit <= 0x5a) || (unit >= 0x61 && unit <= 0x7a);
}

/** Letters, digits, `_`, `-` and `$` (for `$ref`). */
function isNameCharacter(unit: number): boolean {
  return isLetter(unit) || (unit >= 0x30 && unit <= 0x39) || unit === 0x5f || unit === 0x2d || unit === 0x24;
}

/** What names and URNs are made of: also `.` and `:`. */
function isPathCharacter(unit: number): boolean {
  return isNameCharacter(unit) || unit === 0x2e || unit === 0x3a;
}
