import type { FilterTarget, ResolvedFilter } from '../resource/filter-resolve.ts';
import type { Database, Reader } from '../storage/database.ts';
import { type DirectoryContext, visibleOwner } from './context.ts';
import { rowCost } from './filter-cost.ts';
import { type CompiledFilter, type FilterScope, filterScope, type SortKey } from './filter-sql.ts';
import type { ListStore } from './list-store.ts';
import { QueryLine } from './query-line.ts';
import type { RelatedStore } from './related-store.ts';
import { RowWalk } from './row-walk.ts';
import { type Position, type Selection, selectRows } from './select-rows.ts';

/** A page of a list (RFC 7644 §3.4.2.4, RFC 9865 §2). */
export interface Page<R> {
  /** Undefined where a cursor is followed and only looking at every row would tell. */
  readonly totalResults: number | undefined;
  readonly startIndex: number;
  readonly resources: readonly R[];
  /** Behind which resource a cursor goes on; undefined when there are no more. */
  readonly next: Position | undefined;
}

export interface Query {
  readonly filter?: ResolvedFilter;
  /** By id when absent. */
  readonly sort?: Sort;
  /** At most this many; 0 for the total alone. */
  readonly count: number;
  /** 1 for the first; smaller counts as 1. */
  readonly startIndex: number;
  /** Present when a cursor is followed instead of an index; without `after` it begins. */
  readonly cursor?: { readonly after?: Position };
}

/** RFC 7644 §3.4.2.3. */
export interface Sort {
  readonly target: FilterTarget;
  readonly isDescending: boolean;
}

/** What differs between the list of users and the list of groups. */
export interface Listing<R> {
  readonly list: ListStore;
  readonly related: RelatedStore;
  filterSql(filter: ResolvedFilter, scope: FilterScope): CompiledFilter;
  sortKey(target: FilterTarget, scope: FilterScope): SortKey;
  /** Ids that a filter names outright, by one look into a unique index; undefined for any other filter. */
  findDirectly(db: Reader, context: DirectoryContext, filter: ResolvedFilter): Promise<number[] | undefined>;
  select(db: Reader, ids: readonly number[], sourceId: number | null): Promise<R[]>;
}

export type Listed = { readonly id: number; readonly ownerSourceId: number | null };

/** Throws `tooMany` for what would have to look at more rows than `filterRowsMax`. */
export async function queryList<R extends Listed>(
  database: Database,
  context: DirectoryContext,
  query: Query,
  listing: Listing<R>,
): Promise<Page<R>> {
  const { rows, ...selection } = await queryRows(database, context, query, listing);
  const ids = rows.map((row) => row.id);
  const byId = new Map(
    (await listing.select(database.read, ids, context.sourceId)).map((resource) => [resource.id, resource]),
  );
  const startIndex = Math.max(1, query.startIndex);
  return { ...selection, startIndex, resources: ids.flatMap((id) => byId.get(id) ?? []) };
}

/** Which resources a page shows, and in what order; they are not loaded. */
export function queryRows<R extends Listed>(
  database: Database,
  context: DirectoryContext,
  query: Query,
  listing: Listing<R>,
): Promise<Selection> {
  const owner = visibleOwner(context);
  const scope = filterScope(database.dialect, context);
  const walk = new RowWalk({
    db: database.read,
    line: lineOf(database),
    list: listing.list,
    related: listing.related,
    cost: rowCost(query.filter, query.sort?.target),
    owner,
    sourceId: context.sourceId,
    signal: context.signal,
    rowsMax: context.configuration.settings.filterRowsMax,
  });
  return selectRows({ db: database.read, context, scope, listing, walk }, query);
}

const lines = new WeakMap<Database, QueryLine>();

/** One line of walks for each database. */
function lineOf(database: Database): QueryLine {
  const known = lines.get(database);
  if (known !== undefined) return known;
  const line = new QueryLine();
  lines.set(database, line);
  return line;
}

/** The text that the filter demands of one attribute by `eq` alone: the question every client asks most. */
export function equalTo(
  filter: ResolvedFilter,
  path: string,
): { readonly text: string; readonly key: string } | undefined {
  if (filter.kind !== 'compare' || filter.operator !== 'eq' || filter.target.leaf.path !== path)
    return undefined;
  return filter.literal.kind === 'string' ? filter.literal : undefined;
}
