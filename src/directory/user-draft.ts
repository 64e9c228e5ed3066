// What a user is to become, worked out before anything is written: manager by id, units in their stored spelling, and
// what of it is a change. Never writes.

import { DomainError } from '../errors.ts';
import { canonicalKey } from '../resource/canonical-key.ts';
import { additionalFieldsUrn, defaultUserType, enterpriseUserUrn } from '../resource/schema.ts';
import { equalResources, isObject, type ScimObject, type ScimValue } from '../resource/value.ts';
import type { Tx } from '../storage/database.ts';
import type { DirectoryContext } from './context.ts';
import { fitsPattern } from './field-pattern.ts';
import { requireUserKeys } from './key-length.ts';
import { managerError, mayArrive, mayWait, resolveReferences } from './manager.ts';
import { noUnits, type Units, unitsOf, unitTypes, withUnits } from './organisation.ts';
import { toParts, type User, type UserParts } from './user.ts';

/** What a user is to become. */
export interface UserChange {
  /** The user as it is now; absent for one to be created. */
  readonly before?: User;
  /** Of one to be created, when its id was reserved earlier. */
  readonly id?: number;
  /** All writable attributes, normalised, as `User.resource` holds them. */
  readonly next: ScimObject;
  /** `patch`: of two names for the company the one that differs was meant. */
  readonly mode: 'replace' | 'patch';
  /** The manager, when it has been resolved already: an import knows the ids of people whom it is about to create. */
  readonly managerId?: number | null;
  /** Whether the source does not see the manager there is: naming that one is then naming a missing id. */
  readonly hidesManager?: boolean;
  /** Whether the manager was taken away by name: one who is still waited for is then not waited for any more. */
  readonly removesManager?: boolean;
  /** Digest of the file record behind this change, kept with the source's link. */
  readonly digest?: string;
}

/** A change with everything that is to be written of it. */
export interface UserDraft {
  readonly change: UserChange;
  readonly before: User | undefined;
  readonly parts: UserParts;
  readonly units: Units;
  readonly managerId: number | null;
  /** The manager value that is to wait until its user arrives. */
  readonly pendingManager: string | undefined;
  /** What is compared and journalled: manager by id, units as they are spelled in the directory. */
  readonly settled: ScimObject;
  readonly former: ScimObject | undefined;
  readonly outcome: 'created' | 'updated' | 'unchanged';
}

/** Stored, so that filters find it: someone of whom nothing is said is of the default type. */
function withUserType(change: UserChange): UserChange {
  return { ...change, next: { userType: defaultUserType, ...change.next } };
}

/** Resolves managers and spells units as the directory does. Throws DomainError for a change that breaks a rule. */
export async function draftUsers(
  tx: Tx,
  context: DirectoryContext,
  changes: readonly UserChange[],
): Promise<UserDraft[]> {
  const split = changes.map(withUserType).map((change) => ({ change, parts: toParts(change.next) }));
  const asked = split.flatMap(({ change, parts }) => {
    const known = shownManager(change);
    return change.managerId !== undefined ||
      parts.managerValue === undefined ||
      parts.managerValue === String(known?.id)
      ? []
      : [parts.managerValue];
  });
  const managers = asked.length > 0 ? await resolveReferences(tx, context, asked) : new Map();
  return split.map(({ change, parts }) => {
    checkUser(context, parts);
    requireUserKeys(parts, change.next);
    if (change.managerId !== undefined) return toDraft(change, parts, { managerId: change.managerId });
    const { managerValue } = parts;
    if (managerValue === undefined) return toDraft(change, parts, { managerId: null });
    const kept = shownManager(change);
    if (managerValue === String(kept?.id)) return toDraft(change, parts, { managerId: kept?.id ?? null });
    const outcome = managers.get(managerValue) ?? { kind: 'none' };
    if (outcome.kind === 'found') return toDraft(change, parts, { managerId: outcome.id });
    const isToWait = outcome.kind === 'none' && mayArrive(managerValue) && mayWait(context);
    if (!isToWait) throw managerError(managerValue, outcome);
    return toDraft(change, parts, { managerId: null, pendingManager: managerValue });
  });
}

function shownManager({ before, hidesManager }: UserChange): User['manager'] {
  return hidesManager === true ? undefined : before?.manager;
}

function toDraft(
  change: UserChange,
  parts: UserParts,
  manager: { readonly managerId: number | null; readonly pendingManager?: string },
): UserDraft {
  const before = change.before;
  const stored = before?.units ?? noUnits;
  const units = inStoredSpelling(unitsOf(change.next, stored, change.mode), stored);
  const settled = comparable(withUnits(change.next, units), manager.managerId);
  const former = before && comparable(before.resource, before.manager?.id ?? null);
  const isSame =
    former !== undefined && equalResources(former, settled) && manager.pendingManager === undefined;
  const outcome = former === undefined ? 'created' : isSame ? 'unchanged' : 'updated';
  return { change, before, parts, units, pendingManager: undefined, ...manager, settled, former, outcome };
}

/** "hr" is the department "HR": a different spelling of the same name changes nothing. */
function inStoredSpelling(wanted: Units, stored: Units): Units {
  const spelled = { ...wanted };
  for (const type of unitTypes) {
    const [now, then] = [wanted[type], stored[type]];
    if (now !== undefined && then !== undefined && canonicalKey(now) === canonicalKey(then))
      spelled[type] = then;
  }
  return spelled;
}

function comparable(resource: ScimObject, managerId: number | null): ScimObject {
  const { schemas: _schemas, password: _password, ...rest } = resource;
  const result: Record<string, ScimValue> = { ...rest, active: rest.active !== false };
  const enterprise = isObject(rest[enterpriseUserUrn]) ? rest[enterpriseUserUrn] : {};
  const { manager: _manager, ...others } = enterprise;
  const next = managerId === null ? others : { ...others, manager: { value: String(managerId) } };
  if (Object.keys(next).length > 0) result[enterpriseUserUrn] = next;
  else delete result[enterpriseUserUrn];
  return result;
}

function checkUser(context: DirectoryContext, { userName, document }: UserParts): void {
  if (canonicalKey(userName) === '') {
    throw new DomainError('invalidValue', 'A user needs a userName.', { attribute: 'userName' });
  }
  const fields = isObject(document[additionalFieldsUrn]) ? document[additionalFieldsUrn] : {};
  for (const [id, pattern] of context.configuration.fieldPatterns) {
    const value = fields[id];
    if (value === undefined || fitsPattern(pattern, id, String(value))) continue;
    const attribute = `${additionalFieldsUrn}:${id}`;
    throw new DomainError(
      'invalidValue',
      `The value of the additional field "${id}" does not fit its pattern.`,
      {
        attribute,
      },
    );
  }
}
