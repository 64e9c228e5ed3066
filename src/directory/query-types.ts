import { DomainError } from '../errors.ts';
import { type RankedRow, rankOrder } from './first-rows.ts';
import type { Query } from './query.ts';
import { type Position, type Selection, sortedRowsMax } from './select-rows.ts';

/** A row of one of several types of resources, by the number of its type. */
export interface TypedRow extends RankedRow {
  readonly type: number;
}

/** As `Selection`, over several types. */
export interface TypedSelection {
  readonly totalResults: number | undefined;
  readonly rows: readonly TypedRow[];
  readonly next: TypedRow | undefined;
}

/** Finds the rows of one type; undefined for a type of which nothing can match. */
export type TypeQuery = ((page: TypePage) => Promise<Selection>) | undefined;

export type TypePage = Pick<Query, 'count' | 'startIndex' | 'cursor'>;

export interface TypesPage {
  readonly count: number;
  readonly startIndex: number;
  readonly cursor?: { readonly after?: TypedRow };
  readonly isSorted: boolean;
  readonly isDescending: boolean;
}

const nothing: Selection = { totalResults: 0, rows: [], next: undefined };

/** One list of several types (RFC 7644 §3.4.2.1): by the sorted value, equal ones by type, then by id. */
export function queryTypes(types: readonly TypeQuery[], page: TypesPage): Promise<TypedSelection> {
  if (page.cursor !== undefined) {
    const { after } = page.cursor;
    const isInTurn = !page.isSorted && page.count > 0 && types.length > 1;
    return isInTurn ? nextInTurn(types, page.count, after) : nextRows(types, page, after);
  }
  return page.isSorted && page.count > 0 && types.length > 1
    ? sortedRows(types, page)
    : rowsInTurn(types, page);
}

/** One type behind the other. */
async function rowsInTurn(types: readonly TypeQuery[], page: TypesPage): Promise<TypedSelection> {
  const rows: TypedRow[] = [];
  let [total, startIndex] = [0, Math.max(1, page.startIndex)];
  for (const [type, query] of types.entries()) {
    const found = (await query?.({ startIndex, count: page.count - rows.length })) ?? nothing;
    rows.push(...typed(found.rows, type));
    total += found.totalResults ?? 0;
    startIndex = Math.max(1, startIndex - (found.totalResults ?? 0));
  }
  return { totalResults: total, rows, next: undefined };
}

async function sortedRows(types: readonly TypeQuery[], page: TypesPage): Promise<TypedSelection> {
  const skip = Math.max(1, page.startIndex) - 1;
  const count = skip + page.count;
  if (count > sortedRowsMax) {
    const detail = `A sorted list can be paged by startIndex up to ${sortedRowsMax}; follow a cursor, or filter.`;
    throw new DomainError('tooMany', detail);
  }
  const found = await Promise.all(types.map((query) => query?.({ startIndex: 1, count }) ?? nothing));
  const rows = merge(found, page.isDescending).slice(skip, count);
  const totalResults = found.reduce((sum, each) => sum + (each.totalResults ?? 0), 0);
  return { totalResults, rows, next: undefined };
}

/** One type behind the other: of those behind the last row of the page only whether there is anything is asked. */
async function nextInTurn(
  types: readonly TypeQuery[],
  count: number,
  after: TypedRow | undefined,
): Promise<TypedSelection> {
  const rows: TypedRow[] = [];
  for (const [type, query] of types.entries()) {
    const cursor = after === undefined ? {} : { after: placeIn(type, after) };
    const wanted = Math.max(1, count - rows.length);
    const found = (await query?.({ startIndex: 1, count: wanted, cursor })) ?? nothing;
    if (rows.length === count && (found.rows.length > 0 || found.next !== undefined))
      return { totalResults: undefined, rows, next: rows.at(-1) };
    rows.push(...typed(found.rows, type));
    if (found.next !== undefined) return { totalResults: undefined, rows, next: { ...found.next, type } };
  }
  return { totalResults: undefined, rows, next: undefined };
}

/** What lies behind `after` in the order of all types, as far as each type has said what is there. */
async function nextRows(
  types: readonly TypeQuery[],
  { count, isDescending }: TypesPage,
  after: TypedRow | undefined,
): Promise<TypedSelection> {
  const found = await Promise.all(
    types.map((query, type) => {
      const cursor = after === undefined ? {} : { after: placeIn(type, after) };
      return query?.({ startIndex: 1, count, cursor }) ?? nothing;
    }),
  );
  const order = typedOrder(isDescending);
  const ends = found.flatMap(({ next }, type) => (next === undefined ? [] : typed([next], type)));
  const [end] = ends.toSorted(order);
  const known = merge(found, isDescending).filter((row) => end === undefined || order(row, end) <= 0);
  const rows = known.slice(0, count);
  const totals = found.map((each) => each.totalResults);
  const isKnown = totals.every((total) => total !== undefined);
  return {
    totalResults: isKnown ? totals.reduce((sum, total) => sum + total, 0) : undefined,
    rows,
    next: known.length > count ? rows.at(-1) : end,
  };
}

/** More than any id. */
const beyondIds = 2 ** 52;

/** Where the list of one type stands when the list of all stands behind `after`. */
function placeIn(type: number, { type: at, id, key }: TypedRow): Position {
  if (type === at) return { id, key };
  return { key, id: type < at ? beyondIds : 0 };
}

function merge(found: readonly Selection[], isDescending: boolean): TypedRow[] {
  return found.flatMap(({ rows }, type) => typed(rows, type)).toSorted(typedOrder(isDescending));
}

function typed(rows: readonly RankedRow[], type: number): TypedRow[] {
  return rows.map(({ id, key }) => ({ id, key, type }));
}

function typedOrder(isDescending: boolean): (a: TypedRow, b: TypedRow) => number {
  const order = rankOrder(isDescending);
  return (a, b) => order(withType(a), withType(b)) || order(a, b);
}

/** Rows as if their type were their id: what is compared between value and id. */
function withType({ key, type }: TypedRow): RankedRow {
  return { key, id: type };
}
