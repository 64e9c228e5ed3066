import { DomainError } from '../errors.ts';
import { canonicalKey } from '../resource/canonical-key.ts';
import { equalResources, type ScimObject } from '../resource/value.ts';
import { StaleRead } from '../storage/constraints.ts';
import type { Tx } from '../storage/database.ts';
import { reserveIds } from '../storage/sequence-store.ts';
import type { DirectoryContext } from './context.ts';
import { documentColumns } from './document-columns.ts';
import {
  type Group,
  insertGroups,
  toGroupParts,
  toGroupResource,
  updateGroup,
  updateGroupVersion,
} from './group-store.ts';
import { appendJournal, difference } from './journal-store.ts';
import { requireKey } from './key-length.ts';
import { makeNobodysPrimary } from './membership-store.ts';
import { changeMembers, type MemberChange } from './save-members.ts';
import { deleteLink, upsertLinks } from './source-link-store.ts';
import { touchMembersOf } from './touch-store.ts';
import { laterOf } from './version.ts';

/** Creates the group and returns its id. Throws the database's own error for a name that is taken. */
export async function createGroup(
  tx: Tx,
  context: DirectoryContext,
  resource: ScimObject,
  reservedId?: number,
): Promise<number> {
  const parts = checkedParts(resource);
  const id = reservedId ?? (await reserveIds(tx, 'Group', 1));
  await insertGroups(tx, [
    {
      id,
      state: 'existing',
      owner_source_id: context.sourceId,
      ...groupColumns(parts),
      version: 1,
      created: context.now,
      modified: context.now,
    },
  ]);
  await writeLink(tx, context, { id, externalId: parts.externalId, former: undefined });
  await appendJournal(tx, context, [
    { resourceType: 'Group', resourceId: id, action: 'create', after: withoutSchemas(resource) },
  ]);
  return id;
}

/**
 * Writes a group's attributes and applies member changes in their order, as set statements in `tx`. Resolves with the
 * group as it is now; with `before` itself when nothing has changed, and its version is the same.
 */
export async function updateGroupTo(
  tx: Tx,
  context: DirectoryContext,
  before: Group,
  { next, members }: { readonly next: ScimObject; readonly members: readonly MemberChange[] },
): Promise<Group> {
  const parts = checkedParts(next);
  const former = withoutSchemas(before.resource);
  const wanted = withoutSchemas(next);
  const isSame = equalResources(former, wanted);
  const membersChanged = await changeMembers(tx, context, before.id, members);
  if (isSame && !membersChanged) return before;
  const after = nextVersion(context, before, isSame ? undefined : parts);
  const version = {
    id: before.id,
    owner_source_id: after.ownerSourceId,
    modified: after.modified,
    former_version: before.version,
  };
  const done = isSame
    ? await updateGroupVersion(tx, version)
    : await updateGroup(tx, { ...version, ...groupColumns(parts) });
  if (!done) throw new StaleRead(`The group ${before.id}`);
  if (isSame) return after;
  await writeEffects(tx, context, before, parts);
  const entry = { resourceType: 'Group' as const, resourceId: before.id, action: 'update' as const };
  await appendJournal(tx, context, [{ ...entry, ...difference(former, wanted) }]);
  return after;
}

/** What reading the group again would find; `parts` is undefined when only its members have changed. */
function nextVersion(
  context: DirectoryContext,
  before: Group,
  parts: ReturnType<typeof toGroupParts> | undefined,
): Group {
  const after = {
    ...before,
    ownerSourceId: before.ownerSourceId ?? context.sourceId,
    version: before.version + 1,
    modified: laterOf(context.now, before.modified),
  };
  if (parts === undefined) return after;
  const { displayName, groupType } = parts;
  const externalId = context.sourceId === null ? undefined : parts.externalId;
  return { ...after, displayName, groupType, resource: toGroupResource({ ...parts, externalId }) };
}

/** What a change of the attributes means beyond the group's own row. */
async function writeEffects(
  tx: Tx,
  context: DirectoryContext,
  { id, resource, groupType, displayName }: Group,
  parts: ReturnType<typeof toGroupParts>,
): Promise<void> {
  const former = typeof resource.externalId === 'string' ? resource.externalId : undefined;
  await writeLink(tx, context, { id, externalId: parts.externalId, former });
  const isOtherType = parts.groupType !== groupType;
  if (isOtherType || parts.displayName !== displayName) await touchMembersOf(tx, id, context.now);
  if (isOtherType) await makeNobodysPrimary(tx, id);
}

function withoutSchemas({ schemas: _schemas, members: _members, ...rest }: ScimObject): ScimObject {
  return rest;
}

function checkedParts(resource: ScimObject): ReturnType<typeof toGroupParts> {
  const parts = toGroupParts(resource);
  requireKey('displayName', parts.displayName);
  requireKey('externalId', parts.externalId);
  if (canonicalKey(parts.displayName) !== '') return parts;
  throw new DomainError('invalidValue', 'A group needs a displayName.', { attribute: 'displayName' });
}

function groupColumns({ displayName, groupType, document }: ReturnType<typeof toGroupParts>) {
  return {
    group_type: groupType,
    display_name: displayName,
    display_name_key: canonicalKey(displayName),
    ...documentColumns(document, displayName),
  } as const;
}

async function writeLink(
  tx: Tx,
  context: DirectoryContext,
  { id, externalId, former }: { id: number; externalId: string | undefined; former: string | undefined },
): Promise<void> {
  if (context.sourceId === null || externalId === former) return;
  const link = { source_id: context.sourceId, resource_type: 'Group' as const, resource_id: id };
  if (externalId === undefined) await deleteLink(tx, link);
  else await upsertLinks(tx, [{ ...link, external_id: externalId, digest: null }]);
}
