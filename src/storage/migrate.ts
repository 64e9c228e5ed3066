import { type Kysely, type Migration, Migrator } from 'kysely';
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
