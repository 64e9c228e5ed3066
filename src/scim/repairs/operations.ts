import { expandKeys } from '../../resource/patch-keys.ts';
import type { PatchOperation } from '../../resource/patch-operation.ts';
import { parsePath, resolvePath } from '../../resource/path.ts';
import type { ResourceType } from '../../resource/schema.ts';
import { isArray, isObject, type ScimObject, type ScimValue } from '../../resource/value.ts';
import type { Repair } from '../call.ts';
import { parseJson } from './json-in-string.ts';
import { mendUrn } from './schemas.ts';
import { mendResource, mendValue } from './value-repair.ts';

/** Some clients say `delete` where RFC 7644 §3.5.2 says `remove`. Looks at the envelope before it is read. */
export function mendOpNames(body: ScimValue, repairs: Repair[]): ScimValue {
  if (!isObject(body)) return body;
  let mended: Record<string, ScimValue> | undefined;
  for (const [key, value] of Object.entries(body)) {
    if (key.toLowerCase() !== 'operations' || !isArray(value)) continue;
    const operations = value.map((operation) => mendOpName(operation, repairs));
    const isSame = operations.every((operation, index) => operation === value[index]);
    if (!isSame) mended = { ...(mended ?? body), [key]: operations };
  }
  return mended ?? body;
}

function mendOpName(operation: ScimValue, repairs: Repair[]): ScimValue {
  if (!isObject(operation)) return operation;
  const key = Object.keys(operation).find((name) => name.toLowerCase() === 'op');
  const op = key === undefined ? undefined : operation[key];
  if (key === undefined || typeof op !== 'string' || op.toLowerCase() !== 'delete') return operation;
  repairs.push({ code: 'op-synonym', what: 'op', from: op, to: 'remove' });
  return { ...operation, [key]: 'remove' };
}

/** Turns one operation into the strict ones that it means. */
export function mendOperation(
  resourceType: ResourceType,
  operation: PatchOperation,
  repairs: Repair[],
): PatchOperation[] {
  const named = mendPath(operation, repairs);
  if (named.op === 'remove') return mendRemove(resourceType, named, repairs);
  const { operations, expanded } = expandKeys(resourceType, named);
  for (const key of expanded) repairs.push({ code: 'dotted-key', what: key });
  return operations.map((each) => mendOperationValue(resourceType, each, repairs));
}

function mendPath(operation: PatchOperation, repairs: Repair[]): PatchOperation {
  const { path } = operation;
  return path === undefined ? operation : { ...operation, path: mendUrn(path, repairs) };
}

function mendOperationValue(
  resourceType: ResourceType,
  operation: PatchOperation,
  repairs: Repair[],
): PatchOperation {
  const { path, value } = operation;
  if (value === undefined) return operation;
  if (path === undefined) {
    return isObject(value) ? { ...operation, value: mendResource(resourceType, value, repairs) } : operation;
  }
  const target = resolvePath(resourceType, parsePath(path), { bareExtensionNames: true });
  if (target.kind !== 'attribute') {
    return isObject(value) ? { ...operation, value: mendResource(resourceType, value, repairs) } : operation;
  }
  const { attribute, subAttribute, filter } = target;
  const whole = subAttribute?.name === 'value' && attribute.multiValued ? wholeElement(value) : undefined;
  if (whole !== undefined && path.toLowerCase().endsWith('.value')) {
    repairs.push({ code: 'element-for-value', what: attribute.path });
    const element = { ...operation, path: path.slice(0, -'.value'.length), value: whole };
    return mendOperationValue(resourceType, element, repairs);
  }
  // A filter picks elements: the value is one of them, not the list.
  const leaf = subAttribute ?? (filter === undefined ? attribute : { ...attribute, multiValued: false });
  return { ...operation, value: mendValue(leaf, value, repairs) };
}

/** Entra ID sends a whole role, as an object or as JSON in a text, where the path names its `value` (E7). */
function wholeElement(value: ScimValue): ScimObject | undefined {
  const parsed = typeof value === 'string' ? parseJson(value) : value;
  return isObject(parsed) && typeof parsed.value === 'string' ? parsed : undefined;
}

/**
 * `remove` with a list of values. Entra ID removes members by `path: "members"` with a value list, Ping by
 * `{"members": […]}` without path; read as RFC 7644 has it, the first would empty the group.
 */
function mendRemove(
  resourceType: ResourceType,
  operation: PatchOperation,
  repairs: Repair[],
): PatchOperation[] {
  const { path, value } = operation;
  if (value === undefined) return [operation];
  if (path !== undefined) return [removeListed(resourceType, path, value, repairs)];
  if (!isObject(value)) return [operation];
  return Object.entries(value).map(([name, inner]) => removeListed(resourceType, name, inner, repairs));
}

/** Only what is listed goes, however the attribute is named; a list that names nothing removes nothing. */
function removeListed(
  resourceType: ResourceType,
  path: string,
  value: ScimValue,
  repairs: Repair[],
): PatchOperation {
  const target = resolvePath(resourceType, parsePath(path), { bareExtensionNames: true });
  const isWholeList =
    target.kind === 'attribute' &&
    target.attribute.multiValued &&
    target.subAttribute === undefined &&
    target.filter === undefined;
  if (!isWholeList) {
    repairs.push({ code: 'remove-value-ignored', what: path });
    return { op: 'remove', path };
  }
  repairs.push({ code: 'remove-by-value-list', what: path });
  const elements = isArray(value) ? value : [value];
  const listed = elements.filter((each) => each !== null && each !== '');
  return {
    op: 'remove',
    path,
    value: listed.map((each) => (typeof each === 'string' ? { value: each } : each)),
  };
}
