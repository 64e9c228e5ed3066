import { describe, expect, test } from 'bun:test';
import { applyPatch, type PatchOptions } from '../../src/resource/patch.ts';
import type { PatchOperation } from '../../src/resource/patch-operation.ts';
import {
  additionalFieldsUrn,
  coreUserUrn,
  enterpriseUserUrn,
  platformUserUrn,
} from '../../src/resource/schema.ts';
import type { ScimObject, ScimValue } from '../../src/resource/value.ts';
import { ann, groupType, kindOf, refusalOf, userType } from './fixtures.ts';

const patch = (operation: PatchOperation, options: PatchOptions = {}) =>
  applyPatch(userType, ann, [operation], options).resource;
const refusal = (operation: PatchOperation, options: PatchOptions = {}) =>
  refusalOf(() => applyPatch(userType, ann, [operation], options));
/** The stored user with some attributes changed; undefined takes one out. */
function annWith(changes: Record<string, ScimValue | undefined>): ScimObject {
  return JSON.parse(JSON.stringify({ ...ann, ...changes }));
}
const enterprise = (changes: object) => ({
  [enterpriseUserUrn]: { ...Object(ann[enterpriseUserUrn]), ...changes },
});
const [work, home] = [
  { value: 'ann@example.org', type: 'work', primary: true },
  { value: 'ann@home.example', type: 'home' },
];

