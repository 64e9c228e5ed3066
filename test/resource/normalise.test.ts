import { describe, expect, test } from 'bun:test';
import { normaliseResource } from '../../src/resource/normalise.ts';
import {
  additionalFieldsUrn,
  coreUserUrn,
  enterpriseUserUrn,
  platformGroupUrn,
  platformUserUrn,
} from '../../src/resource/schema.ts';
import { groupType, kindOf, refusalOf, userType } from './fixtures.ts';

const create = (body: unknown) => normaliseResource(userType, body, 'create');
const withName = (body: object) => create({ userName: 'ann', ...body });

describe('normaliseResource', () => {
  test('spells names and URNs as the schema does and keeps values as they were sent', () => {
    const { resource, ignored } = create({
      SCHEMAS: ['urn:ietf:params:scim:schemas:core:2.0:user'],
      USERNAME: ' Ann@Example.ORG ',
      Name: { GIVENNAME: 'Ann  ' },
      Emails: [{ VALUE: 'Ann@X.org', Type: 'WORK', Primary: true }],
      [enterpriseUserUrn.toLowerCase()]: { Department: 'R & D' },
    });
    expect(resource).toEqual({
      schemas: [coreUserUrn, enterpriseUserUrn],
      userName: ' Ann@Example.ORG ',
      name: { givenName: 'Ann  ' },
      emails: [{ value: 'Ann@X.org', type: 'WORK', primary: true }],
      [enterpriseUserUrn]: { department: 'R & D' },
    });
    expect(ignored).toEqual([]);
  });

  test('reads an extension whose URN is missing from schemas', () => {
    const { resource } = withName({ schemas: [coreUserUrn], [additionalFieldsUrn]: { shoe_size: 39 } });
    expect(resource.schemas).toEqual([coreUserUrn, additionalFieldsUrn]);
  });

  test('leaves out the URN of an extension that says nothing', () => {
    const { resource } = withName({
      schemas: [coreUserUrn, enterpriseUserUrn],
      [enterpriseUserUrn]: { department: null },
    });
    expect(resource).toEqual({ schemas: [coreUserUrn], userName: 'ann' });
  });

  test('takes null, the empty text, the empty list and the empty object for no value', () => {
    const body = {
      ...{ title: null, nickName: '', roles: [], name: {}, active: null, ims: [null, {}, { value: '' }] },
      ...{
        emails: [{ value: null, type: 'work', primary: true }],
        [platformUserUrn]: { name: { title: '' }, bio: '' },
        [additionalFieldsUrn]: '',
      },
    };
    expect(withName(body).resource).toEqual({ schemas: [coreUserUrn], userName: 'ann' });
  });

  test('drops and lists what no schema has, by the name the client used', () => {
    const { resource, ignored } = withName({
      Nosuch: { a: 1 },
      'urn:nosuch:2.0:User': { x: 1 },
      name: { givenName: 'A', nosuch: 1 },
      [enterpriseUserUrn]: { nosuch: 1 },
    });
    expect(resource).toEqual({ schemas: [coreUserUrn], userName: 'ann', name: { givenName: 'A' } });
    expect(ignored).toEqual(
      ['Nosuch', 'urn:nosuch:2.0:User', 'name.nosuch', `${enterpriseUserUrn}:nosuch`].map((attribute) => ({
        attribute,
        reason: 'unknown',
      })),
    );
  });

  test('lists at most a hundred names of two hundred characters', () => {
    const body = Object.fromEntries(
      Array.from({ length: 300 }, (_, index) => [`x${index}${'y'.repeat(900)}`, 1]),
    );
    const { ignored } = withName(body);
    expect(ignored).toHaveLength(100);
    expect(ignored[0]?.attribute).toHaveLength(200);
  });

  test('drops what is readOnly, and lists it but for the bookkeeping of the protocol', () => {
    const { resource, ignored } = withName({
      id: '1',
      meta: { resourceType: 'User' },
      groups: [{ value: '5' }],
      [enterpriseUserUrn]: { manager: { value: '3', displayName: 'Bob', $ref: null } },
      [platformUserUrn]: { personas: [{ value: '1' }] },
    });
    expect(resource).toEqual({
      schemas: [coreUserUrn, enterpriseUserUrn],
      userName: 'ann',
      [enterpriseUserUrn]: { manager: { value: '3' } },
    });
    expect(ignored).toEqual([
      { attribute: 'groups', reason: 'readOnly' },
      { attribute: `${platformUserUrn}:personas`, reason: 'readOnly' },
    ]);
  });

  test('keeps the password of a creation only', () => {
    const body = { userName: 'ann', password: 's3cret' };
    expect(normaliseResource(userType, body, 'create').resource.password).toBe('s3cret');
    for (const mode of ['replace', 'merge'] as const) {
      const { resource, ignored } = normaliseResource(userType, body, mode);
      expect(resource).not.toHaveProperty('password');
      expect(ignored).toEqual([{ attribute: 'password', reason: 'password' }]);
    }
  });

  test('answers closed lists in their own spelling and refuses other values', () => {
    const body = { userType: 'power USER', [platformUserUrn]: { loginType: 'saml' } };
    expect(withName(body).resource).toMatchObject({
      userType: 'Power User',
      [platformUserUrn]: { loginType: 'SAML' },
    });
    expect(refusalOf(() => withName({ userType: 'Guest' }))).toBe(
      'invalidValue: The attribute userType must be one of: Power User, Intranet User, Non Intranet User.',
    );
    const group = { displayName: 'A', [platformGroupUrn]: { groupType: 'Security Group' } };
    expect(normaliseResource(groupType, group, 'create').resource[platformGroupUrn]).toEqual({
      groupType: 'security group',
    });
    expect(kindOf(() => withName({ [platformUserUrn]: { loginType: 'None' } }))).toBe('invalidValue');
  });

  test.each<[object, string]>([
    [{ active: 'true' }, 'active must be a boolean (true or false), but a text was sent'],
    [{ userName: 5 }, 'userName must be a text, but a number was sent'],
    [{ userName: ['a'] }, 'userName must be a text, but an array was sent'],
    [{ name: 'Ann' }, 'name must be an object, but a text was sent'],
    [{ name: [{ givenName: 'A' }] }, 'name must be an object, but an array was sent'],
    [{ name: { givenName: true } }, 'name.givenName must be a text, but a boolean was sent'],
    [{ emails: 'a@x' }, 'emails must be an array, each of its values an object, but a text was sent'],
    [{ emails: { value: 'a@x' } }, 'emails must be an array'],
    [{ emails: ['a@x'] }, 'emails must be an array, each of its values an object, but a text was sent'],
    [{ emails: [[]] }, 'emails must be an array'],
    [{ emails: [{ value: { x: 1 } }] }, 'emails.value must be a text, but an object was sent'],
    [{ emails: [{ value: 'a', primary: 'True' }] }, 'emails.primary must be a boolean'],
    [{ x509Certificates: [{ value: 'not base64!' }] }, 'x509Certificates.value must be a text in base64'],
    [{ [platformUserUrn]: { jobStartDate: '2020-02-30T00:00:00Z' } }, 'jobStartDate must be a date and time'],
    [{ [platformUserUrn]: { jobStartDate: 0 } }, 'jobStartDate must be a date and time'],
    [{ [additionalFieldsUrn]: { shoe_size: 1.5 } }, 'shoe_size must be a whole number'],
    [{ [additionalFieldsUrn]: { shoe_size: 2 ** 53 } }, 'shoe_size must be a whole number'],
    [{ [enterpriseUserUrn]: [] }, 'must be an object'],
    [{ [enterpriseUserUrn]: 'x' }, 'must be an object'],
    [{ [enterpriseUserUrn]: { manager: '3' } }, 'manager must be an object, but a text was sent'],
  ])('refuses %j with invalidValue', (body, problem) => {
    const refusal = refusalOf(() => withName(body));
    expect(refusal).toStartWith('invalidValue: ');
    expect(refusal).toContain(problem);
  });

  test('never shows the value it refuses', () => {
    expect(refusalOf(() => withName({ password: { x: 'hunter2' } }))).not.toContain('hunter2');
  });

  test('refuses two values marked primary', () => {
    const two = [
      { value: 'a', primary: true },
      { value: 'b', primary: true },
    ];
    expect(refusalOf(() => withName({ emails: two }))).toContain(
      'emails has more than one value marked primary',
    );
    expect(withName({ emails: [two[0], { value: 'b', primary: false }] }).resource.emails).toHaveLength(2);
  });

  test('refuses an attribute that is given in two spellings', () => {
    expect(kindOf(() => create({ userName: 'a', username: 'b' }))).toBe('invalidSyntax');
    expect(kindOf(() => withName({ name: { givenName: 'a', GivenName: 'b' } }))).toBe('invalidSyntax');
    const twice = {
      [enterpriseUserUrn]: { division: 'a' },
      [enterpriseUserUrn.toUpperCase()]: { division: 'b' },
    };
    expect(kindOf(() => withName(twice))).toBe('invalidSyntax');
  });

  test('wants what is required, but not of a merge', () => {
    expect(refusalOf(() => create({ displayName: 'A' }))).toBe(
      'invalidValue: The attribute userName is required; give it a value.',
    );
    expect(kindOf(() => create({ userName: '   ' }))).toBe('invalidValue');
    expect(kindOf(() => normaliseResource(groupType, { displayName: null }, 'replace'))).toBe('invalidValue');
    expect(normaliseResource(userType, { displayName: 'A' }, 'merge').resource.displayName).toBe('A');
  });

  test('refuses a body that is no object', () => {
    for (const body of [null, [], 'x', 5, true, undefined])
      expect(kindOf(() => create(body))).toBe('invalidSyntax');
  });

  test.each(['\u0000', 'a\ud800b'])('refuses a text that a database cannot keep', (text) => {
    expect(kindOf(() => withName({ title: text }))).toBe('invalidValue');
  });

  test('keeps each bound at its edge', () => {
    expect(withName({ title: 'x'.repeat(65_536) }).resource.title).toHaveLength(65_536);
    expect(kindOf(() => withName({ title: 'x'.repeat(65_537) }))).toBe('invalidValue');
    const keys = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 1]));
    expect(withName(keys(999)).resource.userName).toBe('ann');
    expect(kindOf(() => withName(keys(1000)))).toBe('invalidSyntax');
    const roles = (count: number) => Array.from({ length: count }, (_, index) => ({ value: `r${index}` }));
    expect(withName({ roles: roles(19_999) }).resource.roles).toHaveLength(19_999);
    expect(kindOf(() => withName({ roles: roles(20_000) }))).toBe('payloadTooLarge');
  });
});

