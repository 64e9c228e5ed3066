import { describe, expect, test } from 'bun:test';
import { equalResources, equalValues, isUnassigned, type ScimValue } from '../../src/resource/value.ts';

describe('equalResources', () => {
  test('heeds no order of keys', () => {
    expect(equalResources({ a: 1, b: { c: [1], d: null } }, { b: { d: null, c: [1] }, a: 1 })).toBe(true);
  });

  test.each<[ScimValue, ScimValue]>([
    [{ a: 1 }, { a: 1, b: 2 }],
    [{ a: 1, b: 2 }, { a: 1 }],
    [{ a: 1 }, { b: 1 }],
    [{ toString: 1 }, {}],
    [[1], [1, 2]],
    [[1, 2], [1]],
    [
      [1, 2],
      [2, 1],
    ],
    [{}, []],
    [[], {}],
    [null, {}],
    [1, '1'],
    ['', null],
  ])('tells %j from %j', (a, b) => {
    expect(equalValues(a, b)).toBe(false);
    expect(equalResources({ x: a }, { x: b })).toBe(false);
  });
});

describe('isUnassigned', () => {
  test('holds for what says nothing, and for nothing else', () => {
    for (const value of [undefined, null, '', [], {}]) expect(isUnassigned(value)).toBe(true);
    for (const value of [0, false, ' ', [null], { a: null }]) expect(isUnassigned(value)).toBe(false);
  });
});
