import { describe, expect, test } from 'bun:test';
import { applyPatch, type PatchOptions } from '../../src/resource/patch.ts';
import type { PatchOperation } from '../../src/resource/patch-operation.ts';
import { enterpriseUserUrn, platformUserUrn } from '../../src/resource/schema.ts';
import { equalResources } from '../../src/resource/value.ts';
import { ann, kindOf, refusalOf, userType } from './fixtures.ts';

const refusal = (operation: PatchOperation, options: PatchOptions = {}) =>
  refusalOf(() => applyPatch(userType, ann, [operation], options));

describe('applyPatch: refusals', () => {
  test.each<[string, string, PatchOperation]>([
    ['noTarget', 'a remove without path', { op: 'remove' }],
    [
      'noTarget',
      'a replace that matches nothing',
      { op: 'replace', path: 'emails[type eq "other"].value', value: 'x' },
    ],
    [
      'noTarget',
      'a replace of elements that match nothing',
      { op: 'replace', path: 'roles[value eq "x"]', value: { value: 'y' } },
    ],
    [
      'noTarget',
      'an add that matches nothing',
      { op: 'add', path: 'emails[type eq "other"].value', value: 'x' },
    ],
    ['invalidPath', 'an unknown attribute', { op: 'replace', path: 'nosuch', value: 'x' }],
    ['invalidPath', 'a broken path', { op: 'replace', path: 'emails[type eq "work"', value: 'x' }],
    ['invalidPath', 'a value that names nothing known', { op: 'replace', value: { nosuch: 1, other: 2 } }],
    [
      'invalidFilter',
      'a filter on an unknown sub-attribute',
      { op: 'remove', path: 'emails[nosuch eq "x"]' },
    ],
    ['mutability', 'another id', { op: 'replace', path: 'id', value: '18' }],
    ['mutability', 'another id without path', { op: 'replace', value: { id: '18', title: 'x' } }],
    ['mutability', 'a remove of the id', { op: 'remove', path: 'id' }],
    ['mutability', 'a change of groups', { op: 'add', path: 'groups', value: [{ value: '6' }] }],
    [
      'mutability',
      'an echo of groups behind a filter',
      { op: 'add', path: 'groups[value eq "5"]', value: ann.groups ?? null },
    ],
    ['mutability', 'a change within groups', { op: 'remove', path: 'groups[value eq "5"]' }],
    ['mutability', 'a change of meta', { op: 'replace', path: 'meta.version', value: 'x' }],
    ['mutability', 'an unknown schema', { op: 'add', path: 'schemas', value: ['urn:x'] }],
    [
      'mutability',
      'a readOnly sub-attribute',
      { op: 'replace', path: `${enterpriseUserUrn}:manager.displayName`, value: 'x' },
    ],
    ['mutability', 'a change of personas', { op: 'replace', path: `${platformUserUrn}:personas`, value: [] }],
    ['mutability', 'a password', { op: 'replace', path: 'password', value: 'x' }],
    ['mutability', 'a remove of the password', { op: 'remove', path: 'Password' }],
    ['mutability', 'a remove of what is required', { op: 'remove', path: 'userName' }],
    ['mutability', 'an unset of what is required', { op: 'replace', path: 'userName', value: '' }],
    ['invalidValue', 'blanks for what is required', { op: 'replace', path: 'userName', value: '  ' }],
    ['invalidValue', 'a wrong type', { op: 'replace', path: 'active', value: 'False' }],
    [
      'invalidValue',
      'a text for a complex attribute',
      { op: 'add', path: `${enterpriseUserUrn}:manager`, value: '3' },
    ],
    ['invalidValue', 'a value without path that is no object', { op: 'add', value: 'x' }],
    ['invalidValue', 'an extension that is no object', { op: 'add', path: enterpriseUserUrn, value: ['x'] }],
    [
      'invalidValue',
      'a replaced list that is no list',
      { op: 'replace', path: 'emails', value: { value: 'x' } },
    ],
    ['invalidValue', 'a list within a list', { op: 'add', path: 'emails', value: [[]] }],
    ['invalidValue', 'a text for an element', { op: 'replace', path: 'emails[type eq "work"]', value: 'x' }],
    [
      'invalidValue',
      'two primaries',
      {
        op: 'replace',
        path: 'emails',
        value: [
          { value: 'a', primary: true },
          { value: 'b', primary: true },
        ],
      },
    ],
    ['invalidValue', 'every element made primary', { op: 'replace', path: 'emails.primary', value: true }],
    ['invalidSyntax', 'one attribute in two spellings', { op: 'replace', value: { title: 'x', TITLE: 'y' } }],
    [
      'invalidSyntax',
      'the key constructor',
      { op: 'replace', value: { constructor: { prototype: { polluted: true } } } },
    ],
    [
      'invalidSyntax',
      'a key __proto__ in a value',
      { op: 'add', path: 'name', value: JSON.parse('{"__proto__":{"polluted":true}}') },
    ],
    ['invalidPath', 'a path into the prototype', { op: 'add', path: '__proto__.polluted', value: true }],
    [
      'invalidPath',
      'a path into the constructor',
      { op: 'add', path: 'constructor.prototype.polluted', value: true },
    ],
  ])('answers %s to %s', (kind, _what, operation) => {
    expect(refusal(operation)).toStartWith(`${kind}: `);
    expect('polluted' in {}).toBe(false);
  });

  test('leaves the given resource alone, whichever operation is refused', () => {
    const before = structuredClone(ann);
    const good: PatchOperation = { op: 'add', path: 'roles', value: [{ value: 'x' }] };
    const bad: PatchOperation = { op: 'replace', path: 'nosuch', value: 1 };
    for (let index = 0; index < 5; index += 1) {
      const operations = Array.from({ length: 5 }, (_, at) => (at === index ? bad : good));
      expect(refusalOf(() => applyPatch(userType, ann, operations))).toContain(`Operation ${index + 1}: `);
      expect(ann).toEqual(before);
    }
  });

  test('keeps a list from growing for ever', () => {
    const roles = Array.from({ length: 2000 }, (_, index) => ({ value: `r${index}` }));
    const user = { userName: 'x', roles };
    expect(
      kindOf(() => applyPatch(userType, user, [{ op: 'add', path: 'roles', value: [{ value: 'new' }] }])),
    ).toBe('invalidValue');
    expect(
      applyPatch(userType, user, [{ op: 'add', path: 'roles', value: [{ value: 'r5' }] }]).resource.roles,
    ).toHaveLength(2000);
  });
});

