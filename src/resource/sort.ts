// What `sortBy` names in a resource type.
// Never sorts anything: values and their order belong to whoever holds the resources.
// Renders RFC 7644 §3.4.2.3 and the attribute notation of §3.10.

import { DomainError } from '../errors.ts';
import { findNamed, type LookupOptions } from './attribute-lookup.ts';
import type { FilterTarget } from './filter-resolve.ts';
import { parsePath } from './path.ts';
import { findChild, type ResourceType } from './schema.ts';

/** A complex attribute means its `value`. Throws `invalidPath` for what is not there or never returned. */
export function resolveSortBy(
  resourceType: ResourceType,
  text: string,
  options: LookupOptions = {},
): FilterTarget {
  const path = parsePath(text.trim());
  const named = path.filter === undefined ? findNamed(resourceType, path.attribute, options) : undefined;
  if (named?.kind !== 'attribute') throw refuse(text, `is no attribute of ${resourceType.name}`);
  const { attribute } = named;
  const isComplex = attribute.type === 'complex' && named.subAttribute === undefined;
  const subAttribute = isComplex ? findChild(attribute, 'value') : named.subAttribute;
  if (isComplex && subAttribute === undefined)
    throw refuse(text, 'is complex; name one of its sub-attributes');
  const leaf = subAttribute ?? attribute;
  if (attribute.returned === 'never' || leaf.returned === 'never')
    throw refuse(text, 'is never returned, so nothing can be sorted by it');
  return { attribute, subAttribute, leaf };
}

function refuse(text: string, problem: string): DomainError {
  return new DomainError('invalidPath', `The list cannot be sorted: "${text.slice(0, 200)}" ${problem}.`, {
    attribute: text.slice(0, 200),
  });
}
