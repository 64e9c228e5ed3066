import { DomainError } from '../errors.ts';
import { mergeResource, replaceResource } from '../resource/merge.ts';
import type { PatchOptions } from '../resource/patch.ts';
import { splitMembers, takeMembers } from '../resource/patch-members.ts';
import { type PatchOperation, withOrigins } from '../resource/patch-operation.ts';
import { platformGroupUrn } from '../resource/schema.ts';
import { isObject, type ScimObject } from '../resource/value.ts';
import { StaleRead } from '../storage/constraints.ts';
import type { Database, Reader, Tx } from '../storage/database.ts';
import { lockRows } from '../storage/row-lock.ts';
import { comesInSight, type DirectoryContext, isAdoptable, isVisible, takenBy } from './context.ts';
import type { Created, OnMatch } from './create-user.ts';
import { groupListing } from './group-listing.ts';
import { adoptGroup, type Group, markDeleted, selectGroups } from './group-store.ts';
import { appendJournal } from './journal-store.ts';
import { findMatchingGroup } from './match.ts';
import { userEntries } from './member-entries.ts';
import { readMembersText } from './member-text-store.ts';
import {
  countMembers,
  hasMoreMembersThan,
  keepMembers,
  listMembers,
  type Member,
} from './membership-store.ts';
import { patchResource } from './patch-resource.ts';
import { deletePendingOf } from './pending-store.ts';
import { type Query, queryRows } from './query.ts';
import { memberView } from './resource-view.ts';
import { createGroup, updateGroupTo } from './save-group.ts';
import { changeMembers, type MemberChange } from './save-members.ts';
import type { Selection } from './select-rows.ts';
import { deleteAllLinks } from './source-link-store.ts';
import { TextCache } from './text-cache.ts';
import { touchMembersOf, touchUsers } from './touch-store.ts';
import { writeCreate, writeUnique } from './uniqueness.ts';
import { type Preconditions, requireVersion } from './version.ts';

const memberTextBytesMax = 8 * 1024 * 1024;

