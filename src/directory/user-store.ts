import { type Insertable, type SqlBool, sql } from 'kysely';
import { canonicalKey } from '../resource/canonical-key.ts';
import { enterpriseUserUrn } from '../resource/schema.ts';
import { isObject, type ScimObject } from '../resource/value.ts';
import { bulkInsert } from '../storage/bulk-insert.ts';
import type { Reader, Tx } from '../storage/database.ts';
import { inNumbers } from '../storage/list-parameter.ts';
import type { UserTable } from '../storage/schema.ts';
import { statement } from '../storage/statement.ts';
import { documentColumns } from './document-columns.ts';
import { noUnits, type Units, type UnitType, unitTypes } from './organisation.ts';
import { plainMark } from './plain-user.ts';
import { laterModified } from './touch-store.ts';
import {
  emailKeys,
  type GroupOfUser,
  shownName,
  textKey,
  toResource,
  type User,
  type UserParts,
  type UserState,
} from './user.ts';
import { readUsers, type StoredUser } from './user-read-store.ts';

/**
 * Fixed text, not a parameter: SQLite cannot use a partial index for a value it does not know, and prepares a statement
 * anew at each execution when a parameter decides which index serves.
 */
export const isLive = sql<SqlBool>`"user".state <> 'archived'`;

/** The users with these ids, in the order of their ids, archived ones too. `sourceId` says whose externalId they show. */
export async function selectUsers(
  db: Reader,
  ids: readonly number[],
  sourceId: number | null,
): Promise<User[]> {
  return (await readUsers(db, ids, sourceId)).map(toUser);
}

export function toUser(stored: StoredUser): User {
  const { id, state, ownerSourceId, doNotSynchronise, version, created, modified, groups, manager } = stored;
  const units = primaryUnits(groups);
  const document = JSON.parse(stored.document) as ScimObject;
  const resource = toResource({
    userName: stored.userName,
    active: state === 'active',
    externalId: stored.externalId,
    document,
    units,
    manager,
  });
  const columns = { id, state, ownerSourceId, doNotSynchronise, version, created, modified };
  return { ...columns, resource, groups, units, manager, stored: { document, text: stored.document } };
}

export function primaryUnits(groups: readonly GroupOfUser[]): Units {
  const units: { [T in UnitType]: string | undefined } = { ...noUnits };
  for (const type of unitTypes) {
    units[type] = groups.find((group) => group.isPrimary && group.groupType === type)?.displayName;
  }
  return units;
}

/** The columns that follow from what a user is; `saveUsers` adds identity, version and times. */
export function userColumns(parts: UserParts) {
  const shown = shownName(parts.userName, parts.document);
  const { document } = parts;
  const shownColumns = { display_name: shown, plain_mark: plainMark(document) } as const;
  return { ...userKeys(parts), ...shownColumns, ...documentColumns(document, shown) } as const;
}

/** Those of them by which users are found and sorted. */
export function userKeys({ userName, document }: UserParts) {
  const enterprise = isObject(document[enterpriseUserUrn]) ? document[enterpriseUserUrn] : {};
  const name = isObject(document.name) ? document.name : {};
  return {
    user_name: userName,
    user_name_key: canonicalKey(userName),
    display_name_key: textKey(document.displayName),
    family_name_key: textKey(name.familyName),
    employee_number_key: textKey(enterprise.employeeNumber),
  } as const;
}

export const insertUsers: (tx: Tx, rows: readonly Insertable<UserTable>[]) => Promise<void> = bulkInsert(
  'user',
  [
    'id',
    'state',
    'owner_source_id',
    'user_name',
    'user_name_key',
    'display_name',
    'display_name_key',
    'family_name_key',
    'employee_number_key',
    'document',
    'folded',
    'plain_mark',
    'manager_id',
    'password_hash',
    'do_not_synchronise',
    'version',
    'created',
    'modified',
  ],
);

/** What an indexed column holds; an update that leaves all of them alone need not touch an index. */
export type UserKeys = ReturnType<typeof userKeys> & {
  readonly state: UserState;
  readonly owner_source_id: number | null;
  readonly manager_id: number | null;
};

export interface UserVersion extends Record<string, unknown> {
  readonly id: number;
  readonly document: string;
  readonly folded: string | null;
  readonly plain_mark: number;
  readonly display_name: string;
  readonly modified: string;
  readonly former_version: number;
}

