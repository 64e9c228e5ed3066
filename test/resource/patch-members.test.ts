import { describe, expect, test } from 'bun:test';
import { normaliseResource } from '../../src/resource/normalise.ts';
import { type GroupPatchStep, splitMembers, takeMembers } from '../../src/resource/patch-members.ts';
import type { PatchOperation } from '../../src/resource/patch-operation.ts';
import { coreGroupUrn, platformGroupUrn } from '../../src/resource/schema.ts';
import { groupType, kindOf, refusalOf, userType } from './fixtures.ts';

const split = (...operations: PatchOperation[]) => splitMembers(groupType, operations);
const members = (action: string, ...values: string[]) =>
  ({ kind: 'members', action, values }) as GroupPatchStep;
const rename: PatchOperation = { op: 'replace', path: 'displayName', value: 'New' };

describe('splitMembers', () => {
  test.each<[string, PatchOperation, GroupPatchStep[]]>([
    [
      'adds (Okta, with display and $ref)',
      {
        op: 'add',
        path: 'members',
        value: [
          { value: '1', display: 'a@x.org', $ref: null },
          { value: '2', type: 'User' },
        ],
      },
      [members('add', '1', '2')],
    ],
    ['adds one object', { op: 'add', path: 'Members', value: { value: '1' } }, [members('add', '1')]],
    [
      'adds nothing twice',
      { op: 'add', path: 'members', value: [{ value: '1' }, { value: '1' }] },
      [members('add', '1')],
    ],
    [
      'adds behind the URN',
      { op: 'add', path: `${coreGroupUrn}:members`, value: [{ value: '1' }] },
      [members('add', '1')],
    ],
    ['adds without a path', { op: 'add', value: { members: [{ value: '1' }] } }, [members('add', '1')]],
    ['replaces', { op: 'replace', path: 'members', value: [{ value: '1' }] }, [members('replace', '1')]],
    [
      'replaces by nothing (Okta push now)',
      { op: 'replace', path: 'members', value: [] },
      [members('replace')],
    ],
    ['replaces by null', { op: 'replace', path: 'members', value: null }, [members('replace')]],
    [
      'replaces beside other attributes',
      { op: 'replace', value: { id: '9', displayName: 'New', MEMBERS: [{ value: '1' }] } },
      [
        { kind: 'document', operation: { op: 'replace', value: { id: '9', displayName: 'New' } } },
        members('replace', '1'),
      ],
    ],
    [
      'replaces behind the URN as path',
      { op: 'replace', path: coreGroupUrn, value: { displayName: 'New', members: [] } },
      [
        { kind: 'document', operation: { op: 'replace', path: coreGroupUrn, value: { displayName: 'New' } } },
        members('replace'),
      ],
    ],
    [
      'removes by any other filter',
      { op: 'remove', path: 'members[value ne "1" and type eq "User"]' },
      [expect.objectContaining({ kind: 'members', action: 'removeWhere' })],
    ],
    ['removes by filter', { op: 'remove', path: 'members[value eq "1"]' }, [members('remove', '1')]],
    [
      'removes by several or-ed values',
      { op: 'remove', path: 'members[value eq "1" or (Value EQ "2" or value eq "1")]' },
      [members('remove', '1', '2')],
    ],
    [
      'removes by a list of values (Entra, after its repair)',
      { op: 'remove', path: 'members', value: [{ value: '1', $ref: null }, { value: '2' }] },
      [members('remove', '1', '2')],
    ],
    ['removes nothing by an empty list', { op: 'remove', path: 'members', value: [] }, [members('remove')]],
    ['clears', { op: 'remove', path: 'members' }, [members('clear')]],
    ['leaves the document to applyPatch', rename, [{ kind: 'document', operation: rename }]],
    [
      'leaves a remove without path to applyPatch',
      { op: 'remove', value: { members: [] } },
      [{ kind: 'document', operation: { op: 'remove', value: { members: [] } } }],
    ],
    [
      'leaves extensions to applyPatch',
      { op: 'add', path: `${platformGroupUrn}:description`, value: 'x' },
      [{ kind: 'document', operation: { op: 'add', path: `${platformGroupUrn}:description`, value: 'x' } }],
    ],
  ])('%s', (_what, operation, steps) => {
    expect(split(operation)).toEqual(steps);
  });

  test('keeps the order of the operations', () => {
    const remove: PatchOperation = { op: 'remove', path: 'members' };
    const add: PatchOperation = { op: 'add', path: 'members', value: [{ value: '1' }] };
    expect(split(remove, rename, add)).toEqual([
      members('clear'),
      { kind: 'document', operation: rename },
      members('add', '1'),
    ]);
  });

  test('carries a thousand values in one step', () => {
    const value = Array.from({ length: 1000 }, (_, index) => ({ value: `${index}` }));
    expect(split({ op: 'remove', path: 'members', value })).toMatchObject([{ values: { length: 1000 } }]);
  });

  test.each<[string, string, PatchOperation]>([
    ['invalidValue', 'a member without value', { op: 'add', path: 'members', value: [{ display: 'x' }] }],
    ['invalidValue', 'an empty member', { op: 'add', path: 'members', value: [{}] }],
    ['invalidValue', 'a text for a member', { op: 'add', path: 'members', value: ['1'] }],
    ['invalidValue', 'a number for a value', { op: 'add', path: 'members', value: [{ value: 1 }] }],
    [
      'invalidValue',
      'a group as member',
      { op: 'add', path: 'members', value: [{ value: '1', type: 'Group' }] },
    ],
    [
      'invalidValue',
      'a replaced list that is no list',
      { op: 'replace', path: 'members', value: { value: '1' } },
    ],
    [
      'mutability',
      'a change of a member in place',
      { op: 'replace', path: 'members[value eq "1"].value', value: '2' },
    ],
    [
      'mutability',
      'a replaced member',
      { op: 'replace', path: 'members[value eq "1"]', value: { value: '2' } },
    ],
    ['mutability', 'a change of every member', { op: 'add', path: 'members.display', value: 'x' }],
    ['invalidPath', 'a broken path', { op: 'remove', path: 'members[value eq "1"' }],
    ['invalidPath', 'an unknown part of a member', { op: 'remove', path: 'members.nosuch' }],
    ['invalidSyntax', 'members in two spellings', { op: 'add', value: { members: [], Members: [] } }],
  ])('answers %s to %s', (kind, _what, operation) => {
    expect(kindOf(() => split(operation))).toBe(kind);
  });

  test('leaves every operation of a resource type without members alone', () => {
    expect(splitMembers(userType, [rename])).toEqual([{ kind: 'document', operation: rename }]);
  });
});

describe('takeMembers', () => {
  const take = (body: object) =>
    takeMembers(groupType, normaliseResource(groupType, body, 'create').resource);

  test('takes the members out of the document', () => {
    expect(
      take({ displayName: 'A', members: [{ value: '1', display: 'x' }, { value: '2' }, { value: '1' }] }),
    ).toEqual({
      document: { schemas: [coreGroupUrn], displayName: 'A' },
      members: ['1', '2'],
    });
  });

  test('says when the body had none', () => {
    expect(take({ displayName: 'A' }).members).toBeUndefined();
  });

  test('refuses a member without value', () => {
    expect(refusalOf(() => take({ displayName: 'A', members: [{ $ref: 'https://x/Users/1' }] }))).toStartWith(
      'invalidValue',
    );
  });
});
