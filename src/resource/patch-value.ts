import { writeMember } from './document.ts';
import { checkNotBlank } from './normalise.ts';
import {
  invalidValue,
  isOnlyLabels,
  type NormaliseTally,
  normaliseValue,
  readParts,
  wrongType,
} from './normalise-value.ts';
import type { PatchOperation } from './patch-operation.ts';
import type { AttributeDefinition } from './schema.ts';
import { hasNoKeys, isObject, type ScimObject, type ScimValue } from './value.ts';

/** What an operation wants of one value. */
export interface ValueChange {
  readonly op: PatchOperation['op'];
  readonly value: ScimValue | undefined;
  readonly tally: NormaliseTally;
}

/**
 * The new value of an attribute, or of a sub-attribute of a singular complex one; undefined when nothing is left.
 * For lists only a whole `replace`: the rest is in patch-list.ts.
 */
export function changeValue(
  attribute: AttributeDefinition,
  subAttribute: AttributeDefinition | undefined,
  current: ScimValue | undefined,
  change: ValueChange,
): ScimValue | undefined {
  if (subAttribute !== undefined) {
    return changePart(isObject(current) ? current : {}, subAttribute, change);
  }
  const { op, value = null, tally } = change;
  if (op === 'remove' || value === null || value === '') return undefined;
  if (attribute.type === 'complex' && !attribute.multiValued) {
    return mergeParts(attribute, isObject(current) ? current : {}, change);
  }
  const normalised = normaliseValue(attribute, value, tally);
  if (normalised !== undefined) checkNotBlank(attribute, normalised);
  return normalised;
}

/** The complex value with one sub-attribute set or taken out; undefined when nothing is left of it. */
export function changePart(
  holder: ScimObject,
  subAttribute: AttributeDefinition,
  { op, value = null, tally }: ValueChange,
): ScimObject | undefined {
  const part = op === 'remove' ? undefined : normaliseValue(subAttribute, value, tally);
  return unlessEmpty(subAttribute.parent, writeMember(holder, subAttribute.name, part));
}

/** RFC 7644 §3.5.2.1, §3.5.2.3: sub-attributes that the value does not name stay as they are. */
export function mergeParts(
  attribute: AttributeDefinition,
  holder: ScimObject,
  { value, tally }: ValueChange,
): ScimObject | undefined {
  if (!isObject(value)) throw wrongType(attribute, value ?? null);
  const parts = readParts(attribute, value, tally);
  if (parts.size === 0 && !hasNoKeys(value)) {
    throw invalidValue(attribute, `has no sub-attribute that can be written under ${listedNames(value)}`);
  }
  let merged = holder;
  for (const [child, part] of parts) {
    merged = writeMember(merged, child.name, normaliseValue(child, part, tally));
  }
  return unlessEmpty(attribute, merged);
}

function listedNames(value: ScimObject): string {
  const names = Object.keys(value).slice(0, 5);
  return names.map((name) => name.slice(0, 80).toWellFormed()).join(', ');
}

function unlessEmpty(attribute: AttributeDefinition | undefined, value: ScimObject): ScimObject | undefined {
  const isEmpty = attribute?.multiValued === true ? isOnlyLabels(value) : hasNoKeys(value);
  return isEmpty ? undefined : value;
}
