import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { CompareOperator } from '../resource/filter.ts';
import type { ResolvedLiteral } from '../resource/filter-resolve.ts';
import type { AttributeDefinition } from '../resource/schema.ts';
import type { Slice, Wide } from './filter-sql-wide.ts';

export type Sql = RawBuilder<unknown>;

/** A condition on the row of a user or group. It may be null, which counts as false. */
export type Condition = RawBuilder<SqlBool>;

export interface Term {
  readonly condition: Condition;
  /** An index finds the few rows that can meet it. */
  readonly isIndexed: boolean;
  /** Subqueries that a database answers to their end before it looks at any resource; none when absent. */
  readonly wholes?: readonly Sql[];
}

/**
 * How a condition on rows that belong to the resource is asked: `in` begins with those rows, where an index finds
 * them; `exists` looks from each resource.
 */
export type Drive = 'in' | 'exists';

/** What RFC 7644 §3.4.2.3 sorts by; null where the resource has no value. */
export interface SortKey {
  readonly key: Sql;
  /** An index holds the rows in this order. */
  readonly isIndexed: boolean;
  /** What the key is to the driver. Texts are ordered by code point on both engines. */
  readonly type: 'text' | 'number';
}

/** One value to compare: an SQL expression, and what comparing it means. */
export interface Value {
  readonly isPresent: Condition;
  compare(operator: CompareOperator, literal: ResolvedLiteral): Term;
  readonly sortKey: SortKey;
}

/** Something that has attributes: a resource, or one value of a complex attribute. */
export interface Holder {
  /** Where the values of the attribute are. */
  place(attribute: AttributeDefinition): Place;
  /** A quicker place for the values behind a whole path (`emails.value`), if there is one. */
  direct?(path: string): Place | undefined;
}

/** Where the values of an attribute are. Mirrors what `evaluateFilter` finds in the resource that a client sees. */
export interface Place {
  /** At most one value: a condition on it does not imply that it is there. */
  readonly isSingular: boolean;
  /** Whether there is a value. */
  present(): Term;
  /** Whether any value meets the condition that `term` makes for it. */
  any(term: (element: Element) => Term, drive: Drive): Term;
  /** The key of the primary value, or else of the first. */
  first(key: (element: Element) => SortKey): SortKey;
}

/** One value of an attribute: of a simple one the `value`, of a complex one the holder of its sub-attributes. */
export interface Element extends Holder {
  readonly value: Value;
}

export const always: Condition = sql<SqlBool>`true`;
export const never: Condition = sql<SqlBool>`false`;

/** A condition that has to look at all rows. */
export function all(condition: Condition): Term {
  return { condition, isIndexed: false };
}

/** `term` where `guard` holds too. */
export function where(guard: Condition, { condition, ...term }: Term): Term {
  return { ...term, condition: sql<SqlBool>`(${guard} and ${condition})` };
}

export function and(terms: readonly Term[]): Term {
  return { condition: joined(terms, sql` and `), isIndexed: terms.some((term) => term.isIndexed) };
}

export function or(terms: readonly Term[]): Term {
  return { condition: joined(terms, sql` or `), isIndexed: terms.every((term) => term.isIndexed) };
}

/** SQL's third truth value, of a comparison with nothing, is simply "no" in a filter. */
export function not({ condition }: Term): Term {
  return all(sql<SqlBool>`((${condition}) is not true)`);
}

function joined(terms: readonly Term[], separator: Sql): Condition {
  const conditions = terms.map((term) => term.condition);
  return sql<SqlBool>`(${sql.join(conditions, separator)})`;
}

/** The one value of a simple attribute; null in SQL when it is not there. */
export function single(value: Value): Place {
  const element = { value, place: hasNoParts };
  return {
    isSingular: true,
    present: () => all(value.isPresent),
    any: (term) => term(element),
    first: (key) => key(element),
  };
}

/** The one value of a complex attribute. */
export function complex(
  isPresent: Condition,
  parts: (attribute: AttributeDefinition) => Place | undefined,
): Place {
  const element = { value: noValue, place: (part: AttributeDefinition) => parts(part) ?? nowhere };
  return {
    isSingular: true,
    present: () => all(isPresent),
    any: (term) => term(element),
    first: (key) => key(element),
  };
}