describe('normaliseResource and the prototypes of JavaScript', () => {
  test.each(['__proto__', 'constructor', 'prototype'])('refuses the key %p wherever it stands', (key) => {
    const evil: unknown = JSON.parse(`{"${key}":{"polluted":true}}`);
    const spread = (body: object) => JSON.parse(JSON.stringify(body).replace('"@evil"', JSON.stringify(key)));
    expect(kindOf(() => create(evil))).toBe('invalidSyntax');
    for (const body of [
      { name: { '@evil': 1 } },
      { emails: [{ '@evil': 1 }] },
      { [enterpriseUserUrn]: { '@evil': 1 } },
    ]) {
      expect(kindOf(() => withName(spread(body)))).toBe('invalidSyntax');
    }
  });

  test('leaves every prototype as it was', () => {
    const names = Object.getOwnPropertyNames(Object.prototype);
    const inherited = ['toString', 'valueOf', 'hasOwnProperty', '__defineGetter__', 'isPrototypeOf'];
    for (const name of inherited) {
      const { resource } = withName({ [name]: { x: 1 }, name: { [name]: 'x', givenName: 'A' } });
      expect(Object.keys(resource)).toEqual(['schemas', 'userName', 'name']);
    }
    expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(names);
    expect('polluted' in {}).toBe(false);
  });
});
