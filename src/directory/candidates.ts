import type { ResolvedFilter } from '../resource/filter-resolve.ts';

/** The ids that meet one term of a filter; undefined when no index tells, or when they are many. */
export type AskIndex = (term: ResolvedFilter) => Promise<readonly number[] | undefined>;

/**
 * At most `idsMax` ids among which is whatever the filter matches; undefined when indexes alone do not show so few.
 * Of `a and b` one part will do; of `a or b` both have to be known. Each term is asked apart, since what a database
 * does with several at once may look at any number of rows before it gives the first one.
 */
export async function findCandidates(
  filter: ResolvedFilter,
  idsMax: number,
  ask: AskIndex,
): Promise<readonly number[] | undefined> {
  switch (filter.kind) {
    case 'and':
      for (const term of filter.terms.toSorted((a, b) => rank(a) - rank(b))) {
        const ids = await findCandidates(term, idsMax, ask);
        if (ids !== undefined) return ids;
      }
      return undefined;
    case 'or': {
      const found = new Set<number>();
      for (const term of filter.terms) {
        const ids = await findCandidates(term, idsMax, ask);
        if (ids === undefined) return undefined;
        for (const id of ids) found.add(id);
        if (found.size > idsMax) return undefined;
      }
      return [...found];
    }
    case 'valuePath':
      return isSelective(filter.filter) ? ask(filter) : undefined;
    case 'compare':
      return ask(filter);
    default:
      return undefined;
  }
}

/** Equality finds fewest, as a rule; `ne` and what is not compared is asked of no index. */
function rank(filter: ResolvedFilter): number {
  if (filter.kind === 'compare') return filter.operator === 'eq' ? 0 : 3;
  return filter.kind === 'valuePath' ? 1 : 2;
}

/** `[type eq "x" and value sw "a"]` has to look at every value with that beginning, however few are of the type. */
function isSelective(filter: ResolvedFilter): boolean {
  if (filter.kind === 'compare') return true;
  if (filter.kind !== 'and') return false;
  return filter.terms.every((term) => term.kind === 'compare' && term.operator === 'eq');
}
