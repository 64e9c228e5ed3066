// A resource as a client sent it to the canonical form in which it is compared, stored and served.
// Never repairs: a boolean written as text is refused here; the repairs of the dialect run before.
// Renders RFC 7643 §2 (attributes), §3.3 (extensions), and of RFC 7644 §3.3 what concerns the body.

import { DomainError } from '../errors.ts';
import {
  boundedKeys,
  givenTwice,
  type IgnoredAttribute,
  invalidValue,
  NormaliseTally,
  normaliseValue,
} from './normalise-value.ts';
import {
  type AttributeDefinition,
  type ExtensionDefinition,
  findAttribute,
  findExtension,
  type ResourceType,
} from './schema.ts';
import { hasNoKeys, isObject, type ScimObject, type ScimValue } from './value.ts';

export type { IgnoredAttribute } from './normalise-value.ts';

/**
 * create: required attributes must be there, `password` is kept.
 * replace: required attributes must be there, `password` is dropped and listed.
 * merge: neither required attributes nor `password`.
 */
export type NormaliseMode = 'create' | 'replace' | 'merge';

export interface NormalisedResource {
  /** Canonical spelling, no unassigned values, no readOnly attributes, `schemas` recomputed. */
  readonly resource: ScimObject;
  readonly ignored: readonly IgnoredAttribute[];
}

/** Throws `invalidValue` (wrong type, two primaries, required missing) or `invalidSyntax` (not an object, dangerous key). */
export function normaliseResource(
  resourceType: ResourceType,
  body: unknown,
  mode: NormaliseMode,
): NormalisedResource {
  if (!isObject(body)) throw new DomainError('invalidSyntax', 'The body must be a JSON object.');
  const tally = new NormaliseTally();
  const resource: Record<string, ScimValue> = { schemas: [] };
  for (const name of boundedKeys(body)) {
    const value = body[name] ?? null;
    const definition = findAttribute(resourceType, name);
    if (definition !== undefined) {
      if (isWritable(definition, mode, tally)) assign(resource, definition, value, tally);
      continue;
    }
    const extension = findExtension(resourceType, name);
    if (extension === undefined) tally.ignoreUnknown(name);
    else assignExtension(resource, extension, value, tally);
  }
  resource.schemas = schemasOf(resourceType, resource);
  if (mode !== 'merge') checkRequired(resourceType, resource);
  return { resource, ignored: tally.ignored };
}

/** The same resource with `schemas` as its content says. */
export function withSchemas(resourceType: ResourceType, resource: ScimObject): ScimObject {
  return { ...resource, schemas: schemasOf(resourceType, resource) };
}

/** Attributes that are bookkeeping of the protocol: clients echo them, so leaving them out is not worth a line. */
export function isBookkeeping(definition: AttributeDefinition): boolean {
  return definition.schema === '' && definition.name !== 'externalId';
}

export function isPassword(definition: AttributeDefinition): boolean {
  return definition.returned === 'never';
}

function schemasOf(resourceType: ResourceType, resource: ScimObject): readonly string[] {
  const urns = [resourceType.schema.id];
  for (const { id } of resourceType.extensions) if (hasKnown(resourceType, id, resource[id])) urns.push(id);
  return urns;
}

/** Values of a field that the administrator removed are kept, and nobody is to see that they are there. */
function hasKnown(resourceType: ResourceType, urn: string, value: ScimValue | undefined): boolean {
  if (!isObject(value)) return false;
  const known = findExtension(resourceType, urn)?.attributes;
  for (const name in value) if (known?.has(name) === true) return true;
  return false;
}

function isWritable(definition: AttributeDefinition, mode: NormaliseMode, tally: NormaliseTally): boolean {
  if (isBookkeeping(definition)) return false;
  if (definition.mutability === 'readOnly') {
    tally.ignore(definition.path, 'readOnly');
    return false;
  }
  if (mode === 'create' || !isPassword(definition)) return true;
  tally.ignore(definition.path, 'password');
  return false;
}

function assign(
  target: Record<string, ScimValue>,
  definition: AttributeDefinition,
  value: ScimValue,
  tally: NormaliseTally,
): void {
  if (Object.hasOwn(target, definition.name)) throw givenTwice(definition);
  const normalised = normaliseValue(definition, value, tally);
  if (normalised !== undefined) target[definition.name] = normalised;
}

function assignExtension(
  resource: Record<string, ScimValue>,
  extension: ExtensionDefinition,
  value: ScimValue,
  tally: NormaliseTally,
): void {
  const urn = extension.schema.id;
  if (Object.hasOwn(resource, urn)) {
    throw new DomainError(
      'invalidSyntax',
      `The extension ${urn} is given twice, in two spellings; give it once.`,
    );
  }
  if (value === null || value === '') return;
  if (!isObject(value)) throw notAnExtension(urn);
  const result: Record<string, ScimValue> = {};
  for (const name of boundedKeys(value)) {
    const definition = extension.attributes.get(name) ?? extension.attributes.get(name.toLowerCase());
    if (definition === undefined) tally.ignoreUnknown(name, `${urn}:`);
    else if (definition.mutability === 'readOnly') tally.ignore(definition.path, 'readOnly');
    else assign(result, definition, value[name] ?? null, tally);
  }
  if (!hasNoKeys(result)) resource[urn] = result;
}

export function notAnExtension(urn: string): DomainError {
  return new DomainError('invalidValue', `The extension ${urn} must be an object.`, { attribute: urn });
}

function checkRequired(resourceType: ResourceType, resource: ScimObject): void {
  for (const definition of resourceType.required) requireValue(definition, resource[definition.name]);
  for (const { id } of resourceType.extensions) checkExtension(resourceType, id, resource);
}

/** Who has anything of an extension must have what it requires. Throws `invalidValue`. */
export function checkExtension(resourceType: ResourceType, urn: string, resource: ScimObject): void {
  const extension = resource[urn];
  if (!isObject(extension) || !hasKnown(resourceType, urn, extension)) return;
  for (const definition of findExtension(resourceType, urn)?.required ?? [])
    requireValue(definition, extension[definition.name]);
}

function requireValue(definition: AttributeDefinition, value: ScimValue | undefined): void {
  if (value === undefined) throw invalidValue(definition, 'is required; give it a value');
  checkNotBlank(definition, value);
}

/** A required text of blanks would be a name that nobody can see, and an empty key. */
export function checkNotBlank(definition: AttributeDefinition, value: ScimValue): void {
  if (!definition.required || typeof value !== 'string' || value.trim() !== '') return;
  throw invalidValue(definition, 'is required; give it more than blanks');
}