describe('applyPatch: add', () => {
  test.each<[string, PatchOperation, Record<string, ScimValue | undefined>]>([
    ['sets a singular attribute', { op: 'add', path: 'title', value: 'Dr' }, { title: 'Dr' }],
    ['replaces a singular attribute', { op: 'add', path: 'displayName', value: 'A' }, { displayName: 'A' }],
    [
      'sets a sub-attribute',
      { op: 'add', path: 'name.middleName', value: 'B' },
      { name: { ...Object(ann.name), middleName: 'B' } },
    ],
    [
      'merges a complex attribute',
      { op: 'add', path: 'name', value: { GivenName: 'B' } },
      { name: { givenName: 'B', familyName: 'Ångström' } },
    ],
    [
      'adds to a list',
      { op: 'add', path: 'roles', value: [{ value: 'a' }, { value: 'b' }] },
      { roles: [{ value: 'a' }, { value: 'b' }] },
    ],
    [
      'adds a single value to a list',
      { op: 'add', path: 'emails', value: { value: 'c' } },
      { emails: [work, home, { value: 'c' }] },
    ],
    [
      'adds no value twice, whatever its letter case',
      { op: 'add', path: 'emails', value: [{ value: 'ann@example.org', type: 'WORK' }] },
      { emails: [{ ...work, type: 'WORK' }, home] },
    ],
    [
      'adds no address twice',
      {
        op: 'add',
        path: 'addresses',
        value: [{ locality: 'Graz', type: 'work', streetAddress: 'Main Street 1' }],
      },
      {},
    ],
    [
      'moves the primary mark to the added value',
      { op: 'add', path: 'emails', value: [{ value: 'c', primary: true }] },
      { emails: [{ ...work, primary: false }, home, { value: 'c', primary: true }] },
    ],
    [
      'moves the primary mark to the value it sets',
      { op: 'add', path: 'emails[type eq "home"].primary', value: true },
      {
        emails: [
          { ...work, primary: false },
          { ...home, primary: true },
        ],
      },
    ],
    [
      'lets an added primary win over one that stays',
      {
        op: 'add',
        path: 'emails',
        value: [
          { value: 'ann@example.org', type: 'work' },
          { value: 'c', primary: true },
        ],
      },
      { emails: [{ ...work, primary: false }, home, { value: 'c', primary: true }] },
    ],
    [
      'merges into every element that matches',
      { op: 'add', path: 'emails[value ew "example"]', value: { display: 'H' } },
      { emails: [work, { ...home, display: 'H' }] },
    ],
    [
      'sets a sub-attribute of every element',
      { op: 'add', path: 'emails.display', value: 'D' },
      {
        emails: [
          { ...work, display: 'D' },
          { ...home, display: 'D' },
        ],
      },
    ],
    [
      'begins a list by a sub-attribute',
      { op: 'add', path: 'ims.value', value: 'x' },
      { ims: [{ value: 'x' }] },
    ],
    [
      'sets an extension attribute',
      { op: 'add', path: `${enterpriseUserUrn}:division`, value: 'D' },
      enterprise({ division: 'D' }),
    ],
    [
      'merges an extension',
      { op: 'add', path: enterpriseUserUrn, value: { Division: 'D' } },
      enterprise({ division: 'D' }),
    ],
    [
      'sets a complex extension attribute',
      { op: 'add', path: `${enterpriseUserUrn}:manager`, value: { value: '4', displayName: 'x' } },
      enterprise({ manager: { value: '4' } }),
    ],
    [
      'sets attributes without a path',
      {
        op: 'add',
        value: {
          title: 'Dr',
          Name: { middleName: 'B' },
          roles: [{ value: 'a' }],
          [enterpriseUserUrn]: { division: 'D' },
        },
      },
      {
        title: 'Dr',
        name: { ...Object(ann.name), middleName: 'B' },
        roles: [{ value: 'a' }],
        ...enterprise({ division: 'D' }),
      },
    ],
    [
      'takes the URN of the core schema for no path',
      { op: 'add', path: coreUserUrn, value: { title: 'Dr' } },
      { title: 'Dr' },
    ],
    [
      'unsets by an empty text',
      { op: 'add', path: `${enterpriseUserUrn}:manager`, value: '' },
      enterprise({ manager: undefined }),
    ],
    ['leaves a list alone when nothing is added', { op: 'add', path: 'emails', value: [] }, {}],
  ])('%s', (_what, operation, changes) => {
    expect(patch(operation)).toEqual(annWith(changes));
  });

  test('adds the URN of an extension to schemas with its first attribute', () => {
    const { resource } = applyPatch(userType, { userName: 'bob' }, [
      { op: 'add', path: `${additionalFieldsUrn}:badge`, value: 'B7' },
    ]);
    expect(resource).toEqual({
      userName: 'bob',
      [additionalFieldsUrn]: { badge: 'B7' },
      schemas: [coreUserUrn, additionalFieldsUrn],
    });
  });

  test.each<[string, ScimObject]>([
    ['phoneNumbers[type eq "mobile"].value', { type: 'mobile', value: 'x' }],
    [
      'phoneNumbers[type eq "mobile" and primary eq "True"].value',
      { type: 'mobile', primary: true, value: 'x' },
    ],
  ])('creates the element of %p when told to, and says so', (path, element) => {
    const operation: PatchOperation = { op: 'add', path, value: 'x' };
    const result = applyPatch(userType, ann, [operation], { createForValuePath: true });
    expect(result.resource).toEqual(
      annWith({ phoneNumbers: [{ value: '+43 1 234', type: 'work' }, element] }),
    );
    expect(result.createdForPaths).toEqual([path]);
    expect(refusal(operation)).toStartWith('noTarget: ');
    expect(refusal({ ...operation, op: 'replace' }, { createForValuePath: true })).toStartWith('noTarget: ');
  });

  test('creates no element by a readOnly sub-attribute', () => {
    const group = { displayName: 'A' };
    const operation: PatchOperation = { op: 'add', path: 'members[display eq "x"].value', value: '1' };
    expect(kindOf(() => applyPatch(groupType, group, [operation], { createForValuePath: true }))).toBe(
      'noTarget',
    );
  });

  test('knows a value again whatever its letter case, and takes the new spelling', () => {
    const value = [{ value: 'ANN@home.example', type: 'Home' }];
    expect(patch({ op: 'add', path: 'emails', value }).emails).toEqual([work, ...value]);
  });

  test('creates an element from filter and object', () => {
    const operation: PatchOperation = {
      op: 'add',
      path: 'addresses[type eq "home"]',
      value: { country: 'AT' },
    };
    expect(patch(operation, { createForValuePath: true }).addresses).toContainEqual({
      type: 'home',
      country: 'AT',
    });
  });

  test.each([
    'type eq "a" or type eq "b"',
    'not (type eq "work")',
    'type sw "mob"',
    'type eq "a" and type eq "b"',
    'type ne "work"',
  ])('creates nothing for the filter %p', (filter) => {
    const operation: PatchOperation = { op: 'add', path: `ims[${filter}].value`, value: 'x' };
    expect(refusal(operation, { createForValuePath: true })).toStartWith('noTarget: ');
  });

  test('takes bare names of extension attributes when told to, and says so', () => {
    const operations: PatchOperation[] = [
      { op: 'replace', path: 'Department', value: 'HR' },
      { op: 'add', value: { division: 'D' } },
    ];
    const result = applyPatch(userType, ann, operations, { bareExtensionNames: true });
    expect(result.resource).toEqual(annWith(enterprise({ department: 'HR', division: 'D' })));
    expect(result.bareNames).toEqual(['Department', 'division']);
  });
});

