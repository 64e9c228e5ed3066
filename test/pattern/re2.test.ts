import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { DomainError } from '../../src/errors.ts';
import { patternUnitsMax } from '../../src/pattern/pattern.ts';
import { PatternError } from '../../src/pattern/pattern-error.ts';
import {
  compileRe2,
  type Re2Pattern,
  replacementUnitsMax,
  replaceTextUnitsMax,
  textUnitsMax,
} from '../../src/pattern/re2.ts';
import { loadRe2Engine } from '../../src/pattern/re2-module.ts';

async function refusal(pattern: string): Promise<PatternError> {
  const error: unknown = await compileRe2(pattern).catch((thrown: unknown) => thrown);
  if (error instanceof PatternError) return error;
  throw new Error(`expected a PatternError for ${pattern}, got ${error}`);
}

// Some 200 KB of automaton for each pattern that has met this text, which must not repeat itself.
function irregularText(): string {
  let state = 1;
  let text = '';
  while (text.length < 4_096) {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    text += state > 2 ** 30 ? 'a' : 'b';
  }
  return text;
}

const heavyText = irregularText();
const heavyPattern = (number: number) => `(a|b)*a(a|b){10}x${number}`;

describe('compileRe2', () => {
  test.each([
    ['(?=a)', 'invalid perl operator: (?='],
    ['(?<=a)b', 'invalid perl operator: (?<'],
    ['(a)\\1', 'invalid escape sequence: \\1'],
    ['a++', 'bad repetition operator: ++'],
    ['(abc', 'missing ): (abc'],
    ['[z-a]', 'invalid character class range: z-a'],
    ['a{2,1}', 'invalid repetition size: {2,1}'],
    ['(?<x>a)(?<x>b)', 'duplicate capture group name: x'],
    ['a\\C', 'invalid escape sequence: \\C'],
  ])('refuses %s with the engine’s message', async (pattern, message) => {
    expect((await refusal(pattern)).message).toBe(message);
  });

  test('refuses a pattern that is too long or has half a surrogate pair', async () => {
    expect((await refusal('a'.repeat(patternUnitsMax + 1))).offset).toBe(patternUnitsMax);
    expect((await refusal('ab\udc00')).offset).toBe(2);
  });

  test('refuses a pattern that does not fit into the memory of the engine, and goes on working', async () => {
    await expect(compileRe2('\\pL{0,500}')).rejects.toThrow(DomainError);
    using compiled = await compileRe2('^a$');
    expect(compiled.test('a')).toBe(true);
  });
});

describe('Re2Pattern.test', () => {
  test.each([
    ['(?i)^école$', 'ÉCOLE', true],
    ['^\\p{Lu}', 'Érik', true],
    ['^\\p{Lu}', 'érik', false],
    ['^.$', '😀', true],
    ['^a\\x00b$', 'a\0b', true],
    ['^a\0b$', 'a\0b', true],
    ['^a.b$', 'a\ud800b', true],
    ['[(?<a>]{5}', '(?<a>', true],
    ['\\Q(?<a>\\E', '(?<a>', true],
    ['', '', true],
  ])('%p on %p is %p', async (pattern, text, expected) => {
    using compiled = await compileRe2(pattern);
    expect(compiled.test(text)).toBe(expected);
  });

  test('answers on what makes a backtracking engine stop', async () => {
    using compiled = await compileRe2('^(a+)+$');
    expect(compiled.test(`${'a'.repeat(textUnitsMax - 1)}b`)).toBe(false);
  });

  test('refuses a text that is too long', async () => {
    using compiled = await compileRe2('a');
    expect(compiled.test('a'.repeat(textUnitsMax))).toBe(true);
    expect(() => compiled.test('a'.repeat(textUnitsMax + 1))).toThrow(DomainError);
  });
});

describe('Re2Pattern.match', () => {
  test('gives text, index, groups and named groups', async () => {
    using compiled = await compileRe2('(?<given>\\w+)\\.(?P<family>\\w+)(@x)?');
    expect(compiled.match('<ada.lovelace>')).toEqual({
      text: 'ada.lovelace',
      index: 1,
      groups: ['ada', 'lovelace', undefined],
      named: { given: 'ada', family: 'lovelace' },
    });
    expect(compiled.match('ada')).toBeUndefined();
  });

  test('counts the index in UTF-16 code units and keeps a byte order mark', async () => {
    using compiled = await compileRe2('\ufeff*b.');
    expect(compiled.match('😀é\ufeff\ufeffb\0c')).toMatchObject({ text: '\ufeff\ufeffb\0', index: 3 });
  });
});

