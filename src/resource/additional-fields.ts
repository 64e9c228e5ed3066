import { DomainError } from '../errors.ts';
import { type Attribute, additionalFieldsUrn, type Schema } from './schema.ts';
import { isDangerousKey } from './value.ts';

export type AdditionalFieldType = 'string' | 'boolean' | 'integer' | 'decimal' | 'dateTime';

/** An additional profile field as the administrator configured it (service-description.md §2). */
export interface AdditionalField {
  /** A letter, then letters, digits or underscores. */
  readonly id: string;
  readonly label: string;
  readonly type?: AdditionalFieldType;
  readonly required?: boolean;
  readonly description?: string;
}

/**
 * The schema of the additional-fields extension, one attribute for each field.
 * Throws `invalidValue` for an id of the wrong form, a reserved one, or one that occurs twice.
 */
export function additionalFieldsSchema(fields: readonly AdditionalField[]): Schema {
  const seen = new Set<string>();
  for (const field of fields) checkId(field.id, seen);
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:Schema'],
    id: additionalFieldsUrn,
    name: 'PlatformAdditionalFields',
    description: 'The additional profile fields that the administrator of the platform configured.',
    attributes: fields.map(toAttribute),
  };
}

/** The id a label yields: lower case, spaces as underscores (service-description.md §2). */
export function additionalFieldId(label: string): string {
  return label.trim().toLowerCase().replaceAll(/\s+/g, '_');
}

function checkId(id: string, seen: Set<string>): void {
  if (!/^[A-Za-z][A-Za-z0-9_]*$/.test(id)) {
    throw new DomainError(
      'invalidValue',
      `The field id "${id}" must start with a letter and hold only letters, digits and underscores.`,
    );
  }
  const key = id.toLowerCase();
  // Names of inherited members would be found on every object.
  if (id in {} || isDangerousKey(key)) {
    throw new DomainError('invalidValue', `The field id "${id}" is reserved; choose another.`);
  }
  if (seen.has(key)) {
    throw new DomainError(
      'invalidValue',
      `The field id "${id}" is used twice; letter case makes no difference.`,
    );
  }
  seen.add(key);
}

function toAttribute(field: AdditionalField): Attribute {
  return {
    name: field.id,
    type: field.type ?? 'string',
    multiValued: false,
    description: field.description ?? field.label,
    required: field.required ?? false,
    caseExact: false,
    mutability: 'readWrite',
    returned: 'default',
    uniqueness: 'none',
  };
}
