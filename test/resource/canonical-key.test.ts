import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { canonicalKey, compareCodePoints, foldCase } from '../../src/resource/canonical-key.ts';

describe('canonicalKey', () => {
  test.each([
    ['Ann@Example.ORG', 'ann@example.org'],
    ['  ann ', 'ann'],
    ['\u00a0ann\u3000', 'ann'],
    ['STRASSE', 'strasse'],
    ['Straße', 'strasse'],
    ['ẞ', 'ss'],
    ['E\u0301va', 'éva'],
    ['ＡＢＣ１', 'abc1'],
    ['ﬁx', 'fix'],
    ['ΟΔΟΣ', 'οδοσ'],
    ['οδος', 'οδοσ'],
    ['İ', 'i\u0307'],
    ['I', 'i'],
    ['ı', 'ı'],
    ['K', 'k'],
  ])('makes %p into %p', (text, key) => {
    expect(canonicalKey(text)).toBe(key);
  });

  test('is the same for every character and its key', () => {
    let unstable = '';
    for (let code = 0; code < 0x30000; code += 1) {
      if (code >= 0xd800 && code <= 0xdfff) continue;
      const key = canonicalKey(String.fromCodePoint(code));
      if (canonicalKey(key) !== key) unstable += `${code.toString(16)} `;
    }
    expect(unstable).toBe('');
  });

  test('is idempotent for any text', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        (text) => canonicalKey(canonicalKey(text)) === canonicalKey(text),
      ),
    );
  });
});

describe('foldCase', () => {
  test('keeps blanks at the ends', () => {
    expect(foldCase(' A ')).toBe(' a ');
  });
});

describe('compareCodePoints', () => {
  test('orders as UTF-8 bytes do', () => {
    const byBytes = (a: string, b: string) => Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b)));
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (a, b) => {
        expect(Math.sign(compareCodePoints(a, b))).toBe(byBytes(a, b));
      }),
    );
    expect(compareCodePoints('\uffff', '😀')).toBeLessThan(0);
  });
});
