import { describe, expect, test } from 'bun:test';
import { PatternError } from '../../src/pattern/pattern-error.ts';
import { Pcre2Runner } from '../../src/pattern/pcre2-runner.ts';

/** A class of 600 characters that each step walks over: under the match limit it holds a processor for a minute. */
const han = Array.from({ length: 600 }, (_, index) => String.fromCodePoint(0x4e00 + index * 3)).join('');
const runaway = `(?:[^${han}\\p{Lu}\\p{Cyrillic}]*+(?=x)|.)*[yz]`;
const text = 'a'.repeat(1_024);

describe('Pcre2Runner', () => {
  test('ends a match at its deadline and answers the next one', async () => {
    const runner = new Pcre2Runner({ deadlineMs: 1_000 });
    const answers = await Promise.all([
      runner.test(runaway, text),
      runner.test('^a+$', 'aaa'),
      runner.test(runaway, text),
      runner.test('^a+$', 'aab'),
    ]);
    const limit = { outcome: 'limit', message: 'the match took longer than 1000 ms' } as const;
    expect(answers).toEqual([limit, { outcome: 'match' }, limit, { outcome: 'no-match' }]);
  });

  test('holds nobody up meanwhile', async () => {
    const runner = new Pcre2Runner({ deadlineMs: 1_000 });
    await runner.check('a');
    const order: string[] = [];
    const match = runner.test(runaway, text).then(() => order.push('match'));
    for (let turn = 0; turn < 5; turn += 1) {
      await Bun.sleep(0);
      order.push('turn');
    }
    await match;
    expect(order).toEqual(['turn', 'turn', 'turn', 'turn', 'turn', 'match']);
  });

  test('says where a pattern is wrong, each time, and goes on', async () => {
    const runner = new Pcre2Runner();
    for (let time = 0; time < 2; time += 1) {
      const error = await runner.check('[a-').catch((caught: unknown) => caught);
      expect(error).toBeInstanceOf(PatternError);
      expect(error).toMatchObject({ message: 'missing terminating ] for character class', offset: 3 });
      const other = await runner.test('(', 'a').catch((caught: unknown) => caught);
      expect(other).toMatchObject({ message: 'missing closing parenthesis', offset: 1 });
    }
    expect(await runner.test('a', 'a')).toEqual({ outcome: 'match' });
  });

  test('takes so many at once and no more', async () => {
    const runner = new Pcre2Runner();
    const asked = Array.from({ length: 257 }, () =>
      Promise.try(() => runner.test('^a$', 'a')).catch((error: { kind: string }) => error.kind),
    );
    const answers = await Promise.all(asked);
    expect(answers.filter((answer) => answer === 'unavailable')).toHaveLength(1);
    expect(await runner.test('^a$', 'a')).toEqual({ outcome: 'match' });
  });
});
