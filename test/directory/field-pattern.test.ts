import { expect, test } from 'bun:test';
import { fitsPattern } from '../../src/directory/field-pattern.ts';
import { compileRe2 } from '../../src/pattern/re2.ts';

test('a value that is too much for the pattern is wrong, which a client must not take for "later"', async () => {
  const pattern = await compileRe2('^a+$');
  expect([fitsPattern(pattern, 'code', 'aa'), fitsPattern(pattern, 'code', 'b')]).toEqual([true, false]);
  expect(() => fitsPattern(pattern, 'code', 'a'.repeat(70_000))).toThrow(
    expect.objectContaining({ kind: 'invalidValue', detail: expect.stringContaining('"code"') }),
  );
});
