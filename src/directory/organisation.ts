import { writeMember } from '../resource/document.ts';
import { enterpriseUserUrn, platformUserUrn } from '../resource/schema.ts';
import { hasNoKeys, isObject, type ScimObject, type ScimValue } from '../resource/value.ts';

/** The group types whose primary membership shows as an attribute of the user. */
export const unitTypes = ['company', 'department', 'location'] as const;
export type UnitType = (typeof unitTypes)[number];

/** The user's primary company, department and location, by display name. */
export type Units = { readonly [T in UnitType]: string | undefined };

export const noUnits: Units = { company: undefined, department: undefined, location: undefined };

type Place = readonly [type: UnitType, extension: string, attribute: string];

/** Where a unit shows in a user resource. Company has two names for one value (design of the platform extension). */
const places: readonly Place[] = [
  ['company', enterpriseUserUrn, 'organization'],
  ['company', platformUserUrn, 'company'],
  ['department', enterpriseUserUrn, 'department'],
  ['location', platformUserUrn, 'location'],
];

/**
 * Which units `next` asks for. Company may be said twice: when only one of the two places differs from what is
 * stored, that one was meant.
 */
export function unitsOf(next: ScimObject, stored: Units, mode: 'replace' | 'patch'): Units {
  const [organization, company] = companyNames(next);
  return {
    company: chosenCompany(organization, company, stored.company, mode),
    department: textAt(next, enterpriseUserUrn, 'department'),
    location: textAt(next, platformUserUrn, 'location'),
  };
}

function chosenCompany(
  organization: string | undefined,
  company: string | undefined,
  stored: string | undefined,
  mode: 'replace' | 'patch',
): string | undefined {
  if (mode === 'replace' && (organization === undefined || company === undefined))
    return organization ?? company;
  return organization === stored ? company : organization;
}

/**
 * After one operation of a PATCH: company has two names, and what was said by one of them holds for both, so that of two
 * operations the later one counts. Where one operation changes both, it is for `unitsOf` to choose.
 */
export function settleCompany(before: ScimObject, after: ScimObject): ScimObject {
  const [organization, company] = companyNames(after);
  const [formerOrganization, formerCompany] = companyNames(before);
  const isOther = organization !== formerOrganization;
  if (isOther === (company !== formerCompany)) return after;
  return withName(after, isOther ? organization : company);
}

/** What a resource says of the company by its two names: organization and company. */
export function companyNames(resource: ScimObject): readonly [string | undefined, string | undefined] {
  return [textAt(resource, enterpriseUserUrn, 'organization'), textAt(resource, platformUserUrn, 'company')];
}

function withName(resource: ScimObject, company: string | undefined): ScimObject {
  const written = places.filter(([type]) => type === 'company');
  return written.reduce((result, place) => withUnit(result, place, company), resource);
}

function withUnit(
  resource: ScimObject,
  [, extension, attribute]: Place,
  name: string | undefined,
): ScimObject {
  const held = resource[extension];
  const next = writeMember(isObject(held) ? held : {}, attribute, name);
  return writeMember(resource, extension, hasNoKeys(next) ? undefined : next);
}

/** The resource with the units written into their places, and none where there is none. */
export function withUnits(resource: ScimObject, units: Units): ScimObject {
  const result: Record<string, ScimValue> = { ...resource };
  for (const [type, extension, attribute] of places) {
    const held = result[extension];
    const before = isObject(held) ? held : {};
    const name = units[type];
    const isSame = before[attribute] === name && (name !== undefined || !hasNoKeys(before));
    if (isSame || (held === undefined && name === undefined)) continue;
    const { [attribute]: _former, ...rest } = before;
    const after: ScimObject = name === undefined ? rest : { ...rest, [attribute]: name };
    if (Object.keys(after).length > 0) result[extension] = after;
    else delete result[extension];
  }
  return result;
}

/** The text of an attribute of an extension, when it is there. */
export function textAt(resource: ScimObject, extension: string, attribute: string): string | undefined {
  const values = resource[extension];
  const value = isObject(values) ? values[attribute] : undefined;
  return typeof value === 'string' ? value : undefined;
}
