import { equalValues, type ScimObject } from '../resource/value.ts';
import { StaleRead } from '../storage/constraints.ts';
import type { Tx } from '../storage/database.ts';
import { isPostgres } from '../storage/list-parameter.ts';
import { keepInPassing } from '../storage/row-lock.ts';
import type { DirectoryContext } from './context.ts';
import { findArchived } from './find-users-store.ts';
import { appendJournal, difference, type JournalAction, type JournalEntry } from './journal-store.ts';
import { keepArrivals } from './manager.ts';
import { unitTypes } from './organisation.ts';
import { hasPending } from './pending-effects-store.ts';
import { deletePendingManagers, insertPending } from './pending-store.ts';
import { writeUnits } from './save-units.ts';
import { isWritten, type Placed, place, type Written, writeEmails, writeRows } from './save-user-rows.ts';
import { settlePending } from './settle-pending.ts';
import { deleteLink, upsertLinks } from './source-link-store.ts';
import { touchOthers } from './touch-others.ts';
import { type GroupOfUser, toResource, type User } from './user.ts';
import { draftUsers, type UserChange, type UserDraft } from './user-draft.ts';
import { primaryUnits, selectUsers } from './user-store.ts';
import { laterOf } from './version.ts';

export interface SavedUser {
  readonly id: number;
  readonly outcome: UserDraft['outcome'];
}

/**
 * The one way in which users are written: rows, email keys, primary units, the source's link and the journal, all in
 * `tx`. Takes a batch because an import brings thousands; SCIM brings one. Throws DomainError for a change that
 * breaks a rule, and the database's own error for one that breaks uniqueness (see `uniqueness.ts`).
 */
export async function saveUsers(
  tx: Tx,
  context: DirectoryContext,
  changes: readonly UserChange[],
): Promise<SavedUser[]> {
  const { placed } = await writeUsers(tx, context, changes);
  return placed.map(({ id, outcome }) => ({ id, outcome }));
}

/** `saveUsers` for one; resolves with the user as it is now, all of it, whatever the source may see. */
export async function saveUser(tx: Tx, context: DirectoryContext, change: UserChange): Promise<User> {
  const { placed, joined, isSettling } = await writeUsers(tx, context, [change]);
  const [user] = placed as [Placed];
  if (user.outcome === 'unchanged' && user.before !== undefined) return user.before;
  if (!isSettling && isWritten(user)) {
    if (isAloneChanged(user)) return toSavedUser(context, user, user.before?.groups ?? []);
    // Elsewhere than on SQLite a group may be renamed until this transaction counts a change in it.
    const isNew = user.before === undefined && user.managerId === null;
    if (isNew && !isPostgres(tx)) return toSavedUser(context, user, joined.get(user.id) ?? []);
  }
  const [saved] = await selectUsers(tx, [user.id], context.sourceId);
  return saved as User;
}

async function writeUsers(tx: Tx, context: DirectoryContext, changes: readonly UserChange[]) {
  const drafts = await draftUsers(tx, context, changes);
  await keepManagers(tx, drafts);
  const placed = await place(tx, drafts);
  const written = placed.filter(isWritten);
  await writeRows(tx, context, written);
  await writeEmails(tx, written);
  const { joined, entries } = await writeUnits(tx, context, written);
  await touchOthers(tx, context.now, written);
  await writeLinks(tx, context, placed);
  const isAnybodyWaiting = placed.some(mayConcernWaiting) && (await isWaitedFor(tx, context));
  await writePendingManagers(tx, context, placed);
  await appendJournal(tx, context, [...written.map(toJournal), ...entries]);
  const isSettling = isAnybodyWaiting || placed.some((user) => user.pendingManager !== undefined);
  if (isSettling) await settlePending(tx, context, written);
  return { placed, joined, isSettling };
}

/**
 * Whoever becomes somebody's manager is neither renamed nor archived before this is committed: afterwards the report is
 * there to be counted with (touch-store.ts). Throws StaleRead for one who has been archived since it was looked for.
 */
async function keepManagers(tx: Tx, drafts: readonly UserDraft[]): Promise<void> {
  const given = drafts.flatMap(({ before, managerId }) =>
    managerId === null || managerId === before?.manager?.id ? [] : [managerId],
  );
  if (!isPostgres(tx) || given.length === 0) return;
  const ids = [...new Set(given)];
  await keepInPassing(tx, 'user', ids);
  const [gone] = await findArchived(tx, ids);
  if (gone !== undefined) throw new StaleRead(`The user ${gone}`);
}

