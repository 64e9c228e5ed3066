import { type Kysely, type Migration, Migrator, sql } from 'kysely';
import type { Database } from './database.ts';
import { migrations } from './migrations/index.ts';

/** Brings the tables to this executable's version, and refuses a database that a newer one has changed. */
export async function migrateToLatest(database: Database): Promise<readonly string[]> {
  const migrator = new Migrator({
    db: database.migrator,
    provider: { getMigrations: async () => listed(database) },
  });
  const { error, results } = await migrator.migrateToLatest();
  if (error !== undefined) throw migrationFailure(error);
  return (results ?? []).map((result) => result.migrationName);
}

/** Whether every migration of this executable has run, and no other: a look that writes nothing and waits for nobody. */
export async function isUpToDate(database: Database): Promise<boolean> {
  try {
    const done = await sql<{ name: string }>`select name from kysely_migration`.execute(database.read);
    const names = new Set(done.rows.map((row) => row.name));
    return (
      names.size === Object.keys(migrations).length &&
      Object.keys(migrations).every((name) => names.has(name))
    );
  } catch {
    // There is no such table in an empty database; any other trouble shows when the tables are brought up to date.
    return false;
  }
}

function listed(database: Database): Record<string, Migration> {
  const entries = Object.entries(migrations);
  return Object.fromEntries(
    entries.map(([name, migrate]) => [name, { up: (db: Kysely<unknown>) => migrate(db, database.dialect) }]),
  );
}

function migrationFailure(error: unknown): Error {
  const text = error instanceof Error ? error.message : String(error);
  if (!/previously executed migration .* is missing/.test(text)) return new Error(text, { cause: error });
  const sentence =
    'The database was written by a newer release of rollcall; start that release, or restore a backup.';
  return new Error(sentence, { cause: error });
}
