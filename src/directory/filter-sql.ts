import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely';
import { DomainError } from '../errors.ts';
import type { CompareOperator } from '../resource/filter.ts';
import type { FilterTarget, ResolvedFilter, ResolvedLiteral } from '../resource/filter-resolve.ts';
import { enterpriseUserUrn, platformGroupUrn } from '../resource/schema.ts';
import type { Dialect } from '../storage/database.ts';
import { type DirectoryContext, visibleOwner } from './context.ts';

/** What a compiled filter may refer to besides the row itself. */
export interface FilterScope {
  readonly dialect: Dialect;
  /** Whose externalId is meant. */
  readonly sourceId: number | null;
  /** Whose people and groups alone the filter may find out about; undefined for all. */
  readonly owner?: number | null | undefined;
  /** What `$ref` and `meta.location` begin with: `https://id.example.com/api/v2/scim/v2`. */
  readonly base: string;
}

/** A condition on the row of a user or group. */
export type Condition = Expression<SqlBool>;

export interface CompiledFilter {
  readonly condition: Condition;
  /** An index narrows the rows that must be looked at. */
  readonly isIndexed: boolean;
}

/** What RFC 7644 §3.4.2.3 sorts by; null where the resource has no value. */
export interface SortKey {
  readonly key: RawBuilder<unknown>;
  /** An index holds the rows in this order. */
  readonly isIndexed: boolean;
  /** What the key is to the driver. Texts are ordered by code point on both engines. */
  readonly type: 'text' | 'number';
}

/** What a filter or a sort of this context may refer to. */
export function filterScope(dialect: Dialect, context: DirectoryContext): FilterScope {
  const { sourceId, base = '' } = context;
  return { dialect, sourceId, base, owner: visibleOwner(context) };
}

/** Where the values of an attribute are: in a column of the row, or in rows that belong to it. */
interface Place {
  /** Comparable SQL text, from constants of this file only. */
  readonly column: RawBuilder<unknown>;
  readonly type: 'text' | 'number' | 'time' | 'active';
  /** Wraps a condition on `column` into one on the row; absent for a column of the row itself. */
  readonly within?: (condition: Condition) => Condition;
}

type Places = Readonly<Record<string, (scope: FilterScope) => Place>>;

const column =
  (name: string, type: Place['type'] = 'text') =>
  (): Place => ({ column: sql.ref(name), type });

function links(type: 'User' | 'Group', owner: string) {
  return ({ sourceId }: FilterScope): Place => ({
    column: sql.ref('link.external_id'),
    type: 'text',
    within: (condition) => sql<SqlBool>`exists (select 1 from source_link as link
      where link.resource_type = ${type} and link.source_id = ${sourceId}
      and link.resource_id = ${sql.ref(owner)} and ${condition})`,
  });
}

const emails = (): Place => ({
  column: sql.ref('email.value_key'),
  type: 'text',
  within: (condition) =>
    sql<SqlBool>`exists (select 1 from user_email as email where email.user_id = "user".id and ${condition})`,
});

/** Limits a row of people or groups to those that may be seen. */
function ownedBy({ owner }: FilterScope, ownerColumn: string): RawBuilder<SqlBool> {
  if (owner === undefined) return sql<SqlBool>`true`;
  return owner === null
    ? sql<SqlBool>`${sql.ref(ownerColumn)} is null`
    : sql<SqlBool>`${sql.ref(ownerColumn)} = ${owner}`;
}

/** As `ownedBy`, for the row whose id stands in `idColumn`; costs nothing when all may be seen. */
function isSeen(scope: FilterScope, table: 'user' | 'group_', idColumn: string): RawBuilder<SqlBool> {
  if (scope.owner === undefined) return sql<SqlBool>`true`;
  return sql<SqlBool>`exists (select 1 from ${sql.table(table)} as seen
    where seen.id = ${sql.ref(idColumn)} and ${ownedBy(scope, 'seen.owner_source_id')})`;
}

const groupsOfUser = (scope: FilterScope): Place => ({
  column: sql.ref('mine.group_id'),
  type: 'number',
  within: (condition) => sql<SqlBool>`exists (select 1 from membership as mine
    where mine.user_id = "user".id and ${condition} and ${isSeen(scope, 'group_', 'mine.group_id')})`,
});

const membersOfGroup = (scope: FilterScope): Place => ({
  column: sql.ref('theirs.user_id'),
  type: 'number',
  within: (condition) => sql<SqlBool>`exists (select 1 from membership as theirs
    where theirs.group_id = group_.id and ${condition} and ${isSeen(scope, 'user', 'theirs.user_id')})`,
});

/** A user whose manager has been archived has none. */
const manager = (scope: FilterScope): Place => ({
  column: sql.ref('user.manager_id'),
  type: 'number',
  within: (condition) => sql<SqlBool>`(${condition} and exists (select 1 from "user" as boss
    where boss.id = "user".manager_id and boss.state <> 'archived' and ${ownedBy(scope, 'boss.owner_source_id')}))`,
});

