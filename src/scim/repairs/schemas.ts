import { DomainError } from '../../errors.ts';
import { isCoreUrn } from '../../resource/attribute-lookup.ts';
import { enterpriseUserUrn, findExtension, type ResourceType } from '../../resource/schema.ts';
import { isArray, isObject, type ScimObject, type ScimValue } from '../../resource/value.ts';
import type { Repair } from '../call.ts';

/**
 * The enterprise extension as SCIM 1.1 called it, and as templates of OneLogin write it (authentik#11249); alone or
 * before an attribute.
 */
const formerEnterpriseUrn = /^urn:scim:schemas:extension:enterprise:[12]\.0(?::user)?(?=:[a-z]|$)/i;
const shownCharactersMax = 200;

/** The key or path with today's URN in place of a former one. */
export function mendUrn(text: string, repairs: Repair[]): string {
  const mended = text.replace(formerEnterpriseUrn, enterpriseUserUrn);
  if (mended !== text) repairs.push({ code: 'schema-urn-alias', what: shown(text) });
  return mended;
}

/**
 * Clients name schemas that nobody registered (Entra's ADSCIM of 2006, OneLogin's `urn:scim:schemas:core:2.0`) or none
 * at all. What a resource uses is seen from its attributes, so the list is left out, and what was wrong is noted.
 */
export function mendSchemas(resourceType: ResourceType, body: ScimObject, repairs: Repair[]): ScimObject {
  const { listed, unknown } = readSchemas(resourceType, body);
  if (listed === undefined) repairs.push({ code: 'schemas-missing', what: 'schemas' });
  for (const urn of unknown) repairs.push({ code: 'unknown-schema', what: shown(urn) });
  return Object.fromEntries(Object.entries(body).filter(([name]) => name.toLowerCase() !== 'schemas'));
}

/** Whether `mendSchemas` would note nothing. */
export function schemasFit(resourceType: ResourceType, body: ScimObject): boolean {
  for (const name in body) {
    if (name !== 'schemas' && name.toLowerCase() !== 'schemas') continue;
    const value = body[name];
    return isArray(value) && value.length > 0 && value.every((urn) => isKnown(resourceType, urn));
  }
  return false;
}

/** RFC 7643 §3: `schemas` names the schemas of the resource, and only such. Throws `invalidSyntax`. */
export function requireSchemas(resourceType: ResourceType, body: ScimObject): void {
  const { listed, unknown } = readSchemas(resourceType, body);
  const core = resourceType.schema.id;
  if (!listed?.some((urn) => typeof urn === 'string' && isCoreUrn(resourceType, urn)))
    throw refused(`"schemas" must be an array that names ${core}`);
  const [first] = unknown;
  if (first !== undefined)
    throw refused(`"schemas" names ${shown(first)}, which ${resourceType.name} does not have`);
}

function readSchemas(resourceType: ResourceType, body: ScimObject) {
  const [, value] = Object.entries(body).find(([name]) => name.toLowerCase() === 'schemas') ?? [];
  const listed = isArray(value) && value.length > 0 ? value : undefined;
  const unknown = (listed ?? []).flatMap((urn) => (isKnown(resourceType, urn) ? [] : [String(urn)]));
  return { listed, unknown };
}

function isKnown(resourceType: ResourceType, urn: ScimValue): boolean {
  if (typeof urn !== 'string') return false;
  return isCoreUrn(resourceType, urn) || findExtension(resourceType, urn) !== undefined;
}

function shown(text: string): string {
  return text.slice(0, shownCharactersMax).toWellFormed();
}

function refused(problem: string): DomainError {
  return new DomainError('invalidSyntax', `The resource cannot be read: ${problem}.`, {
    attribute: 'schemas',
  });
}

/** The keys of a body that are URNs: former ones are replaced, and those of unknown schemas noted. */
export function mendKeys(resourceType: ResourceType, body: ScimObject, repairs: Repair[]): ScimObject {
  const names = new Set(Object.keys(body).map((key) => key.toLowerCase()));
  const entries = Object.entries(body).map(([key, value]) => {
    if (!key.includes(':') || !isObject(value)) return [key, value];
    // Given under both names, the registered one counts.
    const isTwice = names.has(enterpriseUserUrn.toLowerCase());
    const name = isTwice ? key : mendUrn(key, repairs);
    if (!isKnown(resourceType, name)) repairs.push({ code: 'unknown-schema', what: shown(name) });
    return [name, value];
  });
  return Object.fromEntries(entries);
}
