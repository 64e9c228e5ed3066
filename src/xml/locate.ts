import type { ErrorDetail } from 'libxml2-wasm';
import { SaxesParser } from 'saxes';
import {
  cdataEnd,
  closeTagEnd,
  commentEnd,
  findAttribute,
  instructionEnd,
  markupKind,
  newOpenTag,
  scanOpenTag,
} from './markup.ts';
import { isPassword, passwordFault } from './scanner.ts';
import type { DocumentWindow } from './windows.ts';
import { advance, type TextPosition, XmlError } from './xml.ts';

const messageCharactersMax = 500;
const attributeNamed = /^Element '[^']*', attribute '([^']+)'/;

/** The schema's problems with a window as errors at their places in the file. */
export function locateProblems(window: DocumentWindow, problems: readonly ErrorDetail[]): XmlError[] {
  const wanted = new Map(problems.map(({ xpath = '' }) => [indexed(xpath), -1]));
  locateElements(window.document, wanted);
  return problems.map(({ message, xpath = '' }) => {
    const attribute = attributeNamed.exec(message)?.[1];
    const start = wanted.get(indexed(xpath)) ?? -1;
    const index =
      attribute === undefined ? start : findAttribute(window.document, start, bareName(attribute));
    const path = filePath(window, xpath, start) + (attribute === undefined ? '' : `/@${attribute}`);
    return new XmlError('schema', sentence(message, path), filePosition(window, index), path);
  });
}

/** Where and why a window is not well-formed; undefined when only libxml2 finds fault with it. */
export function locateFault(window: DocumentWindow): XmlError | undefined {
  const parser = new SaxesParser({ xmlns: true, position: false });
  const stack: string[] = [];
  let records = 0;
  let fault: XmlError | undefined;
  parser.on('opentagstart', ({ name }) => {
    const depth = stack.push(name);
    if (depth === 2) records = name === window.section ? window.recordsBefore : 0;
    else if (depth === 3) records += 1;
  });
  parser.on('closetag', () => stack.pop());
  parser.on('error', ({ message }) => {
    if (fault !== undefined) return;
    const hidden = stack.some(isPassword);
    const shown = hidden ? passwordFault : `The file is not well-formed XML: ${message}`;
    // The parser has read the character that is wrong.
    const index = Math.max(parser.position - 1, 0);
    fault = new XmlError('malformed', shown, filePosition(window, index), pathOf(stack, records));
  });
  parser.write(window.document).close();
  return fault;
}

/** The fault as libxml2 tells it: its line is exact, its column nearly so. */
export function describeFault(window: DocumentWindow, problems: readonly ErrorDetail[]): XmlError {
  const first = problems[0];
  const before = advance({ line: 1, column: 1 }, window.document, 0, window.rawStart);
  const line = window.start.line + (first?.line ?? 1) - before.line;
  const message = 'The file is not well-formed XML: an entity, a name or a character is not allowed here.';
  return new XmlError('malformed', message, { line, column: first?.col ?? 1 });
}

function filePosition(window: DocumentWindow, index: number): TextPosition {
  const within = Math.min(Math.max(index, window.rawStart), window.rawEnd);
  return advance(window.start, window.document, window.rawStart, within);
}

/** Stops at a password: names inside it could be part of it. */
function pathOf(stack: readonly string[], records: number): string {
  const password = stack.findIndex(isPassword);
  const shown = password === -1 ? stack : stack.slice(0, password + 1);
  const isRecord = stack[1] === 'users' || stack[1] === 'groups';
  return shown.map((name, i) => (i === 2 && isRecord ? `/${name}[${records}]` : `/${name}`)).join('');
}

/** libxml2 leaves out the index of an only child; here every step has one. */
function indexed(xpath: string): string {
  return xpath.replace(/([^\]/])(?=\/|$)/g, '$1[1]');
}

const recordStep = /^(\/[^/]+\/([^/[]+)(?:\[\d+\])?\/)([^/[]+)(?:\[(\d+)\])?/;

/** The path in the file: the index of a record counts the windows before. */
function filePath(window: DocumentWindow, xpath: string, start: number): string {
  const path =
    xpath.endsWith('*') && start >= 0 ? xpath.slice(0, -1) + nameAt(window.document, start) : xpath;
  return path.replace(recordStep, (_all, parents: string, section: string, name: string, index?: string) => {
    if (section !== 'users' && section !== 'groups') return `${parents}${name}${index ? `[${index}]` : ''}`;
    const before = section === window.section ? window.recordsBefore : 0;
    return `${parents}${name}[${before + Number(index ?? 1)}]`;
  });
}

function nameAt(text: string, start: number): string {
  const tag = newOpenTag();
  scanOpenTag(text, start, tag);
  return text.slice(start + 1, tag.nameEnd);
}

function bareName(name: string): string {
  return name.replace(/^\{.*\}/, '');
}

const missingInUser = /^Element 'user': Missing child element/;

/** libxml2's own sentence, but never with the text of a password, and with what its list of ten leaves out. */
function sentence(message: string, path: string): string {
  const text = message.trim();
  if (/\/password(\[\d+\])?\//.test(path) && !path.includes('/@')) {
    return "Element 'password': Element content is not allowed, because it is a simple type.";
  }
  if (missingInUser.test(text)) return `${text} The last of them, 'additionalfields', is required.`;
  return text.length > messageCharactersMax ? `${text.slice(0, messageCharactersMax)}…` : text;
}

interface Parent {
  readonly path: string;
  readonly counts: Map<string, number>;
  elements: number;
}

/** Fills `wanted` (indexed paths) with the index at which each element starts. The text is well-formed. */
function locateElements(text: string, wanted: Map<string, number>): void {
  const tag = newOpenTag();
  const parents: Parent[] = [{ path: '', counts: new Map(), elements: 0 }];
  for (let at = text.indexOf('<'); at !== -1; at = text.indexOf('<', at)) {
    const kind = markupKind(text, at);
    if (kind === 'open') {
      const end = scanOpenTag(text, at, tag);
      const element = enter(parents, text.slice(at + 1, tag.nameEnd), at, wanted);
      if (!tag.isSelfClosing) parents.push(element);
      at = end;
    } else {
      if (kind === 'close') parents.pop();
      at = otherEnd(kind, text, at);
    }
    if (at === -1) return;
  }
}

function enter(parents: readonly Parent[], name: string, start: number, wanted: Map<string, number>): Parent {
  const parent = parents.at(-1);
  if (parent === undefined) return { path: '', counts: new Map(), elements: 0 };
  const count = (parent.counts.get(name) ?? 0) + 1;
  parent.counts.set(name, count);
  parent.elements += 1;
  const path = `${parent.path}/${name}[${count}]`;
  // libxml2 writes an element of a default namespace as *, counted among all its siblings.
  for (const each of [path, `${parent.path}/*[${parent.elements}]`]) {
    if (wanted.get(each) === -1) wanted.set(each, start);
  }
  return { path, counts: new Map(), elements: 0 };
}

function otherEnd(kind: ReturnType<typeof markupKind>, text: string, start: number): number {
  if (kind === 'close') return closeTagEnd(text, start);
  if (kind === 'comment') return commentEnd(text, start);
  if (kind === 'cdata') return cdataEnd(text, start);
  return instructionEnd(text, start);
}
