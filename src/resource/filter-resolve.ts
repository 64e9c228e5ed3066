import { DomainError } from '../errors.ts';
import { findNamed, type LookupOptions } from './attribute-lookup.ts';
import { canonicalKey, foldCase } from './canonical-key.ts';
import { parseDateTime } from './date-time.ts';
import {
  type AttributePath,
  type CompareFilter,
  type CompareOperator,
  type Filter,
  type FilterLiteral,
  type FilterOptions,
  parseFilter,
} from './filter.ts';
import { type AttributeDefinition, findChild, type ResourceType } from './schema.ts';

/**
 * What a filter term looks at. `attribute` is the top-level one (its `extension` says where it lives) or, inside a
 * value path, the sub-attribute; `subAttribute` is set for `name.familyName`, and for a complex attribute in a
 * comparison, where it is `value` (Ping's `emails eq "…"`).
 */
export interface FilterTarget {
  readonly attribute: AttributeDefinition;
  readonly subAttribute: AttributeDefinition | undefined;
  /** The one whose values are compared: `subAttribute ?? attribute`. */
  readonly leaf: AttributeDefinition;
}

export type ResolvedLiteral =
  /** `key` is what to compare with: `text` when the leaf is caseExact, else canonicalKey (co, sw, ew: foldCase). */
  | { readonly kind: 'string'; readonly text: string; readonly key: string }
  | { readonly kind: 'number'; readonly number: number }
  | { readonly kind: 'boolean'; readonly boolean: boolean }
  /** Milliseconds since 1970. */
  | { readonly kind: 'dateTime'; readonly instant: number; readonly text: string };

/** `eq null` becomes not-present and `ne null` present, so no literal is null here. */
export type ResolvedFilter =
  | {
      readonly kind: 'compare';
      readonly target: FilterTarget;
      readonly operator: CompareOperator;
      readonly literal: ResolvedLiteral;
    }
  | { readonly kind: 'present'; readonly target: FilterTarget }
  | { readonly kind: 'valuePath'; readonly attribute: AttributeDefinition; readonly filter: ResolvedFilter }
  | { readonly kind: 'and' | 'or'; readonly terms: readonly ResolvedFilter[] }
  | { readonly kind: 'not'; readonly filter: ResolvedFilter };

export type ResolveOptions = LookupOptions & FilterOptions;

export interface ReadFilter {
  readonly filter: ResolvedFilter;
  /** Values that were taken as text although they were not quoted: a repair to record. */
  readonly unquotedValues: readonly string[];
  /** Extension attributes that were named without their URN: a repair to record. */
  readonly bareNames: readonly string[];
}

/** parseFilter and resolveFilter in one, with what the options had to mend. Throws `invalidFilter`. */
export function readFilter(
  resourceType: ResourceType,
  text: string,
  options: ResolveOptions = {},
): ReadFilter {
  const resolver = new FilterResolver(resourceType, options);
  const filter = resolver.resolve(parseFilter(text, options), undefined);
  return { filter, unquotedValues: resolver.unquotedValues, bareNames: resolver.bareNames };
}

/** Throws `invalidFilter` (unknown attribute, unfit operator or literal, attribute that is never returned). */
export function resolveFilter(
  resourceType: ResourceType,
  filter: Filter,
  options: ResolveOptions = {},
): ResolvedFilter {
  return new FilterResolver(resourceType, options).resolve(filter, undefined);
}

/** Resolves the filter in the brackets behind a multi-valued attribute. Throws `invalidFilter`. */
export function resolveElementFilter(
  resourceType: ResourceType,
  attribute: AttributeDefinition,
  filter: Filter,
): ResolvedFilter {
  return new FilterResolver(resourceType, {}).resolve(filter, attribute);
}

class FilterResolver {
  readonly unquotedValues: string[] = [];
  readonly bareNames: string[] = [];
  private readonly resourceType: ResourceType;
  private readonly options: ResolveOptions;

  constructor(resourceType: ResourceType, options: ResolveOptions) {
    this.resourceType = resourceType;
    this.options = options;
  }

  /** `within` is the attribute whose element the filter looks at, inside a value path. */
  resolve(filter: Filter, within: AttributeDefinition | undefined): ResolvedFilter {
    switch (filter.kind) {
      case 'compare':
        return this.comparison(filter, within);
      case 'present':
        return { kind: 'present', target: this.target(filter.attribute, within) };
      case 'not':
        return { kind: 'not', filter: this.resolve(filter.filter, within) };
      case 'valuePath':
        return this.valuePath(filter.attribute, filter.filter, within);
      default:
        return { kind: filter.kind, terms: filter.terms.map((term) => this.resolve(term, within)) };
    }
  }

  private valuePath(
    path: AttributePath,
    filter: Filter,
    within: AttributeDefinition | undefined,
  ): ResolvedFilter {
    const { leaf } = this.target(path, within);
    if (leaf.type !== 'complex' || path.subName !== undefined) {
      throw refuse(path, 'has no sub-attributes to filter by; leave the brackets out');
    }
    return { kind: 'valuePath', attribute: leaf, filter: this.resolve(filter, leaf) };
  }

  private comparison(filter: CompareFilter, within: AttributeDefinition | undefined): ResolvedFilter {
    const target = withImpliedValue(this.target(filter.attribute, within), filter.attribute);
    const { operator, literal } = filter;
    if (literal.value === null) return nullComparison(filter, target);
    checkOperator(operator, target.leaf, filter.attribute);
    return { kind: 'compare', target, operator, literal: this.literal(literal, target.leaf, operator) };
  }

