// PostgreSQL through `pg` and a cursor: rows arrive in batches, values as the server writes them.
// All queries see one snapshot, in a transaction that cannot write.

import { Socket } from 'node:net';
import pg from 'pg';
import Cursor from 'pg-cursor';
import { connectionFault } from '../../src/connectors/connection-fault.ts';
import { DomainError } from '../../src/errors.ts';
import {
  type Batch,
  batchRows,
  breakOf,
  connectMsMax,
  oneSentence,
  placeIn,
  refusal,
  required,
  requireNames,
  type SqlContext,
  type SqlSession,
  timestampText,
  toRecord,
} from './session.ts';

const defaultPort = 5432;

/** Throws DomainError with one sentence when the server cannot be reached or does not let the user in. */
export async function openPostgres(context: SqlContext): Promise<SqlSession> {
  const { config, signal } = context;
  const host = required(config, 'host');
  const where = `${host}:${config.port ?? defaultPort}`;
  const { client, socket } = newClient(context, { host, address: await context.resolveHost(host) });
  const broken = breakOf(client, signal);
  // Saying goodbye would wait for a query that is under way.
  const close = async () => void socket.destroy();
  try {
    await Promise.race([client.connect(), broken]);
    const version = await Promise.race([begin(client, config.timeoutSeconds), broken]);
    const query = (statement: string, purpose: string) =>
      rowsOf(client, { statement, purpose, context, broken });
    return { about: `PostgreSQL ${version} at ${where}`, query, close };
  } catch (error) {
    await close();
    signal.throwIfAborted();
    throw connectFault(error, where, context);
  }
}

function newClient(
  { config }: SqlContext,
  { host, address }: { readonly host: string; readonly address: string },
): { readonly client: pg.Client; readonly socket: Socket } {
  const socket = socketTo(address);
  const { caCertificate } = config;
  const tls = { rejectUnauthorized: true, ...(caCertificate === undefined ? {} : { ca: caCertificate }) };
  const client = new pg.Client({
    host,
    port: config.port ?? defaultPort,
    database: required(config, 'database'),
    user: required(config, 'username'),
    password: config.password ?? '',
    ssl: config.tls ? tls : false,
    stream: () => socket,
    connectionTimeoutMillis: connectMsMax,
    application_name: 'rollcall',
  });
  // A connection that breaks fails the query that is under way; without a listener it would end the process as well.
  client.on('error', () => {});
  return { client, socket };
}

/** TLS verifies the name of the host, while the connection goes to the address that was looked at. */
function socketTo(address: string): Socket {
  const socket = new Socket();
  const connect = socket.connect.bind(socket) as (port: number, host: string) => Socket;
  socket.connect = ((port: number) => connect(port, address)) as Socket['connect'];
  return socket;
}

/** Returns the version of the server. */
async function begin(client: pg.Client, timeoutSeconds: number): Promise<string> {
  await client.query('begin transaction isolation level repeatable read read only');
  const settings = [
    ['statement_timeout', String(timeoutSeconds * 1_000)],
    ['timezone', 'UTC'],
    ['datestyle', 'ISO, YMD'],
    ['intervalstyle', 'iso_8601'],
    ['bytea_output', 'hex'],
    // From PostgreSQL 14: a query whose reader has gone ends by itself.
    ['client_connection_check_interval', '1000'],
  ];
  // Looked up among the settings, because older servers do not have all of them.
  const set = 'select set_config(name, $2, true) from pg_settings where lower(name) = $1';
  for (const pair of settings) await client.query(set, pair);
  const { rows } = await client.query<{ server_version: string }>('show server_version');
  return rows[0]?.server_version.split(' ')[0] ?? '';
}

interface Query {
  readonly statement: string;
  readonly purpose: string;
  readonly context: SqlContext;
  readonly broken: Promise<never>;
}

