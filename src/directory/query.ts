import { DomainError } from '../errors.ts';
import { evaluateFilter } from '../resource/filter-evaluate.ts';
import type { ResolvedFilter } from '../resource/filter-resolve.ts';
import type { ScimObject } from '../resource/value.ts';
import type { Database, Reader } from '../storage/database.ts';
import { type DirectoryContext, visibleOwner } from './context.ts';
import { type Condition, type FilterScope, filterScope } from './filter-sql.ts';
import { QueryTurn } from './query-turn.ts';

/** A page of a list (RFC 7644 §3.4.2.4). */
export interface Page<R> {
  readonly totalResults: number;
  readonly startIndex: number;
  readonly resources: readonly R[];
}

export interface Query {
  readonly filter?: ResolvedFilter;
  /** 1 for the first; smaller counts as 1. */
  readonly startIndex: number;
  /** At most this many; 0 for the total alone. */
  readonly count: number;
}

/** Which rows a list shows. */
export interface Rows {
  readonly condition: Condition | undefined;
  /** Only what this source owns; undefined for all. */
  readonly owner: number | null | undefined;
}

export interface RowSlice extends Rows {
  /** 1 for the first. */
  readonly first: number;
  readonly count: number;
}

/** What differs between the list of users and the list of groups. */
export interface Listing<R> {
  filterSql(filter: ResolvedFilter, scope: FilterScope): Condition | undefined;
  /** Ids that a filter names outright, by one look into a unique index; undefined for any other filter. */
  findDirectly(db: Reader, context: DirectoryContext, filter: ResolvedFilter): Promise<number[] | undefined>;
  count(db: Reader, rows: Rows): Promise<number>;
  pageOfIds(db: Reader, slice: RowSlice): Promise<number[]>;
  select(db: Reader, ids: readonly number[], sourceId: number | null): Promise<R[]>;
  view(resource: R, context: DirectoryContext): ScimObject;
}

/** Rows that a filter without an index may look at. Beyond it the client has to ask for something narrower. */
const scannedRowsMax = 20_000;
const scanBatchRows = 500;

/** Lists resources in the order of their ids. */
export async function queryList<R extends { readonly id: number; readonly ownerSourceId: number | null }>(
  database: Database,
  context: DirectoryContext,
  { filter, startIndex, count }: Query,
  listing: Listing<R>,
): Promise<Page<R>> {
  const db = database.read;
  const first = Math.max(1, startIndex);
  const owner = visibleOwner(context);
  const direct = filter && (await listing.findDirectly(db, context, filter));
  if (direct !== undefined) {
    const found = await listing.select(db, direct, context.sourceId);
    const visible = found.filter((resource) => owner === undefined || resource.ownerSourceId === owner);
    return { totalResults: visible.length, startIndex: first, resources: slice(visible, first, count) };
  }
  if (filter === undefined)
    return pageOf(db, context, { condition: undefined, owner, first, count }, listing);
  return turnOf(database).run(context.signal, async () => {
    const condition = listing.filterSql(filter, filterScope(database.dialect, context));
    if (condition !== undefined) return pageOf(db, context, { condition, owner, first, count }, listing);
    const ids = await scan(db, context, filter, listing);
    const resources = await listing.select(db, slice(ids, first, count), context.sourceId);
    return { totalResults: ids.length, startIndex: first, resources };
  });
}

async function pageOf<R>(
  db: Reader,
  context: DirectoryContext,
  rows: RowSlice,
  listing: Listing<R>,
): Promise<Page<R>> {
  const totalResults = await listing.count(db, rows);
  const ids = rows.count === 0 ? [] : await listing.pageOfIds(db, rows);
  const resources = await listing.select(db, ids, context.sourceId);
  return { totalResults, startIndex: rows.first, resources };
}

const turns = new WeakMap<Database, QueryTurn>();

/** One line of filters for each database. */
function turnOf(database: Database): QueryTurn {
  const known = turns.get(database);
  if (known !== undefined) return known;
  const turn = new QueryTurn();
  turns.set(database, turn);
  return turn;
}

function slice<T>(items: readonly T[], first: number, count: number): T[] {
  return items.slice(first - 1, first - 1 + count);
}

/** What has no column is looked at one by one, in memory, up to a bound; other requests run in between. */
async function scan<R extends { readonly id: number }>(
  db: Reader,
  context: DirectoryContext,
  filter: ResolvedFilter,
  listing: Listing<R>,
): Promise<number[]> {
  const rows: Rows = { condition: undefined, owner: visibleOwner(context) };
  const total = await listing.count(db, rows);
  if (total > scannedRowsMax) throw tooMany();
  const matching: number[] = [];
  for (let first = 1; first <= total; first += scanBatchRows) {
    context.signal?.throwIfAborted();
    const ids = await listing.pageOfIds(db, { ...rows, first, count: scanBatchRows });
    const resources = await listing.select(db, ids, context.sourceId);
    const hits = resources.filter((resource) => evaluateFilter(filter, listing.view(resource, context)));
    matching.push(...hits.map((resource) => resource.id));
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  return matching;
}

function tooMany(): DomainError {
  const detail = `The filter needs to look at more than ${scannedRowsMax} resources; filter by userName, externalId or id.`;
  return new DomainError('tooMany', detail);
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
