// Where a piece of markup ends. All functions return -1 when the text ends first.

const tab = 0x09;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;
const quotationMark = 0x22;
const apostrophe = 0x27;
const slash = 0x2f;
const lessThan = 0x3c;
const equals = 0x3d;
const greaterThan = 0x3e;

export type MarkupKind =
  | 'open'
  | 'close'
  | 'comment'
  | 'cdata'
  | 'instruction'
  | 'doctype'
  | 'unknown'
  | 'incomplete';

/** What begins at `start`, where the text has a `<`. `text` must not be flattened anew between calls. */
export function markupKind(text: string, start: number): MarkupKind {
  const next = text[start + 1];
  if (next === undefined) return 'incomplete';
  if (next === '/') return 'close';
  if (next === '?') return 'instruction';
  return next === '!' ? declarationKind(text, start) : 'open';
}

const declarations = [
  ['<!--', 'comment'],
  ['<![CDATA[', 'cdata'],
  ['<!DOCTYPE', 'doctype'],
] as const;

function declarationKind(text: string, start: number): MarkupKind {
  for (const [opening, kind] of declarations) {
    if (text.startsWith(opening, start)) return kind;
    if (opening.startsWith(text.slice(start, start + opening.length))) return 'incomplete';
  }
  return 'unknown';
}

export function commentEnd(text: string, start: number): number {
  return endAfter(text, '-->', start + '<!--'.length);
}

export function cdataEnd(text: string, start: number): number {
  return endAfter(text, ']]>', start + '<![CDATA['.length);
}

export function instructionEnd(text: string, start: number): number {
  return endAfter(text, '?>', start + '<?'.length);
}

export function closeTagEnd(text: string, start: number): number {
  return endAfter(text, '>', start);
}

function endAfter(text: string, closing: string, from: number): number {
  const at = text.indexOf(closing, from);
  return at === -1 ? -1 : at + closing.length;
}

/** What `scanOpenTag` found; one object is used again and again, because it runs millions of times. */
export interface OpenTag {
  nameEnd: number;
  attributes: number;
  attributeNameMax: number;
  attributeValueMax: number;
  isSelfClosing: boolean;
  /** Index of a `<` inside the tag, which is never well-formed, or -1. */
  fault: number;
}

export function newOpenTag(): OpenTag {
  return {
    nameEnd: 0,
    attributes: 0,
    attributeNameMax: 0,
    attributeValueMax: 0,
    isSelfClosing: false,
    fault: -1,
  };
}

/** White space of XML. */
export function isSpace(code: number): boolean {
  return code === space || code === lineFeed || code === carriageReturn || code === tab;
}

/** End of the start tag at `start`; what stands in quotes is skipped. Fills `tag`. */
export function scanOpenTag(text: string, start: number, tag: OpenTag): number {
  let at = start + 1;
  let code = text.charCodeAt(at);
  while (code !== greaterThan && code !== slash && !isSpace(code) && at < text.length) {
    at += 1;
    code = text.charCodeAt(at);
  }
  tag.nameEnd = at;
  tag.attributes = 0;
  tag.attributeNameMax = 0;
  tag.attributeValueMax = 0;
  tag.isSelfClosing = false;
  tag.fault = -1;
  if (code === greaterThan) return at + 1;
  return scanAttributes(text, at, tag);
}

function scanAttributes(text: string, from: number, tag: OpenTag): number {
  let nameStart = from;
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quotationMark || code === apostrophe) {
      const close = text.indexOf(code === apostrophe ? "'" : '"', at + 1);
      if (close === -1) return -1;
      tag.attributes += 1;
      tag.attributeValueMax = Math.max(tag.attributeValueMax, close - at - 1);
      at = close;
    } else if (code === greaterThan) {
      tag.isSelfClosing = text.charCodeAt(at - 1) === slash;
      return at + 1;
    } else if (code === lessThan) {
      tag.fault = at;
      return at;
    } else if (code === equals) {
      tag.attributeNameMax = Math.max(tag.attributeNameMax, at - nameStart);
    } else if (isSpace(code)) {
      nameStart = at + 1;
    }
  }
  return -1;
}

/** Index at which the attribute `name` stands in the start tag at `start`; `start` itself when it is not there. */
export function findAttribute(text: string, start: number, name: string): number {
  let nameStart = start + 1;
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === greaterThan) return start;
    if (code === quotationMark || code === apostrophe) {
      const close = text.indexOf(code === apostrophe ? "'" : '"', at + 1);
      if (close === -1) return start;
      at = close;
      nameStart = close + 1;
    } else if (code === equals) {
      if (text.slice(nameStart, at).trim() === name) return nameStart + leadingSpaces(text, nameStart);
    } else if (isSpace(code) && text.slice(nameStart, at).trim() === '') {
      nameStart = at + 1;
    } else if (isSpace(code) && !isFollowedByEquals(text, at)) {
      nameStart = at + 1;
    }
  }
  return start;
}

function leadingSpaces(text: string, from: number): number {
  let count = 0;
  while (isSpace(text.charCodeAt(from + count))) count += 1;
  return count;
}

function isFollowedByEquals(text: string, from: number): boolean {
  return text.charCodeAt(from + leadingSpaces(text, from)) === equals;
}

/** Whether the end tag at `start`, which ends at `end`, is that of `name`. */
export function closes(text: string, start: number, end: number, name: string): boolean {
  if (!text.startsWith(name, start + 2)) return false;
  for (let at = start + 2 + name.length; at < end - 1; at += 1) {
    if (!isSpace(text.charCodeAt(at))) return false;
  }
  return true;
}