describe('Re2Pattern.replace', () => {
  test.each([
    ['(\\w+) (\\w+)', 'ada lovelace', '$2, $1', 'lovelace, ada'],
    ['(?<a>x)|(y)', 'xy', '<$<a>$2>', '<x><y>'],
    ['a', 'banana', '$$$&$7$<b>', 'b$a$7$<b>n$a$7$<b>n$a$7$<b>'],
    ['\\s+', ' a  b ', '', 'ab'],
    ['😀', 'a😀b😀', '$&$&', 'a😀😀b😀😀'],
  ])('of %s in %p by %p is %p', async (pattern, text, replacement, expected) => {
    using compiled = await compileRe2(pattern);
    expect(compiled.replace(text, replacement)).toBe(expected);
  });

  test.each(['a*', 'a|', '', '^', '$', '\\b', '(a)(b)?', '[é😀]+?', '^a|b$', '.'])(
    'of %p agrees with String.prototype.replaceAll',
    async (pattern) => {
      using compiled = await compileRe2(pattern);
      const text = fc.array(fc.constantFrom('a', 'b', 'é', '😀', ' ', '\0', '\ufeff'), { maxLength: 12 });
      fc.assert(
        fc.property(text, (characters) => {
          const written = characters.join('');
          expect(compiled.replace(written, '[$&]')).toBe(
            written.replaceAll(new RegExp(pattern, 'gu'), '[$&]'),
          );
        }),
      );
    },
  );

  test('refuses text, replacement and result that are too long', async () => {
    using compiled = await compileRe2('a');
    expect(() => compiled.replace('b'.repeat(replaceTextUnitsMax + 1), '')).toThrow('The text');
    expect(() => compiled.replace('a', 'x'.repeat(replacementUnitsMax + 1))).toThrow('The replacement');
    expect(() => compiled.replace('a'.repeat(100), 'x'.repeat(1_000))).toThrow('The result');
  });
});

describe('Re2Pattern.dispose', () => {
  test('ends the use of the pattern, and may be called twice', async () => {
    const compiled = await compileRe2('a');
    compiled.dispose();
    compiled.dispose();
    expect(() => compiled.test('a')).toThrow('disposed');
  });

  // The engine's memory is fixed: whatever leaks ends in a new engine.
  test('keeps the engine over 100,000 matches and 10,000 compilations', async () => {
    const engine = await loadRe2Engine();
    const module = engine.current;
    using compiled = await compileRe2('(?<given>\\w+)\\.(\\w+)');
    for (let turn = 0; turn < 100_000; turn++) compiled.match('ada.lovelace');
    for (let turn = 0; turn < 10_000; turn++) {
      (await compileRe2('^(?<given>\\w+)@(\\w+)\\.com$')).dispose();
      await refusal('(?<a>b)(?<a>c)');
    }
    expect(engine.isCurrent(module)).toBe(true);
  });

  test('is done for patterns that nobody holds any more', async () => {
    const engine = await loadRe2Engine();
    const module = engine.current;
    for (let turn = 0; turn < 100; turn++) {
      (await compileRe2(heavyPattern(turn))).test(heavyText);
      Bun.gc(true);
      await Bun.sleep(0);
    }
    expect(engine.isCurrent(module)).toBe(true);
    // A hundred full collections take their time when many tests share the heap.
  }, 60_000);
});

test('patterns in use survive an engine that ran out of memory', async () => {
  const engine = await loadRe2Engine();
  const module = engine.current;
  const held: Re2Pattern[] = [];
  for (let number = 0; number < 80; number++) {
    const compiled = await compileRe2(heavyPattern(number));
    expect(compiled.test(heavyText)).toBe(false);
    held.push(compiled);
  }
  expect(engine.isCurrent(module)).toBe(false);
  for (const [number, compiled] of held.entries()) {
    expect(compiled.test(`${'a'.repeat(11)}x${number}`)).toBe(true);
    compiled.dispose();
  }
});
