import { DomainError } from '../errors.ts';
import type { Reader } from '../storage/database.ts';
import type { DirectoryContext } from './context.ts';
import { byId, findFew } from './few-rows.ts';
import type { FilterScope, SortKey } from './filter-sql.ts';
import { FirstRows, type RankedRow, type RankOrder, rankOrder } from './first-rows.ts';
import type { IdRange, Rows } from './list-store.ts';
import type { Listed, Listing, Query, Sort } from './query.ts';
import { type Ask, type RowWalk, sumOf } from './row-walk.ts';

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
  readonly ask: Ask;
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

/** How deep a sorted list without an index for its order may be paged. */
export const sortedRowsMax = 200_000;

export async function selectRows(selecting: Selecting, query: Query): Promise<Selection> {
  const { scope, listing } = selecting;
  const isDescending = query.sort?.isDescending ?? false;
  const order = rankOrder(isDescending);
  const key = query.sort && sortKeyOf(selecting, query.sort);
  const page = pageAsked(query);
  if (query.filter !== undefined) {
    const few = await findFew(selecting, query.filter, askOf(selecting, query));
    if (few !== undefined) return pageOfFew(few, order, page);
  }
  const condition = query.filter && listing.filterSql(query.filter, scope).condition;
  const ask = askOf(selecting, query);
  const plan: Plan = { rows: { condition, owner: scope.owner }, ask, key, order, isDescending, page };
  if (page.count === 0) return { totalResults: await countRows(selecting, plan), rows: [], next: undefined };
  if (key === undefined)
    return condition === undefined ? pageOfAll(selecting, plan) : pageByWalking(selecting, plan);
  const isByIndex = key.isIndexed && condition === undefined && scope.owner === undefined;
  return isByIndex ? pageByIndex(selecting, plan, key) : pageBySorting(selecting, plan, key);
}

/** What the query asks of each row. */
function askOf(selecting: Selecting, { filter, sort }: Query): Ask {
  const { listing, scope } = selecting;
  return (wide) => {
    const within = { ...selecting, scope: { ...scope, wide } };
    const condition = filter && listing.filterSql(filter, within.scope).condition;
    return { condition, key: sort && sortKeyOf(within, sort) };
  };
}

function sortKeyOf({ listing, scope }: Selecting, { target }: Sort): SortKey {
  return target.leaf.path === 'id' ? listing.list.idKey : listing.sortKey(target, scope);
}

function pageAsked({ count, startIndex, cursor }: Query): PageAsked {
  if (cursor === undefined)
    return { count, skip: Math.max(1, startIndex) - 1, isCursor: false, after: undefined };
  return { count, skip: 0, isCursor: true, after: cursor.after };
}

function pageOfFew(rows: readonly RankedRow[], order: RankOrder, page: PageAsked): Selection {
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

async function countRows({ db, listing, walk }: Selecting, { rows, ask }: Plan): Promise<number> {
  const all = await walk.total();
  if (rows.condition === undefined) return all;
  walk.require(all);
  let total = 0;
  await walk.each(0, ask, async ({ condition, range }) => {
    total += (await listing.list.idsWithin(db, { ...rows, condition }, range)).length;
    return true;
  });
  return total;
}

/** Everything in the order of ids: the place of any page follows from how many there are in each range. */
async function pageOfAll({ db, listing, walk }: Selecting, { rows, page }: Plan): Promise<Selection> {
  const { isCursor, after, skip, count } = page;
  const ranges = skip === 0 ? [] : await walk.ranges();
  const place = skip === 0 ? { from: (after?.id ?? 0) + 1, skip } : placeOf(ranges, skip);
  // What one source owns has to be counted, and a cursor does without.
  const isTotalCheap = rows.owner === undefined || !isCursor;
  const total = skip === 0 && isTotalCheap ? await walk.total() : sumOf(ranges);
  const totalResults = isTotalCheap ? total : undefined;
  if (place === undefined) return { totalResults, rows: [], next: undefined };
  const ids = await listing.list.ids(db, rows, {
    from: place.from,
    skip: place.skip,
    count: isCursor ? count + 1 : count,
  });
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

/** What a filter without a helpful index finds, in the order of ids. */
async function pageByWalking(selecting: Selecting, plan: Plan): Promise<Selection> {
  return plan.page.isCursor ? nextByWalking(selecting, plan) : numberedByWalking(selecting, plan);
}

async function numberedByWalking(
  { db, listing, walk }: Selecting,
  { rows, ask, page: { skip, count } }: Plan,
): Promise<Selection> {
  walk.require(await walk.total());
  const shown: RankedRow[] = [];
  let total = 0;
  await walk.each(0, ask, async ({ condition, range }) => {
    const ids = await listing.list.idsWithin(db, { ...rows, condition }, range);
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
async function nextByWalking(
  { db, listing, walk }: Selecting,
  { rows, ask, page }: Plan,
): Promise<Selection> {
  const found: RankedRow[] = [];
  let [last, isAtEnd] = [0, true];
  await walk.each(page.after?.id ?? 0, ask, async ({ condition, range }) => {
    found.push(...(await listing.list.idsWithin(db, { ...rows, condition }, range)).map(byId));
    last = range.to - 1;
    isAtEnd = found.length <= page.count && walk.looked < walk.rowsMax;
    return isAtEnd;
  });
  const { rows: shown, next } = cut(found, page, page.count);
  return { totalResults: undefined, rows: shown, next: next ?? (isAtEnd ? undefined : byId(last)) };
}

/** Everything in the order of an index. A page far from the start is reached in steps along the index. */
async function pageByIndex(selecting: Selecting, plan: Plan, key: SortKey): Promise<Selection> {
  const { db, listing, walk } = selecting;
  const { isDescending, page } = plan;
  const totalResults = await walk.total();
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
  const { rows, ask, order, page } = plan;
  const { after, skip, count } = page;
  walk.require(await walk.total());
  requireShallow(skip + count);
  const kept = new FirstRows(order, skip + count + 1);
  let total = 0;
  await walk.each(0, ask, async ({ condition, key: inPiece = key, range }) => {
    const found = await listing.list.rowsWithin(db, { ...rows, condition }, range, inPiece);
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
