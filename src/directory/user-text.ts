import { withSchemas } from '../resource/normalise.ts';
import { isPlain, type PlainDocument, plainDocument } from '../resource/plain-document.ts';
import { buildProjection } from '../resource/project.ts';
import { enterpriseUserUrn, platformUserUrn, type ResourceType } from '../resource/schema.ts';
import type { ScimObject } from '../resource/value.ts';
import type { Configuration } from '../settings/configuration.ts';
import { type Link, personasOf, userView } from './resource-view.ts';
import type { User } from './user.ts';
import type { StoredUser } from './user-read-store.ts';
import { primaryUnits, toUser } from './user-store.ts';
import { toETag } from './version.ts';

/** Attributes of a user that are not in its document: columns, memberships, and what follows from them. */
const derived: ReadonlySet<string> = new Set([
  'id',
  'schemas',
  'meta',
  'externalId',
  'userName',
  'active',
  'groups',
  `${enterpriseUserUrn}:organization`,
  `${enterpriseUserUrn}:department`,
  `${enterpriseUserUrn}:manager`,
  `${platformUserUrn}:company`,
  `${platformUserUrn}:location`,
  `${platformUserUrn}:personas`,
]);

const plainOf = new WeakMap<ResourceType, PlainDocument>();

function plainUser(userType: ResourceType): PlainDocument {
  const known = plainOf.get(userType);
  if (known !== undefined) return known;
  const plain = plainDocument(userType, derived);
  plainOf.set(userType, plain);
  return plain;
}

/**
 * The user as `userView` and the default projection show it, as JSON text. The stored document is not taken apart and
 * put together again: what is derived is written into its text. Only the order of attributes may differ.
 */
export function userText(user: StoredUser, configuration: Configuration, link: Link): string {
  const document = JSON.parse(user.document) as ScimObject;
  const text = plainText(user, document, { configuration, link });
  return text ?? viewText(toUser(user), configuration, link);
}

/** The same of a user who was read or written already. */
export function textOfUser(user: User, configuration: Configuration, link: Link): string {
  const { resource, stored } = user;
  if (stored === undefined) return viewText(user, configuration, link);
  const externalId = typeof resource.externalId === 'string' ? resource.externalId : null;
  const shown = { ...user, userName: String(resource.userName), externalId, document: stored.text };
  const text = plainText(shown, stored.document, { configuration, link });
  return text ?? viewText(user, configuration, link);
}

/** Undefined for one who may not be shown whole. */
function plainText(user: ShownUser, document: ScimObject, rendering: Rendering): string | undefined {
  const plain = plainUser(rendering.configuration.userType);
  return isPlain(plain, document) ? spliced(user, document, rendering) : undefined;
}

function viewText(user: User, configuration: Configuration, link: Link): string {
  const { userType } = configuration;
  const view = userView(user, configuration, link);
  return JSON.stringify(buildProjection(userType).apply(withSchemas(userType, view)));
}

type ShownUser = Omit<StoredUser, 'ownerSourceId' | 'doNotSynchronise'>;

interface Rendering {
  readonly configuration: Configuration;
  readonly link: Link;
}

/** Undefined when the text is not as this program writes it. */
function spliced(
  user: ShownUser,
  document: ScimObject,
  { configuration, link }: Rendering,
): string | undefined {
  const { userType, personas } = configuration;
  const additions = new Map([
    [enterpriseUserUrn, enterpriseMembers(user, link)],
    [platformUserUrn, platformMembers(user, personasOf(user, personas, link))],
  ]);
  let rest = user.document;
  let head = '';
  let schemas = JSON.stringify(userType.schema.id);
  for (const { id } of userType.extensions) {
    const added = additions.get(id) ?? '';
    const isStored = document[id] !== undefined;
    if (!isStored && added === '') continue;
    schemas += `,${JSON.stringify(id)}`;
    if (!isStored) head += `,${JSON.stringify(id)}:{${added}}`;
    else if (added !== '') {
      const longer = withMembers(rest, id, added);
      if (longer === undefined) return undefined;
      rest = longer;
    }
  }
  if (!rest.startsWith('{')) return undefined;
  const tail = rest === '{}' ? '}' : `,${rest.slice(1)}`;
  return `{"schemas":[${schemas}]${coreMembers(user, link)}${head}${metaMember(user, { configuration, link })}${tail}`;
}

/**
 * Puts members first into the object of an extension. Its name can stand in the text only as that key: in a value its
 * quotes would be escaped, and nothing deeper in a plain document is named like it.
 */
function withMembers(text: string, extension: string, members: string): string | undefined {
  const key = `"${extension}":{`;
  const at = text.indexOf(key);
  if (at === -1) return undefined;
  const inside = at + key.length;
  return `${text.slice(0, inside)}${members},${text.slice(inside)}`;
}

function coreMembers({ id, userName, state, externalId, groups }: ShownUser, link: Link): string {
  const external = externalId === null ? '' : `,"externalId":${JSON.stringify(externalId)}`;
  const shown = groups.map(
    (group) =>
      `{"value":"${group.id}","$ref":${JSON.stringify(link('Group', group.id))},` +
      `"display":${JSON.stringify(group.displayName)},"type":"direct"}`,
  );
  const memberships = shown.length === 0 ? '' : `,"groups":[${shown.join(',')}]`;
  return `,"id":"${id}","userName":${JSON.stringify(userName)},"active":${state === 'active'}${external}${memberships}`;
}

function enterpriseMembers({ groups, manager }: ShownUser, link: Link): string {
  const { company, department } = primaryUnits(groups);
  const members: string[] = [];
  if (company !== undefined) members.push(`"organization":${JSON.stringify(company)}`);
  if (department !== undefined) members.push(`"department":${JSON.stringify(department)}`);
  if (manager !== undefined) {
    const { id, displayName } = manager;
    members.push(
      `"manager":{"value":"${id}","displayName":${JSON.stringify(displayName)},"$ref":${JSON.stringify(link('User', id))}}`,
    );
  }
  return members.join(',');
}

function platformMembers({ groups }: ShownUser, personas: readonly unknown[]): string {
  const { company, location } = primaryUnits(groups);
  const members: string[] = [];
  if (company !== undefined) members.push(`"company":${JSON.stringify(company)}`);
  if (location !== undefined) members.push(`"location":${JSON.stringify(location)}`);
  if (personas.length > 0) members.push(`"personas":${JSON.stringify(personas)}`);
  return members.join(',');
}

function metaMember(
  { id, created, modified, version }: ShownUser,
  { configuration, link }: Rendering,
): string {
  const location = JSON.stringify(link('User', id));
  const tag = JSON.stringify(toETag(version, configuration.shownVersion));
  return `,"meta":{"resourceType":"User","created":"${created}","lastModified":"${modified}","location":${location},"version":${tag}}`;
}
