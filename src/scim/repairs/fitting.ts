// Most of what comes needs no repair, and to look for one costs more than all the rest of reading it. These questions are
// cheap, and say yes only where no repair of this folder has anything to do.

import {
  type AttributeDefinition,
  type ExtensionDefinition,
  findAttribute,
  findChild,
  type ResourceType,
} from '../../resource/schema.ts';
import { isArray, isObject, type ScimObject, type ScimValue } from '../../resource/value.ts';

/** Whether every name in the body is one of the resource type, where it stands, and every value of its attribute's form. */
export function resourceFits(resourceType: ResourceType, body: ScimObject): boolean {
  for (const name in body) {
    const value = body[name] ?? null;
    const attribute = findAttribute(resourceType, name);
    const extension = attribute === undefined ? resourceType.extensionsByUrn.get(name) : undefined;
    if (attribute !== undefined) {
      if (!valueFits(attribute, value)) return false;
    } else if (extension === undefined || !extensionFits(extension, value)) return false;
  }
  return true;
}

function extensionFits({ attributes }: ExtensionDefinition, value: ScimValue): boolean {
  if (!isObject(value)) return false;
  for (const name in value) {
    const attribute = attributes.get(name);
    if (attribute === undefined || !valueFits(attribute, value[name] ?? null)) return false;
  }
  return true;
}

/** Whether the value is of the attribute's form, with nothing in it that could be meant otherwise. */
export function valueFits(attribute: AttributeDefinition, value: ScimValue): boolean {
  if (value === null || value === '' || typeof value === 'boolean') return true;
  if (typeof value === 'string') return attribute.type !== 'boolean' && attribute.type !== 'complex';
  if (!attribute.multiValued) return attribute.type === 'complex' && elementFits(attribute, value);
  if (!isArray(value)) return false;
  for (const element of value) {
    const fits = attribute.type === 'complex' ? elementFits(attribute, element) : typeof element === 'string';
    if (!fits) return false;
  }
  return attribute.type !== 'boolean';
}

/** A name that is not known may be another name for one that is; JSON may stand in a text. */
function elementFits(attribute: AttributeDefinition, element: ScimValue): boolean {
  if (!isObject(element)) return false;
  for (const name in element) {
    const child = findChild(attribute, name);
    const value = element[name] ?? null;
    if (child === undefined || !valueFits(child, value)) return false;
    if (child.name === 'value' && typeof value === 'string' && /[[{]/.test(value)) return false;
  }
  return true;
}
