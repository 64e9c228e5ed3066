import { describe, expect, test } from 'bun:test';
import { findRings, Managers } from '../../src/imports/manager-rings.ts';

describe('findRings', () => {
  const cases: readonly (readonly [string, [number, number][], number[][]])[] = [
    ['nobody', [], []],
    [
      'a chain',
      [
        [1, 2],
        [2, 3],
      ],
      [],
    ],
    ['oneself', [[4, 4]], [[4]]],
    [
      'a circle with people who lead into it',
      [
        [1, 3],
        [3, 5],
        [5, 2],
        [2, 3],
        [9, 1],
      ],
      [[2, 3, 5]],
    ],
    [
      'two circles',
      [
        [2, 1],
        [1, 2],
        [4, 3],
        [3, 4],
      ],
      [
        [1, 2],
        [3, 4],
      ],
    ],
  ];
  test.each(cases)('finds every circle once: %s', (_what, managers, rings) => {
    const known = new Managers();
    for (const [id, managerId] of managers.toSorted(([a], [b]) => a - b)) known.add(id, managerId);
    expect(findRings(known)).toEqual(rings);
  });
});