async function isWaitedFor(tx: Tx, context: DirectoryContext): Promise<boolean> {
  if (context.sourceId === null) return false;
  await keepArrivals(tx, context);
  return hasPending(tx, context.sourceId);
}

/** Whether the user may end somebody's waiting: by a name that is new, or by what is said of the manager. */
function mayConcernWaiting({ before, parts, settled, change, pendingManager }: Placed): boolean {
  if (before === undefined || change.mode === 'replace' || change.removesManager === true) return true;
  if (pendingManager !== undefined) return true;
  const { userName, externalId, emails } = before.resource;
  const isSame = parts.userName === userName && parts.externalId === externalId;
  return !isSame || !equalValues(emails, settled.emails);
}

/** Whether nothing that the user shows lies in other rows that have changed with it. */
function isAloneChanged({ id, before, units, managerId }: Placed): boolean {
  const held = before?.manager?.id ?? null;
  return managerId === held && held !== id && unitTypes.every((type) => units[type] === before?.units[type]);
}

/** What reading the user again would find. */
function toSavedUser(
  context: DirectoryContext,
  { id, before, parts, columns }: Written,
  groups: readonly GroupOfUser[],
): User {
  const { userName, active, externalId, document } = parts;
  const stored = { userName, active, document, units: primaryUnits(groups), manager: before?.manager };
  return {
    id,
    state: active ? 'active' : 'inactive',
    ownerSourceId: before?.ownerSourceId ?? context.sourceId,
    doNotSynchronise: before?.doNotSynchronise ?? false,
    version: (before?.version ?? 0) + 1,
    created: before?.created ?? context.now,
    modified: laterOf(context.now, before?.modified ?? context.now),
    resource: toResource({
      ...stored,
      externalId: context.sourceId === null ? null : (externalId ?? null),
    }),
    groups,
    units: stored.units,
    manager: stored.manager,
    stored: { document, text: columns.document },
  };
}

async function writeLinks(tx: Tx, context: DirectoryContext, users: readonly Placed[]): Promise<void> {
  const sourceId = context.sourceId;
  if (sourceId === null) return;
  const wanted = users.flatMap(({ id, parts, change, before }) => {
    const isSame = parts.externalId === before?.resource.externalId && change.digest === undefined;
    if (parts.externalId === undefined || isSame) return [];
    const link = { source_id: sourceId, resource_type: 'User' as const, resource_id: id };
    return [{ ...link, external_id: parts.externalId, digest: change.digest ?? null }];
  });
  for (const { id, parts, before } of users) {
    if (parts.externalId !== undefined || before?.resource.externalId === undefined) continue;
    await deleteLink(tx, { source_id: sourceId, resource_type: 'User', resource_id: id });
  }
  await upsertLinks(tx, wanted);
}

async function writePendingManagers(
  tx: Tx,
  context: DirectoryContext,
  users: readonly Placed[],
): Promise<void> {
  await deletePendingManagers(
    tx,
    users.filter(decidesOnManager).map((user) => user.id),
  );
  const { sourceId, now } = context;
  if (sourceId === null) return;
  for (const { id, pendingManager } of users) {
    if (pendingManager === undefined) continue;
    await insertPending(tx, { sourceId, kind: 'manager', resourceId: id, now }, [pendingManager]);
  }
}

/** Whether a manager whom the user may have waited for is out of date, whoever named that one. */
function decidesOnManager({ before, change, pendingManager, managerId }: Placed): boolean {
  if (before === undefined) return false;
  const isOther = managerId !== (before.manager?.id ?? null);
  return (
    isOther || pendingManager !== undefined || change.mode === 'replace' || change.removesManager === true
  );
}

function toJournal({ id, former, settled }: Placed): JournalEntry {
  const about = { resourceType: 'User' as const, resourceId: id };
  if (former === undefined) return { ...about, action: 'create', after: settled };
  return { ...about, action: actionOf(former, settled), ...difference(former, settled) };
}

function actionOf(former: ScimObject, settled: ScimObject): JournalAction {
  if (former.active === settled.active) return 'update';
  return settled.active === true ? 'reactivate' : 'deactivate';
}
