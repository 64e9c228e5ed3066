import { isPassword, withSchemas } from './normalise.ts';
import { type AttributeDefinition, findAttribute, findExtension, type ResourceType } from './schema.ts';
import { isObject, type ScimObject, type ScimValue } from './value.ts';

/**
 * Create-by-match: what the normalised body has replaces what the resource has; what the body leaves out stays.
 * Complex values are merged by sub-attribute, multi-valued ones are replaced. `password` is dropped.
 */
export function mergeResource(resourceType: ResourceType, current: ScimObject, body: ScimObject): ScimObject {
  const merged: Record<string, ScimValue> = { ...current };
  for (const [name, value] of Object.entries(body)) {
    const attribute = findAttribute(resourceType, name);
    if (attribute !== undefined && isPassword(attribute)) continue;
    merged[name] = mergeValue(merged[name], value);
  }
  // An extension is an object of attributes, whose complex values are merged in turn.
  for (const { id } of resourceType.extensions) {
    const before = current[id];
    const after = body[id];
    if (isObject(before) && isObject(after)) merged[id] = mergeAttributes(before, after);
  }
  return withSchemas(resourceType, merged);
}

/**
 * PUT (RFC 7644 §3.5.1): what the normalised body leaves out is wiped, readOnly attributes keep their values,
 * and `active` left out stays as it is. `password` is dropped.
 */
export function replaceResource(
  resourceType: ResourceType,
  current: ScimObject,
  body: ScimObject,
): ScimObject {
  const core = Object.entries(current).filter(([name]) => findAttribute(resourceType, name) !== undefined);
  const kept = keptAttributes(Object.fromEntries(core), (name) => findAttribute(resourceType, name));
  const replaced: Record<string, ScimValue> = { ...kept, ...body };
  for (const { id } of resourceType.extensions) {
    const held = current[id];
    if (!isObject(held)) continue;
    const extension = findExtension(resourceType, id);
    const keptPart = keptAttributes(held, (name) => extension?.attributes.get(name));
    if (Object.keys(keptPart).length > 0) replaced[id] = mergeAttributes(keptPart, body[id] ?? {});
  }
  for (const name of Object.keys(body)) {
    const attribute = findAttribute(resourceType, name);
    if (attribute !== undefined && isPassword(attribute)) delete replaced[name];
  }
  return withSchemas(resourceType, replaced);
}

/**
 * What a PUT cannot wipe: readOnly attributes, `active`, so that nobody is activated by silence, and values of additional
 * fields that were removed, which the client could not see.
 */
function keptAttributes(
  holder: ScimObject,
  find: (name: string) => AttributeDefinition | undefined,
): Record<string, ScimValue> {
  const kept: Record<string, ScimValue> = {};
  for (const [name, value] of Object.entries(holder)) {
    const attribute = find(name);
    const isKept =
      attribute === undefined || attribute.path === 'active' || attribute.mutability === 'readOnly';
    if (isKept) kept[name] = value;
  }
  return kept;
}

function mergeValue(before: ScimValue | undefined, after: ScimValue): ScimValue {
  return isObject(before) && isObject(after) ? { ...before, ...after } : after;
}

function mergeAttributes(before: ScimObject, after: ScimValue): ScimObject {
  const merged: Record<string, ScimValue> = { ...before };
  if (!isObject(after)) return merged;
  for (const [name, value] of Object.entries(after)) merged[name] = mergeValue(merged[name], value);
  return merged;
}
