import { DomainError } from '../../src/errors.ts';
import { additionalFieldsSchema } from '../../src/resource/additional-fields.ts';
import {
  additionalFieldsUrn,
  buildResourceType,
  enterpriseUserUrn,
  platformUserUrn,
} from '../../src/resource/schema.ts';
import type { ScimObject } from '../../src/resource/value.ts';

export const userType = buildResourceType('User', {
  additionalFields: additionalFieldsSchema([
    { id: 'shoe_size', label: 'Shoe size', type: 'integer' },
    { id: 'badge', label: 'Badge' },
    { id: 'remote', label: 'Works remotely', type: 'boolean' },
  ]),
});
export const groupType = buildResourceType('Group');

/** A stored user with something of everything. */
export const ann: ScimObject = {
  schemas: [userType.schema.id, enterpriseUserUrn, platformUserUrn, additionalFieldsUrn],
  id: '17',
  externalId: 'ext-17',
  userName: 'ann@example.org',
  name: { givenName: 'Ann', familyName: 'Ångström' },
  displayName: 'Ann Ångström',
  active: true,
  emails: [
    { value: 'ann@example.org', type: 'work', primary: true },
    { value: 'ann@home.example', type: 'home' },
  ],
  addresses: [{ type: 'work', streetAddress: 'Main Street 1', locality: 'Graz', primary: true }],
  phoneNumbers: [{ value: '+43 1 234', type: 'work' }],
  groups: [{ value: '5', display: 'Staff', type: 'direct' }],
  [enterpriseUserUrn]: { department: 'Research', employeeNumber: '0042', manager: { value: '3' } },
  [platformUserUrn]: { loginType: 'SAML', name: { initials: 'AÅ' }, jobStartDate: '2020-02-01T00:00:00Z' },
  [additionalFieldsUrn]: { shoe_size: 39 },
};

/** Kind and detail of the refusal, as "kind: detail"; fails the test when there is none or it is of another class. */
export function refusalOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (error instanceof DomainError) return `${error.kind}: ${error.detail}`;
    throw error;
  }
  throw new Error('nothing was refused');
}

/** Only the kind of the refusal. */
export function kindOf(action: () => unknown): string {
  return refusalOf(action).split(':', 1)[0] ?? '';
}

/** undefined when the action gives a value or a DomainError; anything else that is thrown. */
export function strayError(action: () => unknown): unknown {
  try {
    action();
    return undefined;
  } catch (error) {
    return error instanceof DomainError ? undefined : error;
  }
}

export function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