/** Groups, by the verbs of RFC 7644 §3. Their members are rows, never a list that is read, changed and written back. */
export class Groups {
  readonly #memberTexts = new TextCache(memberTextBytesMax);
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  get(context: DirectoryContext, id: number): Promise<Group> {
    return getGroup(this.#database.read, context, id);
  }

  /** What a query finds, in its order, without loading anything. */
  queryRows(context: DirectoryContext, query: Query): Promise<Selection> {
    return queryRows(this.#database, context, query, groupListing);
  }

  /** Those of `ids` that are there, in the order of ids. */
  load(context: DirectoryContext, ids: readonly number[]): Promise<Group[]> {
    return groupListing.select(this.#database.read, ids, context.sourceId);
  }

  /** Those of the group's members whom the source may see, in the order of their ids. */
  async members(context: DirectoryContext, id: number): Promise<Member[]> {
    const members = await listMembers(this.#database.read, id);
    return members.filter((member) => isVisible(context, member));
  }

  /**
   * The members of a group that was read before, as JSON text with commas between them; `address` is that of a user
   * without the id. The version moves with who is in the group and with their names (touch-store.ts).
   */
  async membersText(context: DirectoryContext, { id, version }: Group, address: string): Promise<string> {
    if (context.scope === 'own') {
      const members = await this.members(context, id);
      return members.map((member) => JSON.stringify(memberView(member, address))).join(',');
    }
    const known = this.#memberTexts.find(address, id, version);
    if (known !== undefined) return known;
    const text = await readMembersText(this.#database.read, id, address);
    this.#memberTexts.keep(address, id, { version, text });
    return text;
  }

  countMembers(id: number): Promise<number> {
    return countMembers(this.#database.read, id);
  }

  hasMoreMembersThan(id: number, members: number): Promise<boolean> {
    return hasMoreMembersThan(this.#database.read, id, members);
  }

  /** Creates the group, or finds the one it would duplicate and does with it what `onMatch` says. */
  create(context: DirectoryContext, resource: ScimObject, onMatch: OnMatch): Promise<Created<Group>> {
    return writeCreate(this.#database, (tx) => createOrMatch(tx, context, resource, onMatch));
  }

  /** PUT: `members` left out empties the group, as RFC 7644 §3.5.1 has it for every attribute but the type. */
  replace(
    context: DirectoryContext,
    id: number,
    body: ScimObject,
    preconditions: Preconditions = {},
  ): Promise<Group> {
    return this.#write(async (tx) => {
      await lockRows(tx, 'group_', [id]);
      const before = await getGroup(tx, context, id);
      requireVersion(before.version, preconditions);
      const { document, members } = takeMembers(context.configuration.groupType, body);
      const next = withGroupType(
        replaceResource(context.configuration.groupType, before.resource, document),
        before.groupType,
      );
      const change: MemberChange = { action: 'replace', values: members ?? [] };
      return updateGroupTo(tx, context, before, { next, members: [change] });
    });
  }

  /** PATCH: all operations or none. */
  patch(
    context: DirectoryContext,
    id: number,
    operations: readonly PatchOperation[],
    options: PatchOptions & Preconditions,
  ): Promise<Group> {
    return this.#write(async (tx) => {
      await lockRows(tx, 'group_', [id]);
      const before = await getGroup(tx, context, id);
      requireVersion(before.version, options);
      const { groupType } = context.configuration;
      const steps = splitMembers(groupType, withOrigins(operations));
      const members = steps.flatMap((step) => (step.kind === 'members' ? [step] : []));
      const documentOperations = steps.flatMap((step) => (step.kind === 'document' ? [step.operation] : []));
      const next = patchResource(groupType, before, documentOperations, options).resource;
      return updateGroupTo(tx, context, before, { next, members });
    });
  }

  /** DELETE removes the group and all its memberships, for good (service-description.md §3). */
  delete(context: DirectoryContext, id: number, preconditions: Preconditions = {}): Promise<void> {
    return this.#write(async (tx) => {
      await lockRows(tx, 'group_', [id]);
      const group = await getGroup(tx, context, id);
      requireVersion(group.version, preconditions);
      const members = await keepMembers(tx, id, []);
      await touchUsers(tx, members, context.now);
      await deleteAllLinks(tx, 'Group', id);
      await deletePendingOf(tx, 'member', id);
      await markDeleted(tx, { id, now: context.now });
      const before = { ...group.resource, members: members.map(String) };
      await appendJournal(tx, context, [
        { resourceType: 'Group', resourceId: id, action: 'delete', before },
        ...userEntries(id, 'remove', members),
      ]);
    });
  }

  #write<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return writeUnique(this.#database, work);
  }
}

/**
 * A type that a PUT leaves out stays, as `active` of a user does: clients that know nothing of the extension put groups
 * back, and a department must not lose its people by that.
 */
function withGroupType(next: ScimObject, groupType: string): ScimObject {
  const platform = isObject(next[platformGroupUrn]) ? next[platformGroupUrn] : {};
  return { ...next, [platformGroupUrn]: { groupType, ...platform } };
}

async function createOrMatch(
  tx: Tx,
  context: DirectoryContext,
  resource: ScimObject,
  onMatch: OnMatch,
): Promise<Created<Group>> {
  const { document, members } = takeMembers(context.configuration.groupType, resource);
  const add: MemberChange[] = members === undefined ? [] : [{ action: 'add', values: members }];
  const matched = await findMatchingGroup(tx, context, document);
  if (matched === undefined) {
    const id = await createGroup(tx, context, document);
    await changeMembers(tx, context, id, add);
    return { outcome: 'created', resource: await getGroup(tx, context, id) };
  }
  await lockRows(tx, 'group_', [matched]);
  const [before] = await selectGroups(tx, [matched], context.sourceId);
  if (before === undefined) throw new StaleRead(`The group ${matched}`);
  if (onMatch === 'reject' || !isAdoptable(context, before)) {
    throw takenBy(context, before, 'group');
  }
  if (onMatch === 'merge') {
    const next = mergeResource(context.configuration.groupType, before.resource, document);
    await updateGroupTo(tx, context, before, { next, members: add });
    if (context.sourceId !== null) await adoptGroup(tx, matched, context.sourceId);
    if (comesInSight(context, before)) await touchMembersOf(tx, matched, context.now);
  }
  const [after] = await selectGroups(tx, [matched], context.sourceId);
  return { outcome: 'matched', resource: after ?? before };
}

async function getGroup(db: Reader, context: DirectoryContext, id: number): Promise<Group> {
  const [group] = await selectGroups(db, [id], context.sourceId);
  if (group === undefined || !isVisible(context, group)) throw notFound(id);
  return group;
}

function notFound(id: number): DomainError {
  return new DomainError('notFound', `There is no group with the id ${id}.`);
}
