import { type SqlBool, sql } from 'kysely';
import type { Dialect } from '../storage/database.ts';
import {
  type Condition,
  complex,
  type Holder,
  nowhere,
  type Place,
  type Sql,
  single,
  type Value,
} from './filter-sql-place.ts';
import { byCodePoint, idValue, textValue, timeValue } from './filter-sql-value.ts';
import type { Wide } from './filter-sql-wide.ts';

/** What a compiled filter may refer to besides the row itself. */
export interface FilterScope {
  readonly dialect: Dialect;
  /** Whose externalId is meant. */
  readonly sourceId: number | null;
  /** Whose people and groups alone the filter may find out about; undefined for all. */
  readonly owner?: number | null | undefined;
  /** What `$ref` and `meta.location` begin with: `https://id.example.com/api/v2/scim/v2`. */
  readonly base: string;
  /** What the tags of resources end with. */
  readonly tagEnding: string;
  /** The additional fields there are. Values of fields that were removed are kept, and shown to nobody. */
  readonly additionalFields: readonly string[];
  /** Set when one resource is looked at whose memberships are too many for one statement. */
  readonly wide?: Wide | undefined;
}

/** A closed map: no attribute name of a client ever becomes SQL. Keys are the paths of RFC 7644 §3.10. */
export type Places = Readonly<Record<string, (scope: FilterScope) => Place>>;

/** A resource whose attributes are at `places`, and else where `elsewhere` says. */
export function holderOf(places: Places, scope: FilterScope, elsewhere: Holder['place']): Holder {
  const direct = (path: string) => (Object.hasOwn(places, path) ? places[path]?.(scope) : undefined);
  return { direct, place: (attribute) => direct(attribute.path) ?? elsewhere(attribute) };
}

/** The parts of a complex value, by name. */
export function element(parts: Readonly<Record<string, Value | Place>>): Holder['place'] {
  return ({ name }) => {
    const part = Object.hasOwn(parts, name) ? parts[name] : undefined;
    if (part === undefined) return nowhere;
    return 'compare' in part ? single(part) : part;
  };
}

/** The same for every resource. */
export function constantValue(text: string, dialect: Dialect): Value {
  return textValue(byCodePoint(sql`cast(${text} as text)`, dialect), dialect);
}

/** Limits rows of people or groups to those that may be seen. */
export function isSeen({ owner }: FilterScope, ownerColumn: string): Condition {
  if (owner === undefined) return sql<SqlBool>`true`;
  return owner === null
    ? sql<SqlBool>`${sql.ref(ownerColumn)} is null`
    : sql<SqlBool>`${sql.ref(ownerColumn)} = ${owner}`;
}

export function linkTo(resourceType: 'User' | 'Group', id: Sql, { base, dialect }: FilterScope): Value {
  return idValue(id, dialect, { isIndexed: true, prefix: `${base}/${resourceType}s/` });
}

/** RFC 7643 §3.1, over the columns of `row`. */
export function metaPlace(resourceType: 'User' | 'Group', row: string, scope: FilterScope): Place {
  const { dialect } = scope;
  const column = (name: string) => sql.ref(`${row}.${name}`);
  // As `toETag` writes it.
  const ending = sql`cast(${`${scope.tagEnding}"`} as text)`;
  const version = sql`('W/"' || cast(${column('version')} as text) || ${ending})`;
  const parts = element({
    resourceType: constantValue(resourceType, dialect),
    created: timeValue(column('created')),
    lastModified: timeValue(column('modified'), { isIndexed: true }),
    location: linkTo(resourceType, column('id'), scope),
    version: textValue(byCodePoint(version, dialect), dialect),
  });
  return complex(sql<SqlBool>`true`, parts);
}
