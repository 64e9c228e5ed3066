// How the journal tells of memberships: a row for the group's history with everyone in it, and one for each person's.

import type { JournalEntry } from './journal-store.ts';

export type MemberMove = 'add' | 'remove';

/** Both sides of a change of one group's members; nothing for nobody. */
export function memberEntries(groupId: number, move: MemberMove, userIds: readonly number[]): JournalEntry[] {
  if (userIds.length === 0) return [];
  return [groupEntry(groupId, move, userIds), ...userEntries(groupId, move, userIds)];
}

/** The group's side alone, where the user's own row tells the other: of a company, an archived member. */
export function groupEntry(groupId: number, move: MemberMove, userIds: readonly number[]): JournalEntry {
  const members = { members: userIds.map(String) };
  const said = move === 'add' ? { after: members } : { before: members };
  return { resourceType: 'Group', resourceId: groupId, action: `members.${move}`, ...said };
}

/** The users' side alone, where the group's own row tells the other: of a group that is deleted. */
export function userEntries(groupId: number, move: MemberMove, userIds: readonly number[]): JournalEntry[] {
  // All with the one object: what is alike is written in one statement.
  const groups = { groups: [String(groupId)] };
  const said = move === 'add' ? { after: groups } : { before: groups };
  const action = `groups.${move}` as const;
  return userIds.map((resourceId) => ({ resourceType: 'User', resourceId, action, ...said }));
}