describe('applyPatch: its bound on work', () => {
  const roles = Array.from({ length: 2000 }, (_, index) => ({ value: `r${index}` }));
  const terms = Array.from({ length: 32 }, (_, index) => `value eq "${index}"`).join(' or ');
  const operations = (count: number): PatchOperation[] =>
    Array(count).fill({ op: 'remove', path: `roles[${terms}]` });

  test('refuses a thousand long filters over a long list', () => {
    expect(applyPatch(userType, { userName: 'x', roles }, operations(7)).resource.roles).toHaveLength(2000);
    expect(kindOf(() => applyPatch(userType, { userName: 'x', roles }, operations(1000)))).toBe(
      'payloadTooLarge',
    );
  });
});

describe('applyPatch: what it reports', () => {
  test('lists what a path-less value held that was left out', () => {
    const value = { displayName: 'A', nosuch: 1, password: 'x', name: { nosuch: 1, givenName: 'A' } };
    expect(applyPatch(userType, ann, [{ op: 'replace', value }]).ignored).toEqual([
      { attribute: 'nosuch', reason: 'unknown' },
      { attribute: 'password', reason: 'password' },
      { attribute: 'name.nosuch', reason: 'unknown' },
    ]);
  });

  test('gives an equal resource when nothing changed', () => {
    const operations: PatchOperation[] = [
      { op: 'replace', path: 'displayName', value: 'Ann Ångström' },
      { op: 'add', path: 'emails', value: [{ value: 'ann@home.example', type: 'home' }] },
      { op: 'remove', path: 'title' },
    ];
    expect(equalResources(applyPatch(userType, ann, operations).resource, ann)).toBe(true);
    expect(
      equalResources(
        applyPatch(userType, ann, [{ op: 'replace', path: 'displayName', value: 'X' }]).resource,
        ann,
      ),
    ).toBe(false);
  });
});
