import type { DirectoryContext } from '../directory/context.ts';
import { changeMembers } from '../directory/save-members.ts';
import type { SavedUser } from '../directory/save-users.ts';
import { touchGroups, touchUsers } from '../directory/touch-store.ts';
import type { Tx } from '../storage/database.ts';
import { lockInPassing } from '../storage/row-lock.ts';
import type { Application } from './application.ts';
import type { UserRow } from './apply-users.ts';
import { findGroupFacts, findMemberships, type GroupFacts } from './match-store.ts';
import { type GroupNumber, mayLeave, ordinalOf } from './plan-groups.ts';
import { findMatchedGroups } from './plan-store.ts';
import type { Run } from './run-store.ts';

export type SavedUserRow = UserRow & Partial<SavedUser> & { readonly id: number };

/** What became of the memberships. */
export interface MovedUsers {
  /** Who has joined or left something. */
  readonly moved: ReadonlySet<number>;
  /** Who is to be in a group that is not there. */
  readonly lacking: readonly SavedUserRow[];
}

type GroupChange = { readonly join: number[]; readonly leave: number[] };

/**
 * Brings memberships to what the records say. A user leaves only groups that the source owns, and no unit: these
 * follow from company, department and location.
 */
export async function applyMemberships(
  { run }: Application,
  tx: Tx,
  context: DirectoryContext,
  users: readonly SavedUserRow[],
): Promise<MovedUsers> {
  const speaking = users.filter(({ payload }) => payload.groups !== undefined);
  if (speaking.length === 0) return { moved: new Set(), lacking: [] };
  // A unit that they have joined or left just now counts as it is now. New ones are in their units only.
  const known = speaking.flatMap(({ before }) => before?.id ?? []);
  const heldBy = await findMemberships(tx, known);
  const heldIds = [...heldBy.values()].flatMap((held) => held.map((row) => row.group_id));
  const { groups, wantedBy } = await findGroups(run, tx, speaking, heldIds);
  const changes = new Map<number, GroupChange>();
  const changeOf = (groupId: number): GroupChange => {
    const change = changes.get(groupId) ?? { join: [], leave: [] };
    changes.set(groupId, change);
    return change;
  };
  for (const [{ id }, wanted] of wantedBy) {
    const held = heldBy.get(id) ?? [];
    const heldOnes = new Set(held.map((row) => row.group_id));
    for (const groupId of wanted) {
      if (!heldOnes.has(groupId) && groups.has(groupId)) changeOf(groupId).join.push(id);
    }
    for (const { group_id: groupId, primary_type } of held) {
      if (primary_type === null && !wanted.has(groupId) && mayLeave(groups.get(groupId), run))
        changeOf(groupId).leave.push(id);
    }
  }
  await changeGroups(tx, context, changes);
  const moved = new Set([...changes.values()].flatMap(({ join, leave }) => [...join, ...leave]));
  await touchSame(tx, context, speaking, moved);
  const isLacking = (user: SavedUserRow) => [...(wantedBy.get(user) ?? [])].some((id) => !groups.has(id));
  return { moved, lacking: speaking.filter(isLacking) };
}

interface WantedGroups {
  readonly groups: ReadonlyMap<number, GroupFacts>;
  readonly wantedBy: ReadonlyMap<SavedUserRow, ReadonlySet<number>>;
}

/** The groups that are wanted or held. One that the run was to create may be there under another id. */
async function findGroups(
  run: Run,
  tx: Tx,
  users: readonly SavedUserRow[],
  heldIds: readonly number[],
): Promise<WantedGroups> {
  const look = async (idOf: (number: GroupNumber) => number) => {
    const wanted = users.map((user) => [user, new Set((user.payload.groups ?? []).map(idOf))] as const);
    const ids = [...new Set([...heldIds, ...wanted.flatMap(([, groupIds]) => [...groupIds])])];
    await lockInPassing(tx, 'group_', ids);
    return { groups: await findGroupFacts(tx, ids), wantedBy: new Map(wanted), ids };
  };
  const plannedId = (number: GroupNumber) => (number < 0 ? run.firstGroupId + ordinalOf(number) : number);
  const { ids, ...planned } = await look(plannedId);
  if (ids.every((id) => planned.groups.has(id))) return planned;
  const matched = await findMatchedGroups(tx, run.id);
  return look((number) => matched.get(number < 0 ? ordinalOf(number) : -1) ?? plannedId(number));
}

async function changeGroups(
  tx: Tx,
  context: DirectoryContext,
  changes: ReadonlyMap<number, GroupChange>,
): Promise<void> {
  const changed: number[] = [];
  for (const [groupId, change] of [...changes].toSorted(([a], [b]) => a - b)) {
    if (await changeGroup(tx, context, groupId, change)) changed.push(groupId);
  }
  await touchGroups(tx, changed, context.now);
}

/** Everybody else has a new version from being saved. */
async function touchSame(
  tx: Tx,
  context: DirectoryContext,
  users: readonly SavedUserRow[],
  moved: ReadonlySet<number>,
): Promise<void> {
  const same = users.filter((user) => user.outcome === 'unchanged' && moved.has(user.id));
  await touchUsers(
    tx,
    same.map((user) => user.id),
    context.now,
  );
}

function changeGroup(
  tx: Tx,
  context: DirectoryContext,
  groupId: number,
  { join, leave }: GroupChange,
): Promise<boolean> {
  return changeMembers(tx, context, groupId, [
    ...(join.length > 0 ? [{ action: 'add' as const, values: join.map(String) }] : []),
    ...(leave.length > 0 ? [{ action: 'remove' as const, values: leave.map(String) }] : []),
  ]);
}
