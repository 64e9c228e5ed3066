import {
  type AttributeDefinition,
  findAttribute,
  findChild,
  findExtension,
  type ResourceType,
} from '../../resource/schema.ts';
import { isArray, isObject, type ScimObject, type ScimValue } from '../../resource/value.ts';
import type { Repair } from '../call.ts';
import { mendBareNames } from './bare-extension-name.ts';
import { booleanFromString } from './boolean-from-string.ts';
import { resourceFits, valueFits } from './fitting.ts';
import { displayFromDisplayName, jsonInString } from './json-in-string.ts';
import { elementFromText, managerFromText } from './manager-from-text.ts';
import { arrayFromSingle, singleFromArray } from './multiplicity.ts';
import { mendKeys } from './schemas.ts';
import { textFromNumber } from './text-from-number.ts';

/** Mends one value that does not fit its attribute, or returns undefined when it has nothing to mend. */
export interface ValueRepair {
  readonly code: string;
  mend(attribute: AttributeDefinition, value: ScimValue): ScimValue | undefined;
}

/** In this order: JSON in a text must be read before the text is taken for an id. */
export const valueRepairs: readonly ValueRepair[] = [
  jsonInString,
  displayFromDisplayName,
  singleFromArray,
  managerFromText,
  elementFromText,
  arrayFromSingle,
  booleanFromString,
  textFromNumber,
];

const depthMax = 4;

/** Mends a resource, or the value of a path-less operation: every attribute by its type. */
export function mendResource(resourceType: ResourceType, body: ScimObject, repairs: Repair[]): ScimObject {
  if (resourceFits(resourceType, body)) return body;
  const placed = mendBareNames(resourceType, mendKeys(resourceType, body, repairs), repairs);
  return mapObject(placed, (name, value) => {
    const extension = findExtension(resourceType, name);
    if (extension !== undefined && isObject(value)) {
      return mapObject(value, (inner, innerValue) =>
        mendNamed(findAttribute(resourceType, inner, name), innerValue, repairs),
      );
    }
    return mendNamed(findAttribute(resourceType, name), value, repairs);
  });
}

function mendNamed(
  attribute: AttributeDefinition | undefined,
  value: ScimValue,
  repairs: Repair[],
): ScimValue {
  return attribute === undefined ? value : mendValue(attribute, value, repairs);
}

/** Mends the value of one attribute and of everything in it. */
export function mendValue(
  attribute: AttributeDefinition,
  value: ScimValue,
  repairs: Repair[],
  depth = 0,
): ScimValue {
  if (value === null || value === '' || depth > depthMax || valueFits(attribute, value)) return value;
  let mended: ScimValue = value;
  for (const repair of valueRepairs) {
    const result = repair.mend(attribute, mended);
    if (result === undefined) continue;
    repairs.push({ code: repair.code, what: attribute.path, from: mended, to: result });
    mended = result;
  }
  if (isArray(mended)) return mended.map((element) => mendElement(attribute, element, repairs, depth));
  return mendParts(attribute, mended, repairs, depth);
}

/** Elements of a list were not seen by the repairs of the list itself. */
function mendElement(
  attribute: AttributeDefinition,
  value: ScimValue,
  repairs: Repair[],
  depth: number,
): ScimValue {
  const element = { ...attribute, multiValued: false };
  return attribute.multiValued && depth === 0 && !isArray(value)
    ? mendValue(element, value, repairs, 1)
    : value;
}

function mendParts(
  attribute: AttributeDefinition,
  value: ScimValue,
  repairs: Repair[],
  depth: number,
): ScimValue {
  if (!isObject(value)) return value;
  return mapObject(value, (name, inner) => {
    const child = findChild(attribute, name);
    return child === undefined ? inner : mendValue(child, inner, repairs, depth + 1);
  });
}

function mapObject(object: ScimObject, change: (name: string, value: ScimValue) => ScimValue): ScimObject {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(name, value)]));
}
