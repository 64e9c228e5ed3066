// Compiles one rule of a mapping: column, template or constant; then split, replace, values, case, otherwise.
// It gives patterns to RE2 alone, whose time grows with the length of the text only.

import { DomainError } from '../errors.ts';
import { PatternError } from '../pattern/pattern-error.ts';
import { compileRe2, type Re2Pattern } from '../pattern/re2.ts';
import { type Column, compileColumn, toText, toTexts } from './column-path.ts';
import type { MappingRule, SourceRecord } from './contract.ts';
import { trimmed } from './record-values.ts';

/** A rule, ready for any number of records. Its functions throw Error when a value cannot become text. */
export interface CompiledRule {
  readonly columns: readonly Column[];
  /** Undefined: leave alone what is stored. Null: clear it. */
  text(record: SourceRecord): string | null | undefined;
  /** Undefined when the record has no such column; an empty list when it has one with nothing in it. */
  list(record: SourceRecord): readonly string[] | undefined;
}

interface RuleContext {
  /** For sentences: `email`. */
  readonly attribute: string;
  /** Spaces around the text belong to it: a password. */
  readonly isVerbatim: boolean;
}

type RuleObject = Exclude<MappingRule, string>;
type Change = (text: string) => string;

const piecesMax = 10_000;

/** Throws DomainError `invalidValue` with a sentence that names the attribute when the rule is not one. */
export async function compileRule(rule: MappingRule, context: RuleContext): Promise<CompiledRule> {
  const given = typeof rule === 'string' ? { column: rule } : rule;
  const origin = compileOrigin(given, context);
  const cut = given.split === undefined ? undefined : await compileSplit(given.split, context);
  const change = await compileChanges(given, context);
  const { otherwise } = given;
  return {
    columns: origin.columns,
    text(record) {
      const value = origin.value(record);
      if (value === undefined) return otherwise;
      const text = change(cut === undefined ? toText(value) : (cut(toText(value))[0] ?? ''));
      return text === '' ? otherwise : text;
    },
    list(record) {
      const value = origin.value(record);
      const pieces = cut === undefined ? toTexts(value) : toTexts(value).flatMap(cut);
      const texts = pieces.map(change).filter((text) => text !== '');
      if (texts.length > 0) return texts;
      if (typeof otherwise === 'string') return [otherwise];
      return value === undefined && otherwise === undefined ? undefined : [];
    },
  };
}

/** The columns that a rule takes its value from. Throws as `compileRule` does when it is not a rule. */
export function columnsOf(rule: MappingRule, attribute: string): readonly Column[] {
  const given = typeof rule === 'string' ? { column: rule } : rule;
  return compileOrigin(given, { attribute, isVerbatim: false }).columns;
}

interface Origin {
  readonly columns: readonly Column[];
  value(record: SourceRecord): unknown;
}

function compileOrigin({ column, template, constant }: RuleObject, { attribute }: RuleContext): Origin {
  const given = [column, template, constant].filter((each) => each !== undefined);
  if (given.length !== 1)
    throw refusal(`The mapping of ${attribute} needs exactly one of "column", "template" and "constant".`);
  if (template !== undefined) return compileTemplate(template, attribute);
  if (column === undefined) return { columns: [], value: () => constant };
  const place = compileColumn(column);
  return { columns: [place], value: (record) => place.find(record) };
}

type TemplatePart = string | { readonly column: Column; readonly isOptional: boolean };

/** A doubled brace, or the name of a column in braces. Any other brace is a slip. */
const templatePart = /\{\{|\}\}|\{([^{}]+)\}|[{}]/g;

/** The template is empty when one of its columns is, unless that is marked `{column?}`. */
function compileTemplate(template: string, attribute: string): Origin {
  const parts = templateParts(template, attribute);
  const isLoose = parts.some((part) => typeof part !== 'string' && part.isOptional);
  return {
    columns: parts.flatMap((part) => (typeof part === 'string' ? [] : [part.column])),
    value(record) {
      let text = '';
      for (const part of parts) {
        if (typeof part === 'string') {
          text += part;
          continue;
        }
        const value = toText(part.column.find(record)).trim();
        if (value === '' && !part.isOptional) return '';
        text += value;
      }
      return isLoose ? text.replace(/ {2,}/g, ' ') : text;
    },
  };
}

