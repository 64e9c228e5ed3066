import { DomainError } from '../errors.ts';
import { canonicalKey } from './canonical-key.ts';
import { parseDateTime } from './date-time.ts';
import { type AttributeDefinition, findChild } from './schema.ts';
import { hasControlCharacter, isStorableText } from './text-scanner.ts';
import { hasNoKeys, isArray, isDangerousKey, isObject, type ScimObject, type ScimValue } from './value.ts';

export const textCharactersMax = 64 * 1024;
export const objectKeysMax = 1000;
export const bodyValuesMax = 20_000;
/** Members become rows and never a document: of them there may be a hundred thousand, each said in four values. */
export const memberValuesMax = 400_000;
/** Comparisons of list elements by one PATCH: a thousand filters over long lists would hold up everybody else. */
export const patchComparisonsMax = 500_000;
const ignoredMax = 100;

/** Something of the body that was left out; for the request log. */
export interface IgnoredAttribute {
  /** As the client wrote it, at most 200 characters. */
  readonly attribute: string;
  readonly reason: 'unknown' | 'readOnly' | 'password' | 'noValue' | 'otherValue';
}

/** What one body was seen to hold: its values are counted, and what is left out is listed (the first hundred). */
export class NormaliseTally {
  readonly ignored: IgnoredAttribute[] = [];
  private values = 0;
  private memberValues = 0;
  private comparisons = 0;

  ignore(attribute: string, reason: IgnoredAttribute['reason']): void {
    if (this.ignored.length >= ignoredMax) return;
    this.ignored.push({ attribute: attribute.slice(0, 200).toWellFormed(), reason });
  }

  /** An unknown name: left out, unless it is one that no object may have. */
  ignoreUnknown(name: string, prefix = ''): void {
    if (isDangerousKey(name))
      throw new DomainError('invalidSyntax', `The key "${name}" is not allowed; remove it.`);
    this.ignore(prefix + name, 'unknown');
  }

  countValue({ parent }: AttributeDefinition): void {
    if (parent?.path === 'members') this.memberValues += 1;
    else this.values += 1;
    if (this.values > bodyValuesMax || this.memberValues > memberValuesMax) {
      throw new DomainError('payloadTooLarge', `The body has more than ${bodyValuesMax} values; split it.`);
    }
  }

  countComparisons(comparisons: number): void {
    this.comparisons += comparisons;
    if (this.comparisons > patchComparisonsMax) {
      throw new DomainError(
        'payloadTooLarge',
        'The PATCH looks through too many values; send several requests.',
      );
    }
  }
}

/**
 * The value in canonical form, or undefined when it counts as unassigned (RFC 7643 §2.5). Throws `invalidValue`
 * naming the attribute and the expected type.
 */
export function normaliseValue(
  definition: AttributeDefinition,
  value: ScimValue,
  tally: NormaliseTally,
): ScimValue | undefined {
  if (value === null || value === '') return undefined;
  if (!definition.multiValued) return normaliseSingle(definition, value, tally);
  if (!isArray(value)) throw wrongType(definition, value);
  return normaliseList(definition, value, tally);
}

/** One value of the attribute: the only one, or an element of the list. */
export function normaliseSingle(
  definition: AttributeDefinition,
  value: ScimValue,
  tally: NormaliseTally,
): ScimValue | undefined {
  if (value === null || value === '') return undefined;
  if (definition.type === 'complex') return normaliseComplex(definition, value, tally);
  tally.countValue(definition);
  return normaliseSimple(definition, value);
}

/** The parts of an object by their definitions, unknown and readOnly ones left out. Throws `invalidSyntax` for doubles. */
export function readParts(
  definition: AttributeDefinition,
  value: ScimObject,
  tally: NormaliseTally,
): ReadonlyMap<AttributeDefinition, ScimValue> {
  const parts = new Map<AttributeDefinition, ScimValue>();
  for (const name of boundedKeys(value)) {
    const child = findChild(definition, name);
    if (child === undefined) tally.ignoreUnknown(name, `${definition.path}.`);
    else if (parts.has(child)) throw givenTwice(child);
    else if (child.mutability !== 'readOnly') parts.set(child, value[name] ?? null);
  }
  return parts;
}

export function boundedKeys(value: ScimObject): readonly string[] {
  const names = Object.keys(value);
  if (names.length <= objectKeysMax) return names;
  throw new DomainError('invalidSyntax', `An object has more than ${objectKeysMax} keys; shorten it.`);
}

export function givenTwice(definition: AttributeDefinition): DomainError {
  const detail = `The attribute ${definition.path} is given twice, in two spellings; give it once.`;
  return new DomainError('invalidSyntax', detail, { attribute: definition.path });
}

/** RFC 7643 §2.4: at most one value of a list is the primary one. */
export function checkOnePrimary(definition: AttributeDefinition, list: readonly ScimValue[]): void {
  let primaries = 0;
  for (const element of list) if (isObject(element) && element.primary === true) primaries += 1;
  if (primaries > 1) {
    throw invalidValue(definition, 'has more than one value marked primary; mark at most one');
  }
}