  private target(path: AttributePath, within: AttributeDefinition | undefined): FilterTarget {
    const target = within === undefined ? this.topLevel(path) : findInElement(within, path);
    if (target === undefined)
      throw refuse(path, `is no attribute of ${within?.path ?? this.resourceType.name}`);
    if (target.attribute.returned === 'never' || target.leaf.returned === 'never') {
      throw refuse(path, 'is never returned, so it cannot be filtered by');
    }
    return target;
  }

  private topLevel(path: AttributePath): FilterTarget | undefined {
    const named = findNamed(this.resourceType, path, this.options);
    if (named?.kind !== 'attribute') return undefined;
    if (named.bare) this.bareNames.push(path.text);
    const { attribute, subAttribute } = named;
    return { attribute, subAttribute, leaf: subAttribute ?? attribute };
  }

  private literal(
    literal: FilterLiteral,
    leaf: AttributeDefinition,
    operator: CompareOperator,
  ): ResolvedLiteral {
    const resolved = toLiteral(literal, leaf, operator);
    if (resolved !== undefined) {
      if (literal.unquoted) this.unquotedValues.push(literal.text);
      return resolved;
    }
    // Entra writes externalId eq 4711: what reads as a number is a text that lost its quotation marks.
    const asText = this.options.unquotedValues === true && !literal.text.startsWith('"');
    const mended = asText ? toLiteral({ ...literal, value: literal.text }, leaf, operator) : undefined;
    if (mended === undefined) {
      throw new DomainError(
        'invalidFilter',
        `The filter compares ${leaf.path} at character ${literal.position + 1} with a value that is not of type ${leaf.type}.`,
        { attribute: leaf.path },
      );
    }
    this.unquotedValues.push(literal.text);
    return mended;
  }
}

function findInElement(within: AttributeDefinition, path: AttributePath): FilterTarget | undefined {
  const attribute = path.urn === undefined ? findChild(within, path.name) : undefined;
  if (attribute === undefined || path.subName === undefined) {
    return attribute && { attribute, subAttribute: undefined, leaf: attribute };
  }
  const subAttribute = findChild(attribute, path.subName);
  return subAttribute && { attribute, subAttribute, leaf: subAttribute };
}

/** A complex attribute in a comparison means its `value` (Ping: `emails eq`, Entra: `manager eq`). */
function withImpliedValue(target: FilterTarget, path: AttributePath): FilterTarget {
  if (target.leaf.type !== 'complex') return target;
  const value = target.subAttribute === undefined ? findChild(target.attribute, 'value') : undefined;
  if (value === undefined) throw refuse(path, 'is complex; name one of its sub-attributes');
  return { attribute: target.attribute, subAttribute: value, leaf: value };
}

function nullComparison(filter: CompareFilter, target: FilterTarget): ResolvedFilter {
  const present = { kind: 'present', target } as const;
  if (filter.operator === 'ne') return present;
  if (filter.operator === 'eq') return { kind: 'not', filter: present };
  throw refuse(filter.attribute, `cannot be compared with null by ${filter.operator}; use eq or ne`);
}

/** RFC 7644 §3.4.2.2: no order among booleans and binaries; substrings only of texts. */
function checkOperator(operator: CompareOperator, leaf: AttributeDefinition, path: AttributePath): void {
  const isEquality = operator === 'eq' || operator === 'ne';
  const isSubstring = operator === 'co' || operator === 'sw' || operator === 'ew';
  const isUnordered = leaf.type === 'boolean' || leaf.type === 'binary';
  const isText = leaf.type === 'string' || leaf.type === 'reference';
  if (isEquality || (isSubstring ? isText : !isUnordered)) return;
  throw refuse(path, `is of type ${leaf.type}, which ${operator} cannot compare`);
}

function toLiteral(
  literal: FilterLiteral,
  leaf: AttributeDefinition,
  operator: CompareOperator,
): ResolvedLiteral | undefined {
  const { value } = literal;
  switch (leaf.type) {
    case 'boolean':
      return toBooleanLiteral(value);
    case 'integer':
    case 'decimal':
      return typeof value === 'number' ? { kind: 'number', number: value } : undefined;
    case 'dateTime': {
      const instant = typeof value === 'string' ? parseDateTime(value) : undefined;
      return instant === undefined ? undefined : { kind: 'dateTime', instant, text: String(value) };
    }
    default:
      return typeof value === 'string'
        ? { kind: 'string', text: value, key: literalKey(value, leaf, operator) }
        : undefined;
  }
}

/** Entra writes `primary eq "True"`. */
function toBooleanLiteral(value: FilterLiteral['value']): ResolvedLiteral | undefined {
  if (typeof value === 'boolean') return { kind: 'boolean', boolean: value };
  const text = typeof value === 'string' ? value.toLowerCase() : '';
  return text === 'true' || text === 'false' ? { kind: 'boolean', boolean: text === 'true' } : undefined;
}

function literalKey(text: string, leaf: AttributeDefinition, operator: CompareOperator): string {
  if (leaf.caseExact) return text;
  return operator === 'co' || operator === 'sw' || operator === 'ew' ? foldCase(text) : canonicalKey(text);
}

function refuse(path: AttributePath, problem: string): DomainError {
  const detail = `The filter cannot be used: "${path.text}" at character ${path.position + 1} ${problem}.`;
  return new DomainError('invalidFilter', detail, { attribute: path.text });
}
