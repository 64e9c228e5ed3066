// Compiles filters (RFC 7644 §3.4.2.2) and sort keys (§3.4.2.3) to SQL over the rows of `user` and `group_`.
// Means what `evaluateFilter` means for the resource that the client is shown, whatever the attribute; never reads rows.
// Where the values of an attribute are is told by filter-sql-user.ts and -group.ts; docs/adr/0007 tells why so.

import { type SqlBool, sql } from 'kysely';
import type { FilterTarget, ResolvedFilter } from '../resource/filter-resolve.ts';
import { type AttributeDefinition, additionalFieldsUrn, findExtension } from '../resource/schema.ts';
import type { Dialect } from '../storage/database.ts';
import { type DirectoryContext, visibleOwner } from './context.ts';
import type { FilterScope } from './filter-sql-derived.ts';
import { groupHolder, membersWhere } from './filter-sql-group.ts';
import {
  and,
  type Condition,
  type Drive,
  type Holder,
  not,
  or,
  type Place,
  partOf,
  type SortKey,
  type Sql,
  type Term,
} from './filter-sql-place.ts';
import { userHolder } from './filter-sql-user.ts';
import { tagEnding } from './version.ts';

export type { FilterScope } from './filter-sql-derived.ts';
export type { Condition, SortKey } from './filter-sql-place.ts';

export interface CompiledFilter {
  /** Asked of each row that is looked at. */
  readonly condition: Condition;
  /** The same, asked so that the database begins with what an index finds; `condition` where there is no such index. */
  readonly driven: Condition;
  /** An index narrows the rows that must be looked at. */
  readonly isIndexed: boolean;
  /** Of a filter of one term: subqueries that `driven` answers to their end, however many rows they have. */
  readonly wholes: readonly Sql[];
}

/** What a filter or a sort of this context may refer to. */
export function filterScope(dialect: Dialect, context: DirectoryContext): FilterScope {
  const { sourceId, base = '', configuration } = context;
  const fields = findExtension(configuration.userType, additionalFieldsUrn)?.schema.attributes ?? [];
  const additionalFields = fields.map((field) => field.name);
  return {
    dialect,
    sourceId,
    base,
    tagEnding: tagEnding(configuration.shownVersion),
    additionalFields,
    owner: visibleOwner(context),
  };
}

/** The filter as a condition on the rows of `user`. */
export function userFilterSql(filter: ResolvedFilter, scope: FilterScope): CompiledFilter {
  return compiled(filter, userHolder(scope), scope.wide === undefined ? userRows : undefined);
}

/** The filter as a condition on the rows of `group_`. */
export function groupFilterSql(filter: ResolvedFilter, scope: FilterScope): CompiledFilter {
  return compiled(filter, groupHolder(scope), scope.wide === undefined ? groupRows : undefined);
}

/** The ids of the members of a group whom a filter on `members` picks. */
export function memberFilterSql(filter: ResolvedFilter, scope: FilterScope, groupId: number): Sql {
  return membersWhere(scope, groupId, (member) => compile(filter, member).condition);
}

/** The key by which users are sorted, over the rows of `user`. */
export function userSortKey(target: FilterTarget, scope: FilterScope): SortKey {
  return sortKey(target, userHolder(scope));
}

/** The key by which groups are sorted, over the rows of `group_`. */
export function groupSortKey(target: FilterTarget, scope: FilterScope): SortKey {
  return sortKey(target, groupHolder(scope));
}

function sortKey(target: FilterTarget, holder: Holder): SortKey {
  return placeOf(target, holder).first((element) => element.value.sortKey);
}

/** The rows that a filter chooses from. Fixed texts: SQLite cannot use a partial index for a value it does not know. */
interface Rows {
  readonly id: Sql;
  readonly live: Sql;
}

const userRows: Rows = { id: sql.ref('user.id'), live: sql`"user" where "user".state <> 'archived'` };
const groupRows: Rows = { id: sql.ref('group_.id'), live: sql`group_ where group_.state = 'existing'` };

function compiled(filter: ResolvedFilter, holder: Holder, rows: Rows | undefined): CompiledFilter {
  const { condition } = compile(filter, holder);
  if (rows === undefined) return { condition, driven: condition, isIndexed: false, wholes: [] };
  const driven = compile(filter, holder, rows);
  return driven.isIndexed
    ? { condition, driven: driven.condition, isIndexed: true, wholes: driven.wholes ?? [] }
    : { condition, driven: condition, isIndexed: false, wholes: [] };
}

/** With `rows` the condition begins with what indexes find; without, it is asked of each row. */
function compile(filter: ResolvedFilter, holder: Holder, rows?: Rows): Term {
  switch (filter.kind) {
    case 'compare':
      return compare(filter, placeOf(filter.target, holder), rows === undefined ? 'exists' : 'in');
    case 'present':
      return placeOf(filter.target, holder).present();
    case 'not':
      return not(compile(filter.filter, holder));
    case 'and':
      return and(filter.terms.map((term) => compile(term, holder, rows)));
    case 'or':
      return either(
        filter.terms.map((term) => compile(term, holder, rows)),
        rows,
      );
    case 'valuePath':
      return valuePath(filter.attribute, filter.filter, holder, rows === undefined ? 'exists' : 'in');
  }
}

/** Neither engine uses several indexes for an `or` with subqueries; each finds its ids apart. */
function either(terms: readonly Term[], rows: Rows | undefined): Term {
  const whole = or(terms);
  if (rows === undefined || !whole.isIndexed) return whole;
  const { id, live } = rows;
  const found = terms.map(({ condition }) => sql`select ${id} from ${live} and ${condition}`);
  return { condition: sql<SqlBool>`${id} in (${sql.join(found, sql` union all `)})`, isIndexed: true };
}

type Comparison = Extract<ResolvedFilter, { kind: 'compare' }>;

/** `ne` also holds where there is no value at all; every other operator needs one. */
function compare({ operator, literal }: Comparison, place: Place, drive: Drive): Term {
  if (operator !== 'ne') return place.any((element) => element.value.compare(operator, literal), drive);
  const differs = place.any((element) => element.value.compare('ne', literal), 'exists');
  return or([not(place.present()), differs]);
}

function placeOf({ attribute, subAttribute, leaf }: FilterTarget, holder: Holder): Place {
  const whole = () => holder.place(attribute);
  return holder.direct?.(leaf.path) ?? (subAttribute === undefined ? whole() : partOf(whole(), subAttribute));
}

/** One element has to meet the whole inner filter. */
function valuePath(
  attribute: AttributeDefinition,
  inner: ResolvedFilter,
  holder: Holder,
  drive: Drive,
): Term {
  const place = holder.place(attribute);
  const met = place.any((element) => compile(inner, element), drive);
  const narrowing = drive === 'exists' ? [] : narrowed(inner, holder, drive);
  return and([...narrowing, ...(place.isSingular ? [place.present()] : []), met]);
}

/** What the inner filter demands of a part that has a place of its own: found there first, by an index. */
function narrowed(inner: ResolvedFilter, holder: Holder, drive: Drive): Term[] {
  const terms = inner.kind === 'and' ? inner.terms : [inner];
  return terms.flatMap((term) => {
    if (term.kind !== 'compare' || term.operator === 'ne') return [];
    const direct = holder.direct?.(term.target.leaf.path);
    const found = direct && compare(term, direct, drive);
    return found?.isIndexed === true ? [found] : [];
  });
}
