import { DomainError } from '../errors.ts';
import { canonicalKey } from './canonical-key.ts';
import { evaluateFilter } from './filter-evaluate.ts';
import type { ResolvedFilter } from './filter-resolve.ts';
import { invalidValue, normaliseSingle, wrongType } from './normalise-value.ts';
import { changePart, mergeParts, type ValueChange } from './patch-value.ts';
import { type AttributeDefinition, findChild } from './schema.ts';
import { equalValues, isArray, isObject, type ScimObject, type ScimValue } from './value.ts';

/** Lists in the document are short (members are rows); the bound keeps repeated adds from growing one for ever. */
export const listElementsMax = 2000;

export interface ListChange {
  readonly attribute: AttributeDefinition;
  readonly subAttribute: AttributeDefinition | undefined;
  readonly filter: ResolvedFilter | undefined;
  readonly current: ScimValue | undefined;
  readonly change: ValueChange;
  /** For messages. */
  readonly path: string;
  /** Whether `add` creates the element that the filter describes when none matches. */
  readonly create: boolean;
}

export interface ChangedList {
  /** undefined when nothing is left. */
  readonly list: readonly ScimValue[] | undefined;
  readonly created: boolean;
}

/**
 * Applies one operation to a multi-valued attribute: add, remove, and everything with a filter or a sub-attribute
 * (RFC 7644 §3.5.2.1 to §3.5.2.3). Throws `noTarget`, `invalidValue`.
 */
export function applyToList(request: ListChange): ChangedList {
  const list = isArray(request.current) ? request.current : [];
  request.change.tally.countComparisons(list.length * (1 + countTerms(request.filter)));
  if (request.filter === undefined && request.subAttribute === undefined) {
    const isAdd = request.change.op === 'add';
    return finish(request, isAdd ? addValues(request, list) : removeValues(request, list), false);
  }
  const matches = list.map((element) => isObject(element) && isMatch(request.filter, element));
  if (matches.includes(true)) return finish(request, changeMatches(request, list, matches), false);
  // To remove what is not there is no error: a request that is repeated gets the same answer.
  if (request.change.op === 'remove') return finish(request, list.map(untouched), false);
  const seed = seedElement(request);
  if (seed === undefined) throw noTarget(request.path);
  const element = changeElement(request, seed);
  const added = element === undefined ? [] : [{ element, marked: isPrimary(element) }];
  return finish(request, [...list.map(untouched), ...added], request.filter !== undefined);
}

function countTerms(filter: ResolvedFilter | undefined): number {
  if (filter === undefined) return 0;
  if (filter.kind === 'and' || filter.kind === 'or')
    return filter.terms.reduce((sum, term) => sum + countTerms(term), 0);
  return filter.kind === 'not' || filter.kind === 'valuePath' ? countTerms(filter.filter) : 1;
}

interface Entry {
  readonly element: ScimValue;
  /** Whether this operation marked it primary; one that was so before and only stays so is not meant. */
  readonly marked: boolean;
}

function untouched(element: ScimValue): Entry {
  return { element, marked: false };
}

function isMatch(filter: ResolvedFilter | undefined, element: ScimObject): boolean {
  return filter === undefined || evaluateFilter(filter, element);
}

function changeMatches(
  request: ListChange,
  list: readonly ScimValue[],
  matches: readonly boolean[],
): Entry[] {
  const marks = setsPrimary(request);
  return list.flatMap((element, index) => {
    if (matches[index] !== true || !isObject(element)) return [untouched(element)];
    const changed = changeElement(request, element);
    return changed === undefined ? [] : [{ element: changed, marked: marks && isPrimary(changed) }];
  });
}

function setsPrimary({ subAttribute, change }: ListChange): boolean {
  if (subAttribute !== undefined) return subAttribute.name === 'primary';
  return isObject(change.value) && Object.keys(change.value).some((name) => name.toLowerCase() === 'primary');
}

function changeElement(request: ListChange, element: ScimObject): ScimValue | undefined {
  const { attribute, subAttribute, change } = request;
  if (subAttribute !== undefined) return changePart(element, subAttribute, change);
  if (change.op === 'remove' || change.value === null || change.value === '') return undefined;
  if (change.op === 'add') return mergeParts(attribute, element, change);
  if (!isObject(change.value)) throw invalidValue(attribute, 'needs an object to replace one of its values');
  return normaliseSingle(attribute, change.value, change.tally);
}

/**
 * What an element that does not exist yet starts from: nothing when there is no filter, else what a filter of and-ed
 * `eq` terms says of it (Entra E3: `add` with `emails[type eq "work"].value`). undefined: it cannot be created.
 */
function seedElement({ filter, change, create }: ListChange): ScimObject | undefined {
  if (filter === undefined) return {};
  if (change.op !== 'add' || !create) return undefined;
  const seed: Record<string, ScimValue> = {};
  return fillSeed(filter, seed) ? seed : undefined;
}

