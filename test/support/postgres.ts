// The PostgreSQL that tests talk to: the one that scripts/test.mjs started, or the developer's own.
// It never lets tests on PostgreSQL disappear in silence: it says so loudly, and under CI=true it fails.

import { randomBytes } from 'node:crypto';
import { Client } from 'pg';

export interface PostgresDatabase extends AsyncDisposable {
  /** `postgres://user:password@host:port/database` of an empty database. */
  readonly url: string;
}

const variable = 'ROLLCALL_TEST_POSTGRES';
let warned = false;

/** URL of a PostgreSQL whose user may create databases, or `undefined` after a loud line. Throws under CI=true. */
export function postgresUrl(): string | undefined {
  const url = process.env[variable];
  if (url) return url;
  const sentence = `${variable} is not set: NOTHING IS TESTED ON POSTGRESQL. Use "npm test -- FILE", or set it to a postgres:// URL.`;
  if (process.env.CI === 'true') throw new Error(sentence);
  if (!warned) console.warn(`\n!!! ${sentence}\n`);
  warned = true;
  return undefined;
}

/** Creates an empty database of its own for one test; disposing of it drops it with its connections. */
export async function createPostgresDatabase(serverUrl: string): Promise<PostgresDatabase> {
  const name = `rollcall_test_${randomBytes(8).toString('hex')}`;
  await runOnServer(serverUrl, `create database ${name}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    [Symbol.asyncDispose]: () => runOnServer(serverUrl, `drop database ${name} with (force)`),
  };
}

async function runOnServer(serverUrl: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: serverUrl });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
