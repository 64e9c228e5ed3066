import { DomainError } from '../errors.ts';
import type { ResolvedFilter } from '../resource/filter-resolve.ts';
import type { Reader } from '../storage/database.ts';
import { findCandidates } from './candidates.ts';
import type { DirectoryContext } from './context.ts';
import type { FilterScope, SortKey } from './filter-sql.ts';
import { FirstRows, type RankedRow, type RankOrder, rankOrder } from './first-rows.ts';
import type { IdRange, Rows } from './list-store.ts';
import type { Listed, Listing, Query, Sort } from './query.ts';
import { breathe } from './query-line.ts';
import { type RowWalk, sumOf } from './row-walk.ts';

/** Where a cursor stands: behind this row. */
export type Position = RankedRow;

/** The rows of a page, in order. */
export interface Selection {
  readonly totalResults: number | undefined;
  readonly rows: readonly RankedRow[];
  readonly next: Position | undefined;
}

/** What a selection works with. */
export interface Selecting {
  readonly db: Reader;
  readonly context: DirectoryContext;
  readonly scope: FilterScope;
  readonly listing: Listing<Listed>;
  readonly walk: RowWalk;
}

/** A query whose filter and order are known in terms of the database. */
interface Plan {
  readonly rows: Rows;
  readonly key: SortKey | undefined;
  readonly order: RankOrder;
  readonly isDescending: boolean;
  readonly page: PageAsked;
}

interface PageAsked {
  readonly count: number;
  /** Rows before the page; 0 when a cursor is followed. */
  readonly skip: number;
  readonly isCursor: boolean;
  readonly after: Position | undefined;
}

/** Matches of an index that are looked at one by one; what has more of them is walked. */
const fewMax = 5_000;
/** How deep a sorted list without an index for its order may be paged. */
export const sortedRowsMax = 200_000;

export async function selectRows(selecting: Selecting, query: Query): Promise<Selection> {
  const { scope, listing } = selecting;
  const isDescending = query.sort?.isDescending ?? false;
  const filter = query.filter && listing.filterSql(query.filter, scope);
  const plan: Plan = {
    rows: { condition: filter?.condition, owner: scope.owner },
    key: query.sort && sortKeyOf(selecting, query.sort),
    order: rankOrder(isDescending),
    isDescending,
    page: pageAsked(query),
  };
  if (query.filter !== undefined) {
    const few = await findFew(selecting, plan, query.filter);
    if (few !== undefined) return pageOfFew(plan, few);
  }
  if (plan.page.count === 0)
    return { totalResults: await countRows(selecting, plan), rows: [], next: undefined };
  if (plan.key !== undefined) {
    const isByIndex = plan.key.isIndexed && query.filter === undefined && scope.owner === undefined;
    return isByIndex ? pageByIndex(selecting, plan, plan.key) : pageBySorting(selecting, plan, plan.key);
  }
  return query.filter === undefined ? pageOfAll(selecting, plan) : pageByWalking(selecting, plan);
}

function sortKeyOf({ listing, scope }: Selecting, { target }: Sort): SortKey {
  return target.leaf.path === 'id' ? listing.list.idKey : listing.sortKey(target, scope);
}

function pageAsked({ count, startIndex, cursor }: Query): PageAsked {
  if (cursor === undefined)
    return { count, skip: Math.max(1, startIndex) - 1, isCursor: false, after: undefined };
  return { count, skip: 0, isCursor: true, after: cursor.after };
}

/** All that match, when an index shows that they are few. */
async function findFew(
  selecting: Selecting,
  { rows, key }: Plan,
  filter: ResolvedFilter,
): Promise<readonly RankedRow[] | undefined> {
  const { db, context, listing } = selecting;
  const direct = await listing.findDirectly(db, context, filter);
  const all = { condition: undefined, owner: rows.owner };
  if (direct !== undefined) return listing.list.rowsAmong(db, all, direct, key);
  let asked = 0;
  const ids = await findCandidates(filter, fewMax, async (term) => {
    if (asked > 0) await breathe();
    asked += 1;
    return askIndex(selecting, term);
  });
  return ids && listing.list.rowsAmong(db, rows, ids, key);
}

/** The ids that meet one term, when an index finds them and they are few. */
async function askIndex(
  { db, context, scope, listing }: Selecting,
  term: ResolvedFilter,
): Promise<readonly number[] | undefined> {
  const { driven, isIndexed, wholes } = listing.filterSql(term, scope);
  if (!isIndexed) return undefined;
  context.signal?.throwIfAborted();
  for (const whole of wholes) {
    if (!(await listing.list.isShort(db, whole, fewMax))) return undefined;
  }
  const ids = await listing.list.someIds(db, driven, fewMax + 1);
  return ids.length <= fewMax ? ids : undefined;
}

function pageOfFew({ order, page }: Plan, rows: readonly RankedRow[]): Selection {
  const { after, skip, count } = page;
  const inOrder = rows.toSorted(order);
  const behind = after === undefined ? inOrder : inOrder.filter((row) => order(row, after) > 0);
  return { totalResults: rows.length, ...cut(behind.slice(skip), page, count) };
}

/** The first `count` rows; a cursor goes on behind the last of them when there are more. */
function cut(
  rows: readonly RankedRow[],
  { isCursor }: PageAsked,
  count: number,
): { readonly rows: readonly RankedRow[]; readonly next: Position | undefined } {
  const shown = rows.slice(0, count);
  const hasMore = isCursor && count > 0 && rows.length > count;
  return { rows: shown, next: hasMore ? shown.at(-1) : undefined };
}

