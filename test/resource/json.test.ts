import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { readJson, scimJsonBounds } from '../../src/resource/json.ts';
import { kindOf, refusalOf, strayError, utf8 } from './fixtures.ts';

const read = (text: string) => readJson(utf8(text));

describe('readJson', () => {
  test('reads what JSON.parse reads', () => {
    fc.assert(
      fc.property(fc.json(), fc.integer({ min: 0, max: 3 }), (json, indent) => {
        const text = JSON.stringify(JSON.parse(json), null, indent);
        if (strayError(() => read(text)) === undefined && !/__proto__|constructor|prototype/.test(text)) {
          expect(read(text)).toEqual(JSON.parse(text));
        }
      }),
    );
  });

  test('reads a body that begins with a byte order mark', () => {
    expect(read('\ufeff{"a":1}')).toEqual({ a: 1 });
  });

  test.each([
    ['{"bio":"a\\qb"}', 'line 1, column 10', 'by one of " \\ / b f n r t u, but "q" (U+0071) follows'],
    ['{\n  "bio": "C:\\Users"\n}', 'line 2, column 13', '"U" (U+0055) follows'],
    ['{"bio":"line one\nline two"}', 'line 1, column 17', 'the control character U+000A'],
    ['{"bio":"\\u12g4"}', 'line 1, column 9', 'four hexadecimal digits'],
    ['{"bio":"open', 'line 1, column 8', 'closing quotation mark'],
    ['{"a":1,}', 'line 1, column 8', 'a key in quotation marks is expected, but "}" (U+007D) follows'],
    ['{"a" 1}', 'line 1, column 6', '":" is expected'],
    ['[1 2]', 'line 1, column 4', '"," or "]" is expected'],
    ['{"a":1]', 'line 1, column 7', '"," or "}" is expected'],
    ['{"a":tru}', 'line 1, column 6', 'a value is expected'],
    ['{"a":01}', 'line 1, column 6', 'a value is expected'],
    ["{'a':1}", 'line 1, column 2', 'a key in quotation marks'],
    ['{}x', 'line 1, column 3', 'the end of the body is expected'],
    ['', 'line 1, column 1', 'the end of the body follows'],
  ])('names the place and the character of the fault in %p', (text, place, problem) => {
    const refusal = refusalOf(() => read(text));
    expect(refusal).toStartWith('invalidSyntax: ');
    expect(refusal).toContain(place);
    expect(refusal).toContain(problem);
  });

  test('finds a fault wherever JSON.parse does', () => {
    const broken = fc
      .json()
      .chain((json) =>
        fc
          .tuple(fc.nat(json.length), fc.constantFrom('\\', '"', '{', ']', ',', ':', '0', 'e', '\n', ''))
          .map(([at, insert]) => json.slice(0, at) + insert + json.slice(at + 1)),
      );
    fc.assert(
      fc.property(broken, (text) => {
        let parses = true;
        try {
          JSON.parse(text);
        } catch {
          parses = false;
        }
        if (!parses)
          expect(refusalOf(() => read(text))).toMatch(/^invalidSyntax: .* is not valid JSON at line \d+/);
        else expect(strayError(() => read(text))).toBeUndefined();
      }),
    );
  });

  test('refuses a key that occurs twice, however it is written', () => {
    expect(refusalOf(() => read('{"a":1,"b":{},"a":2}'))).toContain(
      'column 15 (character 15): the key "a" occurs twice',
    );
    expect(kindOf(() => read('{"a":1,"\\u0061":2}'))).toBe('invalidSyntax');
    expect(kindOf(() => read('[{"x":[{"\\"":1, "\\"" :2}]}]'))).toBe('invalidSyntax');
    expect(read('{"a":{"a":1},"b":[{"a":2},{"a":3}]}')).toEqual({ a: { a: 1 }, b: [{ a: 2 }, { a: 3 }] });
  });

  test('is not misled by texts that look like keys', () => {
    const value = {
      'e\\\\"": ': 1,
      f: '\\"',
      'g\\"': '\\\\"',
      'a":"b': '":',
      '\\': '\\":{',
      c: ['"', ':"', '\\\\'],
    };
    expect(read(JSON.stringify(value))).toEqual(value);
    expect(read('{"a":"\\\\\\"","b":1}')).toEqual({ a: '\\"', b: 1 });
  });

  test.each(['__proto__', 'constructor', 'prototype', '\\u005f_proto__'])(
    'refuses the key %p at any depth',
    (key) => {
      expect(kindOf(() => read(`{"a":[{"${key}":{"x":1}}]}`))).toBe('invalidSyntax');
    },
  );

  test('names the first byte that is not UTF-8', () => {
    const bytes = new Uint8Array([...utf8('{"a":"ä'), 0xff, 0x22, 0x7d]);
    expect(refusalOf(() => readJson(bytes))).toBe(
      'invalidSyntax: The body is not UTF-8: the byte at offset 8 is wrong.',
    );
    expect(refusalOf(() => readJson(utf8('"ä').subarray(0, 2)))).toContain('offset 1');
    expect(kindOf(() => readJson(new Uint8Array([0xff, 0xfe, 0x7b, 0, 0x7d, 0])))).toBe('invalidSyntax');
  });

  test('keeps each bound at its edge', () => {
    const { depthMax, objectKeysMax, stringCharactersMax, valuesMax } = scimJsonBounds;
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
    expect(read(nested(depthMax))).toBeArrayOfSize(1);
    expect(kindOf(() => read(nested(depthMax + 1)))).toBe('invalidSyntax');
    expect(kindOf(() => read(nested(100 * depthMax)))).toBe('invalidSyntax');
    expect(kindOf(() => read('['.repeat(1_000_000)))).toBe('invalidSyntax');
    const keyed = (keys: number) =>
      JSON.stringify(Object.fromEntries(Array.from({ length: keys }, (_, i) => [`k${i}`, i])));
    expect(Object.keys(Object(read(keyed(objectKeysMax))))).toHaveLength(objectKeysMax);
    expect(kindOf(() => read(keyed(objectKeysMax + 1)))).toBe('invalidSyntax');
    expect(read(`"${'x'.repeat(stringCharactersMax)}"`)).toHaveLength(stringCharactersMax);
    expect(kindOf(() => read(`"${'x'.repeat(stringCharactersMax + 1)}"`))).toBe('invalidSyntax');
    expect(read(`[${'1,'.repeat(valuesMax - 1)}1]`)).toHaveLength(valuesMax);
    expect(kindOf(() => read(`[${'1,'.repeat(valuesMax)}1]`))).toBe('payloadTooLarge');
    expect(kindOf(() => readJson(new Uint8Array(scimJsonBounds.documentBytesMax + 1)))).toBe(
      'payloadTooLarge',
    );
  });

  test('gives a value or a refusal for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(strayError(() => readJson(bytes))).toBeUndefined();
      }),
      { numRuns: 500 },
    );
  });
});
