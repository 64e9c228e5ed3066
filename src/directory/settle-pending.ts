import type { Tx } from '../storage/database.ts';
import type { DirectoryContext } from './context.ts';
import { appendJournal } from './journal-store.ts';
import { addMembers } from './membership-store.ts';
import { hasPending, setManager, touchGroups } from './pending-effects-store.ts';
import { deletePending, findPending, type PendingReference } from './pending-store.ts';
import { emailKeys, type UserParts } from './user.ts';

/** A user just written, by everything that a reference may call it. */
interface Arrival {
  readonly id: number;
  readonly parts: UserParts;
}

/** Gives groups the members, and users the managers, that were named before they arrived. */
export async function settlePending(
  tx: Tx,
  context: DirectoryContext,
  arrivals: readonly Arrival[],
): Promise<void> {
  if (context.sourceId === null || arrivals.length === 0 || !(await hasPending(tx, context.sourceId))) return;
  const byReference = new Map(
    arrivals.flatMap((user) => references(user).map((text) => [text, user.id] as const)),
  );
  const waiting = await findPending(tx, context.sourceId, [...byReference.keys()]);
  for (const reference of waiting) {
    const userId = byReference.get(reference.reference);
    if (userId !== undefined) await settle(tx, context, reference, userId);
  }
  await deletePending(
    tx,
    waiting.map((reference) => reference.id),
  );
}

function references({ id, parts }: Arrival): string[] {
  const emails = emailKeys(parts.document).filter((email) => email.isPrimary || email.type === 'work');
  const texts = [String(id), parts.externalId, parts.userName, ...emails.map((email) => email.valueKey)];
  return texts.filter((text) => text !== undefined);
}

async function settle(
  tx: Tx,
  context: DirectoryContext,
  reference: PendingReference,
  userId: number,
): Promise<void> {
  const { kind, resource_id: resourceId } = reference;
  if (kind === 'member') {
    const added = await addMembers(tx, resourceId, [userId]);
    if (added.length === 0) return;
    await touchGroups(tx, [resourceId], context.now);
    await appendJournal(tx, context, [
      { resourceType: 'Group', resourceId, action: 'members.add', after: { members: [String(userId)] } },
    ]);
  } else {
    await setManager(tx, { userId: resourceId, managerId: userId, now: context.now });
    await appendJournal(tx, context, [
      { resourceType: 'User', resourceId, action: 'update', after: { manager: String(userId) } },
    ]);
  }
}