async function* rowsOf(client: pg.Client, query: Query): AsyncGenerator<Batch> {
  const { statement, purpose, context, broken } = query;
  const types = { getTypeParser: textOf as typeof pg.types.getTypeParser };
  const cursor = client.query(new Cursor<unknown[]>(statement, [], { rowMode: 'array', types }));
  let columns: readonly string[] | undefined;
  // Every turn takes rows away; the last has none.
  for (;;) {
    const { rows, names } = await Promise.race([readBatch(cursor, query), broken]).finally(() =>
      context.signal.throwIfAborted(),
    );
    if (columns === undefined) requireNames(names, purpose);
    else if (rows.length === 0) break;
    columns ??= names;
    const kept = columns;
    yield { columns: kept, records: rows.map((row) => toRecord(kept, row)) };
    if (rows.length < batchRows) break;
  }
  await cursor.close();
}

function readBatch(
  cursor: Cursor<unknown[]>,
  query: Query,
): Promise<{ readonly rows: unknown[][]; readonly names: readonly string[] }> {
  return new Promise((resolve, reject) => {
    cursor.read(batchRows, (error, rows, result) => {
      if (error === undefined || error === null)
        resolve({ rows, names: result.fields.map(({ name }) => name) });
      else reject(queryFault(error, query));
    });
  });
}

const { builtins } = pg.types;
/** Lists of texts and whole numbers arrive as lists: `array_agg` gives the groups of a person. */
const lists = new Set([1000, 1001, 1005, 1007, 1009, 1014, 1015, 1016, 2951]);
const textList = 1009;
const readList = pg.types.getTypeParser(textList as typeof builtins.TEXT) as (text: string) => string[];

/** Values as the server writes them; numbers of any size keep their digits. */
function textOf(type: number): (text: string) => unknown {
  if (type === builtins.BOOL) return (text) => (text === 't' ? 'true' : 'false');
  if (type === builtins.BYTEA) return (text) => text.replace(/^\\x/, '');
  if (type === builtins.TIMESTAMP || type === builtins.TIMESTAMPTZ) return timestampText;
  return lists.has(type) ? readList : (text) => text;
}

function queryFault(error: Error, { statement, purpose, context }: Query): DomainError {
  const { code, position } = error as { code?: unknown; position?: unknown };
  const said = oneSentence(error.message);
  if (code === '57014')
    return refusal(
      `The query for ${purpose} took longer than ${context.config.timeoutSeconds} s ("timeoutSeconds").`,
    );
  if (code === '25006')
    return refusal(`The query for ${purpose} would change something (${said}); it may only read.`);
  if (typeof code !== 'string' || !/^[0-9A-Z]{5}$/.test(code))
    return new DomainError('unavailable', `The connection broke during the query for ${purpose}: ${said}.`, {
      cause: error,
    });
  const place = position === undefined ? '' : ` at ${placeIn(statement, Number(position) - 1)}`;
  return refusal(`The query for ${purpose} is not accepted${place}: ${said}.`);
}

function connectFault(error: unknown, where: string, { config }: SqlContext): DomainError {
  if (error instanceof DomainError) return error;
  const { code, message } = error as { code?: unknown; message?: unknown };
  const said = typeof message === 'string' ? message : '';
  if (code === '28P01' || code === '28000' || /no password|password must be/i.test(said))
    return refusal(
      `PostgreSQL at ${where} does not let the user "${config.username}" in: check username and password.`,
    );
  if (code === '3D000') return refusal(`PostgreSQL at ${where} has no database "${config.database}".`);
  if (said.includes('does not support SSL')) return refusal(noTls(where));
  if (typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code))
    return new DomainError(
      'unavailable',
      `PostgreSQL at ${where} refuses the connection: ${oneSentence(said)}.`,
    );
  return new DomainError('unavailable', connectionFault(error, where), { cause: error });
}

/** For both engines: the server offers no TLS, which the configuration asks for. */
export function noTls(where: string): string {
  return `${where} offers no TLS: switch it on there or, if nobody can listen on the way, set "tls" to false.`;
}
