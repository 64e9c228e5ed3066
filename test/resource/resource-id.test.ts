import { describe, expect, test } from 'bun:test';
import { toId } from '../../src/resource/resource-id.ts';

describe('toId', () => {
  test('reads the plain decimal form of a number that is exact', () => {
    expect(['1', '42', '999999999999999'].map(toId)).toEqual([1, 42, 999_999_999_999_999]);
  });

  test('reads 0, which is nobody, from everything else', () => {
    const others = [
      '',
      '0',
      '007',
      '-1',
      '+1',
      ' 1',
      '1 ',
      '1.0',
      '1e3',
      '0x1',
      '1000000000000000',
      '１',
      'a',
    ];
    expect(others.map(toId)).toEqual(others.map(() => 0));
  });
});
