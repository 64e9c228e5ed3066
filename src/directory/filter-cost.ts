import type { FilterTarget, ResolvedFilter } from '../resource/filter-resolve.ts';
import { platformUserUrn } from '../resource/schema.ts';

/** What it takes to ask a filter of one resource and to sort it, in counted work: the same on any machine. */
export interface RowCost {
  /** How many values are compared; 0 when nothing is asked. */
  readonly terms: number;
  /** How many of them look through all memberships of the resource. */
  readonly related: number;
}

/** Attributes that are read from the memberships of a resource, with how many looks into each of these they take. */
const relatedLooks: Readonly<Record<string, number>> = {
  members: 1,
  groups: 1,
  [`${platformUserUrn}:personas`]: 4,
  // Among them is the URN that a user shows for the sake of a persona.
  schemas: 6,
};

/** Where a membership is found by its key, without looking through the others. */
const keyNames = new Set(['value', '$ref']);

const nothing: RowCost = { terms: 0, related: 0 };

/** The cost of a filter and of what the rows are sorted by, where there are any. */
export function rowCost(filter: ResolvedFilter | undefined, sortedBy: FilterTarget | undefined): RowCost {
  const ofFilter = filter === undefined ? nothing : costOf(filter);
  return sortedBy === undefined ? ofFilter : sum([ofFilter, looks(sortedBy.attribute.path, 1)]);
}

function costOf(filter: ResolvedFilter): RowCost {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return sum(filter.terms.map(costOf));
    case 'not':
      return costOf(filter.filter);
    case 'valuePath': {
      const { terms } = costOf(filter.filter);
      return isByKey(filter.filter)
        ? { terms: terms + 1, related: 0 }
        : looks(filter.attribute.path, terms + 1);
    }
    default:
      return isByKey(filter)
        ? { terms: 1, related: 0 }
        : looks(filter.target.attribute.path, timesAsked(filter));
  }
}

/** `ne` asks for a value that differs, and whether there is one at all. */
function timesAsked(filter: ResolvedFilter): number {
  return filter.kind === 'compare' && filter.operator === 'ne' ? 2 : 1;
}

function looks(path: string, times: number): RowCost {
  const each = Object.hasOwn(relatedLooks, path) ? relatedLooks[path] : undefined;
  return each === undefined ? { terms: times, related: 0 } : { terms: times * each, related: times * each };
}

function isByKey(filter: ResolvedFilter): boolean {
  if (filter.kind === 'and') return filter.terms.some(isByKey);
  if (filter.kind !== 'compare' || filter.operator !== 'eq') return false;
  const { path, name } = filter.target.leaf;
  return keyNames.has(name) && (path.startsWith('members') || path.startsWith('groups'));
}

function sum(costs: readonly RowCost[]): RowCost {
  const add = (a: RowCost, b: RowCost) => ({ terms: a.terms + b.terms, related: a.related + b.related });
  return costs.reduce(add, nothing);
}
