// Databases for tests: real ones, fresh and migrated, gone when the test ends.
// SQLite lives in a temporary folder, PostgreSQL in a database of its own on the server of ROLLCALL_TEST_POSTGRES,
// emptied and used again by a later test.
// What happens where there is no such server is told in postgres.ts.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Database, Dialect } from '../../src/storage/database.ts';
import { migrateToLatest } from '../../src/storage/migrate.ts';
import { openPostgres } from '../../src/storage/postgres.ts';
import { openSqlite } from '../../src/storage/sqlite.ts';
import { createPostgresDatabase, postgresUrl } from './postgres.ts';
import { openPooledDatabase } from './postgres-pool.ts';

export interface TestDatabase extends AsyncDisposable {
  readonly database: Database;
  /** Path of the SQLite file, or address of the PostgreSQL database: a second connection opens it. */
  readonly location: string;
}

/** The engines that store tests run on. */
export function dialects(): readonly Dialect[] {
  return postgresUrl() === undefined ? ['sqlite'] : ['sqlite', 'postgres'];
}

/** A fresh database with all tables. */
export async function openTestDatabase(dialect: Dialect): Promise<TestDatabase> {
  if (dialect === 'postgres') return openPooledDatabase(postgresUrl() ?? '');
  const place = emptyFolder();
  const database = openSqlite({ path: place.location });
  await migrateToLatest(database);
  return {
    database,
    location: place.location,
    async [Symbol.asyncDispose]() {
      await database.close();
      await place[Symbol.asyncDispose]();
    },
  };
}

/** Another connection to a database that is there already. */
export function openDatabase(dialect: Dialect, location: string): Database {
  return dialect === 'sqlite' ? openSqlite({ path: location }) : openPostgres({ url: location });
}

export interface Place extends AsyncDisposable {
  /** Path of a SQLite file that is not there yet, or address of an empty PostgreSQL database. */
  readonly location: string;
}

/** Somewhere for a database to be, with no tables yet. */
export async function emptyDatabase(dialect: Dialect): Promise<Place> {
  if (dialect === 'sqlite') return emptyFolder();
  const { url, ...place } = await createPostgresDatabase(postgresUrl() ?? '');
  return { location: url, ...place };
}

function emptyFolder(): Place {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-test-'));
  return {
    location: join(folder, 'rollcall.db'),
    [Symbol.asyncDispose]: async () => rmSync(folder, { recursive: true, force: true }),
  };
}
