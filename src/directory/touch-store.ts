// Versions of what a change shows in without being stored there: a group's name in its members, a manager's in the
// reports, a person's in the lists of members. What the entity tag stands for has then changed (RFC 7644 §3.14).
// Never changes anything but version and lastModified.

import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Reader, Tx } from '../storage/database.ts';
import { inPieces } from '../storage/in-pieces.ts';
import { inNumbers } from '../storage/list-parameter.ts';
import { lockInPassing } from '../storage/row-lock.ts';
import { statement } from '../storage/statement.ts';

type Touch = { ids: string; now: string };

/** The later of a row's lastModified and `now`: a clock that was set back does not take it back. */
export function laterModified(now: string): RawBuilder<string> {
  return sql<string>`case when modified > ${now} then modified else ${now} end`;
}

const touchUserRows = statement<Touch, never>((db, place) =>
  db
    .updateTable('user')
    .set((value) => ({ version: value('version', '+', 1), modified: laterModified(place('now')) }))
    .where('id', 'in', inNumbers(db, place('ids'))),
);

/** Of one user or group, as most changes touch: SQLite takes as long again to read a list of ids. */
const touchUserRow = statement<{ id: number; now: string }, never>((db, place) =>
  db
    .updateTable('user')
    .set((value) => ({ version: value('version', '+', 1), modified: laterModified(place('now')) }))
    .where('id', '=', place('id')),
);

const touchGroupRows = statement<Touch, never>((db, place) =>
  db
    .updateTable('group_')
    .set((value) => ({ version: value('version', '+', 1), modified: laterModified(place('now')) }))
    .where('id', 'in', inNumbers(db, place('ids'))),
);

const touchGroupRow = statement<{ id: number; now: string }, never>((db, place) =>
  db
    .updateTable('group_')
    .set((value) => ({ version: value('version', '+', 1), modified: laterModified(place('now')) }))
    .where('id', '=', place('id')),
);

/** Counts a change that shows in these users. */
export async function touchUsers(tx: Tx, ids: Iterable<number>, now: string): Promise<void> {
  const rows = inOrder(ids);
  if (rows.length === 0) return;
  await lockInPassing(tx, 'user', rows);
  const [id] = rows;
  if (rows.length === 1 && id !== undefined) return void (await touchUserRow(tx, { id, now }));
  await inPieces(rows, (piece) => touchUserRows(tx, { ids: JSON.stringify(piece), now }));
}

/** Counts a change that shows in these groups. */
export async function touchGroups(tx: Tx, ids: Iterable<number>, now: string): Promise<void> {
  const rows = inOrder(ids);
  if (rows.length === 0) return;
  await lockInPassing(tx, 'group_', rows);
  const [id] = rows;
  if (rows.length === 1 && id !== undefined) return void (await touchGroupRow(tx, { id, now }));
  await touchGroupRows(tx, { ids: JSON.stringify(rows), now });
}

function inOrder(ids: Iterable<number>): number[] {
  return [...new Set(ids)].toSorted((a, b) => a - b);
}

const selectMemberIds = statement<{ group: number }, { user_id: number }>((db, place) =>
  db.selectFrom('membership').select('user_id').where('group_id', '=', place('group')),
);

/** Counts a change of the group's name or type: its members show both. */
export async function touchMembersOf(tx: Tx, groupId: number, now: string): Promise<void> {
  const members = await selectMemberIds(tx, { group: groupId });
  await touchUsers(
    tx,
    members.map((member) => member.user_id),
    now,
  );
}

const selectReportIds = statement<{ ids: string }, { id: number }>((db, place) =>
  db
    .selectFrom('user')
    .select('id')
    .where('manager_id', 'in', inNumbers(db, place('ids')))
    // Fixed text: for a value that it does not know, SQLite plans a search by a partial index anew each time.
    .where(sql<SqlBool>`state <> 'archived'`),
);

const selectReportIdsOfOne = statement<{ id: number }, { id: number }>((db, place) =>
  db
    .selectFrom('user')
    .select('id')
    .where('manager_id', '=', place('id'))
    .where(sql<SqlBool>`state <> 'archived'`),
);

const selectGroupIds = statement<{ ids: string }, { group_id: number }>((db, place) =>
  db
    .selectFrom('membership')
    .select('group_id')
    .distinct()
    .where('user_id', 'in', inNumbers(db, place('ids'))),
);

/** The groups that show one of these users as a member. */
export async function listGroupIdsOf(db: Reader, userIds: readonly number[]): Promise<number[]> {
  const rows = await selectGroupIds(db, { ids: JSON.stringify(userIds) });
  return rows.map((row) => row.group_id);
}

/** Counts a change of what these users are shown as, or to whom, in the people who report to them; returns those. */
export function touchReportsOf(tx: Tx, userIds: readonly number[], now: string): Promise<number[]> {
  return touchOtherReports(tx, { managers: userIds, counted: userIds }, now);
}

/** The same, but for those of `counted`, who have another version already. */
export async function touchOtherReports(
  tx: Tx,
  { managers, counted }: { readonly managers: readonly number[]; readonly counted: readonly number[] },
  now: string,
): Promise<number[]> {
  const [id] = managers;
  const rows =
    managers.length === 1 && id !== undefined
      ? await selectReportIdsOfOne(tx, { id })
      : await selectReportIds(tx, { ids: JSON.stringify(managers) });
  const others = new Set(counted);
  const reports = rows.map((row) => row.id).filter((id) => !others.has(id));
  await touchUsers(tx, reports, now);
  return reports;
}

/** The same in the people who report to them and in the lists of members. */
export async function touchWhereShown(tx: Tx, userIds: readonly number[], now: string): Promise<void> {
  if (userIds.length === 0) return;
  await touchGroups(tx, await listGroupIdsOf(tx, userIds), now);
  await touchReportsOf(tx, userIds, now);
}
