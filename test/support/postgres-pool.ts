// PostgreSQL databases that one test after another uses: to make one takes a third of a second, to empty it a few
// milliseconds. A test never has one that another test still has; one that cannot be emptied is dropped.
// Those of a process that has ended are dropped by the next one.

import { sql } from 'kysely';
import { Client } from 'pg';
import type { Database } from '../../src/storage/database.ts';
import { migrateToLatest } from '../../src/storage/migrate.ts';
import { openPostgres } from '../../src/storage/postgres.ts';
import { createPostgresDatabase, type PostgresDatabase } from './postgres.ts';

const idle: PostgresDatabase[] = [];
/** Begins the comment on each of these databases. */
const mark = 'rollcall tests of process ';
let isSwept = false;

export interface PooledDatabase extends AsyncDisposable {
  readonly database: Database;
  readonly location: string;
}

/** A migrated database without rows: one that an earlier test has left, or a new one. */
export async function openPooledDatabase(serverUrl: string): Promise<PooledDatabase> {
  const former = idle.pop();
  const reused = former && (await openEmptied(former));
  if (reused !== undefined) return reused;
  await former?.[Symbol.asyncDispose]();
  if (!isSwept) await dropThoseOfEndedProcesses(serverUrl);
  isSwept = true;
  const made = await createPostgresDatabase(serverUrl);
  await markAsOurs(serverUrl, made);
  const database = openPostgres({ url: made.url });
  await migrateToLatest(database);
  return pooled(made, database);
}

async function openEmptied(former: PostgresDatabase): Promise<PooledDatabase | undefined> {
  const database = openPostgres({ url: former.url });
  try {
    await migrateToLatest(database);
    await emptyTables(database);
    return pooled(former, database);
  } catch {
    await database.close();
    return undefined;
  }
}

function pooled(place: PostgresDatabase, database: Database): PooledDatabase {
  return {
    database,
    location: place.url,
    async [Symbol.asyncDispose]() {
      await database.close();
      idle.push(place);
    },
  };
}

/** Every foreign key cascades or becomes null, so the order of the tables does not matter. */
async function emptyTables(database: Database): Promise<void> {
  await sql`do $$
    declare named record;
    begin
      set local lock_timeout = '2s';
      for named in select tablename from pg_tables
        where schemaname = 'public' and tablename not like 'kysely%' and tablename <> 'sequence'
      loop
        execute format('delete from %I', named.tablename);
      end loop;
      for named in select table_name, column_name from information_schema.columns
        where table_schema = 'public' and is_identity = 'YES'
      loop
        execute format('alter table %I alter column %I restart with 1', named.table_name, named.column_name);
      end loop;
      update sequence set next = 1;
    end $$`.execute(database.migrator);
}

/** No hook runs when the test process ends: its databases bear its number, and a later process drops them. */
async function dropThoseOfEndedProcesses(serverUrl: string): Promise<void> {
  await onServer(serverUrl, async (client) => {
    const { rows } = await client.query<{ name: string; pid: string }>(
      `select datname as name, substring(shobj_description(oid, 'pg_database') from '^${mark}(\\d+)$') as pid
       from pg_database where shobj_description(oid, 'pg_database') like '${mark}%'`,
    );
    for (const { name, pid } of rows) {
      if (!isAlive(Number(pid))) await client.query(`drop database if exists ${name} with (force)`);
    }
  });
}

async function markAsOurs(serverUrl: string, { url }: PostgresDatabase): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  await onServer(serverUrl, (client) =>
    client.query(`comment on database ${name} is '${mark}${process.pid}'`),
  );
}

async function onServer(serverUrl: string, work: (client: Client) => Promise<unknown>): Promise<void> {
  const client = new Client({ connectionString: serverUrl });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as { code?: string }).code === 'EPERM';
  }
}
