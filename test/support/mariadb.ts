// The MariaDB that tests talk to: the one that scripts/test.mjs started, or the developer's own.
// It never lets tests on MariaDB disappear in silence: it says so loudly, and under CI=true it fails.

import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createConnection } from 'mysql2/promise';

export interface MariadbServer {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  /** PEM text of the authority that issued the server's certificate; undefined for a server without TLS. */
  readonly caCertificate: string | undefined;
}

export interface MariadbDatabase extends AsyncDisposable {
  readonly name: string;
  run(...statements: readonly string[]): Promise<void>;
}

const variable = 'ROLLCALL_TEST_MARIADB';
let warned = false;

/** A MariaDB whose user may create databases, or `undefined` after a loud line. Throws under CI=true. */
export function mariadbServer(): MariadbServer | undefined {
  const text = process.env[variable];
  if (text) return serverOf(new URL(text));
  const sentence = `${variable} is not set: NOTHING IS TESTED ON MARIADB. Use "npm test -- FILE", or set it to mysql://user:password@host:port/?ca=FILE.`;
  if (process.env.CI === 'true') throw new Error(sentence);
  if (!warned) console.warn(`\n!!! ${sentence}\n`);
  warned = true;
  return undefined;
}

function serverOf(url: URL): MariadbServer {
  const ca = url.searchParams.get('ca');
  return {
    host: url.hostname,
    port: Number(url.port || 3306),
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    caCertificate: ca === null ? undefined : readFileSync(ca, 'utf8'),
  };
}

/** Creates an empty database of its own for one test file; disposing of it drops it. */
export async function createMariadbDatabase(server: MariadbServer): Promise<MariadbDatabase> {
  const name = `rollcall_test_${randomBytes(8).toString('hex')}`;
  await runOn(server, undefined, [`create database ${name} character set utf8mb4`]);
  return {
    name,
    run: (...statements) => runOn(server, name, statements),
    [Symbol.asyncDispose]: () => runOn(server, undefined, [`drop database ${name}`]),
  };
}

async function runOn(
  { host, port, user, password }: MariadbServer,
  database: string | undefined,
  statements: readonly string[],
): Promise<void> {
  const connection = await createConnection({
    host,
    port,
    user,
    password,
    ...(database === undefined ? {} : { database }),
  });
  try {
    for (const statement of statements) await connection.query(statement);
  } finally {
    await connection.end();
  }
}
