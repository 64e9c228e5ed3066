import type { JsonSchema } from '../http/operation.ts';
import type { AttributeDefinition, AttributeType } from '../resource/schema.ts';

/** What a body is for: a request writes a resource, an answer shows it. */
export type Purpose = 'request' | 'answer';

const types: Readonly<Record<AttributeType, JsonSchema>> = {
  string: { type: 'string' },
  boolean: { type: 'boolean' },
  decimal: { type: 'number' },
  integer: { type: 'integer' },
  dateTime: { type: 'string', format: 'date-time' },
  binary: { type: 'string', contentEncoding: 'base64' },
  reference: { type: 'string' },
  complex: { type: 'object' },
};

/**
 * The JSON Schema of an object with these attributes (RFC 7643 §7 put into JSON Schema's terms). A request has what may
 * be written, an answer what may be shown. In an answer only what is returned always is required: the query parameters
 * `attributes` and `excludedAttributes` can leave out everything else.
 */
export function toObjectSchema(attributes: Iterable<AttributeDefinition>, purpose: Purpose): JsonSchema {
  const there = [...new Set(attributes)].filter((attribute) => isThere(attribute, purpose));
  const required = there.filter((attribute) => isRequired(attribute, purpose)).map(({ name }) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(there.map((attribute) => [attribute.name, toSchema(attribute, purpose)])),
    ...(required.length > 0 ? { required } : {}),
  };
}

function isThere({ name, schema, mutability, returned }: AttributeDefinition, purpose: Purpose): boolean {
  if (purpose === 'answer') return returned !== 'never';
  // Clients name the schemas of what they send (RFC 7643 §3), though the content tells as much.
  return mutability !== 'readOnly' || (schema === '' && name === 'schemas');
}

function isRequired({ required, returned }: AttributeDefinition, purpose: Purpose): boolean {
  return purpose === 'answer' ? returned === 'always' : required;
}

function toSchema(attribute: AttributeDefinition, purpose: Purpose): JsonSchema {
  const { description, multiValued, mutability, returned } = attribute;
  const value = toValueSchema(attribute, purpose);
  return {
    ...(multiValued ? { type: 'array', items: value } : value),
    description,
    ...(purpose === 'answer' && mutability === 'readOnly' ? { readOnly: true } : {}),
    ...(purpose === 'request' && returned === 'never' ? { writeOnly: true } : {}),
  };
}

/** Canonical values are suggestions (RFC 7643 §7), except in the lists that the resource type closes. */
function toValueSchema(
  { type, children, canonicalValues, closedValues }: AttributeDefinition,
  purpose: Purpose,
): JsonSchema {
  if (type === 'complex') return toObjectSchema(children.values(), purpose);
  if (closedValues !== undefined) return { ...types[type], enum: [...closedValues.values()] };
  return canonicalValues === undefined ? types[type] : { ...types[type], examples: canonicalValues };
}
