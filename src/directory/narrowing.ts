import type { ResolvedFilter } from '../resource/filter-resolve.ts';

/**
 * Filters that hold wherever `filter` does and that an index answers alone, the most selective kind first: whatever
 * matches is among the matches of each. Of `a and b` one part will do; of `a or b` both have to be known.
 */
export function narrowings(
  filter: ResolvedFilter,
  isIndexed: (filter: ResolvedFilter) => boolean,
): readonly ResolvedFilter[] {
  switch (filter.kind) {
    case 'and':
      return filter.terms
        .flatMap((term) => narrowings(term, isIndexed))
        .toSorted((a, b) => rank(a) - rank(b));
    case 'or': {
      const terms = filter.terms.flatMap((term) => narrowings(term, isIndexed)[0] ?? []);
      return terms.length === filter.terms.length ? [{ kind: 'or', terms }] : [];
    }
    default:
      return isIndexed(filter) ? [filter] : [];
  }
}

/** Equality finds fewest, as a rule. */
function rank(filter: ResolvedFilter): number {
  if (filter.kind === 'compare') return filter.operator === 'eq' ? 0 : 2;
  return filter.kind === 'valuePath' ? 1 : 3;
}
