// Which stored documents the default projection shows whole, so that their text can be served as it is.
// It never decides what is shown: project.ts does, and a document that is not plain goes through it.
// Renders `returned` of RFC 7643 §7 for the case in which nothing is left out.

import type { AttributeDefinition, ResourceType } from './schema.ts';
import { hasNoKeys, isArray, isObject, type ScimObject, type ScimValue } from './value.ts';

type Attributes = ReadonlyMap<string, AttributeRule>;

/** Undefined for a simple attribute, of which any value is shown; else the sub-attributes that are. */
interface AttributeRule {
  readonly parts: ReadonlySet<string> | undefined;
}

/** What may be in a document without the projection leaving anything of it out; compiled once for a resource type. */
export interface PlainDocument {
  readonly attributes: Attributes;
  readonly extensions: ReadonlyMap<string, Attributes>;
}

/** `derived`: paths of attributes that a document does not hold because they are stored elsewhere or computed. */
export function plainDocument(resourceType: ResourceType, derived: ReadonlySet<string>): PlainDocument {
  const extensions = resourceType.extensions.map(({ id }) => {
    const definitions = resourceType.extensionsByUrn.get(id)?.attributes ?? new Map();
    return [id, rulesOf(definitions, derived)] as const;
  });
  return { attributes: rulesOf(resourceType.attributes, derived), extensions: new Map(extensions) };
}

function rulesOf(
  definitions: ReadonlyMap<string, AttributeDefinition>,
  derived: ReadonlySet<string>,
): Attributes {
  const shown = [...new Set(definitions.values())].filter(
    (definition) => isShown(definition) && !derived.has(definition.path),
  );
  return new Map(shown.map((definition) => [definition.name, { parts: partsOf(definition) }]));
}

function partsOf({ type, children }: AttributeDefinition): ReadonlySet<string> | undefined {
  if (type !== 'complex') return undefined;
  return new Set([...children.values()].filter(isShown).map((child) => child.name));
}

function isShown({ returned }: AttributeDefinition): boolean {
  return returned === 'default' || returned === 'always';
}

/** Whether the default projection shows all of `document`, and nothing in it is empty. */
export function isPlain({ attributes, extensions }: PlainDocument, document: ScimObject): boolean {
  for (const name in document) {
    const value = document[name];
    const rule = attributes.get(name);
    const isFine =
      rule === undefined ? isPlainExtension(extensions.get(name), value) : isPlainValue(rule, value);
    if (!isFine) return false;
  }
  return true;
}

function isPlainExtension(attributes: Attributes | undefined, value: ScimValue | undefined): boolean {
  if (attributes === undefined || !isObject(value) || hasNoKeys(value)) return false;
  for (const name in value) {
    const rule = attributes.get(name);
    if (rule === undefined || !isPlainValue(rule, value[name])) return false;
  }
  return true;
}

function isPlainValue({ parts }: AttributeRule, value: ScimValue | undefined): boolean {
  if (parts === undefined) return true;
  if (!isArray(value)) return isPlainElement(parts, value);
  for (const element of value) if (!isPlainElement(parts, element)) return false;
  return value.length > 0;
}

function isPlainElement(parts: ReadonlySet<string>, value: ScimValue | undefined): boolean {
  if (!isObject(value) || hasNoKeys(value)) return false;
  for (const name in value) if (!parts.has(name)) return false;
  return true;
}