function fillSeed(filter: ResolvedFilter, seed: Record<string, ScimValue>): boolean {
  if (filter.kind === 'and') return filter.terms.every((term) => fillSeed(term, seed));
  if (filter.kind !== 'compare' || filter.operator !== 'eq' || filter.target.subAttribute !== undefined)
    return false;
  const { attribute } = filter.target;
  const { literal } = filter;
  const value =
    literal.kind === 'boolean' ? literal.boolean : literal.kind === 'number' ? literal.number : literal.text;
  if (attribute.mutability === 'readOnly' || Object.hasOwn(seed, attribute.name)) return false;
  seed[attribute.name] = value;
  return true;
}

/** §3.5.2.1: a value that is there already is not added again; it takes over what the new one says beside. */
function addValues({ attribute, change }: ListChange, list: readonly ScimValue[]): Entry[] {
  const entries = list.map(untouched);
  const places = new Map(list.map((element, index) => [elementKey(attribute, element), index]));
  for (const value of listed(attribute, change)) {
    const element = normaliseSingle(attribute, value, change.tally);
    if (element === undefined) continue;
    const key = elementKey(attribute, element);
    const place = places.get(key) ?? entries.length;
    const before = entries[place]?.element;
    const merged = isObject(before) && isObject(element) ? { ...before, ...element } : element;
    const marked = isPrimary(element) || (entries[place]?.marked === true && isPrimary(merged));
    entries[place] = { element: merged, marked };
    places.set(key, place);
  }
  return entries;
}

/** Without values the whole attribute; with values, which only a repair lets in, those that are equal to one of them. */
function removeValues({ attribute, change }: ListChange, list: readonly ScimValue[]): Entry[] {
  if (change.value === undefined) return [];
  const unwanted = listed(attribute, change).flatMap((value) => {
    const element = normaliseSingle(attribute, value, change.tally);
    return element === undefined ? [] : [element];
  });
  return list
    .filter((element) => !unwanted.some((each) => isSameValue(attribute, each, element)))
    .map(untouched);
}

/** A single value stands for a list of one: "a new value is added" (§3.5.2.1). */
function listed(attribute: AttributeDefinition, { value = null }: ValueChange): readonly ScimValue[] {
  if (isArray(value)) {
    if (value.some(isArray)) throw wrongType(attribute, value);
    return value;
  }
  return value === null || value === '' ? [] : [value];
}

/** RFC 7643 §2.4: the combination of value and type is what makes an element; without a value, all of it. */
function elementKey(attribute: AttributeDefinition, element: ScimValue): string {
  if (!isObject(element)) return comparable(attribute, element);
  const value = findChild(attribute, 'value');
  const type = findChild(attribute, 'type');
  if (value === undefined || element.value === undefined) {
    const { primary: _primary, ...rest } = element;
    return JSON.stringify(Object.entries(rest).sort());
  }
  return JSON.stringify([
    comparable(value, element.value),
    type === undefined ? '' : comparable(type, element.type ?? ''),
  ]);
}

function comparable(attribute: AttributeDefinition, value: ScimValue): string {
  return typeof value === 'string' && !attribute.caseExact ? canonicalKey(value) : JSON.stringify(value);
}

/** Whether an element has the listed value: by `value`, and `type` where the list gives one, else by all its parts. */
function isSameValue(attribute: AttributeDefinition, unwanted: ScimValue, element: ScimValue): boolean {
  if (!isObject(unwanted) || !isObject(element)) return equalValues(unwanted, element);
  const names = unwanted.value === undefined ? Object.keys(unwanted) : ['value', 'type'];
  return names.every((name) => {
    const child = findChild(attribute, name);
    const wanted = unwanted[name];
    if (child === undefined || wanted === undefined) return true;
    return comparable(child, wanted) === comparable(child, element[name] ?? null);
  });
}

/** §3.5.2: setting one value primary makes the others not primary. */
function finish(
  { attribute, current }: ListChange,
  entries: readonly Entry[],
  created: boolean,
): ChangedList {
  const primaries = entries.filter((entry) => entry.marked);
  if (primaries.length > 1) throw invalidValue(attribute, 'would have more than one value marked primary');
  const [primary] = primaries;
  const list = entries.map((entry) => {
    const { element } = entry;
    return primary === undefined || entry === primary || !isObject(element) || !isPrimary(element)
      ? element
      : { ...element, primary: false };
  });
  if (list.length > listElementsMax && list.length > (isArray(current) ? current.length : 0)) {
    throw invalidValue(attribute, `would have more than ${listElementsMax} values`);
  }
  return { list: list.length === 0 ? undefined : list, created };
}

function isPrimary(element: ScimValue): boolean {
  return isObject(element) && element.primary === true;
}

function noTarget(path: string): DomainError {
  return new DomainError('noTarget', `The path "${path}" matches no value; add the value first.`, {
    attribute: path,
  });
}
