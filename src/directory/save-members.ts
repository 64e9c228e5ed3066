import { DomainError } from '../errors.ts';
import type { ResolvedFilter } from '../resource/filter-resolve.ts';
import { toId } from '../resource/resource-id.ts';
import type { Tx } from '../storage/database.ts';
import { isPostgres } from '../storage/list-parameter.ts';
import { type DirectoryContext, isVisible } from './context.ts';
import { filterScope, memberFilterSql } from './filter-sql.ts';
import { findLiveUsers } from './find-users-store.ts';
import { appendJournal, type JournalEntry } from './journal-store.ts';
import { mayArrive, mayWait, referenceError, resolveReferences } from './manager.ts';
import { memberEntries } from './member-entries.ts';
import {
  addMembers,
  keepMembers,
  listMembers,
  removeMembers,
  removeMembersWhere,
} from './membership-store.ts';
import { deletePendingOf, insertPending } from './pending-store.ts';
import { touchUsers } from './touch-store.ts';

/** One change of a group's members; values are user ids as clients send them. */
export type MemberChange =
  | { readonly action: 'add' | 'remove' | 'replace' | 'clear'; readonly values: readonly string[] }
  | { readonly action: 'removeWhere'; readonly filter: ResolvedFilter };

const membersMax = 100_000;

/** Applies the changes in order and journals them; returns whether the members are others than before. */
export async function changeMembers(
  tx: Tx,
  context: DirectoryContext,
  groupId: number,
  changes: readonly MemberChange[],
): Promise<boolean> {
  let hasChanged = false;
  for (const change of changes) {
    const { added, removed } = await applyChange(tx, context, groupId, change);
    await appendJournal(tx, context, memberEntries(groupId, 'add', added));
    await appendJournal(tx, context, removalEntries(groupId, removed, change.action));
    // An import counts it itself: it has written most of these users in this transaction.
    if (context.runId === null) await touchUsers(tx, [...added, ...removed], context.now);
    hasChanged ||= added.length > 0 || removed.length > 0;
  }
  return hasChanged;
}

interface Changed {
  readonly added: readonly number[];
  readonly removed: readonly number[];
}

async function applyChange(
  tx: Tx,
  context: DirectoryContext,
  groupId: number,
  change: MemberChange,
): Promise<Changed> {
  if (change.action === 'removeWhere') {
    const chosen = memberFilterSql(
      change.filter,
      filterScope(isPostgres(tx) ? 'postgres' : 'sqlite', context),
      groupId,
    );
    return { added: [], removed: await removeMembersWhere(tx, groupId, chosen) };
  }
  const { action, values } = change;
  if (values.length > membersMax) {
    throw new DomainError(
      'payloadTooLarge',
      `More than ${membersMax} members in one operation; split the request.`,
    );
  }
  if (action === 'remove') {
    await forgetPending(tx, groupId, values);
    const ids = await visibleIds(tx, context, values);
    const named = mayWait(context)
      ? await findNamed(tx, context, values.filter(mayArrive))
      : new Map<string, number>();
    return { added: [], removed: await removeMembers(tx, groupId, [...ids, ...named.values()]) };
  }
  if (action !== 'add') await deletePendingOf(tx, 'member', groupId);
  const ids = action === 'clear' ? [] : await requireMembers(tx, context, groupId, values);
  const removed = action === 'add' ? [] : await keepOnly(tx, context, groupId, ids);
  return { added: await addMembers(tx, groupId, ids), removed };
}

/** Members whom the source may not see are not its to remove: they are not in what it read. */
async function visibleIds(tx: Tx, context: DirectoryContext, values: readonly string[]): Promise<number[]> {
  const ids = values.map(toId).filter((id) => id > 0);
  if (context.scope === 'all') return ids;
  const live = await findLiveUsers(tx, ids);
  return live.filter((user) => user.owner_source_id === context.sourceId).map((user) => user.id);
}

async function keepOnly(
  tx: Tx,
  context: DirectoryContext,
  groupId: number,
  ids: readonly number[],
): Promise<number[]> {
  if (context.scope === 'all') return keepMembers(tx, groupId, ids);
  const staying = new Set(ids);
  const members = (await listMembers(tx, groupId)).filter((member) => isVisible(context, member));
  const leaving = members.map((member) => member.id).filter((id) => !staying.has(id));
  return removeMembers(tx, groupId, leaving);
}

async function forgetPending(tx: Tx, groupId: number, values: readonly string[]): Promise<void> {
  const unknown = values.filter((value) => value !== '');
  if (unknown.length > 0) await deletePendingOf(tx, 'member', groupId, unknown);
}

/** The ids behind the values. An unknown one is refused by name, or waits, as the source is set. */
async function requireMembers(
  tx: Tx,
  context: DirectoryContext,
  groupId: number,
  values: readonly string[],
): Promise<number[]> {
  const live = await findLiveUsers(
    tx,
    values.map(toId).filter((id) => id > 0),
  );
  const visible = live.filter((user) => context.scope === 'all' || user.owner_source_id === context.sourceId);
  const known = new Set(visible.map((user) => String(user.id)));
  const unknown = values.filter((value) => !known.has(value));
  const ids = visible.map((user) => user.id);
  if (unknown.length === 0) return ids;
  const never = mayWait(context) ? unknown.filter((value) => !mayArrive(value)) : unknown;
  if (never.length > 0) throw unknownMember(never);
  const named = await findNamed(tx, context, unknown);
  const { sourceId, now } = context;
  if (sourceId !== null) {
    const waiting = unknown.filter((value) => !named.has(value));
    await insertPending(tx, { sourceId, kind: 'member', resourceId: groupId, now }, waiting);
  }
  return [...new Set([...ids, ...named.values()])];
}

/**
 * The ids of those who are there, of members that are given by name, as managers may be: the same requests make the same
 * group whoever comes first. Throws `invalidValue` for a name that several may be meant by.
 */
async function findNamed(
  tx: Tx,
  context: DirectoryContext,
  values: readonly string[],
): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for (const [value, outcome] of await resolveReferences(tx, context, values)) {
    if (outcome.kind === 'ambiguous') throw referenceError(value, outcome, 'member');
    if (outcome.kind === 'found') found.set(value, outcome.id);
  }
  return found;
}

function unknownMember(unknown: readonly string[]): DomainError {
  const named = unknown.slice(0, 5).map((value) => `"${value.slice(0, 100)}"`);
  const more = unknown.length > named.length ? ` and ${unknown.length - named.length} more` : '';
  const detail = `There is no user with the id ${named.join(', ')}${more}; members are given by user id.`;
  return new DomainError('invalidValue', detail, { attribute: 'members.value' });
}

/** Who was not named, but went because the list was cleared or replaced, is what the brake counts. */
function removalEntries(
  groupId: number,
  removed: readonly number[],
  action: MemberChange['action'],
): JournalEntry[] {
  const [ofGroup, ...ofUsers] = memberEntries(groupId, 'remove', removed);
  return ofGroup === undefined ? [] : [{ ...ofGroup, isSweep: action !== 'remove' }, ...ofUsers];
}