function templateParts(template: string, attribute: string): readonly TemplatePart[] {
  const parts: TemplatePart[] = [];
  let from = 0;
  for (const found of template.matchAll(templatePart)) {
    if (found.index > from) parts.push(template.slice(from, found.index));
    from = found.index + found[0].length;
    const name = found[1]?.trim();
    if (name !== undefined) parts.push(templateColumn(name));
    else if (found[0].length === 2) parts.push(found[0].charAt(0));
    else throw refusal(looseBrace(attribute, found[0], found.index));
  }
  if (from < template.length) parts.push(template.slice(from));
  return parts;
}

function templateColumn(name: string): TemplatePart {
  const isOptional = name.endsWith('?');
  return { column: compileColumn(isOptional ? name.slice(0, -1) : name), isOptional };
}

function looseBrace(attribute: string, brace: string, at: number): string {
  const advice = `Write a column as {column}, and ${brace}${brace} for the sign itself.`;
  return `The template of ${attribute} has a single ${brace} at character ${at + 1}. ${advice}`;
}

async function compileChanges(rule: RuleObject, context: RuleContext): Promise<Change> {
  const changes: Change[] = context.isVerbatim ? [] : [trimmed];
  for (const { pattern, with: replacement } of rule.replace ?? []) {
    const compiled = await compilePattern(pattern, 'replace', context);
    changes.push(remembered((text) => (text === '' ? text : compiled.replace(text, replacement))));
  }
  const values = new Map(Object.entries(rule.values ?? {}));
  if (values.size > 0) changes.push((text) => values.get(text) ?? text);
  if (rule.case === 'lower') changes.push((text) => text.toLowerCase());
  if (rule.case === 'upper') changes.push((text) => text.toUpperCase());
  const [first = unchanged, ...others] = changes;
  if (others.length === 0) return first;
  const all: Change = (text) => others.reduce((sofar, change) => change(sofar), first(text));
  return context.isVerbatim ? all : (text) => all(text).trim();
}

const rememberedMax = 2_000;
const rememberedCharactersMax = 200;

/** Departments, places and dates come again and again, and a pattern costs more than all else in a rule. */
function remembered(change: Change): Change {
  const results = new Map<string, string>();
  return (text) => {
    const known = results.get(text);
    if (known !== undefined) return known;
    const result = change(text);
    if (text.length > rememberedCharactersMax) return result;
    if (results.size >= rememberedMax) results.clear();
    results.set(text, result);
    return result;
  };
}

function unchanged(text: string): string {
  return text;
}

/** Signs that mean nothing but themselves in a pattern; the usual separators need no engine. */
const literalPattern = /^(?:[\s\w,;:/#@&%=<>~!'" -]|\\[|/.;,*+$^\\-])+$/;

async function compileSplit(
  pattern: string,
  context: RuleContext,
): Promise<(text: string) => readonly string[]> {
  const compiled = await compilePattern(pattern, 'split', context);
  if (compiled.test('')) {
    const advice = 'Name the signs that stand between two pieces.';
    throw refusal(
      `The pattern "${pattern}" of "split" in ${context.attribute} matches the empty text. ${advice}`,
    );
  }
  const isLiteral = literalPattern.test(pattern) && !/\\[a-zA-Z]/.test(pattern);
  const literal = isLiteral ? pattern.replace(/\\(.)/g, '$1') : undefined;
  const cut =
    literal === undefined
      ? (text: string) => splitBy(compiled, text)
      : (text: string) => requirePieces(text.split(literal, piecesMax + 1));
  return (text) =>
    cut(text)
      .map((piece) => piece.trim())
      .filter((piece) => piece !== '');
}

function splitBy(pattern: Re2Pattern, text: string): readonly string[] {
  const pieces: string[] = [];
  let rest = text;
  // Every turn takes a match of at least one character away.
  while (rest !== '') {
    const found = pattern.match(rest);
    if (found === undefined || found.text === '') break;
    pieces.push(rest.slice(0, found.index));
    rest = rest.slice(found.index + found.text.length);
    requirePieces(pieces);
  }
  return [...pieces, rest];
}

function requirePieces(pieces: readonly string[]): readonly string[] {
  if (pieces.length > piecesMax) throw new Error(`"split" gives more than ${piecesMax} pieces`);
  return pieces;
}

async function compilePattern(
  pattern: string,
  use: 'split' | 'replace',
  { attribute }: RuleContext,
): Promise<Re2Pattern> {
  try {
    return await compileRe2(pattern);
  } catch (cause) {
    if (!(cause instanceof PatternError) && !(cause instanceof DomainError)) throw cause;
    const fault = cause.message.replace(/\.$/, '');
    throw refusal(`The pattern "${pattern}" of "${use}" in ${attribute} is not accepted: ${fault}.`);
  }
}

function refusal(detail: string): DomainError {
  return new DomainError('invalidValue', detail);
}
