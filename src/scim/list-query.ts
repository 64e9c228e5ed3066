import type { Query, Sort } from '../directory/query.ts';
import { DomainError } from '../errors.ts';
import { readFilter } from '../resource/filter-resolve.ts';
import type { ResourceType } from '../resource/schema.ts';
import { resolveSortBy } from '../resource/sort.ts';
import type { Settings } from '../settings/settings.ts';
import type { ScimCall } from './call.ts';
import type { ListParameters } from './list-parameters.ts';

/** How many resources a page may have, from what the client says and the settings (RFC 7644 §3.4.2.4). */
export function countOf({ countDefault, countMax }: Settings, { count }: ListParameters): number {
  return Math.min(Math.max(0, count ?? countDefault), countMax);
}

/** RFC 9865 knows no startIndex; one that says "from the start" means no harm. */
export function requireOnePlace({ cursor, startIndex = 1 }: ListParameters): void {
  if (cursor === undefined || startIndex <= 1) return;
  const detail = 'A list goes on by cursor or from a startIndex, not by both; leave one of them out.';
  throw new DomainError('invalidValue', detail);
}

/** Reads `filter`, `sortBy` and `sortOrder` for one type of resource (RFC 7644 §3.4.2.2, §3.4.2.3). */
export function criteriaOf(
  call: ScimCall,
  resourceType: ResourceType,
  parameters: ListParameters,
): Pick<Query, 'filter' | 'sort'> {
  const text = parameters.filter?.trim() ?? '';
  const sort = sortOf(call, resourceType, parameters);
  return {
    ...(text === '' ? {} : { filter: filterOf(call, resourceType, text) }),
    ...(sort === undefined ? {} : { sort }),
  };
}

function filterOf(call: ScimCall, resourceType: ResourceType, text: string): NonNullable<Query['filter']> {
  const { isCompat, trace } = call;
  const options = { unquotedValues: isCompat, bareExtensionNames: isCompat };
  const { filter, unquotedValues, bareNames } = readFilter(resourceType, text, options);
  if (unquotedValues.length > 0) trace.repairs.push({ code: 'unquoted-filter-value', what: 'filter' });
  for (const name of bareNames) trace.repairs.push({ code: 'bare-extension-name', what: name });
  return filter;
}

function sortOf(call: ScimCall, resourceType: ResourceType, parameters: ListParameters): Sort | undefined {
  if (!isSorted(parameters)) return undefined;
  const { sortBy = '' } = parameters;
  const target = resolveSortBy(resourceType, sortBy, { bareExtensionNames: call.isCompat });
  return { target, isDescending: isDescending(parameters) };
}

export function isSorted({ sortBy = '' }: ListParameters): boolean {
  return sortBy.trim() !== '';
}

/** Without sortBy there is nothing to turn round. Throws `invalidValue` for what RFC 7644 §3.4.2.3 does not have. */
export function isDescending(parameters: ListParameters): boolean {
  const { sortOrder = '' } = parameters;
  const order = sortOrder.trim().toLowerCase();
  if (order === 'descending') return isSorted(parameters);
  if (order === '' || order === 'ascending') return false;
  const detail = `sortOrder is "ascending" or "descending", not "${sortOrder.slice(0, 50)}".`;
  throw new DomainError('invalidValue', detail);
}
