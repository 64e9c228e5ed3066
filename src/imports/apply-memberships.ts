import type { DirectoryContext } from '../directory/context.ts';
import { changeMembers } from '../directory/save-members.ts';
import type { SavedUser } from '../directory/save-users.ts';
import { touchGroups, touchUsers } from '../directory/touch-store.ts';
import type { Tx } from '../storage/database.ts';
import { lockInPassing } from '../storage/row-lock.ts';
import type { Application } from './application.ts';
import type { UserRow } from './apply-users.ts';
import { findGroupOwners } from './match-store.ts';

type SavedUserRow = UserRow & Partial<SavedUser> & { readonly id: number };

/**
 * Brings memberships to what the records say. A user leaves only groups that the source owns, and no unit: these
 * follow from company, department and location.
 */
export async function applyMemberships(
  { run }: Application,
  tx: Tx,
  context: DirectoryContext,
  users: readonly SavedUserRow[],
): Promise<void> {
  const speaking = users.filter(({ payload }) => payload.groups !== undefined);
  if (speaking.length === 0) return;
  const wantedBy = new Map(speaking.map((user) => [user, wantedIds(user, run.firstGroupId)]));
  const heldIds = speaking.flatMap(({ before }) => before?.groups.map((group) => group.id) ?? []);
  const ids = [...new Set([...heldIds, ...[...wantedBy.values()].flatMap((wanted) => [...wanted])])];
  await lockInPassing(tx, 'group_', ids);
  const owners = await findGroupOwners(tx, ids);
  const changes = new Map<number, { join: number[]; leave: number[] }>();
  const changeOf = (groupId: number) => {
    const change = changes.get(groupId) ?? { join: [], leave: [] };
    changes.set(groupId, change);
    return change;
  };
  for (const [{ id, before }, wanted] of wantedBy) {
    const held = before?.groups ?? [];
    const heldOnes = new Set(held.map((group) => group.id));
    for (const groupId of wanted) {
      if (!heldOnes.has(groupId) && owners.has(groupId)) changeOf(groupId).join.push(id);
    }
    for (const { id: groupId, isPrimary } of held) {
      if (!isPrimary && !wanted.has(groupId) && owners.get(groupId) === run.sourceId)
        changeOf(groupId).leave.push(id);
    }
  }
  const changed: number[] = [];
  for (const groupId of [...changes.keys()].toSorted((a, b) => a - b)) {
    if (await changeGroup(tx, context, groupId, changeOf(groupId))) changed.push(groupId);
  }
  await touchGroups(tx, changed, context.now);
  // Everybody else has a new version from being saved.
  const moved = new Set([...changes.values()].flatMap(({ join, leave }) => [...join, ...leave]));
  const same = speaking.filter((user) => user.outcome === 'unchanged' && moved.has(user.id));
  await touchUsers(
    tx,
    same.map((user) => user.id),
    context.now,
  );
}

function wantedIds({ payload }: UserRow, firstGroupId: number): ReadonlySet<number> {
  const numbers = payload.groups ?? [];
  return new Set(numbers.map((number) => (number < 0 ? firstGroupId - 1 - number : number)));
}

function changeGroup(
  tx: Tx,
  context: DirectoryContext,
  groupId: number,
  { join, leave }: { readonly join: readonly number[]; readonly leave: readonly number[] },
): Promise<boolean> {
  return changeMembers(tx, context, groupId, [
    ...(join.length > 0 ? [{ action: 'add' as const, values: join.map(String) }] : []),
    ...(leave.length > 0 ? [{ action: 'remove' as const, values: leave.map(String) }] : []),
  ]);
}