export interface RowsOptions {
  readonly from: Sql;
  /** The column among `from` that says whose value it is, and the resource's own; absent where `from` refers to that. */
  readonly link?: { readonly inner: Sql; readonly outer: Sql };
  /** What else makes a row of `from` a value of the attribute. */
  readonly where?: Condition;
  readonly order: Sql;
  readonly element: Element;
  /** Set for a resource that has very many of these rows: they are read in slices of `order`, which is a number. */
  readonly wide?: Wide | undefined;
}

/** Values that are rows of other tables, or of the elements of a list. */
export function rows(options: RowsOptions): Place {
  if (options.wide !== undefined) return wideRows(options, options.wide);
  const { from, link, where: isValue = always, order, element } = options;
  const own = link === undefined ? isValue : sql<SqlBool>`${link.inner} = ${link.outer} and ${isValue}`;
  const any: Place['any'] = (term, drive) => {
    const { condition, isIndexed } = term(element);
    if (link !== undefined && drive === 'in' && isIndexed) {
      const found = sql`select ${link.inner} from ${from} where ${isValue} and ${condition}`;
      return { condition: sql<SqlBool>`${link.outer} in (${found})`, isIndexed, wholes: [found] };
    }
    return all(sql<SqlBool>`exists (select 1 from ${from} where ${own} and ${condition})`);
  };
  return {
    isSingular: false,
    any,
    present: () => any(() => all(always), 'exists'),
    first: (key) => {
      const inRow = key(element);
      const first = sql`(select ${inRow.key} from ${from} where ${own} order by ${order} limit 1)`;
      return { ...inRow, key: first, isIndexed: false };
    },
  };
}

function wideRows({ from, link, where: isValue = always, order, element }: RowsOptions, wide: Wide): Place {
  const isOwn = link === undefined ? always : sql<SqlBool>`${link.inner} = ${wide.id}`;
  const inSlice = ({ after, to }: Slice) =>
    sql<SqlBool>`${isOwn} and ${order} > ${after} and ${order} <= ${to} and ${isValue}`;
  const any: Place['any'] = (term) => {
    const { condition } = term(element);
    return all(
      wide.any((slice) => sql`exists (select 1 from ${from} where ${inSlice(slice)} and ${condition})`),
    );
  };
  return {
    isSingular: false,
    any,
    present: () => any(() => all(always), 'exists'),
    first: (key) => {
      const inRow = key(element);
      const first = wide.first((slice) => {
        const found = sql`from ${from} where ${inSlice(slice)}`;
        return {
          isThere: sql`exists (select 1 ${found})`,
          key: sql`(select ${inRow.key} ${found} order by ${order} limit 1)`,
        };
      }, inRow);
      return { ...inRow, key: first, isIndexed: false };
    },
  };
}

/** A part of each value of a complex attribute. */
export function partOf(whole: Place, part: AttributeDefinition): Place {
  return {
    isSingular: whole.isSingular,
    present: () => whole.any((element) => element.place(part).present(), 'exists'),
    any: (term, drive) => whole.any((element) => element.place(part).any(term, 'exists'), drive),
    first: (key) => whole.first((element) => element.place(part).first(key)),
  };
}

/** A value that the resource has when its condition holds. */
export interface Alternative {
  readonly condition: Condition;
  readonly value: Value;
}

/** Values that follow from the resource, each under its condition. */
export function alternatives(values: readonly Alternative[]): Place {
  return {
    isSingular: false,
    any: (term) =>
      or(values.map(({ condition, value }) => where(condition, term({ value, place: hasNoParts })))),
    present: () => or(values.map(({ condition }) => all(condition))),
    first: (key) => {
      const cases = values.map(({ condition, value }) => {
        const { key: one } = key({ value, place: hasNoParts });
        return sql`when ${condition} then ${one}`;
      });
      return { key: sql`(case ${sql.join(cases, sql` `)} end)`, isIndexed: false, type: 'text' };
    },
  };
}

/** Of a complex attribute: only its parts are compared. */
export const noValue: Value = {
  isPresent: never,
  compare: () => all(never),
  sortKey: { key: sql`cast(null as text)`, isIndexed: false, type: 'text' },
};

/** The place of an attribute that no resource shows. */
export const nowhere: Place = {
  isSingular: true,
  present: () => all(never),
  any: () => all(never),
  first: () => noValue.sortKey,
};

function hasNoParts(): Place {
  return nowhere;
}
