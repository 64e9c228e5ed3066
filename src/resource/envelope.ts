import type { DomainError } from '../errors.ts';
import type { ScimObject, ScimValue } from './value.ts';

/** The members of those names (in lower case), found without case. `refuse` makes the error for one given twice. */
export function readMembers<Name extends string>(
  object: ScimObject,
  names: readonly Name[],
  refuse: (problem: string) => DomainError,
): Partial<Record<Name, ScimValue>> {
  const found: Partial<Record<Name, ScimValue>> = {};
  for (const key of Object.keys(object)) {
    const name = names.find((each) => each === key.toLowerCase());
    if (name === undefined) continue;
    if (found[name] !== undefined) throw refuse(`"${name}" is given twice, in two spellings`);
    const value = object[key];
    if (value !== undefined) found[name] = value;
  }
  return found;
}

/** Whether `schemas` of a message names the URN, in any letter case. */
export function namesUrn(schemas: ScimValue | undefined, urn: string): boolean {
  const isUrn = (each: ScimValue) => typeof each === 'string' && each.toLowerCase() === urn.toLowerCase();
  return Array.isArray(schemas) && schemas.some(isUrn);
}