/** A closed map: no attribute name of a client ever becomes SQL. Keys are the paths of RFC 7644 §3.10. */
const userPlaces: Places = {
  id: column('user.id', 'number'),
  userName: column('user.user_name_key'),
  displayName: column('user.display_name_key'),
  'name.familyName': column('user.family_name_key'),
  active: column('user.state', 'active'),
  'meta.created': column('user.created', 'time'),
  'meta.lastModified': column('user.modified', 'time'),
  externalId: links('User', 'user.id'),
  'emails.value': emails,
  'groups.value': groupsOfUser,
  [`${enterpriseUserUrn}:employeeNumber`]: column('user.employee_number_key'),
  [`${enterpriseUserUrn}:manager.value`]: manager,
};

const groupPlaces: Places = {
  id: column('group_.id', 'number'),
  displayName: column('group_.display_name_key'),
  'meta.created': column('group_.created', 'time'),
  'meta.lastModified': column('group_.modified', 'time'),
  externalId: links('Group', 'group_.id'),
  'members.value': membersOfGroup,
  [`${platformGroupUrn}:groupType`]: column('group_.group_type'),
};

/** The filter as a condition on the rows of `user`. */
export function userFilterSql(filter: ResolvedFilter, scope: FilterScope): CompiledFilter {
  return required(findUserFilterSql(filter, scope));
}

/** The filter as a condition on the rows of `group_`. */
export function groupFilterSql(filter: ResolvedFilter, scope: FilterScope): CompiledFilter {
  return required(findGroupFilterSql(filter, scope));
}

/** The key by which users are sorted, over the rows of `user`. */
export function userSortKey(target: FilterTarget, scope: FilterScope): SortKey {
  return sortKey(placeOf(target, userPlaces, scope));
}

/** The key by which groups are sorted, over the rows of `group_`. */
export function groupSortKey(target: FilterTarget, scope: FilterScope): SortKey {
  return sortKey(placeOf(target, groupPlaces, scope));
}

function required(condition: Condition | undefined): CompiledFilter {
  if (condition !== undefined) return { condition, isIndexed: true };
  throw new DomainError('invalidFilter', 'The filter names an attribute that cannot be searched by.');
}

function sortKey(place: Place | undefined): SortKey {
  if (place !== undefined && place.within === undefined)
    return { key: place.column, isIndexed: true, type: place.type === 'number' ? 'number' : 'text' };
  throw new DomainError('invalidPath', 'The attribute cannot be sorted by.');
}

/** As `userFilterSql`, or undefined when the filter names an attribute that has no place of its own. */
export function findUserFilterSql(filter: ResolvedFilter, scope: FilterScope): Condition | undefined {
  return compile(filter, userPlaces, scope);
}

/** As `groupFilterSql`, or undefined likewise. */
export function findGroupFilterSql(filter: ResolvedFilter, scope: FilterScope): Condition | undefined {
  return compile(filter, groupPlaces, scope);
}

function compile(filter: ResolvedFilter, places: Places, scope: FilterScope): Condition | undefined {
  switch (filter.kind) {
    case 'compare':
      return compare(placeOf(filter.target, places, scope), filter.operator, filter.literal, scope);
    case 'present':
      return present(placeOf(filter.target, places, scope));
    case 'not': {
      const inner = compile(filter.filter, places, scope);
      // SQL's third truth value, of a comparison with nothing, is simply "no" in a filter.
      return inner && sql<SqlBool>`((${inner}) is not true)`;
    }
    case 'and':
    case 'or':
      return junction(
        filter.kind,
        filter.terms.map((term) => compile(term, places, scope)),
      );
    case 'valuePath':
      return valuePath(filter.attribute.path, filter.filter, places, scope);
  }
}

/** `members[value eq "7"]` asks what `members.value eq "7"` asks; value paths with more to them have no place. */
function valuePath(
  path: string,
  inner: ResolvedFilter,
  places: Places,
  scope: FilterScope,
): Condition | undefined {
  if (path === 'emails') return emailElement(inner, scope);
  if (inner.kind !== 'compare' || inner.target.leaf.name !== 'value') return undefined;
  return compare(places[`${path}.value`]?.(scope), inner.operator, inner.literal, scope);
}

/** `emails[type eq "work" and value eq "ann@example.com"]`, by which Entra ID can be set to look people up. */
function emailElement(filter: ResolvedFilter, scope: FilterScope): Condition | undefined {
  const terms = filter.kind === 'and' ? filter.terms : [filter];
  const conditions = terms.map((term) => emailTerm(term, scope));
  const every = junction('and', conditions);
  return every && emails().within?.(every);
}

