// Cuts text into rows of fields (RFC 4180, with any delimiter and quote, and line breaks of every system).
// It is given text in pieces and holds no more than one unfinished row. It knows nothing of headers.

import { DomainError } from '../../src/errors.ts';

export interface Row {
  /** Where the row begins, from 1. */
  readonly line: number;
  readonly fields: readonly string[];
}

export interface RowFormat {
  readonly delimiter: string;
  /** Empty: no sign is a quote. */
  readonly quote: string;
}

/** A row that is longer most likely has a quote that is never closed. */
export const rowCharactersMax = 4 * 1024 * 1024;
const fieldsMax = 5_000;

/** Where the next one of a sign is; looked for once, then remembered until it is passed. */
class NextSign {
  readonly #sign: string;
  #at = -1;
  #from = Number.POSITIVE_INFINITY;

  constructor(sign: string) {
    this.#sign = sign;
  }

  /** Forgets what it knows: the text is another one. */
  reset(): void {
    this.#at = -1;
    this.#from = Number.POSITIVE_INFINITY;
  }

  /** Infinity when there is none from `from` on. */
  after(text: string, from: number): number {
    if (this.#at >= from && this.#from <= from) return this.#at;
    const found = text.indexOf(this.#sign, from);
    this.#at = found === -1 ? Number.POSITIVE_INFINITY : found;
    this.#from = from;
    return this.#at;
  }
}

/** Throws DomainError `invalidValue` with a sentence that begins with `place` and names the line. */
export class RowCutter {
  readonly #delimiter: string;
  readonly #quote: string;
  readonly #place: string;
  readonly #lineFeed = new NextSign('\n');
  readonly #carriageReturn = new NextSign('\r');
  #text = '';
  #at = 0;
  #line: number;

  constructor(
    { delimiter, quote }: RowFormat,
    { place, firstLine = 1 }: { readonly place: string; readonly firstLine?: number },
  ) {
    this.#delimiter = delimiter;
    this.#quote = quote;
    this.#place = place;
    this.#line = firstLine;
  }

  /** The rows that `piece` completes; `isLast` completes the last one. Empty lines are no rows. */
  cut(piece: string, isLast = false): readonly Row[] {
    this.#text = this.#text.slice(this.#at) + piece;
    this.#at = 0;
    this.#lineFeed.reset();
    this.#carriageReturn.reset();
    const rows: Row[] = [];
    // Every turn takes a row away.
    while (this.#at < this.#text.length) {
      const line = this.#line;
      const fields = this.#row(isLast);
      if (fields === undefined) break;
      if (fields.length > 1 || fields[0] !== '') rows.push({ line, fields });
    }
    if (this.#text.length - this.#at > rowCharactersMax)
      throw this.#fault('has no end; is a quote not closed?');
    return rows;
  }

  /** Undefined when the text ends before the row does. */
  #row(isLast: boolean): string[] | undefined {
    const fields: string[] = [];
    let at = this.#at;
    let hasQuotes = false;
    for (;;) {
      const isQuoted = this.#quote !== '' && this.#text.startsWith(this.#quote, at);
      hasQuotes ||= isQuoted;
      const end = isQuoted ? this.#quoted(at, fields, isLast) : this.#plain(at, fields);
      if (end === undefined) return undefined;
      if (fields.length > fieldsMax) throw this.#fault(`has more than ${fieldsMax} fields.`);
      if (this.#text.startsWith(this.#delimiter, end)) {
        at = end + this.#delimiter.length;
        continue;
      }
      return this.#finish(end, { isLast, hasQuotes }) ? fields : undefined;
    }
  }

  /** Takes a field without quotes; says where it ends. */
  #plain(at: number, fields: string[]): number {
    const lineEnd = Math.min(
      this.#lineFeed.after(this.#text, at),
      this.#carriageReturn.after(this.#text, at),
      this.#text.length,
    );
    const found = this.#text.indexOf(this.#delimiter, at);
    const end = found === -1 || found > lineEnd ? lineEnd : found;
    fields.push(this.#text.slice(at, end));
    return end;
  }

  /** Takes a field in quotes, in which a doubled quote is one; undefined when the text ends before it does. */
  #quoted(at: number, fields: string[], isLast: boolean): number | undefined {
    let value = '';
    let from = at + 1;
    // Every turn goes on behind another quote.
    for (;;) {
      const found = this.#text.indexOf(this.#quote, from);
      const isOpen = found === -1 || (found + 1 === this.#text.length && !isLast);
      if (isOpen && isLast) throw this.#fault('opens a quote that is never closed.');
      if (isOpen) return undefined;
      value += this.#text.slice(from, found);
      from = found + 1;
      if (!this.#text.startsWith(this.#quote, from)) break;
      value += this.#quote;
      from += 1;
    }
    fields.push(value);
    if (from < this.#text.length && !this.#isEnd(from))
      throw this.#fault('goes on behind a closing quote; a quote inside a field has to be doubled.');
    return from;
  }

  #isEnd(at: number): boolean {
    const sign = this.#text[at];
    return sign === '\n' || sign === '\r' || this.#text.startsWith(this.#delimiter, at);
  }

  /** Moves behind the row and its line break; false when the text may go on. */
  #finish(end: number, { isLast, hasQuotes }: { isLast: boolean; hasQuotes: boolean }): boolean {
    const { length } = this.#text;
    const mayGoOn = end === length || (this.#text[end] === '\r' && end + 1 === length);
    if (mayGoOn && !isLast) return false;
    if (hasQuotes) this.#line += lineBreaks(this.#text.slice(this.#at, end));
    const isPair = this.#text[end] === '\r' && this.#text[end + 1] === '\n';
    this.#line += 1;
    this.#at = Math.min(length, end + (isPair ? 2 : 1));
    return true;
  }

  #fault(what: string): DomainError {
    return new DomainError('invalidValue', `${this.#place}: the row at line ${this.#line} ${what}`);
  }
}

function lineBreaks(text: string): number {
  if (text.includes('\r')) return text.match(/\r\n?|\n/g)?.length ?? 0;
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

const candidates = [',', ';', '\t', '|'] as const;

/** The delimiter that stands most often, outside quotes, in the first line; a comma where there is none. */
export function detectDelimiter(firstLine: string, quote: string): string {
  const parts = quote === '' ? [firstLine] : firstLine.split(quote).filter((_, index) => index % 2 === 0);
  const plain = parts.join('');
  const counts = candidates.map((sign) => ({ sign, count: plain.split(sign).length - 1 }));
  return counts.reduce((best, each) => (each.count > best.count ? each : best)).sign;
}
