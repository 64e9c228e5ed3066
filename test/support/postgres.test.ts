import { describe, expect, test } from 'bun:test';
import { Client } from 'pg';
import { createPostgresDatabase, postgresUrl } from './postgres.ts';

const url = postgresUrl();

describe.if(url !== undefined)('createPostgresDatabase', () => {
  test('gives an empty database and drops it when disposed of', async () => {
    const database = await createPostgresDatabase(url ?? '');
    expect(
      await queryOne(
        database.url,
        "select count(*)::int as found from pg_tables where schemaname = 'public'",
      ),
    ).toEqual({ found: 0 });
    await database[Symbol.asyncDispose]();
    expect(queryOne(database.url, 'select 1')).rejects.toThrow('does not exist');
  });
});

async function queryOne(connectionString: string, statement: string): Promise<unknown> {
  const client = new Client({ connectionString });
  try {
    await client.connect();
    return (await client.query(statement)).rows[0];
  } finally {
    await client.end().catch(() => undefined);
  }
}
