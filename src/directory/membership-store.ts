import { type Expression, type Kysely, type SqlBool, sql } from 'kysely';
import { bulkInsert } from '../storage/bulk-insert.ts';
import type { Reader, Tx } from '../storage/database.ts';
import { inPieces } from '../storage/in-pieces.ts';
import { inNumbers } from '../storage/list-parameter.ts';
import { lockRows } from '../storage/row-lock.ts';
import type { MembershipTable, Tables } from '../storage/schema.ts';
import { statement } from '../storage/statement.ts';
import type { Sql } from './filter-sql-place.ts';
import { isLive } from './user-store.ts';

export interface Member {
  readonly id: number;
  readonly displayName: string;
  readonly ownerSourceId: number | null;
}

type MemberRow = { id: number; display_name: string; owner_source_id: number | null };

const selectMembers = statement<{ group: number }, MemberRow>((db, place) =>
  db
    .selectFrom('membership')
    .innerJoin('user', 'user.id', 'membership.user_id')
    .select(['user.id', 'user.display_name', 'user.owner_source_id'])
    .where('membership.group_id', '=', place('group'))
    .orderBy('membership.user_id'),
);

export async function listMembers(db: Reader, groupId: number): Promise<Member[]> {
  const rows = await selectMembers(db, { group: groupId });
  return rows.map(({ id, display_name: displayName, owner_source_id: ownerSourceId }) => ({
    id,
    displayName,
    ownerSourceId,
  }));
}

export async function countMembers(db: Reader, groupId: number): Promise<number> {
  const row = await db
    .selectFrom('membership')
    .select((select) => select.fn.countAll<number>().as('count'))
    .where('group_id', '=', groupId)
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

const selectOneBehind = statement<{ group: number; members: number }, { user_id: number }>((db, place) =>
  db
    .selectFrom('membership')
    .select('user_id')
    .where('group_id', '=', place('group'))
    .limit(1)
    .offset(place('members')),
);

/** Whether the group has more than so many members; no more of them are looked at. */
export async function hasMoreMembersThan(db: Reader, group: number, members: number): Promise<boolean> {
  return (await selectOneBehind(db, { group, members })).length > 0;
}

type GroupAndUsers = { group: number; users: string };

function joining(db: Kysely<Tables>, group: unknown, users: Expression<SqlBool>) {
  return db
    .insertInto('membership')
    .columns(['group_id', 'user_id'])
    .expression(
      db
        .selectFrom('user')
        .where(users)
        .where(isLive)
        .select([sql<number>`cast(${group} as bigint)`.as('group_id'), 'id as user_id']),
    )
    .onConflict((conflict) => conflict.doNothing())
    .returning('user_id');
}

const insertMembers = statement<GroupAndUsers, { user_id: number }>((db, place) =>
  joining(db, place('group'), sql<SqlBool>`id in ${inNumbers(db, place('users'))}`),
);

/** Of one user: SQLite takes as long again to read a list of ids. */
const insertMember = statement<{ group: number; user: number }, { user_id: number }>((db, place) =>
  joining(db, place('group'), sql<SqlBool>`id = ${place('user')}`),
);

/**
 * Set statements, however many there are and however large the group is. Nobody can archive them meanwhile. Returns
 * those who were not in it yet.
 */
export async function addMembers(tx: Tx, groupId: number, userIds: readonly number[]): Promise<number[]> {
  if (userIds.length === 0) return [];
  await lockRows(tx, 'user', userIds);
  const [user] = userIds;
  if (userIds.length === 1 && user !== undefined)
    return inIdOrder(await insertMember(tx, { group: groupId, user }));
  const rows = await inPieces(userIds, (piece) =>
    insertMembers(tx, { group: groupId, users: JSON.stringify(piece) }),
  );
  return inIdOrder(rows);
}

/** PostgreSQL returns rows in any order; what the journal tells has one. */
function inIdOrder(rows: readonly { readonly user_id: number }[]): number[] {
  return rows.map((row) => row.user_id).toSorted((a, b) => a - b);
}

const deleteMembers = statement<GroupAndUsers, { user_id: number }>((db, place) =>
  db
    .deleteFrom('membership')
    .where('group_id', '=', place('group'))
    .where('user_id', 'in', inNumbers(db, place('users')))
    .returning('user_id'),
);

/** Returns those who were members until now. */
export async function removeMembers(tx: Tx, groupId: number, userIds: readonly number[]): Promise<number[]> {
  if (userIds.length === 0) return [];
  const rows = await inPieces(userIds, (piece) =>
    deleteMembers(tx, { group: groupId, users: JSON.stringify(piece) }),
  );
  return inIdOrder(rows);
}

/** The same for those whom `chosen` selects, of a group whose row is locked. */
export async function removeMembersWhere(tx: Tx, groupId: number, chosen: Sql): Promise<number[]> {
  const { rows } = await sql<{ user_id: number }>`${chosen}`.execute(tx);
  return removeMembers(
    tx,
    groupId,
    rows.map((row) => row.user_id),
  );
}

const selectMemberIds = statement<{ group: number }, { user_id: number }>((db, place) =>
  db.selectFrom('membership').select('user_id').where('group_id', '=', place('group')).orderBy('user_id'),
);

/** Empties the group, whose row is locked, but for `userIds`. Returns those who were members until now. */
export async function keepMembers(tx: Tx, groupId: number, userIds: readonly number[]): Promise<number[]> {
  const staying = new Set(userIds);
  const members = await selectMemberIds(tx, { group: groupId });
  const leaving = members.map((row) => row.user_id).filter((id) => !staying.has(id));
  return removeMembers(tx, groupId, leaving);
}

/** Adds memberships, and makes them primary where `primary_type` says so. */
export const upsertMemberships: (tx: Tx, rows: readonly MembershipTable[]) => Promise<void> = bulkInsert(
  'membership',
  ['group_id', 'user_id', 'primary_type'],
  (insert) =>
    insert.onConflict((conflict) =>
      conflict.columns(['group_id', 'user_id']).doUpdateSet((row) => ({
        primary_type: row.fn.coalesce('excluded.primary_type', 'membership.primary_type'),
      })),
    ),
);

const deletePrimary = statement<{ user: number; type: string }, { group_id: number }>((db, place) =>
  db
    .deleteFrom('membership')
    .where('user_id', '=', place('user'))
    .where('primary_type', '=', place('type'))
    .returning('group_id'),
);

/** The user leaves the group that is their primary one of this type. Returns the groups that were left. */
export async function leavePrimary(tx: Tx, userId: number, type: string): Promise<number[]> {
  const rows = await deletePrimary(tx, { user: userId, type });
  return rows.map((row) => row.group_id);
}

/** A group that is no department any more is nobody's department: its members stay. */
export async function makeNobodysPrimary(tx: Tx, groupId: number): Promise<void> {
  await tx
    .updateTable('membership')
    .set({ primary_type: null })
    .where('group_id', '=', groupId)
    .where('primary_type', 'is not', null)
    .execute();
}

const deleteMembershipsOf = statement<{ user: number }, { group_id: number }>((db, place) =>
  db.deleteFrom('membership').where('user_id', '=', place('user')).returning('group_id'),
);

/** Returns the groups that were left. */
export async function leaveAllGroups(tx: Tx, userId: number): Promise<number[]> {
  const rows = await deleteMembershipsOf(tx, { user: userId });
  return rows.map((row) => row.group_id);
}
