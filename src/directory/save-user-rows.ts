import { equalValues } from '../resource/value.ts';
import { StaleRead } from '../storage/constraints.ts';
import type { Tx } from '../storage/database.ts';
import { reserveIds } from '../storage/sequence-store.ts';
import type { DirectoryContext } from './context.ts';
import { toParts, type User } from './user.ts';
import type { UserDraft } from './user-draft.ts';
import { insertUsers, replaceEmails, updateUser, userColumns, userKeys } from './user-store.ts';
import { laterOf } from './version.ts';

/** A user whose id is known, and what its row is to say. */
export type Placed = UserDraft & {
  readonly id: number;
  /** Undefined for one that stays as it is. */
  readonly columns: ReturnType<typeof userColumns> | undefined;
};

export type Written = Placed & { readonly columns: NonNullable<Placed['columns']> };

export function isWritten(user: Placed): user is Written {
  return user.columns !== undefined;
}

/** Gives ids to those who are new. */
export async function place(tx: Tx, drafts: readonly UserDraft[]): Promise<Placed[]> {
  const unnumbered = drafts.filter(
    ({ before, change }) => before === undefined && change.id === undefined,
  ).length;
  let next = unnumbered === 0 ? 0 : await reserveIds(tx, 'User', unnumbered);
  return drafts.map((user) => {
    const known = user.before?.id ?? user.change.id;
    const columns = user.outcome === 'unchanged' ? undefined : userColumns(user.parts);
    return { ...user, id: known ?? next++, columns };
  });
}

/** Throws StaleRead for one who has been changed meanwhile, the database's own error for a userName that is taken. */
export async function writeRows(tx: Tx, context: DirectoryContext, users: readonly Written[]): Promise<void> {
  const created = users.filter((user) => user.outcome === 'created');
  if (created.length > 0)
    await insertUsers(
      tx,
      created.map((user) => toNewRow(context, user)),
    );
  for (const user of users) {
    if (user.before !== undefined) await updateRow(tx, context, user, user.before);
  }
}

function toNewRow(context: DirectoryContext, { id, parts, managerId, columns }: Written) {
  return {
    id,
    state: parts.active ? ('active' as const) : ('inactive' as const),
    owner_source_id: context.sourceId,
    ...columns,
    manager_id: managerId,
    password_hash: null,
    do_not_synchronise: 0 as const,
    version: 1,
    created: context.now,
    modified: context.now,
  };
}

async function updateRow(tx: Tx, context: DirectoryContext, user: Written, before: User): Promise<void> {
  const { id, parts, managerId } = user;
  const owner = before.ownerSourceId ?? context.sourceId;
  const { document, folded, plain_mark, display_name, ...keys } = user.columns;
  const now = { ...keys, ...heldBy(parts.active, managerId, owner) };
  const former = toParts(before.resource);
  const then = {
    ...userKeys(former),
    ...heldBy(former.active, before.manager?.id ?? null, before.ownerSourceId),
  };
  const version = {
    id,
    document,
    folded,
    plain_mark,
    display_name,
    // A clock that was set back must not take lastModified back with it.
    modified: laterOf(context.now, before.modified),
    former_version: before.version,
  };
  const done = await updateUser(tx, version, equalValues(now, then) ? undefined : now);
  if (!done) throw new StaleRead(`The user ${id}`);
}

function heldBy(active: boolean, managerId: number | null, owner: number | null) {
  return {
    state: active ? ('active' as const) : ('inactive' as const),
    owner_source_id: owner,
    manager_id: managerId,
  };
}

/** The addresses by which users are found, where they have changed. */
export async function writeEmails(tx: Tx, users: readonly Placed[]): Promise<void> {
  const changed = users.filter(({ former, settled }) => !equalValues(former?.emails, settled.emails));
  if (changed.length === 0) return;
  await replaceEmails(
    tx,
    changed.map(({ id, parts, outcome }) => ({ id, isNew: outcome === 'created', document: parts.document })),
  );
}
