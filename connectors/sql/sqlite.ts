// SQLite through the engine that Bun brings: a file opened for reading only, rows one by one.

import { Database, type SQLQueryBindings, type Statement } from 'bun:sqlite';
import { stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import type { SourceRecord } from '../../src/connectors/contract.ts';
import {
  type Batch,
  batchRows,
  oneSentence,
  placeIn,
  refusal,
  required,
  requireNames,
  type SqlContext,
  type SqlSession,
} from './session.ts';

/** Throws DomainError with one sentence when there is no database in the file, or none that may be read. */
export async function openSqlite(context: SqlContext): Promise<SqlSession> {
  const file = required(context.config, 'file');
  if (!isAbsolute(file)) throw refusal(`The file "${file}" has to be a full path.`);
  if ((await stat(file).catch(() => undefined))?.isFile() !== true)
    throw refusal(`There is no file ${file}.`);
  const database = open(file);
  return {
    about: `SQLite file ${file}`,
    query: (statement, purpose) => rowsOf(database, { statement, purpose, context }),
    close: async () => database.close(),
  };
}

function open(file: string): Database {
  let database: Database | undefined;
  try {
    database = new Database(file, { readonly: true, safeIntegers: true });
    database.run('PRAGMA query_only = 1');
    // One snapshot for all queries; the first look also tells a file that is no database.
    database.run('BEGIN');
    database.prepare('SELECT count(*) FROM sqlite_schema').get();
    return database;
  } catch (error) {
    database?.close();
    const said = oneSentence(error instanceof Error ? error.message : String(error));
    throw refusal(`The file ${file} cannot be read as a SQLite database: ${said}.`);
  }
}

interface Query {
  readonly statement: string;
  readonly purpose: string;
  readonly context: SqlContext;
}

async function* rowsOf(database: Database, query: Query): AsyncGenerator<Batch> {
  const { statement, purpose, context } = query;
  requireOneStatement(statement, purpose);
  const prepared = prepare(database, query);
  const columns = prepared.columnNames;
  requireNames(columns, purpose);
  const rows = prepared.iterate();
  try {
    for (let isMore = true; isMore; ) {
      const batch = nextRows(rows, query);
      yield { columns, records: batch.map((row) => toTexts(row, columns)) };
      isMore = batch.length === batchRows;
      // SQLite works on this thread: without a pause nobody could cancel.
      await new Promise((resolve) => setImmediate(resolve));
      context.signal.throwIfAborted();
    }
  } finally {
    rows.return?.();
    prepared.finalize();
  }
}

type SqliteRow = Record<string, unknown>;

function prepare(database: Database, query: Query): Statement<SqliteRow, SQLQueryBindings[]> {
  try {
    return database.prepare<SqliteRow, SQLQueryBindings[]>(query.statement);
  } catch (error) {
    throw queryFault(error, query);
  }
}

function nextRows(rows: Iterator<SqliteRow>, query: Query): SqliteRow[] {
  const batch: SqliteRow[] = [];
  try {
    while (batch.length < batchRows) {
      const { value, done } = rows.next();
      if (done === true) break;
      batch.push(value);
    }
  } catch (error) {
    throw queryFault(error, query);
  }
  return batch;
}

/**
 * Whole numbers with all their digits, others as short as they are exact; bytes in hexadecimal digits. The row is ours, and
 * changed where it stands.
 */
function toTexts(row: SqliteRow, columns: readonly string[]): SourceRecord {
  for (const name of columns) {
    const value = row[name];
    if (typeof value === 'string' || value === null) continue;
    row[name] = value instanceof Uint8Array ? value.toHex() : String(value);
  }
  return row;
}

/** Strings, names in quotes and comments, in which a semicolon is nothing but that. */
const quotedParts = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\]|--[^\n]*|\/\*.*?(?:\*\/|$)/gs;

/** SQLite would run the first statement and say nothing about the others. */
function requireOneStatement(statement: string, purpose: string): void {
  const bare = statement.replace(quotedParts, '').trim().replace(/;$/, '');
  if (bare.includes(';'))
    throw refusal(`The query for ${purpose} has more than one statement; it has to be one SELECT.`);
}

function queryFault(error: unknown, { statement, purpose }: Query): Error {
  const { message, code, byteOffset } = error as { message?: unknown; code?: unknown; byteOffset?: unknown };
  const said = oneSentence(String(message));
  if (code === 'SQLITE_READONLY')
    return refusal(`The query for ${purpose} would change something (${said}); it may only read.`);
  const isPlaced = typeof byteOffset === 'number' && byteOffset >= 0;
  const at = isPlaced ? Buffer.from(statement).subarray(0, byteOffset).toString().length : 0;
  const place = isPlaced ? ` at ${placeIn(statement, at)}` : '';
  return refusal(`The query for ${purpose} is not accepted${place}: ${said}.`);
}
