import { describe, expect, test } from 'bun:test';
import { patchOperationsMax, patchOpUrn, readPatchOp } from '../../src/resource/patch-operation.ts';
import { kindOf, refusalOf } from './fixtures.ts';

const read = (...operations: unknown[]) => readPatchOp({ schemas: [patchOpUrn], Operations: operations });

describe('readPatchOp', () => {
  test('reads keys, op names and the URN without case', () => {
    const body = {
      Schemas: [patchOpUrn.toUpperCase()],
      operations: [{ OP: 'Replace', Path: 'title', VALUE: 'x' }],
    };
    expect(readPatchOp(body)).toEqual([{ op: 'replace', path: 'title', value: 'x' }]);
  });

  test('takes an empty or null path for none', () => {
    const value = { title: 'x' };
    expect(read({ op: 'add', path: '', value }, { op: 'add', path: null, value })).toEqual([
      { op: 'add', value },
      { op: 'add', value },
    ]);
  });

  test('keeps a null value of a replace, which unsets, and drops that of a remove', () => {
    expect(read({ op: 'replace', path: 'title', value: null })).toEqual([
      { op: 'replace', path: 'title', value: null },
    ]);
    expect(read({ op: 'remove', path: 'title', value: null })).toEqual([{ op: 'remove', path: 'title' }]);
  });

  test.each<[string, unknown]>([
    ['a body that is no object', []],
    ['no schemas', { Operations: [{ op: 'remove', path: 'title' }] }],
    ['another schema', { schemas: ['urn:x'], Operations: [{ op: 'remove', path: 'title' }] }],
    ['no Operations', { schemas: [patchOpUrn] }],
    ['Operations that are no list', { schemas: [patchOpUrn], Operations: { op: 'remove', path: 'title' } }],
    ['empty Operations', { schemas: [patchOpUrn], Operations: [] }],
    [
      'Operations in two spellings',
      { schemas: [patchOpUrn], Operations: [{ op: 'remove', path: 'a' }], operations: [] },
    ],
    ['an operation that is no object', { schemas: [patchOpUrn], Operations: ['remove'] }],
    ['no op', { schemas: [patchOpUrn], Operations: [{ path: 'title', value: 'x' }] }],
    ['an unknown op', { schemas: [patchOpUrn], Operations: [{ op: 'delete', path: 'title' }] }],
    ['a path that is no text', { schemas: [patchOpUrn], Operations: [{ op: 'remove', path: 5 }] }],
    ['an add without value', { schemas: [patchOpUrn], Operations: [{ op: 'add', path: 'title' }] }],
    ['a replace without value', { schemas: [patchOpUrn], Operations: [{ op: 'replace', path: 'title' }] }],
  ])('refuses %s with invalidSyntax', (_what, body) => {
    expect(kindOf(() => readPatchOp(body))).toBe('invalidSyntax');
  });

  test('refuses a remove with a value, unless a repair is to read it', () => {
    const operation = { op: 'Remove', path: 'members', value: [{ value: '1', $ref: null }] };
    expect(refusalOf(() => read(operation))).toContain('operation 1 (remove) has a "value"');
    const body = { schemas: [patchOpUrn], Operations: [operation] };
    expect(readPatchOp(body, { removeWithValue: true })).toEqual([
      { op: 'remove', path: 'members', value: [{ value: '1', $ref: null }] },
    ]);
  });

  test('keeps the bound on operations at its edge', () => {
    const operation = { op: 'remove', path: 'title' };
    expect(read(...Array(patchOperationsMax).fill(operation))).toHaveLength(1000);
    expect(kindOf(() => read(...Array(patchOperationsMax + 1).fill(operation)))).toBe('payloadTooLarge');
  });
});
