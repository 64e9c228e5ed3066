import { sql } from 'kysely';
import type { Reader } from '../storage/database.ts';
import { inNumbers } from '../storage/list-parameter.ts';

/** How far so many memberships reach. */
export interface Reach {
  readonly count: number;
  /** Whose the last one is; 0 when there is none. */
  readonly last: number;
}

/** The memberships of a type of resource: the members of groups, or the groups of people. Never reads many of them. */
export interface RelatedStore {
  /** How far the first `max + 1` memberships of the resources from `from` up to, and without, `to` reach. */
  reach(db: Reader, range: { readonly from: number; readonly to: number }, max: number): Promise<Reach>;
  /** How far the next `max` of one resource reach, behind the one with `after`. */
  reachOf(db: Reader, of: { readonly id: number; readonly after: number }, max: number): Promise<Reach>;
  /** How many each has, or `max + 1` for more. */
  counts(db: Reader, ids: readonly number[], max: number): Promise<ReadonlyMap<number, number>>;
}

export const groupMembers: RelatedStore = relatedStore('group_id', 'user_id');
export const userGroups: RelatedStore = relatedStore('user_id', 'group_id');

type Column = 'group_id' | 'user_id';

function relatedStore(own: Column, other: Column): RelatedStore {
  return {
    async reach(db, { from, to }, max) {
      const some = db
        .selectFrom('membership')
        .select(`${own} as id`)
        .where(own, '>=', from)
        .where(own, '<', to)
        .orderBy(own)
        .orderBy(other)
        .limit(max + 1);
      const row = await db
        .selectFrom(some.as('some'))
        .select(({ fn }) => [fn.countAll<number>().as('count'), fn.max('some.id').as('last')])
        .executeTakeFirstOrThrow();
      return { count: Number(row.count), last: Number(row.last ?? 0) };
    },
    async reachOf(db, { id, after }, max) {
      const some = db
        .selectFrom('membership')
        .select(`${other} as id`)
        .where(own, '=', id)
        .where(other, '>', after)
        .orderBy(other)
        .limit(max);
      const row = await db
        .selectFrom(some.as('some'))
        .select(({ fn }) => [fn.countAll<number>().as('count'), fn.max('some.id').as('last')])
        .executeTakeFirstOrThrow();
      return { count: Number(row.count), last: Number(row.last ?? 0) };
    },
    async counts(db, ids, max) {
      const asked = inNumbers(db, JSON.stringify(ids));
      const rows = await sql<{ id: number; count: number }>`
        select asked.value as id, (select count(*) from (select 1 from membership
          where ${sql.ref(own)} = asked.value limit cast(${max + 1} as integer)) as theirs) as count
        from ${asked} as asked`.execute(db);
      return new Map(rows.rows.map(({ id, count }) => [Number(id), Number(count)]));
    },
  };
}
