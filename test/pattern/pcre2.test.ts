import { describe, expect, test } from 'bun:test';
import { DomainError } from '../../src/errors.ts';
import { patternUnitsMax } from '../../src/pattern/pattern.ts';
import { PatternError } from '../../src/pattern/pattern-error.ts';
import { compilePcre2, type Pcre2Result, textBytesMax } from '../../src/pattern/pcre2.ts';
import { loadPcre2Module } from '../../src/pattern/pcre2-module.ts';

async function outcome(pattern: string, text: string): Promise<Pcre2Result['outcome']> {
  using compiled = await compilePcre2(pattern);
  return compiled.test(text).outcome;
}

async function refusal(pattern: string): Promise<PatternError> {
  const error: unknown = await compilePcre2(pattern).catch((thrown: unknown) => thrown);
  if (error instanceof PatternError) return error;
  throw new Error(`expected a PatternError for ${pattern}, got ${error}`);
}

describe('the committed pcre2.wasm', () => {
  const file = (path: string) => Bun.file(new URL(`../../${path}`, import.meta.url));

  test('is the one whose hash scripts/pcre2/SHA256SUMS records', async () => {
    const sums = await file('scripts/pcre2/SHA256SUMS').text();
    const recorded = sums.match(/^([0-9a-f]{64}) {2}pcre2\.wasm$/m)?.[1];
    const bytes = await file('src/pattern/pcre2.wasm').bytes();
    expect(new Bun.CryptoHasher('sha256').update(bytes).digest('hex')).toBe(recorded ?? 'no hash recorded');
  });

  test('imports nothing', async () => {
    const module = await WebAssembly.compile(await file('src/pattern/pcre2.wasm').bytes());
    expect(WebAssembly.Module.imports(module)).toEqual([]);
  });

  test('is PCRE2 10.42', async () => {
    expect((await loadPcre2Module()).version()).toBe(1042);
  });
});

describe('compilePcre2', () => {
  test.each([
    ['(abc', 'missing closing parenthesis', 4],
    ['[z-a]', 'range out of order in character class', 3],
    ['a{2,1}', 'numbers out of order in {} quantifier', 5],
    ['(?<=a+)b', 'lookbehind assertion is not fixed length', 0],
    ['\\p{Foo}', 'unknown property after \\P or \\p', 7],
    ['\\C', 'using \\C is disabled by the application', 2],
    ['((((a{1,100}){1,100}){1,100}){1,100})', 'regular expression is too large', 37],
  ])('refuses %s with the engine’s message and offset', async (pattern, message, offset) => {
    expect(await refusal(pattern)).toMatchObject({ message, offset });
  });

  test.each([
    ['é(', 2],
    ['😀(', 3],
    ['\ufeff(', 2],
    ['😀é[z-a]', 6],
  ])('counts the offset in %s in UTF-16 code units', async (pattern, offset) => {
    expect((await refusal(pattern)).offset).toBe(offset);
  });

  test('refuses a pattern with half a surrogate pair, and says where', async () => {
    expect(await refusal('ab\ud800c')).toMatchObject({
      message: 'pattern contains half of a surrogate pair',
      offset: 2,
    });
  });

  test('takes a pattern of the greatest length and refuses a longer one', async () => {
    expect(await outcome(`^${'a'.repeat(patternUnitsMax - 2)}$`, 'a')).toBe('no-match');
    expect((await refusal('é'.repeat(patternUnitsMax + 1))).offset).toBe(patternUnitsMax);
  });

  test('compiles parentheses as deep as PCRE2 allows and refuses deeper ones', async () => {
    const nested = (depth: number) => `${'('.repeat(depth)}a${')'.repeat(depth)}`;
    expect(await outcome(nested(250), 'a')).toBe('match');
    expect((await refusal(nested(251))).message).toBe('parentheses are too deeply nested');
  });
});

