// MySQL and MariaDB through `mysql2`: rows are streamed, values as the server writes them.
// All queries see one snapshot, in a session whose transactions cannot write.

import { connect, type Socket } from 'node:net';
import { type Connection, createConnection, type FieldPacket, Types } from 'mysql2';
import { connectionFault } from '../../src/connectors/connection-fault.ts';
import { DomainError } from '../../src/errors.ts';
import { noTls } from './postgres.ts';
import {
  type Batch,
  batchRows,
  breakOf,
  connectMsMax,
  oneSentence,
  refusal,
  required,
  requireNames,
  type SqlContext,
  type SqlSession,
  timestampText,
  toRecord,
} from './session.ts';

const defaultPort = 3306;

/** Throws DomainError with one sentence when the server cannot be reached or does not let the user in. */
export async function openMysql(context: SqlContext): Promise<SqlSession> {
  const { config, signal } = context;
  const host = required(config, 'host');
  const where = `${host}:${config.port ?? defaultPort}`;
  const { connection, socket } = newConnection(context, { host, address: await context.resolveHost(host) });
  const broken = breakOf(connection, signal);
  const close = async () => {
    connection.destroy();
    socket.destroy();
  };
  try {
    await Promise.race([connected(connection), broken]);
    const product = await Promise.race([begin(connection, config.timeoutSeconds), broken]);
    const query = (statement: string, purpose: string) =>
      rowsOf(connection, { statement, purpose, context, broken });
    return { about: `${product} at ${where}`, query, close };
  } catch (error) {
    await close();
    signal.throwIfAborted();
    throw connectFault(error, where, context);
  }
}

function newConnection(
  { config }: SqlContext,
  { host, address }: { readonly host: string; readonly address: string },
): { readonly connection: Connection; readonly socket: Socket } {
  const port = config.port ?? defaultPort;
  const { caCertificate, password = '' } = config;
  const user = required(config, 'username');
  const database = required(config, 'database');
  const tls = { verifyIdentity: true, ...(caCertificate === undefined ? {} : { ca: caCertificate }) };
  // TLS verifies the name of the host, while the connection goes to the address that was looked at.
  const socket = connect(port, address);
  const connection = createConnection({
    host,
    port,
    user,
    password,
    database,
    stream: () => socket,
    charset: 'utf8mb4',
    connectTimeout: connectMsMax,
    multipleStatements: false,
    // Otherwise a server could ask for any file of this machine.
    flags: ['-LOCAL_FILES'],
    ...(config.tls ? { ssl: tls } : {}),
  });
  // A connection that breaks fails the query that is under way; without a listener it would end the process as well.
  connection.on('error', () => {});
  return { connection, socket };
}

function connected(connection: Connection): Promise<void> {
  return new Promise((resolve, reject) => {
    connection.connect((error) => (error === null ? resolve() : reject(error)));
  });
}

/** Returns product and version of the server. */
async function begin(connection: Connection, timeoutSeconds: number): Promise<string> {
  const [row] = await run(connection, 'SELECT VERSION()');
  const version = String(row?.[0] ?? '');
  const isMaria = /mariadb/i.test(version);
  const limit = isMaria
    ? `max_statement_time = ${timeoutSeconds}`
    : `max_execution_time = ${timeoutSeconds * 1_000}`;
  await run(connection, `SET SESSION time_zone = '+00:00', ${limit}`);
  // For the whole session: a statement that commits by itself is refused as well.
  await run(connection, 'SET SESSION TRANSACTION READ ONLY');
  await run(connection, 'SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ');
  await run(connection, 'START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY');
  return `${isMaria ? 'MariaDB' : 'MySQL'} ${version.split('-')[0]}`;
}

/** For statements of our own. */
function run(connection: Connection, sql: string): Promise<readonly unknown[][]> {
  return new Promise((resolve, reject) => {
    connection.query({ sql, rowsAsArray: true }, (error, rows) => {
      if (error === null) resolve(Array.isArray(rows) ? (rows as unknown[][]) : []);
      else reject(error);
    });
  });
}

interface Query {
  readonly statement: string;
  readonly purpose: string;
  readonly context: SqlContext;
  readonly broken: Promise<never>;
}

type Bytes = Buffer | null;

async function* rowsOf(connection: Connection, query: Query): AsyncGenerator<Batch> {
  const { statement, purpose, context, broken } = query;
  let fields: readonly FieldPacket[] = [];
  const rows = connection
    .query({ sql: statement, rowsAsArray: true, typeCast: (field) => field.buffer() })
    .stream({ highWaterMark: batchRows })
    .on('fields', (given: readonly FieldPacket[]) => {
      fields = given;
    });
  broken.catch((error: Error) => rows.destroy(error));
  const read = reader(() => fields, purpose);
  let held: (readonly Bytes[])[] = [];
  try {
    for await (const row of rows as AsyncIterable<readonly Bytes[]>) {
      if (!Array.isArray(row))
        throw refusal(`The query for ${purpose} gives no columns: it has to be one SELECT.`);
      held.push(row);
      if (held.length < batchRows) continue;
      context.signal.throwIfAborted();
      yield read(held);
      held = [];
    }
  } catch (error) {
    context.signal.throwIfAborted();
    throw queryFault(error, query);
  }
  context.signal.throwIfAborted();
  yield read(held);
}