const updateKeysById = statement<UserVersion & UserKeys, { id: number }>((db, place) =>
  db
    .updateTable('user')
    .set({
      state: place('state'),
      owner_source_id: place('owner_source_id'),
      user_name: place('user_name'),
      user_name_key: place('user_name_key'),
      display_name: place('display_name'),
      display_name_key: place('display_name_key'),
      family_name_key: place('family_name_key'),
      employee_number_key: place('employee_number_key'),
      document: place('document'),
      folded: place('folded'),
      plain_mark: place('plain_mark'),
      manager_id: place('manager_id'),
      modified: place('modified'),
    })
    .set((value) => ({ version: value('version', '+', 1) }))
    .where('id', '=', place('id'))
    .where('version', '=', place('former_version'))
    .returning('id'),
);

const updateDocumentById = statement<UserVersion, { id: number }>((db, place) =>
  db
    .updateTable('user')
    .set({
      document: place('document'),
      folded: place('folded'),
      plain_mark: place('plain_mark'),
      display_name: place('display_name'),
      modified: place('modified'),
    })
    .set((value) => ({ version: value('version', '+', 1) }))
    .where('id', '=', place('id'))
    .where('version', '=', place('former_version'))
    .returning('id'),
);

/**
 * Writes the user if it still has `former_version`; false when another transaction was first. `keys` is absent when
 * none of them has changed.
 */
export async function updateUser(tx: Tx, update: UserVersion, keys: UserKeys | undefined): Promise<boolean> {
  const rows =
    keys === undefined
      ? await updateDocumentById(tx, update)
      : await updateKeysById(tx, { ...update, ...keys });
  return rows.length === 1;
}

/**
 * Frees the userNames of users who all get another one in this transaction, so that they may take each other's. No key
 * begins with a blank, so the stand-ins collide with nobody.
 */
export async function parkUserNames(tx: Tx, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  await tx
    .updateTable('user')
    .set({ user_name_key: sql<string>`' ' || cast(id as text)` })
    .where('id', 'in', inNumbers(tx, JSON.stringify(ids)))
    .execute();
}

const insertEmails = bulkInsert('user_email', ['user_id', 'ordinal', 'type', 'is_primary', 'value_key']);

export async function replaceEmails(
  tx: Tx,
  users: readonly { readonly id: number; readonly isNew: boolean; readonly document: ScimObject }[],
): Promise<void> {
  const stale = users.filter((user) => !user.isNew).map((user) => user.id);
  if (stale.length > 0) {
    await tx
      .deleteFrom('user_email')
      .where('user_id', 'in', inNumbers(tx, JSON.stringify(stale)))
      .execute();
  }
  const rows = users.flatMap(({ id, document }) =>
    emailKeys(document).map(({ type, isPrimary, valueKey }, ordinal) => ({
      user_id: id,
      ordinal,
      type,
      is_primary: isPrimary ? (1 as const) : (0 as const),
      value_key: valueKey,
    })),
  );
  await insertEmails(tx, rows);
}

const deleteEmailsOf = statement<{ user: number }, never>((db, place) =>
  db.deleteFrom('user_email').where('user_id', '=', place('user')),
);

export async function deleteEmails(tx: Tx, userId: number): Promise<void> {
  await deleteEmailsOf(tx, { user: userId });
}

export async function setPasswordHash(tx: Tx, userId: number, hash: string): Promise<void> {
  await tx.updateTable('user').set({ password_hash: hash }).where('id', '=', userId).execute();
}

/** A user whom nobody owns is the source's from now on. */
export async function adoptUser(tx: Tx, id: number, sourceId: number): Promise<void> {
  await tx
    .updateTable('user')
    .set({ owner_source_id: sourceId })
    .where('id', '=', id)
    .where('owner_source_id', 'is', null)
    .execute();
}

const archiveRow = statement<{ id: number; now: string }, { id: number }>((db, place) =>
  db
    .updateTable('user')
    .set((value) => ({
      state: sql<'archived'>`'archived'`,
      modified: laterModified(place('now')),
      version: value('version', '+', 1),
      password_hash: null,
    }))
    .where('id', '=', place('id'))
    .where(isLive)
    .returning('id'),
);

/** Archives the user; false when another transaction was first. */
export async function markArchived(tx: Tx, { id, now }: { id: number; now: string }): Promise<boolean> {
  return (await archiveRow(tx, { id, now })).length === 1;
}
