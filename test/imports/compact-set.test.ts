import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { IdSet, TextSet } from '../../src/imports/compact-set.ts';

test('a TextSet has what was added to it, and nothing else', () => {
  fc.assert(
    fc.property(fc.array(fc.string()), fc.array(fc.string()), (added, others) => {
      const set = new TextSet();
      for (const text of added) set.add(text);
      const known = new Set(added);
      return [...added, ...others].every((text) => set.has(text) === known.has(text));
    }),
  );
});

test('a TextSet tells two hundred thousand texts that look alike apart while it grows', () => {
  const set = new TextSet();
  let surprises = 0;
  for (let n = 0; n < 200_000; n += 1) {
    if (set.has(`p${n}`)) surprises += 1;
    set.add(`p${n}`);
    set.add(`p${n}`);
  }
  for (let n = 0; n < 200_000; n += 1) if (!set.has(`p${n}`) || set.has(`q${n}`)) surprises += 1;
  expect(surprises).toBe(0);
});

// Texts that xxHash32 gives the same value under every seed, as it adds the seed to its state before all else.
test.each([
  ['yvwwupkf', 'dfklepvk'],
  ['eoepwzhk', 'cvvjewgz'],
  ['nesgkgjj', 'hciizbzu'],
])('a TextSet tells %s and %s apart', (one, other) => {
  const set = new TextSet();
  set.add(one);
  expect([set.has(one), set.has(other)]).toEqual([true, false]);
  set.add(other);
  expect(set.has(other)).toBe(true);
});

test('an IdSet has what was added to it, and nothing else', () => {
  const id = fc.oneof(fc.integer({ min: 0, max: 200_000 }), fc.maxSafeNat());
  fc.assert(
    fc.property(fc.array(id), fc.array(id), (added, others) => {
      const set = new IdSet();
      for (const each of added) set.add(each);
      const known = new Set(added);
      return [...added, ...others].every((each) => set.has(each) === known.has(each));
    }),
  );
});
