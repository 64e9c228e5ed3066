import { canonicalKey } from '../resource/canonical-key.ts';
import { enterpriseUserUrn } from '../resource/schema.ts';
import type { Tx } from '../storage/database.ts';
import { lockInPassing } from '../storage/row-lock.ts';
import type { DirectoryContext } from './context.ts';
import { appendJournal } from './journal-store.ts';
import { memberEntries } from './member-entries.ts';
import { addMembers } from './membership-store.ts';
import { setManager } from './pending-effects-store.ts';
import { deletePending, findPending, type PendingReference } from './pending-store.ts';
import { touchGroups } from './touch-store.ts';
import { emailKeys, type UserParts } from './user.ts';

/** A user just written. */
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
  if (context.sourceId === null || arrivals.length === 0) return;
  const waiting = await findPending(tx, context.sourceId, arrivals.flatMap(keysOf));
  for (const reference of waiting) {
    const arrival = arrivals.find((user) => isMeant(user, reference));
    if (arrival === undefined) continue;
    await settle(tx, context, reference, arrival.id);
  }
}

/** Everything that a reference may call the user: not its id, which nobody outside can know beforehand. */
function keysOf({ parts }: Arrival): string[] {
  const { externalId } = parts;
  return [...namesOf(parts), ...(externalId === undefined ? [] : [canonicalKey(externalId)])];
}

function namesOf({ userName, document }: UserParts): string[] {
  const emails = emailKeys(document).filter((email) => email.isPrimary || email.type === 'work');
  return [canonicalKey(userName), ...emails.map((email) => email.valueKey)];
}

/** External ids are compared as they are written, names and addresses without case. */
function isMeant({ parts }: Arrival, { reference, reference_key: key }: PendingReference): boolean {
  return parts.externalId === reference || namesOf(parts).includes(key);
}

/** What waits is locked first: it may have been deleted, or have named somebody else, since it was looked for. */
async function settle(
  tx: Tx,
  context: DirectoryContext,
  reference: PendingReference,
  userId: number,
): Promise<void> {
  const { kind, resource_id: resourceId } = reference;
  await lockInPassing(tx, kind === 'member' ? 'group_' : 'user', [resourceId]);
  if (!(await deletePending(tx, reference.id))) return;
  if (kind === 'member') {
    const added = await addMembers(tx, resourceId, [userId]);
    if (added.length === 0) return;
    await touchGroups(tx, [resourceId], context.now);
    await appendJournal(tx, context, memberEntries(resourceId, 'add', added));
  } else {
    const after = { [enterpriseUserUrn]: { manager: { value: String(userId) } } };
    await setManager(tx, { userId: resourceId, managerId: userId, now: context.now });
    await appendJournal(tx, context, [
      { resourceType: 'User', resourceId, action: 'update', before: {}, after },
    ]);
  }
}
