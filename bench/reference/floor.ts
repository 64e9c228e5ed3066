// The floor of the start: compiled, it loads what the product cannot do without (Elysia, Kysely, SQLite), opens a
// database and answers every request alike. Nothing of the product is in it. Usage: floor DATABASE PORT

import { Database } from 'bun:sqlite';
import { Elysia } from 'elysia';
import { Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';

const [path = ':memory:', port = '0'] = Bun.argv.slice(2);
const sqlite = new Database(path, { create: true, strict: true });
sqlite.run('PRAGMA journal_mode = wal');
sqlite.run('CREATE TABLE IF NOT EXISTS user (id integer PRIMARY KEY)');
const db = new Kysely<{ user: { id: number } }>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => ({
      init: async () => undefined,
      acquireConnection: async () => Promise.reject(new Error('the floor compiles queries and runs none')),
      beginTransaction: async () => undefined,
      commitTransaction: async () => undefined,
      rollbackTransaction: async () => undefined,
      releaseConnection: async () => undefined,
      destroy: async () => undefined,
    }),
    createIntrospector: (kysely) => new SqliteIntrospector(kysely),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});
const count = sqlite.prepare(db.selectFrom('user').select('id').limit(1).compile().sql);
const app = new Elysia().get('/healthz', () => ({ users: count.all(1).length }));

Bun.serve({ hostname: '127.0.0.1', port: Number(port), fetch: (request) => app.handle(request) });
