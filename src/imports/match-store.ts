import { sql } from 'kysely';
import { isLive } from '../directory/user-store.ts';
import type { Reader } from '../storage/database.ts';
import { inNumbers, inTexts } from '../storage/list-parameter.ts';
import { statement } from '../storage/statement.ts';

/** What deciding about a record needs to know of the user it matches. */
export interface UserFacts {
  readonly id: number;
  readonly state: 'active' | 'inactive' | 'archived';
  readonly owner_source_id: number | null;
  readonly do_not_synchronise: number;
  /** What this source calls the user, and the digest of the record that was last applied. */
  readonly external_id: string | null;
  readonly digest: string | null;
}

const facts = [
  'user.id',
  'user.state',
  'user.owner_source_id',
  'user.do_not_synchronise',
  'source_link.external_id',
  'source_link.digest',
] as const;

/**
 * Begins with the names, and a cross join keeps it so: for an `in`, SQLite reads every link of the source instead, for each
 * batch of a file all over again.
 */
const selectLinked = statement<{ source: number; ids: string }, UserFacts>((db, place) =>
  db
    .selectFrom(sql<{ value: string }>`${inTexts(db, place('ids'))}`.as('wanted'))
    .crossJoin('source_link')
    .crossJoin('user')
    .select(facts)
    .where('source_link.source_id', '=', place('source'))
    .where('source_link.resource_type', '=', 'User')
    .whereRef('source_link.external_id', '=', 'wanted.value')
    .whereRef('user.id', '=', 'source_link.resource_id')
    .where(isLive),
);

/** The live users that this source calls by these ids. */
export async function findLinkedUsers(
  db: Reader,
  source: number,
  externalIds: readonly string[],
): Promise<UserFacts[]> {
  if (externalIds.length === 0) return [];
  return selectLinked(db, { source, ids: JSON.stringify([...new Set(externalIds)]) });
}

const selectFacts = statement<{ source: number; ids: string }, UserFacts>((db, place) =>
  db
    .selectFrom('user')
    .leftJoin('source_link', (join) =>
      join
        .onRef('source_link.resource_id', '=', 'user.id')
        .on('source_link.resource_type', '=', 'User')
        .on('source_link.source_id', '=', place('source')),
    )
    .select(facts)
    .where('user.id', 'in', inNumbers(db, place('ids')))
    .where(isLive),
);

export async function findUserFacts(
  db: Reader,
  source: number,
  ids: readonly number[],
): Promise<UserFacts[]> {
  return ids.length === 0 ? [] : selectFacts(db, { source, ids: JSON.stringify(ids) });
}

/** Active users of the source, and those of nobody whom its run's plan speaks of: among these the guard counts who ends. */
export async function countActiveConcerned(
  db: Reader,
  { runId, sourceId }: { readonly runId: number; readonly sourceId: number },
): Promise<number> {
  const row = await db
    .selectFrom('user')
    .select((select) => select.fn.countAll<number>().as('count'))
    .where('state', '=', 'active')
    .where(({ or, and, eb, exists, selectFrom }) =>
      or([
        eb('owner_source_id', '=', sourceId),
        and([
          eb('owner_source_id', 'is', null),
          exists(
            selectFrom('import_plan')
              .select('import_plan.seq')
              .where('import_plan.run_id', '=', runId)
              .where('import_plan.kind', '=', 'user')
              .whereRef('import_plan.resource_id', '=', 'user.id'),
          ),
        ]),
      ]),
    )
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

export interface AbsentQuery {
  readonly runId: number;
  readonly sourceId: number;
  /** Inactive ones too: they are archived, while disabling them would change nothing. */
  readonly withInactive: boolean;
  readonly after: number;
  readonly limit: number;
}

/** Live users of the source that no row of the run's plan stands for, in the order of their ids. */
export async function listAbsent(db: Reader, query: AbsentQuery): Promise<number[]> {
  const rows = await db
    .selectFrom('user')
    .select('user.id')
    .where('user.owner_source_id', '=', query.sourceId)
    .where('user.state', 'in', query.withInactive ? ['active', 'inactive'] : ['active'])
    .where('user.do_not_synchronise', '=', 0)
    .where('user.id', '>', query.after)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('import_plan')
            .select('import_plan.seq')
            .where('import_plan.run_id', '=', query.runId)
            .where('import_plan.kind', '=', 'user')
            .whereRef('import_plan.resource_id', '=', 'user.id'),
        ),
      ),
    )
    .orderBy('user.id')
    .limit(query.limit)
    .execute();
  return rows.map((row) => row.id);
}

/** What decides who leaves a group. */
export interface GroupFacts {
  readonly id: number;
  readonly owner_source_id: number | null;
  readonly group_type: string;
}

const selectGroupFacts = statement<{ ids: string }, GroupFacts>((db, place) =>
  db
    .selectFrom('group_')
    .select(['id', 'owner_source_id', 'group_type'])
    .where('id', 'in', inNumbers(db, place('ids')))
    .where('state', '=', 'existing'),
);

/** Those of `ids` that are existing groups. */
export async function findGroupFacts(
  db: Reader,
  ids: readonly number[],
): Promise<ReadonlyMap<number, GroupFacts>> {
  if (ids.length === 0) return new Map();
  const rows = await selectGroupFacts(db, { ids: JSON.stringify(ids) });
  return new Map(rows.map((row) => [row.id, row]));
}

export interface HeldMembership {
  readonly user_id: number;
  readonly group_id: number;
  readonly primary_type: string | null;
}

const selectMemberships = statement<{ ids: string }, HeldMembership>((db, place) =>
  db
    .selectFrom('membership')
    .select(['user_id', 'group_id', 'primary_type'])
    .where('user_id', 'in', inNumbers(db, place('ids')))
    .orderBy('group_id'),
);

/** All that these users are members of, by user. */
export async function findMemberships(
  db: Reader,
  userIds: readonly number[],
): Promise<ReadonlyMap<number, readonly HeldMembership[]>> {
  if (userIds.length === 0) return new Map();
  return Map.groupBy(await selectMemberships(db, { ids: JSON.stringify(userIds) }), (row) => row.user_id);
}

/** Users, of all sources, whose manager is one of `ids`. */
export async function listReports(db: Reader, ids: readonly number[]): Promise<number[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom('user')
    .select('id')
    .where('manager_id', 'in', inNumbers(db, JSON.stringify(ids)))
    .where(isLive)
    .orderBy('id')
    .execute();
  return rows.map((row) => row.id);
}

/** Who reports to whom, in pages by id. */
export async function listManagers(db: Reader, after: number, limit: number) {
  const rows = await db
    .selectFrom('user')
    .select(['id', 'manager_id'])
    .where('id', '>', after)
    .where('manager_id', 'is not', null)
    .where(isLive)
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map((row) => ({ id: row.id, managerId: row.manager_id ?? 0 }));
}
