import type { Reader } from '../storage/database.ts';
import type { Condition } from './filter-sql.ts';

export interface ArchivedHits {
  /** The latest first. */
  readonly ids: readonly number[];
  readonly total: number;
}

/** Archived users of whom the condition holds, at most `limit` ids. It looks at every archived user: not for a server. */
export async function findArchived(db: Reader, condition: Condition, limit: number): Promise<ArchivedHits> {
  const archived = db.selectFrom('user').where('state', '=', 'archived').where(condition);
  const rows = await archived.select('user.id').orderBy('user.id', 'desc').limit(limit).execute();
  const { total } = await archived
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  return { ids: rows.map(({ id }) => id), total: Number(total) };
}