/** Whether an element says nothing but what it would be for: such an element counts as unassigned. */
export function isOnlyLabels(element: ScimObject): boolean {
  for (const name in element) if (name !== 'type' && name !== 'primary') return false;
  return true;
}

export function invalidValue(definition: AttributeDefinition, problem: string): DomainError {
  const detail = `The attribute ${definition.path} ${problem}.`;
  return new DomainError('invalidValue', detail, { attribute: definition.path });
}

function normaliseList(
  definition: AttributeDefinition,
  value: readonly ScimValue[],
  tally: NormaliseTally,
): ScimValue | undefined {
  const list: ScimValue[] = [];
  for (const element of value) {
    if (isArray(element)) throw wrongType(definition, element);
    const normalised = normaliseSingle(definition, element, tally);
    // An element that says nothing is none, but to read a hundred thousand of them takes its time as well.
    if (normalised === undefined) tally.countValue(definition);
    else list.push(normalised);
  }
  if (list.length === 0) return undefined;
  checkOnePrimary(definition, list);
  return list;
}

function normaliseComplex(
  definition: AttributeDefinition,
  value: ScimValue,
  tally: NormaliseTally,
): ScimObject | undefined {
  if (!isObject(value)) throw wrongType(definition, value);
  const result: Record<string, ScimValue> = {};
  for (const name of boundedKeys(value)) {
    const child = findChild(definition, name);
    if (child === undefined) {
      tally.ignoreUnknown(name, `${definition.path}.`);
    } else if (child.mutability !== 'readOnly') {
      if (Object.hasOwn(result, child.name)) throw givenTwice(child);
      const part = normaliseValue(child, value[name] ?? null, tally);
      if (part !== undefined) result[child.name] = part;
    }
  }
  const isEmpty = definition.multiValued ? isOnlyLabels(result) : hasNoKeys(result);
  if (isEmpty && definition.multiValued && saysNoValue(value)) tally.ignore(definition.path, 'noValue');
  return isEmpty ? undefined : result;
}

/** One that is given as null or empty is taken away on purpose (RFC 7643 §2.5). */
function saysNoValue(element: ScimObject): boolean {
  const names = Object.keys(element);
  return names.length > 0 && !names.some((name) => name.toLowerCase() === 'value');
}

function normaliseSimple(definition: AttributeDefinition, value: ScimValue): ScimValue {
  switch (definition.type) {
    case 'boolean':
      if (typeof value === 'boolean') return value;
      break;
    case 'integer':
      if (Number.isSafeInteger(value)) return value;
      break;
    case 'decimal':
      if (Number.isFinite(value)) return value;
      break;
    case 'dateTime':
      if (typeof value === 'string' && parseDateTime(value) !== undefined) return value;
      break;
    case 'binary':
      if (typeof value === 'string' && isBase64(value)) return normaliseText(definition, value);
      break;
    default:
      if (typeof value === 'string') return normaliseText(definition, value);
  }
  throw wrongType(definition, value);
}

function normaliseText(definition: AttributeDefinition, text: string): string {
  if (text.length > textCharactersMax) {
    throw invalidValue(definition, `is longer than ${textCharactersMax} characters; shorten it`);
  }
  if (!isStorableText(text)) {
    throw invalidValue(definition, 'has a NUL or half a surrogate pair, which cannot be stored; remove it');
  }
  if (definition.isName && hasControlCharacter(text)) {
    throw invalidValue(definition, 'has a control character such as a tab or a line end; remove it');
  }
  const { closedValues } = definition;
  if (closedValues === undefined) return text;
  const spelling = closedValues.get(canonicalKey(text));
  if (spelling !== undefined) return spelling;
  throw invalidValue(definition, `must be one of: ${[...closedValues.values()].join(', ')}`);
}

/** RFC 7643 §2.3.6 allows both alphabets of RFC 4648. */
function isBase64(text: string): boolean {
  return /^[A-Za-z0-9+/_-]+={0,2}$/.test(text);
}

const expectedForms: Readonly<Record<AttributeDefinition['type'], string>> = {
  string: 'a text',
  boolean: 'a boolean (true or false)',
  decimal: 'a number',
  integer: 'a whole number',
  dateTime: 'a date and time such as "2024-05-17T08:30:00Z"',
  binary: 'a text in base64',
  reference: 'a text (an address)',
  complex: 'an object',
};

export function wrongType(definition: AttributeDefinition, value: ScimValue): DomainError {
  const one = expectedForms[definition.type];
  const form = definition.multiValued ? `an array, each of its values ${one}` : one;
  return invalidValue(definition, `must be ${form}, but ${describe(value, definition)} was sent`);
}

/** Never the value itself: it may be a secret. */
function describe(value: ScimValue, { type }: AttributeDefinition): string {
  if (value === null) return 'null';
  if (isArray(value)) return 'an array';
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'string') return 'a text';
  if (typeof value !== 'number' || (type !== 'integer' && type !== 'decimal')) return `a ${typeof value}`;
  return Number.isFinite(value) && !Number.isInteger(value)
    ? 'a number with a fraction'
    : 'a number of too many digits';
}
