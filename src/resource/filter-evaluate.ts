import { canonicalKey, compareCodePoints } from './canonical-key.ts';
import { parseDateTime } from './date-time.ts';
import type { CompareOperator } from './filter.ts';
import type { FilterTarget, ResolvedFilter, ResolvedLiteral } from './filter-resolve.ts';
import type { AttributeDefinition } from './schema.ts';
import { isArray, isObject, isUnassigned, type ScimObject, type ScimValue } from './value.ts';

/**
 * Whether the resource (or, inside a value path, the element) matches. The oracle for what storage compiles to SQL:
 * - a multi-valued attribute matches when any of its values does (RFC 7644 §3.4.2.2), also for `ne`;
 * - `ne` matches a resource that has no value at all, every other operator does not;
 * - texts that are not caseExact are compared by canonicalKey, dates as instants, order is by code point.
 */
export function evaluateFilter(filter: ResolvedFilter, resource: ScimObject): boolean {
  switch (filter.kind) {
    case 'compare':
      return compareAny(
        targetValues(filter.target, resource),
        filter.operator,
        filter.literal,
        filter.target.leaf,
      );
    case 'present':
      return targetValues(filter.target, resource).length > 0;
    case 'not':
      return !evaluateFilter(filter.filter, resource);
    case 'and':
      return filter.terms.every((term) => evaluateFilter(term, resource));
    case 'or':
      return filter.terms.some((term) => evaluateFilter(term, resource));
    case 'valuePath':
      return elements(attributeValue(filter.attribute, resource)).some(
        (element) => isObject(element) && evaluateFilter(filter.filter, element),
      );
  }
}

function attributeValue(attribute: AttributeDefinition, holder: ScimObject): ScimValue | undefined {
  // A sub-attribute carries the URN of its extension too, but is looked up in its own element.
  if (attribute.extension === undefined || attribute.parent !== undefined) return holder[attribute.name];
  const extension = holder[attribute.extension];
  return isObject(extension) ? extension[attribute.name] : undefined;
}

function targetValues(target: FilterTarget, resource: ScimObject): readonly ScimValue[] {
  const values = elements(attributeValue(target.attribute, resource));
  const { subAttribute } = target;
  if (subAttribute === undefined) return values;
  return values.flatMap((value) => (isObject(value) ? elements(value[subAttribute.name]) : []));
}

/** The assigned values of an attribute, singular or multi-valued. */
function elements(value: ScimValue | undefined): readonly ScimValue[] {
  if (value === undefined || isUnassigned(value)) return [];
  return isArray(value) ? value.filter((element) => !isUnassigned(element)) : [value];
}

function compareAny(
  values: readonly ScimValue[],
  operator: CompareOperator,
  literal: ResolvedLiteral,
  leaf: AttributeDefinition,
): boolean {
  if (values.length === 0) return operator === 'ne';
  return values.some((value) => matches(value, operator, literal, leaf));
}

function matches(
  value: ScimValue,
  operator: CompareOperator,
  literal: ResolvedLiteral,
  leaf: AttributeDefinition,
): boolean {
  if (literal.kind === 'string' && typeof value === 'string') {
    return matchesText(leaf.caseExact ? value : canonicalKey(value), operator, literal.key);
  }
  const order = orderOf(value, literal);
  return order === undefined ? operator === 'ne' : inOrder(order, operator);
}

function matchesText(key: string, operator: CompareOperator, wanted: string): boolean {
  switch (operator) {
    case 'co':
      return key.includes(wanted);
    case 'sw':
      return key.startsWith(wanted);
    case 'ew':
      return key.endsWith(wanted);
    default:
      return inOrder(compareCodePoints(key, wanted), operator);
  }
}

/** Negative, 0 or positive; undefined when the two cannot be compared. */
function orderOf(value: ScimValue, literal: ResolvedLiteral): number | undefined {
  if (literal.kind === 'number') return typeof value === 'number' ? value - literal.number : undefined;
  if (literal.kind === 'boolean')
    return typeof value === 'boolean' ? Number(value) - Number(literal.boolean) : undefined;
  if (literal.kind !== 'dateTime' || typeof value !== 'string') return undefined;
  const instant = parseDateTime(value);
  return instant === undefined ? undefined : instant - literal.instant;
}

function inOrder(order: number, operator: CompareOperator): boolean {
  switch (operator) {
    case 'eq':
      return order === 0;
    case 'ne':
      return order !== 0;
    case 'gt':
      return order > 0;
    case 'ge':
      return order >= 0;
    case 'lt':
      return order < 0;
    case 'le':
      return order <= 0;
    default:
      return false;
  }
}
