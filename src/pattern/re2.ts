import { DomainError } from '../errors.ts';
import { requirePattern } from './pattern.ts';
import type { Re2Found } from './re2-module.ts';
import { Re2Program } from './re2-program.ts';
import { expandReplacement, toRe2Syntax } from './re2-syntax.ts';

/** The longest text that `test` and `match` take, in UTF-16 code units. */
export const textUnitsMax = 65_536;

/** The longest text that `replace` takes, in UTF-16 code units: every match costs another walk over the text. */
export const replaceTextUnitsMax = 4_096;

/** The longest replacement, in UTF-16 code units. */
export const replacementUnitsMax = 1_024;

/** The longest result of `replace`, in UTF-16 code units. */
export const replaceResultUnitsMax = 65_536;

/** One match. Groups that took no part are undefined. */
export interface Re2Match {
  readonly text: string;
  /** In UTF-16 code units from the beginning of the text. */
  readonly index: number;
  readonly groups: readonly (string | undefined)[];
  readonly named: Readonly<Record<string, string | undefined>>;
}

/**
 * A compiled RE2 pattern. Its time grows with the length of the text only. Half a surrogate pair in a text counts as
 * U+FFFD. Every method throws DomainError `limitExceeded` for a text that is too long. The pattern holds memory of the
 * engine until `dispose`, or until it is collected.
 */
export class Re2Pattern implements Disposable {
  readonly #program: Re2Program;

  constructor(program: Re2Program) {
    this.#program = program;
  }

  /** Says whether the pattern matches anywhere in `text`. */
  test(text: string): boolean {
    return this.#program.find(requireText(text, textUnitsMax), 0, false) !== undefined;
  }

  /** The first match in `text`, or undefined. */
  match(text: string): Re2Match | undefined {
    const wellFormed = requireText(text, textUnitsMax);
    const found = this.#program.find(wellFormed, 0, true);
    if (found === undefined) return undefined;
    const index = unitsOf(wellFormed, found.index);
    return { text: found.match, index, groups: found.groups, named: this.#named(found) };
  }

  /**
   * Replaces every match, as `String.prototype.replaceAll` would. `replacement` may use `$&`, `$1` to `$9`, `$<name>`
   * and `$$`. Throws DomainError `limitExceeded` also when the replacement or the result is too long.
   */
  replace(text: string, replacement: string): string {
    requireLength(replacement, replacementUnitsMax, 'replacement');
    const wellFormed = requireText(text, replaceTextUnitsMax);
    const characters = [...wellFormed];
    let output = '';
    let from = 0;
    // Every turn moves on by a character at least, so there are at most replaceTextUnitsMax + 1 of them.
    while (from <= characters.length) {
      const found = this.#program.find(wellFormed, from, true);
      if (found === undefined) break;
      output += characters.slice(from, found.index).join('');
      output += expandReplacement(replacement, { ...found, named: this.#named(found) });
      const end = found.index + [...found.match].length;
      from = end > found.index ? end : end + 1;
      output += characters.slice(end, from).join('');
      requireLength(output, replaceResultUnitsMax, 'result of a replacement');
    }
    return output + characters.slice(from).join('');
  }

  /** Gives the memory back. The pattern cannot be used afterwards; a second call does nothing. */
  dispose(): void {
    this.#program.dispose();
  }

  [Symbol.dispose](): void {
    this.dispose();
  }

  #named(found: Re2Found): Record<string, string | undefined> {
    const numbers = [...this.#program.groupNumbers];
    const entries = numbers.map(([name, number]): [string, string | undefined] => [
      name,
      found.groups[number - 1],
    ]);
    return Object.fromEntries(entries);
  }
}

/**
 * Compiles a pattern in RE2's syntax (https://github.com/google/re2/wiki/Syntax); flags are written in it, as `(?i)`.
 * Throws PatternError with RE2's message, which quotes the part at fault; RE2 tells no offset. Throws DomainError
 * `limitExceeded` for a pattern that does not fit into the engine's memory.
 */
export async function compileRe2(pattern: string): Promise<Re2Pattern> {
  requirePattern(pattern);
  const source = toRe2Syntax(pattern);
  // 1.1 MB of script and WebAssembly, only for those who use a pattern.
  const { loadRe2Engine } = await import('./re2-module.ts');
  return new Re2Pattern(new Re2Program(await loadRe2Engine(), source));
}

function requireText(text: string, unitsMax: number): string {
  requireLength(text, unitsMax, 'text for a pattern');
  return text.toWellFormed();
}

function requireLength(text: string, unitsMax: number, what: string): void {
  if (text.length <= unitsMax) return;
  throw new DomainError('limitExceeded', `The ${what} is longer than ${unitsMax} characters; shorten it.`);
}

/** The UTF-16 code units of the first `count` characters. */
function unitsOf(text: string, count: number): number {
  let units = 0;
  for (let seen = 0; seen < count; seen++) units += (text.codePointAt(units) ?? 0) > 0xffff ? 2 : 1;
  return units;
}
