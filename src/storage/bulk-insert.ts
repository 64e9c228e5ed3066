import type { CompiledQuery, Insertable, InsertQueryBuilder, InsertResult, Kysely } from 'kysely';
import type { Tables } from './schema.ts';
import { runCompiled } from './statement.ts';

type Row<T extends keyof Tables> = Insertable<Tables[T]>;
type Insert<T extends keyof Tables> = InsertQueryBuilder<Tables, T, InsertResult>;

/** Rows in one statement. Few sizes, so that few statements are prepared, and each is used again. */
const sizes = [64, 16, 4, 2, 1] as const;

/**
 * Inserts rows by statements that are built and compiled once for each engine and size: building one for a hundred rows
 * takes longer than running it. Every row says all of `columns`. `finish` adds what follows the values.
 */
export function bulkInsert<T extends keyof Tables & string>(
  table: T,
  columns: readonly (keyof Row<T> & string)[],
  finish: (insert: Insert<T>) => Insert<T> = (insert) => insert,
): (db: Kysely<Tables>, rows: readonly Row<T>[]) => Promise<void> {
  const compiledFor = new WeakMap<object, Map<number, CompiledQuery>>();
  // The values stand in for those of later calls: only their number and order count.
  const sample = Object.fromEntries(columns.map((column) => [column, 0])) as Row<T>;

  function compiled(db: Kysely<Tables>, size: number): CompiledQuery {
    const engine = db.getExecutor().adapter;
    const bySize = compiledFor.get(engine) ?? new Map<number, CompiledQuery>();
    compiledFor.set(engine, bySize);
    const known = bySize.get(size);
    if (known !== undefined) return known;
    const insert = db.insertInto(table).values(new Array<Row<T>>(size).fill(sample)) as unknown as Insert<T>;
    const query = finish(insert).compile();
    bySize.set(size, query);
    return query;
  }

  return async (db, rows) => {
    let done = 0;
    for (const size of sizes) {
      for (; rows.length - done >= size; done += size) {
        const parameters: unknown[] = [];
        for (let at = done; at < done + size; at += 1) {
          const row = rows[at] as Record<string, unknown> | undefined;
          for (const column of columns) parameters.push(row?.[column]);
        }
        await runCompiled(db, compiled(db, size), parameters);
      }
    }
  };
}
