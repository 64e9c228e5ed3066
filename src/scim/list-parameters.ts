import { DomainError } from '../errors.ts';
import { readAttributeNames } from '../resource/project.ts';
import { isArray, isObject, type ScimObject, type ScimValue } from '../resource/value.ts';
import type { ScimCall } from './call.ts';

/** What a client may say of a list, in the query of a GET or in the body of a search (RFC 7644 §3.4.2, §3.4.3). */
export interface ListParameters {
  readonly attributes?: readonly string[] | undefined;
  readonly excludedAttributes?: readonly string[] | undefined;
  readonly filter?: string | undefined;
  readonly sortBy?: string | undefined;
  readonly sortOrder?: string | undefined;
  readonly startIndex?: number | undefined;
  readonly count?: number | undefined;
  /** Empty for the first page (RFC 9865 §2.1). */
  readonly cursor?: string | undefined;
}

export const searchRequestUrn = 'urn:ietf:params:scim:api:messages:2.0:SearchRequest';

/** Parameters that are not known are ignored. */
export function parametersOfQuery(query: URLSearchParams): ListParameters {
  const text = (name: string) => query.get(name) ?? undefined;
  const cursor = text('cursor');
  return {
    attributes: readAttributeNames(text('attributes')),
    excludedAttributes: readAttributeNames(text('excludedAttributes')),
    filter: text('filter'),
    sortBy: text('sortBy'),
    sortOrder: text('sortOrder'),
    startIndex: integerIn(text('startIndex'), 'startIndex', 'invalidValue'),
    count: integerIn(text('count'), 'count', cursor === undefined ? 'invalidValue' : 'invalidCount'),
    cursor,
  };
}

function integerIn(
  text: string | undefined,
  name: string,
  kind: 'invalidValue' | 'invalidCount',
): number | undefined {
  const digits = text?.trim() ?? '';
  if (digits === '') return undefined;
  if (!/^[+-]?\d+$/.test(digits))
    throw new DomainError(kind, `${name} must be a whole number, not "${digits.slice(0, 50)}".`);
  return clamped(Number(digits));
}

/** Numbers beyond any list mean its end as well as those that JavaScript can tell apart. */
function clamped(value: number): number {
  return Math.min(Math.max(value, Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
}

/** Reads a SearchRequest. Names are compared without case; those that are not known are ignored. */
export function parametersOfSearch(call: ScimCall, body: ScimValue): ListParameters {
  if (!isObject(body))
    throw new DomainError('invalidSyntax', 'The body must be a JSON object: a SearchRequest.');
  if (!call.isCompat) requireSchema(body);
  const members = new Map(Object.entries(body).map(([name, value]) => [name.toLowerCase(), value]));
  const member = (name: string) => members.get(name.toLowerCase()) ?? undefined;
  const cursor = textOf(member('cursor'), 'cursor');
  return {
    attributes: namesOf(member('attributes'), 'attributes'),
    excludedAttributes: namesOf(member('excludedAttributes'), 'excludedAttributes'),
    filter: textOf(member('filter'), 'filter'),
    sortBy: textOf(member('sortBy'), 'sortBy'),
    sortOrder: textOf(member('sortOrder'), 'sortOrder'),
    startIndex: numberOf(call, member('startIndex'), 'startIndex', 'invalidValue'),
    count: numberOf(call, member('count'), 'count', cursor === undefined ? 'invalidValue' : 'invalidCount'),
    cursor,
  };
}

function requireSchema({ schemas }: ScimObject): void {
  const names = isArray(schemas) ? schemas : [];
  const isNamed = names.some((name) => String(name).toLowerCase() === searchRequestUrn.toLowerCase());
  if (!isNamed)
    throw new DomainError('invalidSyntax', `The schemas of a search must name ${searchRequestUrn}.`);
}

function textOf(value: ScimValue | undefined, name: string): string | undefined {
  if (value === undefined || typeof value === 'string') return value;
  throw new DomainError('invalidValue', `${name} must be a text.`);
}

function numberOf(
  call: ScimCall,
  value: ScimValue | undefined,
  name: string,
  kind: 'invalidValue' | 'invalidCount',
): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'string' && call.isCompat) {
    call.trace.repairs.push({ code: 'number-from-text', what: name });
    return integerIn(value, name, kind);
  }
  if (typeof value === 'number' && Number.isInteger(value)) return clamped(value);
  throw new DomainError(kind, `${name} must be a whole number.`);
}

/** A list of names; one text with commas, as in a query, is taken too. */
function namesOf(value: ScimValue | undefined, name: string): readonly string[] | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'string') return readAttributeNames(value);
  if (!isArray(value) || value.some((each) => typeof each !== 'string'))
    throw new DomainError('invalidValue', `${name} must be a list of attribute names.`);
  return readAttributeNames(value.join(','));
}
