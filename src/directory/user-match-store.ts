import { type SqlBool, sql } from 'kysely';
import type { Reader } from '../storage/database.ts';
import { statement } from '../storage/statement.ts';
import { isLive } from './user-store.ts';

/** What a create is matched by (service-description.md §3). Null matches nobody. */
export interface MatchKeys extends Record<string, unknown> {
  readonly name: string;
  readonly source: number | null;
  readonly externalId: string | null;
  readonly email: string | null;
}

export interface MatchHit {
  readonly by: 'userName' | 'externalId' | 'email';
  readonly id: number;
  /** Not told for a hit by externalId, which is the source's own. */
  readonly owner_source_id: number | null;
}

const selectMatches = statement<MatchKeys, MatchHit>((db, place) =>
  db
    .selectFrom('user')
    .select([sql<MatchHit['by']>`'userName'`.as('by'), 'id', 'owner_source_id'])
    .where('user_name_key', '=', place('name'))
    .where(isLive)
    .unionAll(
      db
        .selectFrom('source_link')
        .select([
          sql<MatchHit['by']>`'externalId'`.as('by'),
          'resource_id as id',
          sql<number | null>`cast(null as bigint)`.as('owner_source_id'),
        ])
        .where('source_id', '=', place('source') as number)
        .where(sql<SqlBool>`resource_type = 'User'`)
        .where('external_id', '=', place('externalId') as string),
    )
    .unionAll(
      db
        .selectFrom('user_email')
        // Not joined: SQLite plans a join with a table of partial indexes anew for each value.
        .select((email) => [
          sql<MatchHit['by']>`'email'`.as('by'),
          'user_id as id',
          email
            .selectFrom('user')
            .select('user.owner_source_id')
            .whereRef('user.id', '=', 'user_email.user_id')
            .as('owner_source_id'),
        ])
        .where('value_key', '=', place('email') as string)
        .where(sql<SqlBool>`(is_primary = 1 or type = 'work')`),
    ),
);

/**
 * The live users that one of the keys leads to, in one statement; a user may be hit several times. Whoever is archived
 * loses links and addresses.
 */
export async function findMatches(db: Reader, keys: MatchKeys): Promise<MatchHit[]> {
  return selectMatches(db, keys);
}
