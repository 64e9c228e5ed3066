import { isPlain, type PlainDocument, plainDocument } from '../resource/plain-document.ts';
import {
  buildResourceType,
  enterpriseUserUrn,
  platformUserUrn,
  type ResourceType,
} from '../resource/schema.ts';
import type { ScimObject } from '../resource/value.ts';

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

/** What the default projection shows whole of a user's document under a configuration. */
export function plainUser(userType: ResourceType): PlainDocument {
  const known = plainOf.get(userType);
  if (known !== undefined) return known;
  const plain = plainDocument(userType, derived);
  plainOf.set(userType, plain);
  return plain;
}

/** What is so under every configuration: additional fields come and go, and are not among it. */
const alwaysPlain = plainDocument(buildResourceType('User'), derived);

/** The extensions that a document may then have, in the order of their bits in a mark. */
const extensions = [enterpriseUserUrn, platformUserUrn] as const;
const marks = 1 << extensions.length;

/** Names the rules of this release: what another one has marked is looked at anew. */
const release = marks * ((Bun.hash.crc32(rulesText(alwaysPlain)) >>> 4) + 1);

function rulesText({ attributes, extensions: more }: PlainDocument): string {
  const rules = [attributes, ...more.values()].map((each) =>
    [...each].map(([name, { parts }]) => [name, parts === undefined ? null : [...parts]]),
  );
  return JSON.stringify([rules, [...more.keys()]]);
}

const extensionsOf: ReadonlyMap<number, ReadonlySet<string>> = new Map(
  Array.from({ length: marks }, (_, bits) => [
    release + bits,
    new Set(extensions.filter((_urn, i) => (bits & (1 << i)) !== 0)),
  ]),
);

/**
 * A number that is stored with a document and says that it is plain, and which extensions it has, so that whoever shows
 * it need not take it apart to see that; 0 for one that has to be looked at.
 */
export function plainMark(document: ScimObject): number {
  if (!isPlain(alwaysPlain, document)) return 0;
  return extensions.reduce((mark, urn, i) => (document[urn] === undefined ? mark : mark + (1 << i)), release);
}

/** The extensions that a document with this mark has; undefined for one that has to be looked at. */
export function markedExtensions(mark: number): ReadonlySet<string> | undefined {
  return extensionsOf.get(mark);
}
