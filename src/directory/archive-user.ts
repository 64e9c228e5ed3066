import { enterpriseUserUrn } from '../resource/schema.ts';
import { StaleRead } from '../storage/constraints.ts';
import type { Tx } from '../storage/database.ts';
import { lockInPassing } from '../storage/row-lock.ts';
import type { DirectoryContext } from './context.ts';
import { appendJournal, type JournalEntry } from './journal-store.ts';
import { groupEntry } from './member-entries.ts';
import { leaveAllGroups } from './membership-store.ts';
import { deletePendingOf } from './pending-store.ts';
import { deleteAllLinks } from './source-link-store.ts';
import { touchGroups, touchReportsOf } from './touch-store.ts';
import type { User } from './user.ts';
import { deleteEmails, markArchived } from './user-store.ts';

/** Takes the user out of every list, membership and match, for good. Its row and its journal stay. */
export async function archiveUser(tx: Tx, context: DirectoryContext, user: User): Promise<void> {
  await lockInPassing(tx, 'user', [user.id]);
  const groups = await leaveAllGroups(tx, user.id);
  await touchGroups(tx, groups, context.now);
  const reports = await touchReportsOf(tx, [user.id], context.now);
  await deleteEmails(tx, user.id);
  await deleteAllLinks(tx, 'User', user.id);
  await deletePendingOf(tx, 'manager', user.id);
  const done = await markArchived(tx, { id: user.id, now: context.now });
  if (!done) throw new StaleRead(`The user ${user.id}`);
  const before = { state: user.state, groups: groups.map(String) };
  await appendJournal(tx, context, [
    { resourceType: 'User', resourceId: user.id, action: 'archive', before, after: { state: 'archived' } },
    ...groups.map((groupId) => groupEntry(groupId, 'remove', [user.id])),
    ...withoutManager(user.id, reports),
  ]);
}

/** Who has no manager any more; all with the one object: what is alike is written in one statement. */
function withoutManager(managerId: number, reports: readonly number[]): JournalEntry[] {
  const said = { before: { [enterpriseUserUrn]: { manager: { value: String(managerId) } } }, after: {} };
  return reports.map((resourceId) => ({ resourceType: 'User', resourceId, action: 'update', ...said }));
}
