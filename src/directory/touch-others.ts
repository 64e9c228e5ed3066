// What a change of some users counts for in others. An import writes them in batches, which the clock cuts: the versions
// are the same wherever it does, as if each user were written alone, in the order of the batch.

import type { Tx } from '../storage/database.ts';
import type { Placed } from './save-user-rows.ts';
import { listGroupIdsOf, touchGroups, touchOtherReports, touchUsers } from './touch-store.ts';
import { shownName } from './user.ts';

/** Counts what the change of these users, whose rows are written, changes in others, and in one another. */
export async function touchOthers(tx: Tx, now: string, users: readonly Placed[]): Promise<void> {
  await touchNames(tx, users, now);
  await touchThoseBefore(tx, users, now);
}

/** Whoever has another name shows it in lists of members and in reports. */
async function touchNames(tx: Tx, users: readonly Placed[], now: string): Promise<void> {
  const renamed = users.filter(isOtherName).map(toId);
  if (renamed.length === 0) return;
  await touchGroups(tx, await listGroupIdsOf(tx, renamed), now);
  await touchOtherReports(tx, { managers: renamed, counted: users.map(toId) }, now);
  await touchUsers(tx, reportsBefore(users), now);
  await touchUsers(tx, reportsAfter(users), now);
}

/** Those who still had their former manager when that one, who stands earlier, got another name. */
function reportsBefore(users: readonly Placed[]): number[] {
  const earlier = new Set<number>();
  return users.flatMap((user) => {
    const isShown = earlier.has(user.before?.manager?.id ?? 0);
    if (isOtherName(user)) earlier.add(user.id);
    return isShown ? [user.id] : [];
  });
}

/** Those who already had their manager when that one, who stands later, got another name. */
function reportsAfter(users: readonly Placed[]): number[] {
  const later = new Set<number>();
  return users.toReversed().flatMap((user) => {
    const isShown = later.has(user.managerId ?? 0);
    if (isOtherName(user)) later.add(user.id);
    return isShown ? [user.id] : [];
  });
}

/** Whose id was known earlier may be the manager of somebody who was written earlier, in this batch or before it. */
async function touchThoseBefore(tx: Tx, users: readonly Placed[], now: string): Promise<void> {
  const foretold = new Map(
    users.flatMap(({ id, before, change }, place) =>
      before === undefined && change.id !== undefined ? [[id, place] as const] : [],
    ),
  );
  if (foretold.size === 0) return;
  const isAfterManager = ({ managerId }: Placed, place: number) =>
    place >= (foretold.get(managerId ?? 0) ?? 0);
  const counted = users.filter(isAfterManager).map(toId);
  await touchOtherReports(tx, { managers: [...foretold.keys()], counted }, now);
}

function toId({ id }: Placed): number {
  return id;
}

/** Reports and lists of members show a person's name. */
function isOtherName({ before, parts }: Placed): boolean {
  if (before === undefined) return false;
  const former = shownName(String(before.resource.userName), before.resource);
  return shownName(parts.userName, parts.document) !== former;
}
