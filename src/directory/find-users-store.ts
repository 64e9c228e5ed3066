import type { Reader } from '../storage/database.ts';
import { inPieces } from '../storage/in-pieces.ts';
import { inNumbers, inTexts } from '../storage/list-parameter.ts';
import { statement } from '../storage/statement.ts';
import { isLive } from './user-store.ts';

/** A live user by one of its keys. */
export interface UserHit {
  readonly id: number;
  readonly key: string;
  readonly owner_source_id: number | null;
}

const selectByNameKeys = statement<{ keys: string }, UserHit>((db, place) =>
  db
    .selectFrom('user')
    .select(['id', 'user_name_key as key', 'owner_source_id'])
    .where('user_name_key', 'in', inTexts(db, place('keys')))
    .where(isLive),
);

export async function findUsersByNameKeys(db: Reader, keys: readonly string[]): Promise<UserHit[]> {
  return keys.length === 0 ? [] : selectByNameKeys(db, { keys: JSON.stringify(keys) });
}

const selectByEmailKeys = statement<{ keys: string }, UserHit>((db, place) =>
  db
    .selectFrom('user_email')
    .innerJoin('user', 'user.id', 'user_email.user_id')
    .select(['user.id', 'user_email.value_key as key', 'user.owner_source_id'])
    .distinct()
    .where('user_email.value_key', 'in', inTexts(db, place('keys')))
    .where((is) => is.or([is('user_email.is_primary', '=', 1), is('user_email.type', '=', 'work')]))
    .where(isLive),
);

/** By the primary or work address: others are not identifying. One key may hit several people. */
export async function findUsersByEmailKeys(db: Reader, keys: readonly string[]): Promise<UserHit[]> {
  return keys.length === 0 ? [] : selectByEmailKeys(db, { keys: JSON.stringify(keys) });
}

const selectLiveIds = statement<{ ids: string }, { id: number; owner_source_id: number | null }>(
  (db, place) =>
    db
      .selectFrom('user')
      .select(['id', 'owner_source_id'])
      .where('id', 'in', inNumbers(db, place('ids')))
      .where(isLive),
);

/** Those of `ids` that are live users, with their owners. */
export async function findLiveUsers(
  db: Reader,
  ids: readonly number[],
): Promise<{ id: number; owner_source_id: number | null }[]> {
  if (ids.length === 0) return [];
  return inPieces(ids, (piece) => selectLiveIds(db, { ids: JSON.stringify(piece) }));
}

const selectArchivedIds = statement<{ ids: string }, { id: number }>((db, place) =>
  db
    .selectFrom('user')
    .select('id')
    .where('id', 'in', inNumbers(db, place('ids')))
    .where('state', '=', 'archived'),
);

/** Those of `ids` that are archived users: an id that an import has reserved may not be anybody's yet. */
export async function findArchived(db: Reader, ids: readonly number[]): Promise<number[]> {
  if (ids.length === 0) return [];
  return (await selectArchivedIds(db, { ids: JSON.stringify(ids) })).map((row) => row.id);
}
