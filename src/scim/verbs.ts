import type { Created } from '../directory/create-user.ts';
import type { Group } from '../directory/group-store.ts';
import type { Groups } from '../directory/groups.ts';
import { companyNames } from '../directory/organisation.ts';
import type { User } from '../directory/user.ts';
import type { Users } from '../directory/users.ts';
import type { Preconditions } from '../directory/version.ts';
import { canonicalKey } from '../resource/canonical-key.ts';
import type { PatchOperation } from '../resource/patch-operation.ts';
import { enterpriseUserUrn, platformUserUrn, type ResourceTypeName } from '../resource/schema.ts';
import type { ScimObject, ScimValue } from '../resource/value.ts';
import type { ScimCall } from './call.ts';
import { decodePatch, decodeResource, patchOptions, toResourceId } from './decode.ts';

/** Which resource a change is for, and which versions of it the client has in mind. */
export interface Target extends Preconditions {
  readonly id: number;
}

interface Versioned {
  readonly id: number;
  readonly version: number;
}

/**
 * The writing verbs of RFC 7644 §3 on one type of resource, without HTTP: the routes and the operations of a Bulk are
 * both made of them. `read…` turns JSON into what is strict; the others change the directory.
 */
export interface Verbs<R extends Versioned = Versioned> {
  readResource(call: ScimCall, body: ScimValue, mode: 'create' | 'replace'): ScimObject;
  readPatch(call: ScimCall, body: ScimValue): readonly PatchOperation[];
  create(call: ScimCall, body: ScimObject): Promise<Created<R>>;
  replace(call: ScimCall, target: Target, body: ScimObject): Promise<R>;
  patch(call: ScimCall, target: Target, operations: readonly PatchOperation[]): Promise<R>;
  delete(call: ScimCall, target: Target): Promise<void>;
}

export interface UserVerbs extends Verbs<User> {
  /** Users each of whom is the manager of the next, and the last one that of the first: all of them or none. */
  createRing(call: ScimCall, bodies: readonly ScimObject[]): Promise<readonly Created<User>[]>;
}

/** The verbs by the type of resource. */
export interface AllVerbs extends Readonly<Record<ResourceTypeName, Verbs>> {
  readonly User: UserVerbs;
}

export function userVerbs(people: Users): UserVerbs {
  return {
    readResource(call, body, mode) {
      return decodeResource(call, body, { resourceType: call.context.configuration.userType, mode });
    },
    readPatch: (call, body) => decodePatch(call, body, call.context.configuration.userType),
    async create(call, body) {
      const created = await people.create(call.context, body, call.source.settings.onMatch);
      touch(call, 'User', created.resource.id);
      noteDroppedPassword(call, created, body);
      if (created.outcome === 'created' || call.source.settings.onMatch === 'merge')
        noteLostCompany(call, created.resource, body);
      return created;
    },
    async createRing(call, bodies) {
      const created = await people.createRing(call.context, bodies, call.source.settings.onMatch);
      for (const [index, each] of created.entries()) {
        touch(call, 'User', each.resource.id);
        noteDroppedPassword(call, each, bodies[index]);
      }
      return created;
    },
    async replace(call, { id, ...preconditions }, body) {
      touch(call, 'User', id);
      const user = await people.replace(call.context, id, body, preconditions);
      noteLostCompany(call, user, body);
      return user;
    },
    async patch(call, { id, ...preconditions }, operations) {
      touch(call, 'User', id);
      const options = { ...patchOptions(call), ...preconditions };
      const { user, result } = await people.patch(call.context, id, operations, options);
      call.trace.ignored.push(...result.ignored);
      note(call, 'element-created-for-value-path', result.createdForPaths);
      note(call, 'bare-extension-name', result.bareNames);
      return user;
    },
    delete(call, { id, ...preconditions }) {
      touch(call, 'User', id);
      return people.delete(call.context, id, preconditions);
    },
  };
}

export function groupVerbs(directory: Groups): Verbs<Group> {
  return {
    readResource(call, body, mode) {
      return decodeResource(call, body, { resourceType: call.context.configuration.groupType, mode });
    },
    readPatch: (call, body) => decodePatch(call, body, call.context.configuration.groupType),
    async create(call, body) {
      const created = await directory.create(call.context, body, call.source.settings.onMatch);
      touch(call, 'Group', created.resource.id);
      return created;
    },
    replace(call, { id, ...preconditions }, body) {
      touch(call, 'Group', id);
      return directory.replace(call.context, id, body, preconditions);
    },
    patch(call, { id, ...preconditions }, operations) {
      touch(call, 'Group', id);
      return directory.patch(call.context, id, operations, { ...patchOptions(call), ...preconditions });
    },
    delete(call, { id, ...preconditions }) {
      touch(call, 'Group', id);
      return directory.delete(call.context, id, preconditions);
    },
  };
}

/** The resource that the path of a request names. */
export function targetOf(request: Request, id: string): Target {
  const ifMatch = request.headers.get('if-match') ?? undefined;
  const ifNoneMatch = request.headers.get('if-none-match') ?? undefined;
  return { id: toResourceId(id), ifMatch, ifNoneMatch };
}

/** For the request log; an id of no resource is not worth a line. */
function touch({ trace }: ScimCall, resourceType: ResourceTypeName, resourceId: number): void {
  if (resourceId > 0) trace.touched.push({ resourceType, resourceId });
}

/** A password is for a new user alone; a create that met somebody who is there leaves theirs as it was. */
function noteDroppedPassword(call: ScimCall, { outcome }: Created<User>, body: ScimObject | undefined): void {
  if (outcome === 'created' || body?.password === undefined) return;
  call.trace.ignored.push({ attribute: 'password', reason: 'password' });
}

/** Company has two names; of two values one is lost. */
function noteLostCompany({ trace }: ScimCall, { units }: User, body: ScimObject): void {
  const [organization, company] = companyNames(body);
  if (organization === undefined || company === undefined) return;
  const kept = canonicalKey(units.company ?? '');
  const lost = [
    ...(canonicalKey(organization) === kept ? [] : [`${enterpriseUserUrn}:organization`]),
    ...(canonicalKey(company) === kept ? [] : [`${platformUserUrn}:company`]),
  ];
  for (const attribute of lost) trace.ignored.push({ attribute, reason: 'otherValue' });
}

function note(call: ScimCall, code: string, whats: readonly string[]): void {
  for (const what of whats) call.trace.repairs.push({ code, what });
}
