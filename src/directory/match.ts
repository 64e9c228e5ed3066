import { DomainError } from '../errors.ts';
import { canonicalKey } from '../resource/canonical-key.ts';
import type { ScimObject } from '../resource/value.ts';
import type { Reader } from '../storage/database.ts';
import { type DirectoryContext, isAdoptable, mayName } from './context.ts';
import { findGroupsByNameKeys, toGroupParts } from './group-store.ts';
import { findLinks } from './source-link-store.ts';
import { matchingEmailKey } from './user.ts';
import { findMatches } from './user-match-store.ts';

const idsShownMax = 10;

/**
 * Whom a create would duplicate (scim.md, service-description.md §3): the live user with this userName, this source's
 * externalId, or this primary or work email. Undefined when there is none; `uniqueness` when they are several.
 */
export async function findMatchingUser(
  db: Reader,
  context: DirectoryContext,
  resource: ScimObject,
): Promise<number | undefined> {
  const { userName, externalId } = resource;
  const hits = await findMatches(db, {
    name: canonicalKey(String(userName ?? '')),
    source: context.sourceId,
    externalId: typeof externalId === 'string' ? externalId : null,
    email: matchingEmailKey(resource) ?? null,
  });
  const decisive = new Map(hits.flatMap(({ by, id }) => (by === 'email' ? [] : [[id, by] as const])));
  // People may share an address, so one that the source may not see is no obstacle, and must not show by being one.
  const reachable = hits.filter(
    (hit) => hit.by === 'email' && isAdoptable(context, { ownerSourceId: hit.owner_source_id }),
  );
  const shared = [...new Set(reachable.map((hit) => hit.id))];
  if (decisive.size > 1)
    throw several(`userName and externalId match different users${ids(context, decisive.keys())}`);
  const [decided] = decisive.keys();
  if (decided === undefined) return onlyOne(context, shared);
  if (shared.length > 0 && !shared.includes(decided)) {
    throw several(
      `${decisive.get(decided)} matches one user and the email another${ids(context, [decided, ...shared])}`,
    );
  }
  return decided;
}

function onlyOne(context: DirectoryContext, shared: readonly number[]): number | undefined {
  if (shared.length > 1) throw several(`several users share the email${ids(context, shared)}`);
  return shared[0];
}

/** RFC 7644 §3.3: the same group would be created twice. By externalId, then by displayName within its type. */
export async function findMatchingGroup(
  db: Reader,
  context: DirectoryContext,
  resource: ScimObject,
): Promise<number | undefined> {
  const { displayName, groupType, externalId } = toGroupParts(resource);
  const [link] =
    externalId === undefined || context.sourceId === null
      ? []
      : await findLinks(db, context.sourceId, 'Group', [externalId]);
  const named = await findGroupsByNameKeys(db, [canonicalKey(displayName)]);
  const sameType = named.find((group) => group.group_type === groupType);
  if (link === undefined) return sameType?.id;
  if (sameType !== undefined && sameType.id !== link.resource_id) {
    throw several(
      `externalId matches one group and displayName another${ids(context, [link.resource_id, sameType.id])}`,
    );
  }
  return link.resource_id;
}

function several(what: string): DomainError {
  return new DomainError('uniqueness', `The resource cannot be matched: ${what}; correct one of them.`);
}

function ids(context: DirectoryContext, values: Iterable<number>): string {
  return mayName(context) ? ` (${[...values].slice(0, idsShownMax).join(', ')})` : '';
}
