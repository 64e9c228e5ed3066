import { type ExpressionBuilder, type Kysely, type SqlBool, sql } from 'kysely';
import { configurationVersionIn } from '../settings/settings-store.ts';
import type { Reader } from '../storage/database.ts';
import { inNumbers, isPostgres } from '../storage/list-parameter.ts';
import type { Tables } from '../storage/schema.ts';
import { statement } from '../storage/statement.ts';
import type { GroupOfUser, ManagerOfUser, UserState } from './user.ts';
import { type IdBounds, managerName, type OwnRow, shownColumns, usersWithin } from './users-within-store.ts';

/** A user as the tables have it: the document is not parsed, because most answers show it as it is. */
export interface StoredUser {
  readonly id: number;
  readonly state: UserState;
  readonly ownerSourceId: number | null;
  readonly userName: string;
  /** What the source that asks calls the user. */
  readonly externalId: string | null;
  /** JSON text of the attributes that are not columns, memberships or links. */
  readonly document: string;
  /** Says whether answers show it as it is: plain-user.ts. */
  readonly plainMark: number;
  /** Undefined when there is none, or one who was archived. */
  readonly manager: ManagerOfUser | undefined;
  /** In the order of their ids. */
  readonly groups: readonly GroupOfUser[];
  readonly doNotSynchronise: boolean;
  readonly version: number;
  readonly created: string;
  readonly modified: string;
}

type UserRow = OwnRow & {
  readonly external_id: string | null;
  /** JSON text; null on PostgreSQL when there is none. */
  readonly groups: string | null;
};

/** One statement for all that an answer shows, so that it is of one moment. */
function users(db: Kysely<Tables>, source: number | null) {
  return db
    .selectFrom('user')
    .select(shownColumns)
    .select((user) => [
      user
        .selectFrom('source_link as link')
        .select('link.external_id')
        .where('link.source_id', '=', source as number)
        .where(sql<SqlBool>`link.resource_type = 'User'`)
        .whereRef('link.resource_id', '=', 'user.id')
        .as('external_id'),
      managerName(user).as('manager_display_name'),
      groupsOf(db, user).as('groups'),
    ]);
}

function groupsOf(db: Kysely<Tables>, user: ExpressionBuilder<Tables, 'user'>) {
  const facts = sql`"group_".id, "group_".group_type, "group_".display_name, membership.primary_type, "group_".owner_source_id`;
  const list = isPostgres(db)
    ? sql<string | null>`json_agg(json_build_array(${facts}) order by "group_".id)::text`
    : sql<string | null>`json_group_array(json_array(${facts}))`;
  return user
    .selectFrom('membership')
    .innerJoin('group_', 'group_.id', 'membership.group_id')
    .select(list.as('list'))
    .whereRef('membership.user_id', '=', 'user.id');
}

type Source = { source: number | null };

const selectOne = statement<Source & { id: number }, UserRow>((db, place) =>
  users(db, place('source')).where('user.id', '=', place('id')),
);

const selectMany = statement<Source & { ids: string }, UserRow>((db, place) =>
  users(db, place('source'))
    .where('user.id', 'in', inNumbers(db, place('ids')))
    .orderBy('user.id'),
);

/** The users with these ids, in the order of their ids, archived ones too. `source` says whose externalId they show. */
export async function readUsers(
  db: Reader,
  ids: readonly number[],
  source: number | null,
): Promise<StoredUser[]> {
  const [id] = ids;
  if (id === undefined) return [];
  if (ids.length === 1) return (await selectOne(db, { id, source })).map(toStoredUser);
  const together = closeTogether(db, ids, source);
  if (together !== undefined) return together;
  return (await selectMany(db, { ids: JSON.stringify(ids), source })).map(toStoredUser);
}

/** The same without waiting; undefined where the engine has to wait. */
export function usersAtOnce(
  db: Reader,
  ids: readonly number[],
  source: number | null,
): readonly StoredUser[] | undefined {
  const [id] = ids;
  if (id === undefined) return [];
  if (ids.length === 1) return selectOne.atOnce(db, { id, source })?.map(toStoredUser);
  const together = closeTogether(db, ids, source);
  return together ?? selectMany.atOnce(db, { ids: JSON.stringify(ids), source })?.map(toStoredUser);
}

/** Undefined for ids that are far from each other, and where the engine has to wait. */
function closeTogether(db: Reader, ids: readonly number[], source: number | null): StoredUser[] | undefined {
  const bounds = boundsOf(ids);
  const within = bounds && usersWithin(db, bounds, source);
  if (within === undefined) return undefined;
  const { rows, externalIds, groups } = within;
  const wanted = new Set(ids);
  return rows
    .filter(({ id }) => wanted.has(id))
    .map((row) => storedUser(row, externalIds.get(row.id) ?? null, groups.get(row.id) ?? noGroups));
}

const noGroups: readonly GroupOfUser[] = [];

/** Ids of a page lie this close together when at least every other one is of the page. */
const spreadMax = 2;

/** Undefined when there are many others between the first and the last of `ids`. */
function boundsOf(ids: readonly number[]): IdBounds | undefined {
  const [from, to] = [Math.min(...ids), Math.max(...ids)];
  return to - from < spreadMax * ids.length ? { from, to } : undefined;
}