/** Makes batches of rows; looks at the columns once they are known. */
function reader(
  fieldsOf: () => readonly FieldPacket[],
  purpose: string,
): (rows: readonly (readonly Bytes[])[]) => Batch {
  let known:
    | { readonly columns: readonly string[]; readonly texts: readonly ((bytes: Buffer) => string)[] }
    | undefined;
  return (rows) => {
    if (known === undefined) {
      const fields = fieldsOf();
      const columns = fields.map(({ name }) => name);
      requireNames(columns, purpose);
      known = { columns, texts: fields.map(textOf) };
    }
    const { columns, texts } = known;
    const records = rows.map((row) =>
      toRecord(
        columns,
        row.map((bytes, at) => (bytes === null ? null : (texts[at]?.(bytes) ?? null))),
      ),
    );
    return { columns, records };
  };
}

/** Number of the character set that means bytes. */
const binary = 63;
const byteTypes: readonly number[] = [
  Types.TINY_BLOB,
  Types.MEDIUM_BLOB,
  Types.LONG_BLOB,
  Types.BLOB,
  Types.VAR_STRING,
  Types.STRING,
  Types.VARCHAR,
  Types.GEOMETRY,
];

/** Values as the server writes them; numbers of any size keep their digits. */
function textOf(field: FieldPacket): (bytes: Buffer) => string {
  const { columnType: type = -1, characterSet } = field as FieldPacket & { readonly characterSet?: number };
  if (type === Types.BIT) return (bytes) => BigInt(`0x${bytes.toString('hex') || '0'}`).toString();
  if (type === Types.TIMESTAMP) return (bytes) => momentText(bytes.toString('latin1'), 'Z');
  if (type === Types.DATETIME || type === Types.DATE)
    return (bytes) => momentText(bytes.toString('latin1'), '');
  if (characterSet === binary && byteTypes.includes(type)) return (bytes) => bytes.toString('hex');
  return (bytes) => bytes.toString('utf8');
}

/** The day 0000-00-00, which these servers have for "none", is no date. */
function momentText(text: string, zone: 'Z' | ''): string {
  if (text.startsWith('0000-00-00')) return '';
  return text.includes(' ') ? `${timestampText(text)}${zone}` : text;
}

const timeouts = new Set(['ER_STATEMENT_TIMEOUT', 'ER_QUERY_TIMEOUT']);
/** MariaDB's code for `max_statement_time`, and MySQL's for `max_execution_time`. */
const timeoutNumbers = new Set([1969, 3024]);
const readOnlyNumbers = new Set([1290, 1792, 1836]);

function queryFault(error: unknown, { purpose, context }: Query): DomainError {
  if (error instanceof DomainError) return error;
  const { code, errno, message } = error as { code?: string; errno?: number; message?: string };
  const said = oneSentence(message ?? 'unknown reason');
  if (timeouts.has(code ?? '') || timeoutNumbers.has(errno ?? 0))
    return refusal(
      `The query for ${purpose} took longer than ${context.config.timeoutSeconds} s ("timeoutSeconds").`,
    );
  if (readOnlyNumbers.has(errno ?? 0))
    return refusal(`The query for ${purpose} would change something (${said}); it may only read.`);
  if (code?.startsWith('ER_') === true) return refusal(`The query for ${purpose} is not accepted: ${said}.`);
  return new DomainError('unavailable', `The connection broke during the query for ${purpose}: ${said}.`, {
    cause: error,
  });
}

function connectFault(error: unknown, where: string, { config }: SqlContext): DomainError {
  if (error instanceof DomainError) return error;
  const { code = '', message = '' } = error as { code?: string; message?: string };
  if (code === 'ER_ACCESS_DENIED_ERROR' || code === 'ER_ACCESS_DENIED_NO_PASSWORD_ERROR')
    return refusal(`${where} does not let the user "${config.username}" in: check username and password.`);
  if (code === 'ER_BAD_DB_ERROR' || code === 'ER_DBACCESS_DENIED_ERROR')
    return refusal(
      `${where} has no database "${config.database}" that the user "${config.username}" may read.`,
    );
  if (code === 'HANDSHAKE_NO_SSL_SUPPORT') return refusal(noTls(where));
  if (code.startsWith('ER_'))
    return new DomainError('unavailable', `${where} refuses the connection: ${oneSentence(message)}.`);
  const tlsCode = code === 'HANDSHAKE_SSL_ERROR' ? certificateCode(message) : undefined;
  const fault = tlsCode === undefined ? error : { code: tlsCode };
  return new DomainError('unavailable', connectionFault(fault, where), { cause: error });
}

/** The driver puts a code of its own over that of the certificate; what is left is the sentence. */
function certificateCode(message: string): string | undefined {
  if (/altname|does not match/i.test(message)) return 'ERR_TLS_CERT_ALTNAME_INVALID';
  if (/expired/i.test(message)) return 'CERT_HAS_EXPIRED';
  if (/not yet valid/i.test(message)) return 'CERT_NOT_YET_VALID';
  return /certificate|signed|issuer/i.test(message) ? 'UNTRUSTED_CERTIFICATE' : undefined;
}
