import { describe, expect, test } from 'bun:test';
import { additionalFieldId, additionalFieldsSchema } from '../../src/resource/additional-fields.ts';
import {
  type Attribute,
  buildResourceType,
  enterpriseUserUrn,
  findAttribute,
  findBareExtensionAttribute,
  findChild,
  findExtension,
  platformUserUrn,
  type Schema,
} from '../../src/resource/schema.ts';
import { groupType, kindOf, userType } from './fixtures.ts';

const published: readonly Schema[] = [
  userType.schema,
  ...userType.extensions,
  groupType.schema,
  ...groupType.extensions,
];

function everyAttribute(attributes: readonly Attribute[]): readonly Attribute[] {
  return attributes.flatMap((each) => [each, ...everyAttribute(each.subAttributes ?? [])]);
}

describe('the published schemas', () => {
  test('are the six of the service description', () => {
    expect(published.map((schema) => schema.id)).toEqual([
      'urn:ietf:params:scim:schemas:core:2.0:User',
      'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User',
      'urn:ietf:params:scim:schemas:extension:platform:2.0:User',
      'urn:ietf:params:scim:schemas:extension:platformadditionalfields:2.0:User',
      'urn:ietf:params:scim:schemas:core:2.0:Group',
      'urn:ietf:params:scim:schemas:extension:platform:2.0:Group',
    ]);
  });

  test('have every attribute of RFC 7643 §4.1', () => {
    expect(userType.schema.attributes.map(({ name }) => name)).toEqual(
      (
        'userName name displayName nickName profileUrl title userType preferredLanguage locale timezone active ' +
        'password emails phoneNumbers ims photos addresses groups entitlements roles x509Certificates'
      ).split(' '),
    );
  });

  test('give every characteristic of RFC 7643 §7 to every attribute', () => {
    const types = ['string', 'boolean', 'decimal', 'integer', 'dateTime', 'binary', 'reference', 'complex'];
    for (const attribute of published.flatMap((schema) => everyAttribute(schema.attributes))) {
      expect(attribute.description, attribute.name).toMatch(/\S/);
      expect(types, attribute.name).toContain(attribute.type);
      expect(['readOnly', 'readWrite', 'immutable', 'writeOnly'], attribute.name).toContain(
        attribute.mutability,
      );
      expect(['always', 'never', 'default', 'request'], attribute.name).toContain(attribute.returned);
      expect(['none', 'server', 'global'], attribute.name).toContain(attribute.uniqueness);
      for (const flag of [attribute.required, attribute.multiValued, attribute.caseExact]) {
        expect(typeof flag, attribute.name).toBe('boolean');
      }
      expect(attribute.type === 'complex', attribute.name).toBe(attribute.subAttributes !== undefined);
      expect(attribute.type === 'reference', attribute.name).toBe(attribute.referenceTypes !== undefined);
    }
  });

  test('say of the password that it is immutable and never returned', () => {
    expect(findAttribute(userType, 'password')).toMatchObject({ mutability: 'immutable', returned: 'never' });
  });
});

describe('buildResourceType', () => {
  test('finds core, common and extension attributes whatever their letter case', () => {
    expect(findAttribute(userType, 'USERNAME')?.path).toBe('userName');
    expect(findAttribute(userType, 'externalid')?.path).toBe('externalId');
    expect(findAttribute(userType, 'Department', enterpriseUserUrn.toUpperCase())?.path).toBe(
      `${enterpriseUserUrn}:department`,
    );
    expect(findExtension(userType, platformUserUrn.toLowerCase())?.schema.id).toBe(platformUserUrn);
    const emails = findAttribute(userType, 'emails');
    expect(emails && findChild(emails, 'VALUE')?.path).toBe('emails.value');
  });

  test('finds nothing under names that every JavaScript object has', () => {
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      expect(findAttribute(userType, name)).toBeUndefined();
      expect(findExtension(userType, name)).toBeUndefined();
    }
  });

  test('takes a bare name for an extension attribute only when it can mean one', () => {
    const fields = additionalFieldsSchema([
      { id: 'Division', label: 'D' },
      { id: 'title', label: 'T' },
    ]);
    const type = buildResourceType('User', { additionalFields: fields });
    expect(findBareExtensionAttribute(type, 'department')?.schema).toBe(enterpriseUserUrn);
    expect(findBareExtensionAttribute(type, 'division')).toBeUndefined();
    expect(findBareExtensionAttribute(type, 'title')).toBeUndefined();
    expect(findBareExtensionAttribute(type, 'name')).toBeUndefined();
  });

  test('publishes the user types of the settings', () => {
    const type = buildResourceType('User', { userTypes: ['Guest'] });
    expect(findAttribute(type, 'userType')?.canonicalValues).toEqual(['Guest']);
    expect(findAttribute(userType, 'userType')?.canonicalValues).toContain('Power User');
  });
});

describe('additionalFieldsSchema', () => {
  test('gives each field an attribute of its type', () => {
    const schema = additionalFieldsSchema([{ id: 'a1', label: 'A one', type: 'dateTime', required: true }]);
    expect(schema.attributes).toMatchObject([
      { name: 'a1', type: 'dateTime', required: true, description: 'A one' },
    ]);
  });

  test.each(['1a', 'a-b', 'a b', '', '_a', 'é', 'constructor', 'toString', 'prototype', 'PROTOTYPE'])(
    'refuses the id %p',
    (id) => {
      expect(kindOf(() => additionalFieldsSchema([{ id, label: 'x' }]))).toBe('invalidValue');
    },
  );

  test('refuses two ids that differ by letter case only', () => {
    const fields = [
      { id: 'Size', label: 'x' },
      { id: 'size', label: 'y' },
    ];
    expect(kindOf(() => additionalFieldsSchema(fields))).toBe('invalidValue');
  });

  test('makes the id of a label of three words', () => {
    expect(additionalFieldId('Favourite Ice Cream')).toBe('favourite_ice_cream');
  });
});