function toStoredUser(row: UserRow): StoredUser {
  const { groups, external_id: externalId } = row;
  return storedUser(row, externalId, groups === null || groups === '[]' ? noGroups : toGroups(groups));
}

function storedUser(row: OwnRow, externalId: string | null, groups: readonly GroupOfUser[]): StoredUser {
  const { manager_id: managerId, manager_display_name: displayName } = row;
  return {
    id: row.id,
    state: row.state,
    ownerSourceId: row.owner_source_id,
    userName: row.user_name,
    externalId,
    document: row.document,
    plainMark: row.plain_mark,
    manager: managerId === null || displayName === null ? undefined : { id: managerId, displayName },
    groups,
    doNotSynchronise: row.do_not_synchronise === 1,
    version: row.version,
    created: row.created,
    modified: row.modified,
  };
}

type GroupFacts = [id: number, type: string, name: string, primaryType: string | null, owner: number | null];

function toGroups(list: string): GroupOfUser[] {
  const groups = (JSON.parse(list) as GroupFacts[]).map(
    ([id, groupType, displayName, primaryType, ownerSourceId]) => ({
      id,
      groupType,
      displayName,
      isPrimary: primaryType !== null,
      ownerSourceId,
    }),
  );
  return groups.length === 1 ? groups : groups.toSorted((one, other) => one.id - other.id);
}

export interface LiveVersion {
  readonly id: number;
  readonly version: number;
}

function versions(db: Kysely<Tables>) {
  return db.selectFrom('user').select(['id', 'version']).where(sql<SqlBool>`state <> 'archived'`);
}

const selectVersion = statement<{ id: number }, LiveVersion>((db, place) =>
  versions(db).where('id', '=', place('id')),
);

const selectVersions = statement<{ ids: string }, LiveVersion>((db, place) =>
  versions(db).where('id', 'in', inNumbers(db, place('ids'))),
);

const selectVersionsWithin = statement<{ from: number; to: number }, LiveVersion>((db, place) =>
  versions(db).where('id', '>=', place('from')).where('id', '<=', place('to')).orderBy('id'),
);

/** Those of `ids` that are live users, and at which version, in no particular order. */
export async function readVersions(db: Reader, ids: readonly number[]): Promise<readonly LiveVersion[]> {
  const [id] = ids;
  if (id === undefined) return [];
  if (ids.length === 1) return selectVersion(db, { id });
  const bounds = boundsOf(ids);
  if (bounds === undefined) return selectVersions(db, { ids: JSON.stringify(ids) });
  const wanted = new Set(ids);
  return (await selectVersionsWithin(db, { ...bounds })).filter((row) => wanted.has(row.id));
}

/** A version, and that of the configuration at the same moment: nearly every answer needs both. */
export interface Glimpse extends LiveVersion {
  /** Null for 0. */
  readonly configuration_version: string | null;
  /** All that is shown of the user, if it was read at once. */
  readonly user?: StoredUser;
}

function glimpses(db: Kysely<Tables>) {
  return versions(db).select(configurationVersionIn(db).as('configuration_version'));
}

const selectGlimpse = statement<{ id: number }, Glimpse>((db, place) =>
  glimpses(db).where('user.id', '=', place('id')),
);

const selectGlimpseByName = statement<{ key: string }, Glimpse>((db, place) =>
  glimpses(db).where('user.user_name_key', '=', place('key')),
);

type WholeRow = UserRow & Pick<Glimpse, 'configuration_version'>;

function wholes(db: Kysely<Tables>, source: number | null) {
  return users(db, source)
    .select(configurationVersionIn(db).as('configuration_version'))
    .where(sql<SqlBool>`"user".state <> 'archived'`);
}

const selectWhole = statement<Source & { id: number }, WholeRow>((db, place) =>
  wholes(db, place('source')).where('user.id', '=', place('id')),
);

const selectWholeByName = statement<Source & { key: string }, WholeRow>((db, place) =>
  wholes(db, place('source')).where('user.user_name_key', '=', place('key')),
);

function toGlimpse(row: WholeRow): Glimpse {
  const { id, version, configuration_version } = row;
  return { id, version, configuration_version, user: toStoredUser(row) };
}

/** Which live users, at which version, without waiting; undefined where the engine has to wait. */
export const versionsAtOnce = {
  ofUser: (db: Reader, id: number) => selectGlimpse.atOnce(db, { id }),
  /** Of the one with this canonical userName. */
  byName: (db: Reader, key: string) => selectGlimpseByName.atOnce(db, { key }),
  /** The same, with all that is shown of them: cheaper than two looks where the second will be needed. */
  whole: (db: Reader, id: number, source: number) => selectWhole.atOnce(db, { id, source })?.map(toGlimpse),
  wholeByName: (db: Reader, key: string, source: number) =>
    selectWholeByName.atOnce(db, { key, source })?.map(toGlimpse),
  /** Of all whose ids lie within bounds, in their order. */
  within: (db: Reader, { from, to }: IdBounds) => selectVersionsWithin.atOnce(db, { from, to }),
} as const;
