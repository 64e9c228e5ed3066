import { equalValues, isArray, isObject, type ScimObject, type ScimValue } from '../resource/value.ts';

/**
 * What one record asks of a user, whoever that turns out to be: apply needs nothing else of the document. JSON, because
 * it waits in the plan.
 */
export interface ProfileChange {
  readonly userName?: string;
  readonly externalId?: string;
  /** Normalised attributes. Lists hold only the types that the record speaks of. */
  readonly set: ScimObject;
  /** Where values go: attribute or extension, then sub-attribute or the type of a list's elements, then its part. */
  readonly clear: readonly (readonly string[])[];
  /** For what neither record nor stored user has. */
  readonly defaults: ScimObject;
}

/** Lists whose elements are told apart by their type. */
export const typedLists = ['emails', 'phoneNumbers', 'ims', 'addresses'] as const;
const isTypedList = (name: string): boolean => (typedLists as readonly string[]).includes(name);

/** The user as it is to become. Pure; `state` absent leaves `active` as it is. */
export function applyProfileChange(
  before: ScimObject | undefined,
  change: ProfileChange,
  state: 'active' | 'inactive' | undefined,
): ScimObject {
  let next = before === undefined ? change.set : mergeInto(withoutSchemas(before), change.set);
  for (const path of change.clear) next = withoutPath(next, path);
  next = fillGaps(next, change.defaults);
  return {
    ...next,
    ...(change.userName === undefined ? {} : { userName: change.userName }),
    ...(change.externalId === undefined ? {} : { externalId: change.externalId }),
    ...(state === undefined ? {} : { active: state === 'active' }),
  };
}

function withoutSchemas({ schemas: _schemas, ...rest }: ScimObject): ScimObject {
  return rest;
}

function mergeInto(before: ScimObject, set: ScimObject): ScimObject {
  const merged: Record<string, ScimValue> = { ...before };
  for (const [name, value] of Object.entries(set)) {
    const held = merged[name];
    if (isTypedList(name) && isArray(value)) merged[name] = mergeList(name, isArray(held) ? held : [], value);
    else merged[name] = isObject(held) && isObject(value) ? mergeInto(held, value) : value;
  }
  return merged;
}

/** Elements of the types that come in take the place of stored ones of these types; others stay. */
function mergeList(
  name: string,
  held: readonly ScimValue[],
  incoming: readonly ScimValue[],
): readonly ScimValue[] {
  const elements = incoming.filter(isObject);
  const types = new Set(elements.map(typeOf));
  const kept = held.filter((element) => !isObject(element) || !types.has(typeOf(element)));
  const former = held.filter(isObject).filter((element) => types.has(typeOf(element)));
  const merged = elements.map((element) => mergeElement(name, former, element));
  const hasPrimary = merged.some((element) => element.primary === true);
  const others = hasPrimary ? kept.map(withoutPrimary) : kept;
  return inStoredOrder(held, [...others, ...merged]);
}

function mergeElement(name: string, former: readonly ScimObject[], element: ScimObject): ScimObject {
  const same = former.find(
    (other) => typeOf(other) === typeOf(element) && (name === 'addresses' || other.value === element.value),
  );
  return same === undefined ? element : { ...same, ...element };
}

function withoutPrimary(element: ScimValue): ScimValue {
  if (!isObject(element) || element.primary !== true) return element;
  const { primary: _primary, ...rest } = element;
  return rest;
}

/** A list that says the same as before must look the same, or every import would be a change. */
function inStoredOrder(held: readonly ScimValue[], next: readonly ScimValue[]): readonly ScimValue[] {
  const rank = (element: ScimValue): number => {
    if (!isObject(element)) return held.length;
    const at = held.findIndex((other) => isObject(other) && typeOf(other) === typeOf(element));
    return at === -1 ? held.length : at;
  };
  return next.toSorted((a, b) => rank(a) - rank(b));
}

function typeOf(element: ScimObject): string {
  return typeof element.type === 'string' ? element.type.toLowerCase() : '';
}

function withoutPath(resource: ScimObject, [name = '', ...rest]: readonly string[]): ScimObject {
  const held = resource[name];
  if (held === undefined) return resource;
  const { [name]: _gone, ...others } = resource;
  if (rest.length === 0) return others;
  if (isArray(held)) return withList(others, name, withoutType(held, rest));
  if (!isObject(held)) return resource;
  const next = withoutPath(held, rest);
  return Object.keys(next).length === 0 ? others : { ...resource, [name]: next };
}

function withList(others: ScimObject, name: string, list: readonly ScimValue[]): ScimObject {
  return list.length === 0 ? others : { ...others, [name]: list };
}

function withoutType(held: readonly ScimValue[], [type = '', part]: readonly string[]): readonly ScimValue[] {
  return held.flatMap((element) => {
    if (!isObject(element) || typeOf(element) !== type) return [element];
    if (part === undefined) return [];
    const { [part]: _gone, ...rest } = element;
    const { type: _type, primary: _primary, ...says } = rest;
    return Object.keys(says).length === 0 ? [] : [rest];
  });
}

function fillGaps(resource: ScimObject, defaults: ScimObject): ScimObject {
  const filled: Record<string, ScimValue> = { ...resource };
  for (const [name, value] of Object.entries(defaults)) {
    const held = filled[name];
    if (held === undefined) filled[name] = value;
    else if (isObject(held) && isObject(value)) filled[name] = fillGaps(held, value);
  }
  return filled;
}

/** Names of the attributes in which `next` differs, as the report of a run shows them. */
export function changedNames(before: ScimObject, next: ScimObject): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(next)]);
  names.delete('schemas');
  return [...names].flatMap((name) => {
    const [a, b] = [before[name], next[name]];
    if (equalValues(a, b)) return [];
    if (!name.startsWith('urn:')) return [name];
    return changedNames(isObject(a) ? a : {}, isObject(b) ? b : {});
  });
}
