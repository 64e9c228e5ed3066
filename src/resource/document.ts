import type { AttributeDefinition } from './schema.ts';
import { hasNoKeys, isObject, type ScimObject, type ScimValue } from './value.ts';

/** The value of a top-level attribute, core or of an extension. */
export function readAttribute(resource: ScimObject, definition: AttributeDefinition): ScimValue | undefined {
  if (definition.extension === undefined) return resource[definition.name];
  const extension = resource[definition.extension];
  return isObject(extension) ? extension[definition.name] : undefined;
}

/** The resource with another value of a top-level attribute; undefined takes it out, and an empty extension with it. */
export function writeAttribute(
  resource: ScimObject,
  definition: AttributeDefinition,
  value: ScimValue | undefined,
): ScimObject {
  if (definition.extension === undefined) return writeMember(resource, definition.name, value);
  const current = resource[definition.extension];
  const extension = writeMember(isObject(current) ? current : {}, definition.name, value);
  return writeMember(resource, definition.extension, hasNoKeys(extension) ? undefined : extension);
}

/** The object with another value of one member; undefined takes it out. */
export function writeMember(object: ScimObject, name: string, value: ScimValue | undefined): ScimObject {
  if (value !== undefined) return { ...object, [name]: value };
  const { [name]: _removed, ...rest } = object;
  return rest;
}
