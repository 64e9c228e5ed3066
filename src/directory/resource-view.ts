import { additionalFieldsUrn, platformGroupUrn, platformUserUrn } from '../resource/schema.ts';
import { isObject, type ScimObject, type ScimValue } from '../resource/value.ts';
import type { Configuration, Persona } from '../settings/configuration.ts';
import type { Group } from './group-store.ts';
import type { Member } from './membership-store.ts';
import type { User } from './user.ts';
import { toETag } from './version.ts';

/** Makes absolute references: `link('User', 7)`. */
export type Link = (resourceType: 'User' | 'Group', id: number) => string;

/** What of the configuration a resource shows. */
export type ShownConfiguration = Pick<Configuration, 'personas' | 'shownVersion'>;

/** The user as RFC 7643 §4.1 shows it: what is stored, and what follows from memberships and configuration. */
export function userView(user: User, configuration: ShownConfiguration, link: Link): ScimObject {
  // `schemas` is filled in with the projection; it stands first, where readers look for it.
  const view: Record<string, ScimValue> = {
    schemas: [],
    id: String(user.id),
    ...withManagerLink(user, link),
  };
  if (user.groups.length > 0) {
    view.groups = user.groups.map((group) => ({
      value: String(group.id),
      $ref: link('Group', group.id),
      display: group.displayName,
      type: 'direct',
    }));
  }
  const mine = personasOf(user, configuration.personas, link);
  if (mine.length > 0) {
    view[platformUserUrn] = { ...extensionOf(view, platformUserUrn), personas: mine };
  }
  return { ...view, meta: meta('User', user, { configuration, link }) };
}

function extensionOf(view: ScimObject, urn: string): ScimObject {
  const extension = view[urn];
  return isObject(extension) ? extension : {};
}

function withManagerLink({ resource, manager }: User, link: Link): ScimObject {
  if (manager === undefined) return resource;
  return mapManager(resource, (value) => ({ ...value, $ref: link('User', manager.id) }));
}

/** The user as someone who is not to see the manager is shown it. */
export function withoutManager(user: User): User {
  return { ...user, manager: undefined, resource: mapManager(user.resource, () => undefined) };
}

function mapManager(
  resource: ScimObject,
  change: (manager: ScimObject) => ScimObject | undefined,
): ScimObject {
  const result: Record<string, ScimValue> = { ...resource };
  for (const [name, extension] of Object.entries(resource)) {
    if (isObject(extension) && isObject(extension.manager) && name !== additionalFieldsUrn) {
      const { manager: _former, ...others } = extension;
      const changed = change(extension.manager);
      if (changed !== undefined) result[name] = { ...extension, manager: changed };
      else if (Object.keys(others).length > 0) result[name] = others;
      else delete result[name];
    }
  }
  return result;
}

/** A person is in a persona by any or by all of its groups; the groups by which it is are its memberships. */
export function personasOf(
  { groups }: Pick<User, 'groups'>,
  personas: readonly Persona[],
  link: Link,
): ScimValue[] {
  return personas.flatMap(({ id, name, rule, groupIds }) => {
    const memberships = groups.filter((group) => groupIds.includes(group.id));
    const isIn = rule === 'all' ? memberships.length === groupIds.length : memberships.length > 0;
    if (!isIn) return [];
    const shown = memberships.map((group) => ({
      value: String(group.id),
      $ref: link('Group', group.id),
      display: group.displayName,
      type: group.groupType,
    }));
    return [{ value: String(id), display: name, memberships: shown }];
  });
}

/** The address of a user without the id, which stands at its end. */
export function userAddress(link: Link): string {
  return link('User', 0).replace(/0$/, '');
}

export function memberView({ id, displayName }: Member, address: string): ScimObject {
  return { value: String(id), $ref: address + id, display: displayName, type: 'User' };
}

interface ShownGroup extends Group {
  readonly members?: readonly Member[] | undefined;
}

/** The group as RFC 7643 §4.2 shows it; `members` are shown when they were loaded. */
export function groupView(
  { members, ...group }: ShownGroup,
  configuration: ShownConfiguration,
  link: Link,
): ScimObject {
  const view: Record<string, ScimValue> = { schemas: [], id: String(group.id), ...group.resource };
  const over = configuration.personas.filter(({ groupIds }) => groupIds.includes(group.id));
  if (over.length > 0) {
    const shown = over.map(({ id, name }) => ({ value: String(id), display: name }));
    view[platformGroupUrn] = { ...extensionOf(view, platformGroupUrn), personas: shown };
  }
  if (members !== undefined && members.length > 0) {
    const address = userAddress(link);
    view.members = members.map((member) => memberView(member, address));
  }
  return { ...view, meta: meta('Group', group, { configuration, link }) };
}

interface Versioned {
  readonly id: number;
  readonly version: number;
  readonly created: string;
  readonly modified: string;
}

interface ShownAs {
  readonly configuration: ShownConfiguration;
  readonly link: Link;
}

function meta(
  resourceType: 'User' | 'Group',
  resource: Versioned,
  { configuration, link }: ShownAs,
): ScimObject {
  return {
    resourceType,
    created: resource.created,
    lastModified: resource.modified,
    location: link(resourceType, resource.id),
    version: toETag(resource.version, configuration.shownVersion),
  };
}
