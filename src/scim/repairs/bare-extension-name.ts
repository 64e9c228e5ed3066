import {
  type AttributeDefinition,
  findAttribute,
  findBareExtensionAttribute,
  findExtension,
  type ResourceType,
} from '../../resource/schema.ts';
import { isObject, type ScimObject, type ScimValue } from '../../resource/value.ts';
import type { Repair } from '../call.ts';

/**
 * Puts attributes of extensions that stand at the root of a body (`"department": "HR"`, Entra E5) where they belong.
 * Only names that one extension alone has; one that the extension gives as well is left, and so is ignored.
 */
export function mendBareNames(resourceType: ResourceType, body: ScimObject, repairs: Repair[]): ScimObject {
  const bare = Object.keys(body).flatMap((name) => {
    const attribute = bareAttribute(resourceType, name);
    return attribute === undefined ? [] : [{ name, attribute }];
  });
  if (bare.length === 0) return body;
  const mended: Record<string, ScimValue> = { ...body };
  for (const { name, attribute } of bare) {
    const key = extensionKey(mended, attribute);
    const held = mended[key] ?? {};
    if (!isObject(held) || hasKey(held, attribute.name)) continue;
    mended[key] = { ...held, [attribute.name]: body[name] ?? null };
    delete mended[name];
    repairs.push({ code: 'bare-extension-name', what: attribute.path });
  }
  return mended;
}

function bareAttribute(resourceType: ResourceType, name: string): AttributeDefinition | undefined {
  if (findAttribute(resourceType, name) !== undefined || findExtension(resourceType, name) !== undefined)
    return undefined;
  return findBareExtensionAttribute(resourceType, name);
}

/** As the client spells the extension, or its registered URN. */
function extensionKey(body: ScimObject, { extension = '' }: AttributeDefinition): string {
  const spelled = Object.keys(body).find((name) => name.toLowerCase() === extension.toLowerCase());
  return spelled ?? extension;
}

function hasKey(object: ScimObject, name: string): boolean {
  return Object.keys(object).some((key) => key.toLowerCase() === name.toLowerCase());
}
