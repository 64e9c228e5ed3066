const nonAscii = /[\u0080-\uffff]/;
/** ASCII and the letters of Latin-1: no two of these compose, and the lower case of each is its folding, but for ß. */
const simple = /^[\0-\x7f\xc0-\xde\xe0-\xff]*$/;

/** The text by which values are compared without case: NFKC, case-folded, trimmed. Idempotent. */
export function canonicalKey(text: string): string {
  return foldCase(text).trim();
}

/** `canonicalKey` without the trimming: for the pieces that `co`, `sw` and `ew` look for. */
export function foldCase(text: string): string {
  if (!nonAscii.test(text) || simple.test(text)) return text.toLowerCase();
  // Folding may leave a sequence that composes, hence the second normalisation (Unicode, definition D146).
  return fold(fold(text.normalize('NFKC')).normalize('NFKC')).normalize('NFKC');
}

/**
 * Full case folding. JavaScript has none: the lower case of the upper case is the same thing, but for the dotless i,
 * which would become an i (two people, one key), and the sigma at the end of a word.
 */
function fold(text: string): string {
  if (!text.includes('ı')) return foldPart(text);
  return text.split('ı').map(foldPart).join('ı');
}

function foldPart(text: string): string {
  return text.toUpperCase().toLowerCase().replaceAll('ς', 'σ');
}

/** Orders texts by code point, as SQLite and PostgreSQL (collation "C") do; negative, 0 or positive. */
export function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index += 1) {
    const x = a.charCodeAt(index);
    const y = b.charCodeAt(index);
    if (x !== y) return codePointRank(x) - codePointRank(y);
  }
  return a.length - b.length;
}

/** Surrogates stand for code points above U+FFFF, so they rank after all other code units. */
function codePointRank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
