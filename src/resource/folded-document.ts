import { canonicalKey } from './canonical-key.ts';
import { parseDateTime } from './date-time.ts';
import { isArray, isObject, type ScimObject, type ScimValue } from './value.ts';

/** Behind the name of a dateTime: the member that holds its instant. No attribute name has this character. */
export const instantMark = '@';
/** The member that holds the key of the name by which the resource is shown. */
export const shownNameMember = '@';

const beyondAscii = /[\u0080-\uffff]/;

/**
 * What filters need to know of a document that SQL cannot work out of its text: for each text whose `canonicalKey` is
 * not merely its ASCII lower case, that key, in the same place; beside each dateTime, under its name and `@`, the
 * milliseconds since 1970. In lists, null stands for elements that need nothing. Undefined when there is nothing to say,
 * as with most people.
 */
export function foldDocument(document: ScimObject, shownName: string): ScimObject | undefined {
  const parts = foldObject(document);
  const shown = foldText(shownName);
  return shown === undefined ? parts : { ...parts, [shownNameMember]: shown };
}

function fold(value: ScimValue): ScimValue | undefined {
  if (typeof value === 'string') return foldText(value);
  if (isArray(value)) return foldList(value);
  return isObject(value) ? foldObject(value) : undefined;
}

function foldText(text: string): string | undefined {
  if (!beyondAscii.test(text) && text.trim() === text) return undefined;
  const key = canonicalKey(text);
  return key === asciiLowerCase(text) ? undefined : key;
}

function foldList(list: readonly ScimValue[]): readonly ScimValue[] | undefined {
  const parts = list.map(fold);
  if (parts.every((part) => part === undefined)) return undefined;
  return parts.map((part) => part ?? null);
}

function foldObject(object: ScimObject): ScimObject | undefined {
  let parts: Record<string, ScimValue> | undefined;
  for (const name of Object.keys(object)) {
    const value = object[name] ?? null;
    const part = fold(value);
    if (part !== undefined) parts = { ...parts, [name]: part };
    const instant = typeof value === 'string' && value[4] === '-' ? parseDateTime(value) : undefined;
    if (instant !== undefined) parts = { ...parts, [name + instantMark]: instant };
  }
  return parts;
}

/** As `lower` of SQLite, and of PostgreSQL under the collation "C". */
function asciiLowerCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
