import { type SqlBool, sql } from 'kysely';
import type { CompareOperator } from '../resource/filter.ts';
import type { ResolvedLiteral } from '../resource/filter-resolve.ts';
import { toId } from '../resource/resource-id.ts';
import type { Dialect } from '../storage/database.ts';
import { all, type Condition, never, type Sql, type Term, type Value } from './filter-sql-place.ts';

const signs = { eq: sql`=`, ne: sql`<>`, gt: sql`>`, ge: sql`>=`, lt: sql`<`, le: sql`<=` } as const;

function isOrder(operator: CompareOperator): operator is keyof typeof signs {
  return operator in signs;
}

export interface ValueOptions {
  /** An index on just this expression: `eq`, `sw` and ranges find few rows. */
  readonly isIndexed?: boolean;
  /** What is stored may be of another type than the attribute is now: it then differs from any literal. */
  readonly isLoose?: boolean;
}

/** A text, ordered by code point. Of an attribute without case it is the canonical key. */
export function textValue(text: Sql, dialect: Dialect, options: ValueOptions = {}): Value {
  const { isIndexed = false, isLoose = false } = options;
  return {
    isPresent: sql<SqlBool>`${text} is not null`,
    sortKey: { key: text, isIndexed, type: 'text' },
    compare(operator, literal) {
      if (literal.kind !== 'string') return mismatch(operator);
      const { key } = literal;
      if (operator === 'ne') return different(text, key, isLoose);
      const condition = textCondition(text, operator, key, { dialect, isIndexed });
      return { condition, isIndexed: isIndexed && operator !== 'co' && operator !== 'ew' && key !== '' };
    },
  };
}

function textCondition(
  text: Sql,
  operator: Exclude<CompareOperator, 'ne'>,
  key: string,
  { dialect, isIndexed }: { readonly dialect: Dialect; readonly isIndexed: boolean },
): Condition {
  if (isOrder(operator)) return sql<SqlBool>`${text} ${signs[operator]} ${key}`;
  // Every text contains the empty one.
  if (key === '') return sql<SqlBool>`${text} is not null`;
  if (operator === 'sw' && isIndexed) return startsWith(text, key);
  const length = [...key].length;
  if (dialect === 'sqlite') {
    if (operator === 'co') return sql<SqlBool>`instr(${text}, ${key}) > 0`;
    const part = operator === 'sw' ? sql`substr(${text}, 1, ${length})` : sql`substr(${text}, ${-length})`;
    return sql<SqlBool>`${part} = ${key}`;
  }
  if (operator === 'co') return sql<SqlBool>`strpos(${text}, ${key}) > 0`;
  if (operator === 'sw') return sql<SqlBool>`starts_with(${text}, ${key})`;
  return sql<SqlBool>`right(${text}, cast(${length} as integer)) = ${key}`;
}

/** As a range of keys, which an index can find. */
function startsWith(text: Sql, prefix: string): Condition {
  const end = successor(prefix);
  if (end === undefined) return sql<SqlBool>`${text} >= ${prefix}`;
  return sql<SqlBool>`(${text} >= ${prefix} and ${text} < ${end})`;
}

/** The least text, by code point, that is greater than every text with this prefix; undefined when there is none. */
export function successor(prefix: string): string | undefined {
  const points = [...prefix];
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    const point = last.codePointAt(0) ?? 0;
    if (point === 0x10ffff) continue;
    // Halves of surrogate pairs are no characters.
    return points.join('') + String.fromCodePoint(point === 0xd7ff ? 0xe000 : point + 1);
  }
  return undefined;
}

/** A number of ours, which the client knows as a text: bare in `id`, behind an address in `$ref`. */
export function idValue(id: Sql, dialect: Dialect, { isIndexed = false, prefix = '' } = {}): Value {
  const digits = sql`cast(${id} as text)`;
  const whole = prefix === '' ? digits : sql`(cast(${prefix} as text) || ${digits})`;
  const text = textValue(byCodePoint(whole, dialect), dialect);
  return {
    ...text,
    isPresent: sql<SqlBool>`${id} is not null`,
    compare(operator, literal) {
      const isEquality = operator === 'eq' || operator === 'ne';
      if (literal.kind !== 'string' || !isEquality) return text.compare(operator, literal);
      const wanted = toNumber(literal.key, prefix);
      const condition = sql<SqlBool>`${id} ${signs[operator]} ${wanted}`;
      return { condition, isIndexed: isIndexed && operator === 'eq' };
    },
  };
}

