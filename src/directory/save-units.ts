import { StaleRead } from '../storage/constraints.ts';
import type { Tx } from '../storage/database.ts';
import { isPostgres } from '../storage/list-parameter.ts';
import { lockInPassing } from '../storage/row-lock.ts';
import type { DirectoryContext } from './context.ts';
import { countGroups } from './group-store.ts';
import type { JournalEntry } from './journal-store.ts';
import { groupEntry } from './member-entries.ts';
import { leavePrimary, upsertMemberships } from './membership-store.ts';
import { unitTypes } from './organisation.ts';
import { touchGroups } from './touch-store.ts';
import { requireUnits, type WantedUnit } from './units.ts';
import type { GroupOfUser } from './user.ts';
import type { UserDraft } from './user-draft.ts';

/** What became of the memberships in companies, departments and locations. */
export interface MovedUsers {
  /** The units that each of the users has joined, in the order of their ids. */
  readonly joined: ReadonlyMap<number, readonly GroupOfUser[]>;
  /** What the histories of the units are to say of it. */
  readonly entries: readonly JournalEntry[];
}

type Mover = UserDraft & { readonly id: number };

/** Takes the users out of the units that they are to leave, and into those that they are to have. */
export async function writeUnits(
  tx: Tx,
  context: DirectoryContext,
  users: readonly Mover[],
): Promise<MovedUsers> {
  const moves = users.flatMap(({ id, before, units }) =>
    unitTypes
      .filter((type) => units[type] !== before?.units[type])
      .map((type) => ({ userId: id, type, name: units[type], isLeaving: before?.units[type] !== undefined })),
  );
  if (moves.length === 0) return { joined: new Map(), entries: [] };
  const left = new Map<number, number[]>();
  for (const { userId, type, isLeaving } of moves) {
    if (!isLeaving) continue;
    for (const groupId of await leavePrimary(tx, userId, type)) note(left, groupId, userId);
  }
  const joins = moves.filter((move): move is typeof move & WantedUnit => move.name !== undefined);
  const unitOf = await requireUnits(tx, context, joins);
  const members = new Map<number, number[]>();
  const joined = new Map<number, GroupOfUser[]>();
  for (const join of joins) {
    const unit = unitOf(join);
    note(members, unit.id, join.userId);
    note(joined, join.userId, { ...unit, groupType: join.type, isPrimary: true });
  }
  for (const groups of joined.values()) groups.sort((one, other) => one.id - other.id);
  await lockGroups(tx, [...members.keys()]);
  await upsertMemberships(
    tx,
    joins.map((join) => ({ group_id: unitOf(join).id, user_id: join.userId, primary_type: join.type })),
  );
  await touchGroups(tx, [...left.keys(), ...members.keys()], context.now);
  return { joined, entries: entriesOf(users, left, members) };
}

function entriesOf(
  users: readonly Mover[],
  left: ReadonlyMap<number, readonly number[]>,
  members: ReadonlyMap<number, readonly number[]>,
): JournalEntry[] {
  const held = new Map(users.map(({ id, before }) => [id, new Set(before?.groups.map((group) => group.id))]));
  const isNew = (groupId: number) => (userId: number) => held.get(userId)?.has(groupId) !== true;
  return [
    ...[...left].map(([groupId, userIds]) => groupEntry(groupId, 'remove', userIds)),
    ...[...members].flatMap(([groupId, userIds]) => {
      const added = userIds.filter(isNew(groupId));
      return added.length === 0 ? [] : [groupEntry(groupId, 'add', added)];
    }),
  ];
}

function note<T>(map: Map<number, T[]>, key: number, value: T): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}

/** Nobody deletes a group while somebody joins it. Throws StaleRead for one that is gone since it was looked for. */
async function lockGroups(tx: Tx, ids: readonly number[]): Promise<void> {
  if (!isPostgres(tx) || ids.length === 0) return;
  await lockInPassing(tx, 'group_', ids);
  if ((await countGroups(tx, ids)) < ids.length) throw new StaleRead('A company, department or location');
}
