import { withSchemas } from '../resource/normalise.ts';
import { isPlain } from '../resource/plain-document.ts';
import { buildProjection } from '../resource/project.ts';
import { enterpriseUserUrn, platformUserUrn } from '../resource/schema.ts';
import type { ScimObject } from '../resource/value.ts';
import type { Configuration } from '../settings/configuration.ts';
import { noUnits, type Units } from './organisation.ts';
import { markedExtensions, plainUser } from './plain-user.ts';
import { type Link, personasOf, userView } from './resource-view.ts';
import type { User } from './user.ts';
import type { StoredUser } from './user-read-store.ts';
import { primaryUnits, toUser } from './user-store.ts';
import { toETag } from './version.ts';

/**
 * Writes users as `userView` and the default projection show them, as JSON text. The stored document is not taken apart
 * and put together again: what is derived is written into its text. Only the order of attributes may differ.
 */
export function userTextWriter(configuration: Configuration, link: Link): (user: StoredUser) => string {
  const rendering = { configuration, link, quotedLink: quotedLinks(link) };
  return (user) => {
    const marked = markedExtensions(user.plainMark);
    const text =
      marked === undefined
        ? plainText(user, JSON.parse(user.document) as ScimObject, rendering)
        : spliced(user, marked, rendering);
    return text ?? viewText(toUser(user), configuration, link);
  };
}

/** The same of a user who was read or written already. */
export function textOfUser(user: User, configuration: Configuration, link: Link): string {
  const { resource, stored } = user;
  if (stored === undefined) return viewText(user, configuration, link);
  const externalId = typeof resource.externalId === 'string' ? resource.externalId : null;
  const shown = { ...user, userName: String(resource.userName), externalId, document: stored.text };
  const text = plainText(shown, stored.document, { configuration, link, quotedLink: quotedLinks(link) });
  return text ?? viewText(user, configuration, link);
}

/** Undefined for one who may not be shown whole. */
function plainText(user: ShownUser, document: ScimObject, rendering: Rendering): string | undefined {
  const { userType } = rendering.configuration;
  if (!isPlain(plainUser(userType), document)) return undefined;
  const stored = userType.extensions.filter(({ id }) => document[id] !== undefined);
  return spliced(user, new Set(stored.map(({ id }) => id)), rendering);
}

function viewText(user: User, configuration: Configuration, link: Link): string {
  const { userType } = configuration;
  const view = userView(user, configuration, link);
  return JSON.stringify(buildProjection(userType).apply(withSchemas(userType, view)));
}

type ShownUser = Omit<StoredUser, 'ownerSourceId' | 'doNotSynchronise' | 'plainMark'>;

interface Rendering {
  readonly configuration: Configuration;
  readonly link: Link;
  /** The same as JSON. */
  readonly quotedLink: Link;
}

/** Links differ in their ids alone: when one of them stands in JSON as it is, all do. */
function quotedLinks(link: Link): Link {
  if (unescaped.test(link('User', 0))) return (resourceType, id) => `"${link(resourceType, id)}"`;
  return (resourceType, id) => JSON.stringify(link(resourceType, id));
}

/** `stored`: the extensions that the document has. Undefined when the text is not as this program writes it. */
function spliced(user: ShownUser, stored: ReadonlySet<string>, rendering: Rendering): string | undefined {
  const { configuration, link, quotedLink } = rendering;
  const { userType, personas } = configuration;
  if (!user.document.startsWith('{')) return undefined;
  const units = user.groups.length === 0 ? noUnits : primaryUnits(user.groups);
  let rest = user.document.slice(1);
  let head = '';
  let schemas = quoted(userType.schema.id);
  for (const { id } of userType.extensions) {
    let added = '';
    if (id === enterpriseUserUrn) added = enterpriseMembers(user, units, quotedLink);
    else if (id === platformUserUrn) added = platformMembers(units, personasOf(user, personas, link));
    const isStored = stored.has(id);
    if (!isStored && added === '') continue;
    schemas += `,${quoted(id)}`;
    if (!isStored) head += `,${quoted(id)}:{${added}}`;
    else if (added !== '') {
      const longer = withMembers(rest, id, added);
      if (longer === undefined) return undefined;
      rest = longer;
    }
  }
  const tail = rest === '}' ? rest : `,${rest}`;
  return `{"schemas":[${schemas}]${coreMembers(user, quotedLink)}${head}${metaMember(user, rendering)}${tail}`;
}

/** What stands in JSON as it is: most texts, and telling so takes less than writing them as JSON. */
const unescaped = /^[ !#-[\]-~]*$/;

function quoted(text: string): string {
  return unescaped.test(text) ? `"${text}"` : JSON.stringify(text);
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

function coreMembers({ id, userName, state, externalId, groups }: ShownUser, quotedLink: Link): string {
  const external = externalId === null ? '' : `,"externalId":${quoted(externalId)}`;
  const shown = groups.map(
    (group) =>
      `{"value":"${group.id}","$ref":${quotedLink('Group', group.id)},` +
      `"display":${quoted(group.displayName)},"type":"direct"}`,
  );
  const memberships = shown.length === 0 ? '' : `,"groups":[${shown.join(',')}]`;
  return `,"id":"${id}","userName":${quoted(userName)},"active":${state === 'active'}${external}${memberships}`;
}

function enterpriseMembers({ manager }: ShownUser, { company, department }: Units, quotedLink: Link): string {
  const members: string[] = [];
  if (company !== undefined) members.push(`"organization":${quoted(company)}`);
  if (department !== undefined) members.push(`"department":${quoted(department)}`);
  if (manager !== undefined) {
    const { id, displayName } = manager;
    members.push(
      `"manager":{"value":"${id}","displayName":${quoted(displayName)},"$ref":${quotedLink('User', id)}}`,
    );
  }
  return members.join(',');
}

function platformMembers({ company, location }: Units, personas: readonly unknown[]): string {
  const members: string[] = [];
  if (company !== undefined) members.push(`"company":${quoted(company)}`);
  if (location !== undefined) members.push(`"location":${quoted(location)}`);
  if (personas.length > 0) members.push(`"personas":${JSON.stringify(personas)}`);
  return members.join(',');
}

function metaMember(
  { id, created, modified, version }: ShownUser,
  { configuration, quotedLink }: Rendering,
): string {
  // A tag has two quotes, and nothing else that JSON would write otherwise.
  const tag = toETag(version, configuration.shownVersion).replaceAll('"', '\\"');
  return `,"meta":{"resourceType":"User","created":"${created}","lastModified":"${modified}","location":${quotedLink('User', id)},"version":"${tag}"}`;
}