/** 0, which is nobody's id, for a text that is none. */
function toNumber(text: string, prefix: string): number {
  const digits = text.startsWith(prefix) ? text.slice(prefix.length) : '';
  return toId(digits);
}

/** A column of ISO 8601 texts in UTC with milliseconds. */
export function timeValue(time: Sql, { isIndexed = false } = {}): Value {
  return {
    isPresent: sql<SqlBool>`${time} is not null`,
    sortKey: { key: time, isIndexed, type: 'text' },
    compare(operator, literal) {
      if (literal.kind !== 'dateTime' || !isOrder(operator)) return mismatch(operator);
      const condition = sql<SqlBool>`${time} ${signs[operator]} ${toTimeText(literal.instant)}`;
      return { condition, isIndexed: isIndexed && operator !== 'ne' };
    },
  };
}

/** A zone can carry a moment into the year 10000, whose ISO 8601 text begins with a sign. */
function toTimeText(instant: number): string {
  const text = new Date(instant).toISOString();
  return text.startsWith('+') ? `~${text}` : text;
}

/** Milliseconds since 1970. */
export function instantValue(instant: Sql, options: ValueOptions = {}): Value {
  return numeric(instant, options, (literal) =>
    literal.kind === 'dateTime' ? sql`${literal.instant}` : undefined,
  );
}

export function numberValue(number: Sql, dialect: Dialect, options: ValueOptions = {}): Value {
  return numeric(number, options, (literal) =>
    literal.kind === 'number' ? numberLiteral(literal.number, dialect) : undefined,
  );
}

/** SQLite reads the literal by the same function as the document, so that both are rounded alike. */
function numberLiteral(number: number, dialect: Dialect): Sql {
  return dialect === 'sqlite'
    ? sql`json_extract(${JSON.stringify(number)}, '$')`
    : sql`cast(${number} as double precision)`;
}

/** 1 or 0. */
export function booleanValue(boolean: Sql, options: ValueOptions = {}): Value {
  return numeric(boolean, options, (literal) =>
    literal.kind === 'boolean' ? sql`${literal.boolean ? 1 : 0}` : undefined,
  );
}

function numeric(
  number: Sql,
  { isLoose = false }: ValueOptions,
  toSql: (literal: ResolvedLiteral) => Sql | undefined,
): Value {
  return {
    isPresent: sql<SqlBool>`${number} is not null`,
    sortKey: { key: number, isIndexed: false, type: 'number' },
    compare(operator, literal) {
      const right = toSql(literal);
      if (right === undefined || !isOrder(operator)) return mismatch(operator);
      if (operator === 'ne') return different(number, right, isLoose);
      return all(sql<SqlBool>`${number} ${signs[operator]} ${right}`);
    },
  };
}

/** Whether the account is active. An index holds those that are not: they are few. */
export function activeValue(state: Sql): Value {
  return {
    isPresent: sql<SqlBool>`${state} is not null`,
    sortKey: { key: sql`(case ${state} when 'active' then 1 else 0 end)`, isIndexed: false, type: 'number' },
    compare(operator, literal) {
      if (literal.kind !== 'boolean') return mismatch(operator);
      // Fixed texts: SQLite cannot use a partial index for a value that it does not know.
      return literal.boolean === (operator === 'eq')
        ? all(sql<SqlBool>`${state} = 'active'`)
        : { condition: sql<SqlBool>`${state} = 'inactive'`, isIndexed: true };
    },
  };
}

function different(left: Sql, right: unknown, isLoose: boolean): Term {
  return all(isLoose ? sql<SqlBool>`${left} is distinct from ${right}` : sql<SqlBool>`${left} <> ${right}`);
}

/** What cannot be compared is different. */
function mismatch(operator: CompareOperator): Term {
  return all(operator === 'ne' ? sql<SqlBool>`true` : never);
}

/** The expression with the order that SQLite has by itself. */
export function byCodePoint(text: Sql, dialect: Dialect): Sql {
  return dialect === 'postgres' ? sql`(${text} collate "C")` : text;
}

/** The canonical key of a text that SQL's lower case gives: see `foldDocument`. */
export function lowerCase(text: Sql, dialect: Dialect): Sql {
  return sql`lower(${byCodePoint(text, dialect)})`;
}