describe('applyPatch: replace', () => {
  test.each<[string, PatchOperation, Record<string, ScimValue | undefined>]>([
    ['sets what was not there', { op: 'replace', path: 'title', value: 'Dr' }, { title: 'Dr' }],
    ['sets a boolean', { op: 'replace', path: 'active', value: false }, { active: false }],
    ['unsets by null', { op: 'replace', path: 'displayName', value: null }, { displayName: undefined }],
    [
      'keeps the sub-attributes that the value does not name',
      { op: 'replace', path: 'name', value: { givenName: 'B' } },
      { name: { givenName: 'B', familyName: 'Ångström' } },
    ],
    [
      'unsets a sub-attribute by null',
      { op: 'replace', path: 'name', value: { givenName: null } },
      { name: { familyName: 'Ångström' } },
    ],
    [
      'replaces a list',
      { op: 'replace', path: 'emails', value: [{ value: 'c' }] },
      { emails: [{ value: 'c' }] },
    ],
    ['empties a list', { op: 'replace', path: 'emails', value: [] }, { emails: undefined }],
    [
      'replaces the elements that match',
      { op: 'replace', path: 'addresses[type eq "work"]', value: { type: 'work', locality: 'Wien' } },
      { addresses: [{ type: 'work', locality: 'Wien' }] },
    ],
    [
      'sets a sub-attribute of the elements that match',
      { op: 'replace', path: 'emails[type eq "work"].value', value: 'c' },
      { emails: [{ ...work, value: 'c' }, home] },
    ],
    [
      'sets a sub-attribute of every element',
      { op: 'replace', path: 'emails.type', value: 'other' },
      {
        emails: [
          { ...work, type: 'other' },
          { ...home, type: 'other' },
        ],
      },
    ],
    [
      'finds the element that Entra describes by text',
      { op: 'replace', path: 'emails[primary eq "True"].value', value: 'c' },
      { emails: [{ ...work, value: 'c' }, home] },
    ],
    [
      'drops an element of which only labels are left',
      { op: 'replace', path: 'emails[type eq "home"].value', value: '' },
      { emails: [work] },
    ],
    [
      'sets attributes without a path',
      { op: 'replace', value: { active: false, emails: [{ value: 'c' }] } },
      { active: false, emails: [{ value: 'c' }] },
    ],
    [
      'changes only what an extension object names',
      { op: 'replace', value: { [enterpriseUserUrn.toUpperCase()]: { department: 'HR' } } },
      enterprise({ department: 'HR' }),
    ],
    [
      'unsets an extension by null',
      { op: 'replace', path: platformUserUrn, value: null },
      { [platformUserUrn]: undefined, schemas: [coreUserUrn, enterpriseUserUrn, additionalFieldsUrn] },
    ],
    ['takes an empty object for no change', { op: 'replace', value: {} }, {}],
    [
      'takes an unchanged id for no change',
      { op: 'replace', value: { id: '17', displayName: 'New' } },
      { displayName: 'New' },
    ],
    [
      'takes an unchanged readOnly value for no change',
      { op: 'replace', path: 'groups', value: [{ value: '5', display: 'Staff', type: 'direct' }] },
      {},
    ],
    [
      'takes known schemas for no change',
      { op: 'replace', path: 'schemas', value: [coreUserUrn.toLowerCase()] },
      {},
    ],
    [
      'ignores schemas and meta without a path',
      { op: 'replace', value: { schemas: [], meta: { version: 'x' } } },
      {},
    ],
    [
      'takes out a complex value of which nothing is left',
      { op: 'replace', path: 'name', value: { givenName: null, familyName: '' } },
      { name: undefined },
    ],
  ])('%s', (_what, operation, changes) => {
    expect(patch(operation)).toEqual(annWith(changes));
  });

  test('moves the primary mark as RFC 7644 §3.5.2 asks', () => {
    const { emails } = patch({ op: 'replace', path: 'emails[type eq "home"].primary', value: true });
    expect(emails).toEqual([
      { ...work, primary: false },
      { ...home, primary: true },
    ]);
  });
});

