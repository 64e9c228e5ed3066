// The three engines of the kind `sql` as its tests use them: an empty database each, statements to fill it, and the
// configuration that reads it.

import { Database } from 'bun:sqlite';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { createMariadbDatabase, mariadbServer } from '../../support/mariadb.ts';
import { createPostgresDatabase, postgresUrl } from '../../support/postgres.ts';

export type Engine = 'postgres' | 'mysql' | 'sqlite';

export interface SqlSource extends AsyncDisposable {
  readonly engine: Engine;
  /** All of the configuration but the queries. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly password: string;
  run(...statements: readonly string[]): Promise<void>;
}

/** The engines whose servers there are. */
export function engines(): readonly Engine[] {
  const all: readonly Engine[] = ['sqlite', 'postgres', 'mysql'];
  const hasServer = {
    sqlite: true,
    postgres: postgresUrl() !== undefined,
    mysql: mariadbServer() !== undefined,
  };
  return all.filter((engine) => hasServer[engine]);
}

/** An empty database of the engine. */
export function openSource(engine: Engine): Promise<SqlSource> {
  if (engine === 'postgres') return openPostgres();
  return engine === 'mysql' ? openMariadb() : openSqlite();
}

async function openPostgres(): Promise<SqlSource> {
  const database = await createPostgresDatabase(postgresUrl() ?? '');
  const url = new URL(database.url);
  const password = decodeURIComponent(url.password);
  return {
    engine: 'postgres',
    password,
    config: {
      engine: 'postgres',
      host: url.hostname,
      port: Number(url.port || 5432),
      database: url.pathname.slice(1),
      username: decodeURIComponent(url.username),
      password,
      tls: false,
    },
    async run(...statements) {
      const client = new Client({ connectionString: database.url });
      await client.connect();
      try {
        for (const statement of statements) await client.query(statement);
      } finally {
        await client.end();
      }
    },
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

async function openMariadb(): Promise<SqlSource> {
  const server = mariadbServer();
  if (server === undefined) throw new Error('There is no MariaDB.');
  const database = await createMariadbDatabase(server);
  const { host, port, user, password, caCertificate } = server;
  const tls = caCertificate === undefined ? { tls: false } : { tls: true, caCertificate };
  return {
    engine: 'mysql',
    password,
    config: { engine: 'mysql', host, port, database: database.name, username: user, password, ...tls },
    run: database.run,
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

async function openSqlite(): Promise<SqlSource> {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-sql-'));
  const file = join(folder, 'people.db');
  new Database(file).close();
  return {
    engine: 'sqlite',
    password: '',
    config: { engine: 'sqlite', file },
    async run(...statements) {
      const database = new Database(file);
      for (const statement of statements) database.run(statement);
      database.close();
    },
    async [Symbol.asyncDispose]() {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
