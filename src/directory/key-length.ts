import { DomainError } from '../errors.ts';
import { canonicalKey } from '../resource/canonical-key.ts';
import { enterpriseUserUrn, platformUserUrn } from '../resource/schema.ts';
import { isArray, isObject, type ScimObject, type ScimValue } from '../resource/value.ts';
import { companyNames } from './organisation.ts';
import type { UserParts } from './user.ts';

/**
 * Of a text by which resources are found or sorted, as UTF-8, with and without its letter case. PostgreSQL's indexes
 * take 2,704, and a cursor carries such a text in an address. Both engines keep to the same bound.
 */
const keyBytesMax = 1_024;
/** Folding makes one character eighteen at most, and none takes more than three bytes; of ASCII it makes no more. */
const surelyShort = Math.floor(keyBytesMax / 54);
const beyondAscii = /[\u0080-\uffff]/;

const keysOfEnterprise = ['employeeNumber', 'department'] as const;
const keysOfPlatform = ['location'] as const;

/** Throws `invalidValue` for a user of whom something is too long to be found by. `next` has the units as well. */
export function requireUserKeys({ userName, externalId, document }: UserParts, next: ScimObject): void {
  requireKey('userName', userName);
  requireKey('externalId', externalId);
  requireKey('displayName', document.displayName);
  if (isObject(document.name)) requireKey('name.familyName', document.name.familyName);
  for (const email of isArray(document.emails) ? document.emails : []) {
    if (isObject(email)) requireKey('emails.value', email.value);
  }
  requireCompany(next);
  requireParts(next, enterpriseUserUrn, keysOfEnterprise);
  requireParts(next, platformUserUrn, keysOfPlatform);
}

/** Whichever of its two names the client wrote, both are set by now: an error has to name both. */
function requireCompany(next: ScimObject): void {
  const attribute = `${enterpriseUserUrn}:organization (which is also ${platformUserUrn}:company)`;
  for (const company of companyNames(next)) requireKey(attribute, company);
}

function requireParts(next: ScimObject, urn: string, names: readonly string[]): void {
  const extension = next[urn];
  if (!isObject(extension)) return;
  for (const name of names) requireKey(`${urn}:${name}`, extension[name]);
}

/** Throws `invalidValue` naming the attribute when the text is too long to be found by. */
export function requireKey(attribute: string, text: ScimValue | undefined): void {
  if (typeof text !== 'string' || !isTooLongForKey(text)) return;
  const detail = `The attribute ${attribute} is longer than ${keyBytesMax} bytes (in UTF-8); shorten it.`;
  throw new DomainError('invalidValue', detail, { attribute });
}

export function isTooLongForKey(text: string): boolean {
  if (text.length <= surelyShort || (text.length <= keyBytesMax && !beyondAscii.test(text))) return false;
  return Buffer.byteLength(text) > keyBytesMax || Buffer.byteLength(canonicalKey(text)) > keyBytesMax;
}
