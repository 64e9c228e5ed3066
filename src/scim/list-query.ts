import type { Query } from '../directory/query.ts';
import { DomainError } from '../errors.ts';
import { readFilter } from '../resource/filter-resolve.ts';
import type { ResourceType } from '../resource/schema.ts';
import type { ScimCall } from './call.ts';

/** Reads `filter`, `startIndex` and `count` (RFC 7644 §3.4.2.2, §3.4.2.4); other parameters are ignored. */
export function listQuery(call: ScimCall, resourceType: ResourceType): Query {
  const { countDefault, countMax } = call.context.configuration.settings;
  const startIndex = Math.max(1, readInteger(call.query.get('startIndex'), 'startIndex') ?? 1);
  const count = Math.max(0, readInteger(call.query.get('count'), 'count') ?? countDefault);
  const text = call.query.get('filter')?.trim() ?? '';
  const page = { startIndex, count: Math.min(count, countMax) };
  return text === '' ? page : { ...page, filter: compatFilter(call, resourceType, text) };
}

function compatFilter(
  call: ScimCall,
  resourceType: ResourceType,
  text: string,
): NonNullable<Query['filter']> {
  const { isCompat, trace } = call;
  const options = { unquotedValues: isCompat, bareExtensionNames: isCompat };
  const { filter, unquotedValues, bareNames } = readFilter(resourceType, text, options);
  if (unquotedValues.length > 0) trace.repairs.push({ code: 'unquoted-filter-value', what: 'filter' });
  for (const name of bareNames) trace.repairs.push({ code: 'bare-extension-name', what: name });
  return filter;
}

function readInteger(text: string | null, name: string): number | undefined {
  if (text === null || text.trim() === '') return undefined;
  if (/^[+-]?\d{1,15}$/.test(text.trim())) return Number(text);
  throw new DomainError('invalidValue', `${name} must be a whole number, not "${text.slice(0, 50)}".`);
}