/** A condition on one row of the keys of emails; these hold the type in lower case. */
function emailTerm(term: ResolvedFilter, scope: FilterScope): Condition | undefined {
  if (term.kind !== 'compare' || term.operator === 'ne') return undefined;
  const { target, operator, literal } = term;
  if (target.leaf.name === 'value') return comparison(emails(), operator, literal, scope);
  if (operator !== 'eq') return undefined;
  if (target.leaf.name === 'type' && literal.kind === 'string')
    return sql<SqlBool>`email.type = ${literal.key}`;
  if (target.leaf.name !== 'primary' || literal.kind !== 'boolean') return undefined;
  return literal.boolean ? sql<SqlBool>`email.is_primary = 1` : undefined;
}

function placeOf(target: FilterTarget, places: Places, scope: FilterScope): Place | undefined {
  return Object.hasOwn(places, target.leaf.path) ? places[target.leaf.path]?.(scope) : undefined;
}

function junction(kind: 'and' | 'or', terms: readonly (Condition | undefined)[]): Condition | undefined {
  if (terms.some((term) => term === undefined)) return undefined;
  const joined = sql.join(terms as Condition[], kind === 'and' ? sql` and ` : sql` or `);
  return sql<SqlBool>`(${joined})`;
}

function present(place: Place | undefined): Condition | undefined {
  if (place === undefined) return undefined;
  const condition = sql<SqlBool>`${place.column} is not null`;
  return place.within?.(condition) ?? condition;
}

function compare(
  place: Place | undefined,
  operator: CompareOperator,
  literal: ResolvedLiteral,
  scope: FilterScope,
): Condition | undefined {
  if (place === undefined) return undefined;
  const condition = comparison(place, operator, literal, scope);
  if (condition === undefined || operator !== 'ne')
    return condition && (place.within?.(condition) ?? condition);
  // `ne` also holds where there is no value at all; every other operator needs one.
  const anyDiffers = place.within?.(condition) ?? condition;
  const isAbsent = sql<SqlBool>`not ${place.within?.(sql<SqlBool>`true`) ?? sql`${place.column} is not null`}`;
  return sql<SqlBool>`(${isAbsent} or ${anyDiffers})`;
}

function comparison(
  { column: left, type }: Place,
  operator: CompareOperator,
  literal: ResolvedLiteral,
  scope: FilterScope,
): Condition | undefined {
  if (type === 'active') {
    if (literal.kind !== 'boolean') return undefined;
    const wanted = literal.boolean === (operator === 'eq') ? 'active' : 'inactive';
    return operator === 'eq' || operator === 'ne' ? sql<SqlBool>`${left} = ${wanted}` : undefined;
  }
  if (type === 'time') {
    if (literal.kind !== 'dateTime') return undefined;
    return ordered(byCodePoint(left, scope), operator, new Date(literal.instant).toISOString());
  }
  if (literal.kind !== 'string') return undefined;
  if (type === 'number') return identity(left, operator, literal.text);
  return textComparison(left, operator, literal.key, scope);
}

/** Ids are texts to the client: only equality can be asked of the number behind one. */
function identity(left: RawBuilder<unknown>, operator: CompareOperator, text: string): Condition | undefined {
  const id = /^[1-9]\d{0,14}$/.test(text) ? Number(text) : 0;
  if (operator === 'eq') return sql<SqlBool>`${left} = ${id}`;
  return operator === 'ne' ? sql<SqlBool>`${left} <> ${id}` : undefined;
}

function textComparison(
  left: RawBuilder<unknown>,
  operator: CompareOperator,
  key: string,
  scope: FilterScope,
): Condition | undefined {
  switch (operator) {
    case 'co':
      // Every text contains the empty one; replacing that would change nothing.
      return key === ''
        ? sql<SqlBool>`${left} is not null`
        : sql<SqlBool>`replace(${left}, ${key}, '') <> ${left}`;
    case 'sw':
      return sql<SqlBool>`substr(${left}, 1, length(${text(key)})) = ${key}`;
    case 'ew':
      return sql<SqlBool>`(length(${left}) >= length(${text(key)})
        and substr(${left}, length(${left}) - length(${text(key)}) + 1) = ${key})`;
    case 'eq':
    case 'ne':
      return ordered(left, operator, key);
    default:
      return ordered(byCodePoint(left, scope), operator, key);
  }
}

/** PostgreSQL cannot tell the type of a bare parameter that is the argument of a function. */
function text(value: string): RawBuilder<string> {
  return sql`cast(${value} as text)`;
}

const signs = { eq: sql`=`, ne: sql`<>`, gt: sql`>`, ge: sql`>=`, lt: sql`<`, le: sql`<=` } as const;

function ordered(left: RawBuilder<unknown>, operator: CompareOperator, right: string): Condition | undefined {
  return operator in signs
    ? sql<SqlBool>`${left} ${signs[operator as keyof typeof signs]} ${right}`
    : undefined;
}

function byCodePoint(left: RawBuilder<unknown>, { dialect }: FilterScope): RawBuilder<unknown> {
  return dialect === 'postgres' ? sql`${left} collate "C"` : left;
}
