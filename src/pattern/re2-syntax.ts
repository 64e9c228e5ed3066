import { PatternError } from './pattern-error.ts';

// One token of a pattern: quoted text, an escape, a character class, or the opening of a named group.
const token = /\\Q.*?(?:\\E|$)|\\.|\[\^?\]?(?:\[:\^?[a-z]+:\]|\\.|[^\]\\])*\]?|\(\?<(?![=!])/gsu;

/**
 * Brings a pattern into the syntax of the engine's 2021 release: `(?<name>…)`, which later RE2 releases accept, becomes
 * `(?P<name>…)`. Throws PatternError for `\C`, which matches one byte and could take a character apart.
 */
export function toRe2Syntax(pattern: string): string {
  return pattern.replace(token, (text, offset: number) => {
    if (text === '\\C') throw new PatternError('invalid escape sequence: \\C', offset);
    return text === '(?<' ? '(?P<' : text;
  });
}

// A reference in a replacement: $$, $&, $1 to $9, $<name>.
const reference = /\$(?:([$&1-9])|<([^<>]*)>)/gu;

export interface ReplacementParts {
  readonly match: string;
  readonly groups: readonly (string | undefined)[];
  readonly named: Readonly<Record<string, string | undefined>>;
}

/**
 * Fills in a replacement. `$&` is the match, `$1` to `$9` and `$<name>` are groups (empty when they took no part), `$$`
 * is a dollar sign. Whatever refers to a group that the pattern does not have stays as it is written.
 */
export function expandReplacement(replacement: string, parts: ReplacementParts): string {
  return replacement.replace(reference, (written, sign: string | undefined, name: string | undefined) => {
    if (sign === '$') return '$';
    if (sign === '&') return parts.match;
    if (name !== undefined) return Object.hasOwn(parts.named, name) ? (parts.named[name] ?? '') : written;
    const index = Number(sign) - 1;
    return index < parts.groups.length ? (parts.groups[index] ?? '') : written;
  });
}
