import { type Kysely, PostgresAdapter, type RawBuilder, sql } from 'kysely';
import type { Tables } from './schema.ts';

/**
 * The right side of an `in` whose list is one JSON parameter: the statement's text, and so its preparation, is the
 * same for one value and for a thousand. Pass `JSON.stringify(list)` as the parameter.
 */
export function inNumbers(db: Kysely<Tables>, parameter: unknown): RawBuilder<number> {
  return isPostgres(db)
    ? sql`(select value::bigint from json_array_elements_text(${parameter}::json))`
    : sql`(select value from json_each(${parameter}))`;
}

export function inTexts(db: Kysely<Tables>, parameter: unknown): RawBuilder<string> {
  return isPostgres(db)
    ? sql`(select value from json_array_elements_text(${parameter}::json))`
    : sql`(select value from json_each(${parameter}))`;
}

/** For what the engines do differently within a query. */
export function isPostgres(db: Kysely<Tables>): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}
