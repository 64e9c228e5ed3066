// Many users whose ids lie close together, read table by table along the ids: looking up links and memberships user by
// user takes several times as long. Only for an engine with one connection, where this is of one moment.

import { type ExpressionBuilder, type Kysely, type Selectable, type SqlBool, sql } from 'kysely';
import type { Reader } from '../storage/database.ts';
import type { Tables, UserTable } from '../storage/schema.ts';
import { atOneMoment, statement } from '../storage/statement.ts';
import type { GroupOfUser } from './user.ts';

/** Columns of a user that answers show. */
export const shownColumns = [
  'id',
  'state',
  'owner_source_id',
  'user_name',
  'document',
  'plain_mark',
  'manager_id',
  'do_not_synchronise',
  'version',
  'created',
  'modified',
] as const;

/** A user as its row has it. */
export type OwnRow = Pick<Selectable<UserTable>, (typeof shownColumns)[number]> & {
  readonly manager_display_name: string | null;
};

/** Null when there is no manager, or one who was archived. */
export function managerName(user: ExpressionBuilder<Tables, 'user'>) {
  return user
    .selectFrom('user as manager')
    .select('manager.display_name')
    .whereRef('manager.id', '=', 'user.manager_id')
    .where(sql<SqlBool>`manager.state <> 'archived'`);
}

export interface IdBounds {
  readonly from: number;
  /** The last of them. */
  readonly to: number;
}

/** What there is of users besides their rows, by their ids. */
export interface UsersWithin {
  readonly rows: readonly OwnRow[];
  readonly externalIds: ReadonlyMap<number, string>;
  readonly groups: ReadonlyMap<number, readonly GroupOfUser[]>;
}

type Bounds = { from: number; to: number };

const selectRows = statement<Bounds, OwnRow>((db, place) =>
  db
    .selectFrom('user')
    .select(shownColumns)
    .select((user) => managerName(user).as('manager_display_name'))
    .where('user.id', '>=', place('from'))
    .where('user.id', '<=', place('to'))
    .orderBy('user.id'),
);

const selectLinks = statement<Bounds & { source: number | null }, { id: number; external_id: string }>(
  (db, place) =>
    db
      .selectFrom('source_link')
      .select(['resource_id as id', 'external_id'])
      .where('source_id', '=', place('source') as number)
      .where(sql<SqlBool>`resource_type = 'User'`)
      .where('resource_id', '>=', place('from'))
      .where('resource_id', '<=', place('to')),
);

interface GroupRow {
  readonly user_id: number;
  readonly id: number;
  readonly group_type: string;
  readonly display_name: string;
  readonly primary_type: string | null;
  readonly owner_source_id: number | null;
}

const selectGroups = statement<Bounds, GroupRow>((db, place) =>
  groupsOfUsers(db)
    .where('membership.user_id', '>=', place('from'))
    .where('membership.user_id', '<=', place('to'))
    .orderBy('membership.user_id')
    .orderBy('membership.group_id'),
);

function groupsOfUsers(db: Kysely<Tables>) {
  return db
    .selectFrom('membership')
    .innerJoin('group_ as entered', 'entered.id', 'membership.group_id')
    .select([
      'membership.user_id',
      'entered.id',
      'entered.group_type',
      'entered.display_name',
      'membership.primary_type',
      'entered.owner_source_id',
    ]);
}

/** The users with ids from `from` to `to`, archived ones too; undefined where the engine has to wait. */
export function usersWithin(
  db: Reader,
  { from, to }: IdBounds,
  source: number | null,
): UsersWithin | undefined {
  return atOneMoment(db, () => {
    const rows = selectRows.atOnce(db, { from, to });
    const links = selectLinks.atOnce(db, { from, to, source });
    const memberships = selectGroups.atOnce(db, { from, to });
    if (rows === undefined || links === undefined || memberships === undefined) return undefined;
    return {
      rows,
      externalIds: new Map(links.map(({ id, external_id: externalId }) => [id, externalId])),
      groups: groupsById(memberships),
    };
  });
}

function groupsById(memberships: readonly GroupRow[]): Map<number, GroupOfUser[]> {
  const byId = new Map<number, GroupOfUser[]>();
  for (const {
    user_id: userId,
    id,
    group_type,
    display_name,
    primary_type,
    owner_source_id,
  } of memberships) {
    const group = {
      id,
      groupType: group_type,
      displayName: display_name,
      isPrimary: primary_type !== null,
      ownerSourceId: owner_source_id,
    };
    const known = byId.get(userId);
    if (known === undefined) byId.set(userId, [group]);
    else known.push(group);
  }
  return byId;
}
