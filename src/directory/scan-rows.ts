import { evaluateFilter } from '../resource/filter-evaluate.ts';
import type { ResolvedFilter } from '../resource/filter-resolve.ts';
import type { Query } from './query.ts';
import { sumOf } from './row-walk.ts';
import type { Selecting, Selection } from './select-rows.ts';

const scannedRowsMax = 20_000;

/** What has no column is looked at one by one, in memory. */
export async function scanRows(
  { db, context, scope, listing, walk }: Selecting,
  query: Query,
  filter: ResolvedFilter,
): Promise<Selection> {
  walk.require(sumOf(await walk.ranges()), scannedRowsMax);
  const matching: number[] = [];
  await walk.each(0, async (range) => {
    const ids = await listing.list.idsWithin(db, { condition: undefined, owner: scope.owner }, range);
    const resources = await listing.select(db, ids, context.sourceId);
    const hits = resources.filter((resource) => evaluateFilter(filter, listing.view(resource, context)));
    matching.push(...hits.map((resource) => resource.id));
    return true;
  });
  const first = Math.max(1, query.startIndex) - 1;
  const rows = matching.slice(first, first + query.count).map((id) => ({ id, key: null }));
  return { totalResults: matching.length, rows, next: undefined };
}
