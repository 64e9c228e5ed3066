import { describe, expect, test } from 'bun:test';
import { applyPatch } from '../../src/resource/patch.ts';
import { expandKeys } from '../../src/resource/patch-keys.ts';
import type { PatchOperation } from '../../src/resource/patch-operation.ts';
import { coreUserUrn, enterpriseUserUrn } from '../../src/resource/schema.ts';
import { ann, userType } from './fixtures.ts';

describe('expandKeys', () => {
  test('turns keys in path notation into operations (Entra with aadOptscim062020)', () => {
    const value = {
      displayName: 'Ann B',
      'name.givenName': 'B',
      [`${enterpriseUserUrn}:department`]: 'HR',
      'emails[type eq "work"].value': 'b@x.org',
      [enterpriseUserUrn]: { division: 'D' },
      [`${coreUserUrn}:title`]: 'Dr',
      'no path at all.': 1,
    };
    const { operations, expanded } = expandKeys(userType, { op: 'replace', value });
    expect(operations).toEqual([
      {
        op: 'replace',
        value: { displayName: 'Ann B', [enterpriseUserUrn]: { division: 'D' }, 'no path at all.': 1 },
      },
      { op: 'replace', path: 'name.givenName', value: 'B' },
      { op: 'replace', path: `${enterpriseUserUrn}:department`, value: 'HR' },
      { op: 'replace', path: 'emails[type eq "work"].value', value: 'b@x.org' },
      { op: 'replace', path: `${coreUserUrn}:title`, value: 'Dr' },
    ]);
    expect(expanded).toHaveLength(4);
    expect(applyPatch(userType, ann, operations).resource).toMatchObject({
      displayName: 'Ann B',
      title: 'Dr',
      name: { givenName: 'B', familyName: 'Ångström' },
      [enterpriseUserUrn]: { department: 'HR', division: 'D', employeeNumber: '0042' },
    });
  });

  test('leaves no operation for the rest when there is none', () => {
    expect(expandKeys(userType, { op: 'add', value: { 'name.givenName': 'B' } }).operations).toEqual([
      { op: 'add', path: 'name.givenName', value: 'B' },
    ]);
  });

  test('gives back every other operation as it is', () => {
    const others: PatchOperation[] = [
      { op: 'replace', value: { title: 'x', [enterpriseUserUrn]: {} } },
      { op: 'replace', path: 'name', value: { 'a.b': 1 } },
      { op: 'remove' },
      { op: 'add', value: 'x' },
    ];
    for (const operation of others) {
      expect(expandKeys(userType, operation)).toEqual({ operations: [operation], expanded: [] });
    }
  });
});
