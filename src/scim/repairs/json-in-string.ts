import { findChild } from '../../resource/schema.ts';
import { isArray, isObject, type ScimObject, type ScimValue } from '../../resource/value.ts';
import type { ValueRepair } from './value-repair.ts';

const textCharactersMax = 16_384;

/** Entra ID sends roles as a text that holds JSON: `"{\"value\":\"admin\"}"`, or so in the `value` of an element (E7). */
export const jsonInString: ValueRepair = {
  code: 'json-in-string',
  mend(attribute, value) {
    if (attribute.type !== 'complex') return undefined;
    if (typeof value === 'string') return parseJson(value);
    if (!isObject(value) || findChild(attribute, 'value') === undefined) return undefined;
    const { value: inner, ...beside } = value;
    const parsed = typeof inner === 'string' ? parseJson(inner) : undefined;
    return isObject(parsed) ? { ...parsed, ...beside } : undefined;
  },
};

/** Where a role stands, Entra ID writes `displayName` for `display` (E7). */
export const displayFromDisplayName: ValueRepair = {
  code: 'display-from-display-name',
  mend(attribute, value) {
    const isMissing = (name: string) => findChild(attribute, name) === undefined;
    if (!isObject(value) || isMissing('display') || !isMissing('displayName')) return undefined;
    const key = Object.keys(value).find((name) => name.toLowerCase() === 'displayname');
    if (key === undefined || isThere(value, 'display')) return undefined;
    const { [key]: display = null, ...rest } = value;
    return { ...rest, display };
  },
};

function isThere(object: ScimObject, name: string): boolean {
  return Object.keys(object).some((key) => key.toLowerCase() === name);
}

/** The object or list that a text holds; undefined when it holds none. */
export function parseJson(text: string): ScimValue | undefined {
  if (text.length > textCharactersMax || !/^\s*[[{]/.test(text)) return undefined;
  try {
    const value = JSON.parse(text) as ScimValue;
    return isObject(value) || isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