describe('applyPatch: remove', () => {
  test.each<[string, PatchOperation, Record<string, ScimValue | undefined>]>([
    ['takes out an attribute', { op: 'remove', path: 'displayName' }, { displayName: undefined }],
    ['takes out a list', { op: 'remove', path: 'emails' }, { emails: undefined }],
    [
      'takes out a sub-attribute',
      { op: 'remove', path: 'name.givenName' },
      { name: { familyName: 'Ångström' } },
    ],
    [
      'takes out the elements that match',
      { op: 'remove', path: 'emails[type eq "home"]' },
      { emails: [work] },
    ],
    [
      'takes out the list with its last element',
      { op: 'remove', path: 'phoneNumbers[value pr]' },
      { phoneNumbers: undefined },
    ],
    [
      'takes out a sub-attribute of the elements that match',
      { op: 'remove', path: 'emails[type eq "work"].primary' },
      { emails: [{ value: work?.value ?? '', type: 'work' }, home] },
    ],
    [
      'takes out a sub-attribute of every element',
      { op: 'remove', path: 'emails.type' },
      { emails: [{ value: 'ann@example.org', primary: true }, { value: 'ann@home.example' }] },
    ],
    [
      'takes out an extension attribute',
      { op: 'remove', path: `${enterpriseUserUrn}:manager` },
      enterprise({ manager: undefined }),
    ],
    [
      'takes out an extension',
      { op: 'remove', path: additionalFieldsUrn },
      { [additionalFieldsUrn]: undefined, schemas: [coreUserUrn, enterpriseUserUrn, platformUserUrn] },
    ],
    [
      'takes out an extension with its last attribute',
      { op: 'remove', path: `${additionalFieldsUrn}:shoe_size` },
      { [additionalFieldsUrn]: undefined, schemas: [coreUserUrn, enterpriseUserUrn, platformUserUrn] },
    ],
    ['is no error for what is not there', { op: 'remove', path: 'emails[type eq "other"]' }, {}],
    ['is no error for an attribute without value', { op: 'remove', path: 'title' }, {}],
    [
      'takes out only the listed values',
      { op: 'remove', path: 'emails', value: [{ value: 'ANN@home.example', $ref: null }] },
      { emails: [work] },
    ],
    [
      'keeps a listed value of another type',
      { op: 'remove', path: 'emails', value: [{ value: 'ann@home.example', type: 'work' }] },
      {},
    ],
  ])('%s', (_what, operation, changes) => {
    expect(patch(operation)).toEqual(annWith(changes));
  });
});
