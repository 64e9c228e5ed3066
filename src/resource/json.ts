// Bytes of a request body to a JSON value, with every bound on the way.
// Never knows SCIM: what the value means is decided in normalise.ts and patch-operation.ts.
// Renders RFC 8259; duplicate names (§4) are refused, because two readers would see two different bodies.

import { DomainError } from '../errors.ts';
import { findJsonFault, type JsonFault } from './json-fault.ts';
import { memberValuesMax } from './normalise-value.ts';
import { isArray, isDangerousKey, isObject, type ScimValue } from './value.ts';

export interface JsonBounds {
  readonly documentBytesMax: number;
  readonly depthMax: number;
  readonly objectKeysMax: number;
  readonly stringCharactersMax: number;
  /** Texts, numbers, booleans and nulls in the whole document; of objects and arrays there may be as many. */
  readonly valuesMax: number;
}

export const scimJsonBounds: JsonBounds = {
  documentBytesMax: 2 * 1024 * 1024,
  depthMax: 32,
  objectKeysMax: 1000,
  stringCharactersMax: 64 * 1024,
  // What may be in a resource is counted by what it is for; this only bounds the reading.
  valuesMax: memberValuesMax,
};

/**
 * Reads a JSON text (RFC 8259), UTF-8 only. Throws `invalidSyntax` naming line, column and character for broken JSON,
 * bad UTF-8, duplicate and dangerous keys and a breach of depth, keys or length; `payloadTooLarge` over
 * `documentBytesMax` or `valuesMax`.
 */
export function readJson(bytes: Uint8Array, bounds: JsonBounds = scimJsonBounds): ScimValue {
  if (bytes.byteLength > bounds.documentBytesMax) {
    throw new DomainError(
      'payloadTooLarge',
      `The body is larger than ${bounds.documentBytesMax} bytes; split it.`,
    );
  }
  const text = decode(bytes);
  const value = parse(text, bounds);
  const tally: Tally = { keys: 0, values: 0, containers: 0 };
  inspect(value, 1, tally, bounds);
  // A key that occurs twice is written twice and parsed once.
  if (tally.keys !== countKeys(text)) throw refuse(findJsonFault(text, bounds.depthMax));
  return value;
}

interface Tally {
  keys: number;
  values: number;
  containers: number;
}

const decoder = new TextDecoder('utf-8', { fatal: true });

function decode(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch (cause) {
    const offset = firstBadByte(bytes);
    throw new DomainError('invalidSyntax', `The body is not UTF-8: the byte at offset ${offset} is wrong.`, {
      cause,
    });
  }
}

/** Where the bad sequence begins: the longest good prefix is found by halving, and may end in the middle of one. */
function firstBadByte(bytes: Uint8Array): number {
  let good = 0;
  let bad = bytes.byteLength;
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (isUtf8(bytes.subarray(0, middle), true)) good = middle;
    else bad = middle;
  }
  while (!isUtf8(bytes.subarray(0, good), false)) good -= 1;
  return good;
}

/** `isPrefix`: the bytes may end in the middle of a character. */
function isUtf8(bytes: Uint8Array, isPrefix: boolean): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: isPrefix });
    return true;
  } catch {
    return false;
  }
}

function parse(text: string, bounds: JsonBounds): ScimValue {
  try {
    return JSON.parse(text) as ScimValue;
  } catch {
    throw refuse(findJsonFault(text, bounds.depthMax));
  }
}

function inspect(value: ScimValue, depth: number, tally: Tally, bounds: JsonBounds): void {
  if (typeof value !== 'object' || value === null) {
    tally.values += 1;
    if (tally.values > bounds.valuesMax) throw tooMany('values', bounds);
    if (typeof value === 'string') checkLength(value, bounds);
    return;
  }
  if (depth > bounds.depthMax) {
    throw new DomainError('invalidSyntax', `The body is nested deeper than ${bounds.depthMax} levels.`);
  }
  tally.containers += 1;
  if (tally.containers > bounds.valuesMax) throw tooMany('objects and arrays', bounds);
  if (isArray(value)) {
    for (const element of value) inspect(element, depth + 1, tally, bounds);
  } else if (isObject(value)) {
    const names = Object.keys(value);
    tally.keys += names.length;
    checkKeys(names, bounds);
    for (const name of names) inspect(value[name] ?? null, depth + 1, tally, bounds);
  }
}

function tooMany(what: string, { valuesMax }: JsonBounds): DomainError {
  return new DomainError('payloadTooLarge', `The body has more than ${valuesMax} ${what}; split it.`);
}

function checkLength(text: string, { stringCharactersMax }: JsonBounds): void {
  if (text.length <= stringCharactersMax) return;
  throw new DomainError(
    'invalidSyntax',
    `The body has a text of more than ${stringCharactersMax} characters.`,
  );
}

function checkKeys(names: readonly string[], bounds: JsonBounds): void {
  if (names.length > bounds.objectKeysMax) {
    throw new DomainError(
      'invalidSyntax',
      `The body has an object of more than ${bounds.objectKeysMax} keys.`,
    );
  }
  for (const name of names) {
    if (isDangerousKey(name))
      throw new DomainError('invalidSyntax', `The key "${name}" is not allowed; remove it.`);
    checkLength(name, bounds);
  }
}

/** How many texts are followed by a colon; `text` is known to be valid JSON, so these are its keys. */
function countKeys(text: string): number {
  let keys = 0;
  let start = text.indexOf('"');
  while (start >= 0) {
    let after = endOfText(text, start) + 1;
    while (isBlank(text.charCodeAt(after))) after += 1;
    if (text.charCodeAt(after) === 0x3a) keys += 1;
    start = text.indexOf('"', after);
  }
  return keys;
}

/** The closing quotation mark: the first one before which stands an even number of backslashes. */
function endOfText(text: string, start: number): number {
  let end = start;
  let backslashes: number;
  do {
    end = text.indexOf('"', end + 1);
    if (end < 0) return text.length;
    backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === 0x5c) backslashes += 1;
  } while (backslashes % 2 === 1);
  return end;
}

function isBlank(unit: number): boolean {
  return unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09;
}

function refuse(fault: JsonFault): DomainError {
  const place = `line ${fault.line}, column ${fault.column} (character ${fault.offset + 1})`;
  return new DomainError('invalidSyntax', `The body is not valid JSON at ${place}: ${fault.problem}.`);
}
