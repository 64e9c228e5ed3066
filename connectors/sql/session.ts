import type { ConnectorContext, SourceRecord } from '../../src/connectors/contract.ts';
import { DomainError } from '../../src/errors.ts';
import type { SqlConfig } from './config.ts';

export type SqlContext = ConnectorContext<SqlConfig>;

/** Rows of one query. The first batch comes even when there are no rows, so that the columns are known. */
export interface Batch {
  readonly columns: readonly string[];
  readonly records: readonly SourceRecord[];
}

/** A connection in a transaction that may only read. One query at a time. */
export interface SqlSession {
  /** `PostgreSQL 15.4 at db.example.com:5432`. */
  readonly about: string;
  /**
   * Streams the rows of one statement in batches; `purpose` is for sentences: `people`. Throws DomainError with one sentence
   * for a statement that the server refuses, that gives no columns, or gives two of one name.
   */
  query(statement: string, purpose: string): AsyncIterable<Batch>;
  /** Ends the connection, whatever it is doing. */
  close(): Promise<void>;
}

/** Rows of a batch: a round trip each, and all that is held in memory at a time. */
export const batchRows = 500;
export const connectMsMax = 15_000;

interface Breakable {
  once(event: 'error', listener: (error: Error) => void): unknown;
}

/**
 * Rejects when the run is cancelled or the connection breaks, and never resolves. What is under way is raced with it:
 * drivers do not tell every query of every end.
 */
export function breakOf(connection: Breakable, signal: AbortSignal): Promise<never> {
  const broken = new Promise<never>((_, reject) => {
    connection.once('error', reject);
    const stop = () => reject(signal.reason as Error);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  // Nobody may be waiting when it happens.
  broken.catch(() => {});
  return broken;
}

/** Throws unless the columns have names, each its own. */
export function requireNames(columns: readonly string[], purpose: string): void {
  if (columns.length === 0)
    throw refusal(`The query for ${purpose} gives no columns: it has to be one SELECT.`);
  const twice = columns.find((name, at) => columns.indexOf(name) !== at);
  if (twice === undefined) return;
  throw refusal(
    `The query for ${purpose} gives the column ${JSON.stringify(twice)} twice; name one of them differently with AS.`,
  );
}

/** Without a prototype: a column may be called `__proto__`. */
export function toRecord(columns: readonly string[], values: readonly unknown[]): SourceRecord {
  const record: Record<string, unknown> = Object.create(null);
  for (let at = 0; at < columns.length; at += 1) record[columns[at] ?? ''] = values[at];
  return record;
}

/** A member of the configuration that the engine cannot do without. */
export function required(config: SqlConfig, name: 'file' | 'host' | 'database' | 'username'): string {
  const value = config[name];
  if (value !== undefined) return value;
  throw refusal(`The configuration needs "${name}" for ${config.engine}.`);
}

/** `2024-05-31 08:00:00+00` as XML Schema writes it; what is no such time stays as it is. */
export function timestampText(text: string): string {
  return text.replace(
    /^(\d{4,}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)(?:\+00(?::00)?(?=$))?/,
    (whole, date, time) =>
      whole.endsWith('+00') || whole.endsWith('+00:00') ? `${date}T${time}Z` : `${date}T${time}`,
  );
}

export function refusal(detail: string): DomainError {
  return new DomainError('invalidValue', detail);
}

/** Where in a query a character (from 0) stands, and what is there. */
export function placeIn(statement: string, at: number): string {
  const before = statement.slice(0, at).split('\n');
  const near = /^\S{1,40}/.exec(statement.slice(at))?.[0] ?? 'its end';
  const column = (before.at(-1)?.length ?? 0) + 1;
  return `line ${before.length}, character ${column} (${near})`;
}

/** One sentence of what a server said, however it said it. */
export function oneSentence(message: string): string {
  return message.replace(/\s+/g, ' ').trim().slice(0, 300).replace(/\.$/, '');
}