describe('Pcre2Pattern.test', () => {
  const strong = '^(?=.*[A-Z])(?=.*\\d)(?=.*[^\\w\\s]).{12,}$';

  test.each([
    ['a usual password rule', strong, 'Correct-Horse-9', 'match'],
    ['a usual password rule', strong, 'correct-horse-9', 'no-match'],
    ['lookbehind', '(?<=foo)bar', 'foobar', 'match'],
    ['lookbehind', '(?<=foo)bar', 'fobar', 'no-match'],
    ['possessive quantifiers', '^a++a$', 'aaa', 'no-match'],
    ['possessive quantifiers', '^a++b$', 'aab', 'match'],
    ['back references', '(.)\\1{2}', 'abbbc', 'match'],
    ['Unicode case folding', '(?i)^ÄΣß$', 'äςß', 'match'],
    ['Unicode case folding', '(?i)^straße$', 'STRASSE', 'no-match'],
    ['Unicode properties', '^\\p{Lu}\\p{Ll}+$', 'Érik', 'match'],
    ['Unicode properties', '^\\p{Lu}\\p{Ll}+$', 'érik', 'no-match'],
    ['Unicode \\w and \\d', '^\\w+\\d$', 'ñandú٣', 'match'],
    ['one character outside the basic plane', '^.$', '😀', 'match'],
    ['the empty pattern', '', '', 'match'],
    ['NUL in the text', 'b$', 'a\0b', 'match'],
    ['NUL in the text', '^a\\0b$', 'a\0b', 'match'],
    ['NUL in the pattern', '^a\0b$', 'a\0b', 'match'],
    ['half a surrogate pair, as U+FFFD', '^\\x{FFFD}$', '\ud800', 'match'],
    ['half a surrogate pair between letters', '^a.b$', 'a\udc00b', 'match'],
  ] as const)('understands %s: %s on %p', async (_what, pattern, text, expected) => {
    expect(await outcome(pattern, text)).toBe(expected);
  });

  test.each([
    ['repetition within repetition', '^(a+)+$', `${'a'.repeat(40)}b`, 'match limit exceeded'],
    ['little work at each of many positions', '(?:a|a){13}[yz]', 'a'.repeat(1_000), 'match limit exceeded'],
    [
      'deep nesting',
      `${'(?:'.repeat(250)}a${')*'.repeat(250)}`,
      'a'.repeat(1_000),
      'matching depth limit exceeded',
    ],
    ['thousands of groups', '()'.repeat(2_000), '', 'heap limit exceeded'],
    ['endless recursion', '(?R)', 'a', 'nested recursion at the same subject position'],
  ])('gives up on %s', async (_what, pattern, text, message) => {
    using compiled = await compilePcre2(pattern);
    expect(compiled.test(text)).toEqual({ outcome: 'limit', message });
  });

  test('does not let the pattern raise the match limit', async () => {
    expect(await outcome('(*LIMIT_MATCH=4000000000)^(a+)+$', `${'a'.repeat(40)}b`)).toBe('limit');
  });

  test('answers correctly after a match was given up', async () => {
    using compiled = await compilePcre2('^(a+)+$');
    expect(compiled.test(`${'a'.repeat(40)}b`).outcome).toBe('limit');
    expect(compiled.test('a'.repeat(40))).toEqual({ outcome: 'match' });
    expect(compiled.test('b')).toEqual({ outcome: 'no-match' });
  });

  test('takes a text of the greatest length and refuses a longer one, counted in bytes', async () => {
    using compiled = await compilePcre2('^é+$');
    expect(compiled.test('é'.repeat(textBytesMax / 2)).outcome).toBe('match');
    expect(() => compiled.test(`${'é'.repeat(textBytesMax / 2)}a`)).toThrow(DomainError);
    expect(() => compiled.test('a'.repeat(10_000_000))).toThrow('longer than 1024 bytes');
  });

  test('leaves nothing of the text in the memory of the engine', async () => {
    const password = 'Zk7-quite-a-secret-Zk7';
    expect(await outcome('^(?=.*\\d)(.+)-\\w+$', password)).toBe('match');
    const { memory } = await loadPcre2Module();
    expect(Buffer.from(memory.buffer).includes(password)).toBe(false);
  });
});

describe('Pcre2Pattern.dispose', () => {
  test('ends the use of the pattern, and may be called twice', async () => {
    const compiled = await compilePcre2('a');
    compiled.dispose();
    compiled.dispose();
    expect(() => compiled.test('a')).toThrow('disposed');
  });

  test('keeps the memory as it is over 100,000 matches and 10,000 compilations', async () => {
    const { memory } = await loadPcre2Module();
    using compiled = await compilePcre2('^(?=.*[A-Z])(\\w+)-(\\w+)$');
    const compileAndRefuse = async () => {
      (await compilePcre2('^(?:a{1,50}|\\p{Lu}){1,50}$')).dispose();
      await refusal('(abc');
    };
    compiled.test('Correct-Horse');
    await compileAndRefuse();
    const before = memory.buffer.byteLength;
    for (let turn = 0; turn < 100_000; turn++) compiled.test('Correct-Horse');
    for (let turn = 0; turn < 10_000; turn++) await compileAndRefuse();
    expect(memory.buffer.byteLength).toBe(before);
  });

  test('is done for patterns that nobody holds any more', async () => {
    // 28 KB each: without collection the engine's 32 MiB are full after some 1,000, and compiling fails.
    for (let turn = 0; turn < 2_000; turn++) {
      await compilePcre2('(?:abcdefghijklmnopqrstuvwxyz){1,500}');
      if (turn % 100 === 0) {
        Bun.gc(true);
        await Bun.sleep(0);
      }
    }
    expect(await outcome('^a$', 'a')).toBe('match');
  });
});
