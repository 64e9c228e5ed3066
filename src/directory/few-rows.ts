import type { ResolvedFilter } from '../resource/filter-resolve.ts';
import { findCandidates } from './candidates.ts';
import type { RankedRow } from './first-rows.ts';
import { breathe } from './query-line.ts';
import type { Ask } from './row-walk.ts';
import type { Selecting } from './select-rows.ts';

/** Matches of an index that are looked at one by one; what has more of them is walked. */
const fewMax = 5_000;

/** All that match, in no order, when an index shows that they are few; undefined when it takes more to tell. */
export async function findFew(
  selecting: Selecting,
  filter: ResolvedFilter,
  ask: Ask,
): Promise<readonly RankedRow[] | undefined> {
  const { db, context, scope, listing, walk } = selecting;
  const { owner } = scope;
  const { key } = ask(undefined);
  // What was found by one term alone, and is shown to everybody by id, needs no second look.
  const isAll = owner === undefined && key === undefined;
  const direct = await listing.findDirectly(db, context, filter);
  if (direct !== undefined)
    return isAll
      ? direct.map(byId)
      : listing.list.rowsAmong(db, { condition: undefined, owner }, direct, key);
  const ids = await findCandidates(filter, fewMax, askerOf(selecting));
  if (ids === undefined) return undefined;
  if (isAll && isOneTerm(filter)) return ids.map(byId);
  return walk.among(ids, ask, (part, asked) =>
    listing.list.rowsAmong(db, { condition: asked.condition, owner }, part, asked.key),
  );
}

export function byId(id: number): RankedRow {
  return { id, key: null };
}

function isOneTerm({ kind }: ResolvedFilter): boolean {
  return kind === 'compare' || kind === 'valuePath';
}

/** Finds the ids that meet one term, when an index does and they are few; other requests run between two terms. */
function askerOf({ db, context, scope, listing }: Selecting) {
  let asked = 0;
  return async (term: ResolvedFilter): Promise<readonly number[] | undefined> => {
    const { driven, isIndexed, wholes } = listing.filterSql(term, scope);
    if (!isIndexed) return undefined;
    if (asked > 0) await breathe();
    asked += 1;
    context.signal?.throwIfAborted();
    for (const whole of wholes) {
      if (!(await listing.list.isShort(db, whole, fewMax))) return undefined;
    }
    const ids = await listing.list.someIds(db, driven, fewMax + 1);
    return ids.length <= fewMax ? ids : undefined;
  };
}
