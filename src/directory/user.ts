import { canonicalKey } from '../resource/canonical-key.ts';
import { enterpriseUserUrn } from '../resource/schema.ts';
import { isArray, isObject, type ScimObject, type ScimValue } from '../resource/value.ts';
import { noUnits, type Units, withUnits } from './organisation.ts';

export type UserState = 'active' | 'inactive' | 'archived';

export interface GroupOfUser {
  readonly id: number;
  readonly groupType: string;
  readonly displayName: string;
  readonly isPrimary: boolean;
  readonly ownerSourceId: number | null;
}

export interface ManagerOfUser {
  readonly id: number;
  readonly displayName: string;
}

/** A person as the directory knows them. */
export interface User {
  readonly id: number;
  readonly state: UserState;
  readonly ownerSourceId: number | null;
  readonly doNotSynchronise: boolean;
  readonly version: number;
  readonly created: string;
  readonly modified: string;
  /**
   * The writable attributes in canonical SCIM form: columns, primary units, manager and this source's externalId are
   * written into it, so that PATCH and PUT work on what the client sees.
   */
  readonly resource: ScimObject;
  readonly groups: readonly GroupOfUser[];
  readonly units: Units;
  readonly manager: ManagerOfUser | undefined;
  /** The document as it lies in the table; undefined for someone who is to see less of the user. */
  readonly stored: StoredDocument | undefined;
}

export interface StoredDocument {
  readonly document: ScimObject;
  /** The same as JSON. */
  readonly text: string;
}

/** What is stored of a resource in columns and tables of their own, taken out of the document. */
export interface UserParts {
  readonly userName: string;
  readonly active: boolean;
  readonly externalId: string | undefined;
  readonly managerValue: string | undefined;
  /** The rest, as it is stored. */
  readonly document: ScimObject;
}

/** Splits a resource into what is stored where. `units` are read by `unitsOf` and left out of the document. */
export function toParts(resource: ScimObject): UserParts {
  const { userName, active, externalId, schemas: _schemas, password: _password, ...rest } = resource;
  const { document, managerValue } = takeManager(withUnits(rest, noUnits));
  return {
    userName: String(userName ?? ''),
    active: active !== false,
    externalId: typeof externalId === 'string' ? externalId : undefined,
    managerValue,
    document,
  };
}

function takeManager(resource: ScimObject): { document: ScimObject; managerValue: string | undefined } {
  const enterprise = resource[enterpriseUserUrn];
  if (!isObject(enterprise) || enterprise.manager === undefined)
    return { document: resource, managerValue: undefined };
  const { manager, ...others } = enterprise;
  const { [enterpriseUserUrn]: _former, ...rest } = resource;
  const document = Object.keys(others).length > 0 ? { ...rest, [enterpriseUserUrn]: others } : rest;
  const value = isObject(manager) ? manager.value : undefined;
  return { document, managerValue: value === undefined || value === null ? undefined : String(value) };
}

export interface StoredUserParts {
  readonly userName: string;
  readonly active: boolean;
  readonly externalId: string | null;
  readonly document: ScimObject;
  readonly units: Units;
  readonly manager: ManagerOfUser | undefined;
}

/** The reverse of `toParts` and `unitsOf`. */
export function toResource(parts: StoredUserParts): ScimObject {
  const { userName, active, externalId, document, units, manager } = parts;
  const base: Record<string, ScimValue> = { userName, ...document, active };
  if (externalId !== null) base.externalId = externalId;
  const resource = withUnits(base, units);
  if (manager === undefined) return resource;
  const enterprise = isObject(resource[enterpriseUserUrn]) ? resource[enterpriseUserUrn] : {};
  const value = { value: String(manager.id), displayName: manager.displayName };
  return { ...resource, [enterpriseUserUrn]: { ...enterprise, manager: value } };
}

export interface EmailKey {
  readonly type: string | null;
  readonly isPrimary: boolean;
  readonly valueKey: string;
}

/** The addresses by which a user is found, in the order of the document. */
export function emailKeys(document: ScimObject): EmailKey[] {
  const emails = isArray(document.emails) ? document.emails : [];
  return emails.filter(isObject).flatMap(({ type, primary, value }) => {
    if (typeof value !== 'string') return [];
    const kind = typeof type === 'string' ? type.toLowerCase() : null;
    return [{ type: kind, isPrimary: primary === true, valueKey: canonicalKey(value) }];
  });
}

/** The address that identifies a person on create: the one marked primary, else the one of type work, else none. */
export function matchingEmailKey(resource: ScimObject): string | undefined {
  const keys = emailKeys(resource);
  return (keys.find((email) => email.isPrimary) ?? keys.find((email) => email.type === 'work'))?.valueKey;
}

/** What lists show for the person: the first of displayName, formatted name, given and family name, userName. */
export function shownName(userName: string, document: ScimObject): string {
  const name = isObject(document.name) ? document.name : {};
  const full = [name.givenName, name.familyName].filter((part) => typeof part === 'string').join(' ');
  const candidates = [document.displayName, name.formatted, full];
  const shown = candidates.find((candidate) => typeof candidate === 'string' && candidate !== '');
  return typeof shown === 'string' ? shown : userName;
}

export function textKey(value: ScimValue | undefined): string | null {
  return typeof value === 'string' ? canonicalKey(value) : null;
}
