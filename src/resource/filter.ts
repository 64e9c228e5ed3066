// The filter language: text to syntax tree and back.
// Never knows a schema: what the names mean is found in filter-resolve.ts, what matches in filter-evaluate.ts.
// Renders RFC 7644 §3.4.2.2, Figure 1.

import { DomainError } from '../errors.ts';
import { TextScanner } from './text-scanner.ts';

/** `urn:…:User:name.familyName`, `emails.type`, `userName`; positions are UTF-16 offsets in the whole text. */
export interface AttributePath {
  /** As written, the URN included. */
  readonly text: string;
  readonly urn?: string;
  readonly name: string;
  readonly subName?: string;
  readonly position: number;
}

export type CompareOperator = 'eq' | 'ne' | 'co' | 'sw' | 'ew' | 'gt' | 'ge' | 'lt' | 'le';

/** A literal of a comparison; `text` is the source text, for the repair of unquoted values. */
export interface FilterLiteral {
  readonly value: string | number | boolean | null;
  readonly text: string;
  readonly position: number;
  /** True when it was a bare word, read as text by the option `unquotedValues`. */
  readonly unquoted: boolean;
}

export interface CompareFilter {
  readonly kind: 'compare';
  readonly attribute: AttributePath;
  readonly operator: CompareOperator;
  readonly literal: FilterLiteral;
}
export interface PresentFilter {
  readonly kind: 'present';
  readonly attribute: AttributePath;
}
export interface ValuePathFilter {
  readonly kind: 'valuePath';
  readonly attribute: AttributePath;
  readonly filter: Filter;
}
export interface JunctionFilter {
  readonly kind: 'and' | 'or';
  readonly terms: readonly Filter[];
}
export interface NotFilter {
  readonly kind: 'not';
  readonly filter: Filter;
}
/** `emails[type eq "work"].value eq "x"` (Entra) is read as `emails[type eq "work" and value eq "x"]`. */
export type Filter = CompareFilter | PresentFilter | ValuePathFilter | JunctionFilter | NotFilter;

export interface FilterOptions {
  /** Reads a bare word as text (Entra's `externalId eq jdoe`). */
  readonly unquotedValues?: boolean;
}

export const filterCharactersMax = 4096;
export const filterDepthMax = 12;
export const filterTermsMax = 32;

/** Throws `invalidFilter` with the position. */
export function parseFilter(text: string, options: FilterOptions = {}): Filter {
  if (text.length > filterCharactersMax) {
    throw new DomainError(
      'invalidFilter',
      `The filter is longer than ${filterCharactersMax} characters; shorten it.`,
    );
  }
  const scanner = new TextScanner(text, 'invalidFilter');
  const filter = readFilterExpression(scanner, { depthMax: filterDepthMax, ...options });
  if (!scanner.atEnd) throw scanner.refuse('"and", "or" or the end of the filter is expected');
  return filter;
}

interface ExpressionOptions extends FilterOptions {
  readonly depthMax: number;
}

/** Reads an expression up to the first character that cannot belong to it; path.ts reads brackets by it. */
export function readFilterExpression(scanner: TextScanner, options: ExpressionOptions): Filter {
  return new FilterReader(scanner, options).junction('or', 1);
}

/** Recursive descent over RFC 7644 §3.4.2.2, Figure 1; `and` binds closer than `or`, `not` closest. */
class FilterReader {
  private terms = 0;
  private readonly scanner: TextScanner;
  private readonly options: ExpressionOptions;

  constructor(scanner: TextScanner, options: ExpressionOptions) {
    this.scanner = scanner;
    this.options = options;
  }

  junction(kind: 'and' | 'or', depth: number): Filter {
    const terms = [this.operand(kind, depth)];
    this.scanner.skipBlanks();
    while (this.scanner.takeWord(kind)) {
      terms.push(this.operand(kind, depth));
      this.scanner.skipBlanks();
    }
    const [only] = terms;
    return terms.length === 1 && only !== undefined ? only : { kind, terms };
  }

  private operand(kind: 'and' | 'or', depth: number): Filter {
    return kind === 'or' ? this.junction('and', depth) : this.term(depth);
  }

  private term(depth: number): Filter {
    const { scanner } = this;
    scanner.skipBlanks();
    if (scanner.take('(')) return this.inside(')', depth);
    const start = scanner.position;
    if (scanner.takeWord('not')) {
      scanner.skipBlanks();
      if (scanner.take('(')) return { kind: 'not', filter: this.inside(')', depth) };
      scanner.position = start;
    }
    return this.attributeTerm(depth);
  }

  private inside(close: ')' | ']', depth: number): Filter {
    const { scanner } = this;
    if (depth >= this.options.depthMax) {
      throw scanner.refuse(`it is nested deeper than ${this.options.depthMax} levels`, scanner.position - 1);
    }
    const filter = this.junction('or', depth + 1);
    scanner.skipBlanks();
    if (!scanner.take(close)) throw scanner.refuse(`"${close}" is missing`);
    return filter;
  }

  private attributeTerm(depth: number): Filter {
    const { scanner } = this;
    const attribute = scanner.attributePath();
    if (!scanner.take('[')) return this.comparison(attribute);
    const filter = this.inside(']', depth);
    if (!scanner.take('.')) return { kind: 'valuePath', attribute, filter };
    // Entra: emails[type eq "work"].value eq "x" asks for one element that meets both conditions.
    const position = scanner.position;
    const name = scanner.name();
    const comparison = this.comparison({ text: name, name, position });
    const terms = filter.kind === 'and' ? [...filter.terms, comparison] : [filter, comparison];
    return { kind: 'valuePath', attribute, filter: { kind: 'and', terms } };
  }

  private comparison(attribute: AttributePath): Filter {
    const { scanner } = this;
    this.terms += 1;
    if (this.terms > filterTermsMax)
      throw scanner.refuse(`it has more than ${filterTermsMax} terms`, attribute.position);
    scanner.skipBlanks();
    const word = scanner.peekWord();
    const operator = operators.find((each) => each === word);
    if (operator === undefined && word !== 'pr')
      throw scanner.refuse(`an operator (${operators.join(', ')}, pr) is expected`);
    scanner.position += word.length;
    if (operator === undefined) return { kind: 'present', attribute };
    if (!scanner.take(' ')) throw scanner.refuse('a blank and a value are expected');
    scanner.skipBlanks();
    return {
      kind: 'compare',
      attribute,
      operator,
      literal: scanner.literal(this.options.unquotedValues === true),
    };
  }
}

const operators: readonly CompareOperator[] = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'];

/** The canonical text of a filter; `parseFilter(printFilter(f))` equals `f` but for positions. */
export function printFilter(filter: Filter): string {
  switch (filter.kind) {
    case 'compare':
      return `${filter.attribute.text} ${filter.operator} ${JSON.stringify(filter.literal.value)}`;
    case 'present':
      return `${filter.attribute.text} pr`;
    case 'valuePath':
      return `${filter.attribute.text}[${printFilter(filter.filter)}]`;
    case 'not':
      return `not (${printFilter(filter.filter)})`;
    default:
      return filter.terms.map(printTerm).join(` ${filter.kind} `);
  }
}

function printTerm(term: Filter): string {
  return term.kind === 'and' || term.kind === 'or' ? `(${printFilter(term)})` : printFilter(term);
}
