import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Reader } from '../storage/database.ts';
import { isPostgres } from '../storage/list-parameter.ts';
import type { Tables } from '../storage/schema.ts';
import { statement } from '../storage/statement.ts';

type GroupAndPrefix = { group: number; prefix: string };

const selectMembersText = statement<GroupAndPrefix, { members: string | null }>((db, place) => {
  const members = db
    .selectFrom('membership')
    .innerJoin('user', 'user.id', 'membership.user_id')
    .select(['user.id', 'user.display_name'])
    .where('membership.group_id', '=', place('group'))
    .orderBy('membership.user_id')
    .as('member');
  return db.selectFrom(members).select(listOf(db, place('prefix')).as('members'));
});

/** Written by the database: a large group would be made into objects only to be made into text. */
function listOf(db: Kysely<Tables>, prefix: unknown): RawBuilder<string | null> {
  if (isPostgres(db)) {
    const element = sql`'{"value":"' || id || '","$ref":' || cast(${prefix} as text) || id || '","display":' || to_json(display_name)::text || ',"type":"User"}'`;
    return sql<string | null>`string_agg(${element}, ',' order by id)`;
  }
  return sql<
    string | null
  >`group_concat('{"value":"' || id || '","$ref":' || ${prefix} || id || '","display":' || json_quote(display_name) || ',"type":"User"}')`;
}

/**
 * The members of a group in the order of their ids, as the JSON texts of RFC 7643 §4.2 with commas between them; ''
 * for none. `address` is that of a user without the id.
 */
export async function readMembersText(db: Reader, group: number, address: string): Promise<string> {
  // Without its last quote: the id and a quote follow.
  const prefix = JSON.stringify(address).slice(0, -1);
  const [row] = await selectMembersText(db, { group, prefix });
  return row?.members ?? '';
}