async function countRows({ db, listing, walk }: Selecting, { rows }: Plan): Promise<number> {
  const ranges = await walk.ranges();
  if (rows.condition === undefined) return sumOf(ranges);
  walk.require(sumOf(ranges));
  let total = 0;
  await walk.each(0, async (range) => {
    total += (await listing.list.idsWithin(db, rows, range)).length;
    return true;
  });
  return total;
}

/** Everything in the order of ids: the place of any page follows from how many there are in each range. */
async function pageOfAll({ db, listing, walk }: Selecting, { rows, page }: Plan): Promise<Selection> {
  const { isCursor, after, skip, count } = page;
  const isTotalCheap = rows.owner === undefined || !isCursor;
  const ranges = isTotalCheap ? await walk.ranges() : [];
  const totalResults = isTotalCheap ? sumOf(ranges) : undefined;
  const place = isCursor ? { from: (after?.id ?? 0) + 1, skip: 0 } : placeOf(ranges, skip);
  if (place === undefined) return { totalResults, rows: [], next: undefined };
  const ids = await listing.list.ids(db, rows, { ...place, count: isCursor ? count + 1 : count });
  return { totalResults, ...cut(ids.map(byId), page, count) };
}

/** The range in which the row lies before which there are `skip`. */
function placeOf(
  ranges: readonly IdRange[],
  skip: number,
): { readonly from: number; readonly skip: number } | undefined {
  let before = skip;
  for (const { from, live } of ranges) {
    if (before < live) return { from, skip: before };
    before -= live;
  }
  return undefined;
}

function byId(id: number): RankedRow {
  return { id, key: null };
}

/** What a filter without a helpful index finds, in the order of ids. */
async function pageByWalking(selecting: Selecting, plan: Plan): Promise<Selection> {
  return plan.page.isCursor ? nextByWalking(selecting, plan) : numberedByWalking(selecting, plan);
}

async function numberedByWalking(
  { db, listing, walk }: Selecting,
  { rows, page: { skip, count } }: Plan,
): Promise<Selection> {
  walk.require(sumOf(await walk.ranges()));
  const shown: RankedRow[] = [];
  let total = 0;
  await walk.each(0, async (range) => {
    const ids = await listing.list.idsWithin(db, rows, range);
    const first = Math.max(0, skip - total);
    const wanted = ids.slice(first, first + count - shown.length);
    shown.push(...wanted.map(byId));
    total += ids.length;
    return true;
  });
  return { totalResults: total, rows: shown, next: undefined };
}

/**
 * Goes on until the page is full. One for whose sake too many rows would have to be looked at ends early, even with
 * nothing on it (RFC 9865 §2.1 allows fewer results than asked for); the cursor goes on from there.
 */
async function nextByWalking({ db, listing, walk }: Selecting, { rows, page }: Plan): Promise<Selection> {
  const found: RankedRow[] = [];
  let [looked, last, isAtEnd] = [0, 0, true];
  await walk.each(page.after?.id ?? 0, async (range) => {
    found.push(...(await listing.list.idsWithin(db, rows, range)).map(byId));
    looked += range.live;
    last = range.to - 1;
    isAtEnd = found.length <= page.count && looked < walk.rowsMax;
    return isAtEnd;
  });
  const { rows: shown, next } = cut(found, page, page.count);
  return { totalResults: undefined, rows: shown, next: next ?? (isAtEnd ? undefined : byId(last)) };
}

/** Everything in the order of an index. A page far from the start is reached in steps along the index. */
async function pageByIndex(selecting: Selecting, plan: Plan, key: SortKey): Promise<Selection> {
  const { db, listing, walk } = selecting;
  const { isDescending, page } = plan;
  const totalResults = sumOf(await walk.ranges());
  if (page.skip >= totalResults) return { totalResults, rows: [], next: undefined };
  const step = (after: Position | undefined, count: number) =>
    listing.list.rowsByKey(db, { key, isDescending, after, count });
  let { after } = page;
  if (page.skip > 0) after = await stepsFrom(selecting, page.skip, step);
  const rows = await step(after, page.count + 1);
  return { totalResults, ...cut(rows, page, page.count) };
}

const stepRows = 2_048;

function stepsFrom(
  { walk }: Selecting,
  skip: number,
  step: (after: Position | undefined, count: number) => Promise<readonly RankedRow[]>,
): Promise<Position | undefined> {
  walk.require(skip);
  return walk.inTurn(async (window) => {
    let last: Position | undefined;
    for (let passed = 0; passed < skip; ) {
      const rows = await window(() => step(last, Math.min(stepRows, skip - passed)));
      if (rows.length === 0) break;
      last = rows.at(-1);
      passed += rows.length;
    }
    return last;
  });
}

/** Any order, with or without a filter: looks at every row and keeps the first ones up to the end of the page. */
async function pageBySorting(selecting: Selecting, plan: Plan, key: SortKey): Promise<Selection> {
  const { db, listing, walk } = selecting;
  const { rows, order, page } = plan;
  const { after, skip, count } = page;
  walk.require(sumOf(await walk.ranges()));
  requireShallow(skip + count);
  const kept = new FirstRows(order, skip + count + 1);
  let total = 0;
  await walk.each(0, async (range) => {
    const found = await listing.list.rowsWithin(db, rows, range, key);
    total += found.length;
    await kept.add(after === undefined ? found : found.filter((row) => order(row, after) > 0));
    return true;
  });
  const behind = (await kept.sorted()).slice(skip);
  return { totalResults: total, ...cut(behind, page, count) };
}

function requireShallow(rows: number): void {
  if (rows <= sortedRowsMax) return;
  const detail = `A sorted list can be paged by startIndex up to ${sortedRowsMax}; follow a cursor, or filter.`;
  throw new DomainError('tooMany', detail);
}
