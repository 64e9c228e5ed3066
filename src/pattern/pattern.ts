// Owns the two regular-expression engines: PCRE2 for the password regex, RE2 for patterns that meet data at scale.
// It never says what a match means, and never gives a pattern to JavaScript's own engine, which knows no limit.
// It renders no RFC: the syntaxes are those of pcre2pattern(3) and of RE2's syntax page.

import { PatternError } from './pattern-error.ts';

/** The longest pattern that either engine is given, in UTF-16 code units. */
export const patternUnitsMax = 4_096;

const loneSurrogate = /\p{Surrogate}/u;

/** Refuses, with a PatternError, a pattern that is too long for any engine or that is not Unicode text. */
export function requirePattern(pattern: string): void {
  if (pattern.length > patternUnitsMax) {
    const message = `pattern is longer than ${patternUnitsMax} characters`;
    throw new PatternError(message, patternUnitsMax);
  }
  const offset = pattern.search(loneSurrogate);
  if (offset !== -1) throw new PatternError('pattern contains half of a surrogate pair', offset);
}
