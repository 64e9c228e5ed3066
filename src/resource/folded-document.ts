import { canonicalKey } from './canonical-key.ts';
import { parseDateTime } from './date-time.ts';
import { isArray, isObject, type ScimObject, type ScimValue } from './value.ts';

/** Behind the name of a dateTime: the member that holds its instant. No attribute name has this character. */
export const instantMark = '@';
/** The member that holds the key of the name by which the resource is shown. */
export const shownNameMember = '@';

/** What may need folding: beyond ASCII, a blank at an end of a text, or what begins like a dateTime. */
const notPlain = /[\u0080-\uffff]|"(?: |\\[tnrfu]|\d{4}-\d\d-\d\dT)|(?: |\\[tnrf]|\\u00[\da-f]{2})"/;

/**
 * What filters need to know of a document that SQL cannot work out of its text: for each text whose `canonicalKey` is
 * not merely its ASCII lower case, that key, in the same place; beside each dateTime, under its name and `@`, the
 * milliseconds since 1970. In lists, null stands for elements that need nothing. Undefined when there is nothing to say,
 * which one look at `json`, the document's text, finds out for most people.
 */
export function foldDocument(document: ScimObject, json: string, shownName: string): ScimObject | undefined {
  const parts = notPlain.test(json) ? foldObject(document) : undefined;
  const shown = foldText(shownName);
  return shown === undefined ? parts : { ...parts, [shownNameMember]: shown };
}

function fold(value: ScimValue): ScimValue | undefined {
  if (typeof value === 'string') return foldText(value);
  if (isArray(value)) return foldList(value);
  return isObject(value) ? foldObject(value) : undefined;
}

function foldText(text: string): string | undefined {
  const key = canonicalKey(text);
  return key === asciiLowerCase(text) ? undefined : key;
}

function foldList(list: readonly ScimValue[]): readonly ScimValue[] | undefined {
  const parts = list.map(fold);
  return parts.some((part) => part !== undefined) ? parts.map((part) => part ?? null) : undefined;
}

function foldObject(object: ScimObject): ScimObject | undefined {
  const parts: Record<string, ScimValue> = {};
  let hasParts = false;
  for (const [name, value] of Object.entries(object)) {
    const part = fold(value);
    const instant = typeof value === 'string' ? parseDateTime(value) : undefined;
    if (part !== undefined) parts[name] = part;
    if (instant !== undefined) parts[name + instantMark] = instant;
    hasParts ||= part !== undefined || instant !== undefined;
  }
  return hasParts ? parts : undefined;
}

/** As `lower` of SQLite, and of PostgreSQL under the collation "C". */
function asciiLowerCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
