import { DomainError } from '../errors.ts';

/** The uniqueness rules that the database keeps, by the name of their index. */
export type UniqueRule =
  | 'source_name'
  | 'user_name_live'
  | 'source_link_external'
  | 'group_name_live'
  | 'other';

/** SQLite names the columns of a broken rule, PostgreSQL the index. */
const ruleByColumns: Readonly<Record<string, UniqueRule>> = {
  'source.name_key': 'source_name',
  'user.user_name_key': 'user_name_live',
  'source_link.source_id, source_link.resource_type, source_link.external_id': 'source_link_external',
  'group_.group_type, group_.display_name_key': 'group_name_live',
};
const ruleNames = new Set<string>(Object.values(ruleByColumns));

/** Which uniqueness rule `error` reports as broken; undefined when it is another failure. */
export function brokenUniqueRule(error: unknown): UniqueRule | undefined {
  const { code, message, constraint } = (error ?? {}) as {
    code?: string;
    message?: string;
    constraint?: string;
  };
  if (code === '23505') return ruleNames.has(constraint ?? '') ? (constraint as UniqueRule) : 'other';
  if (code !== 'SQLITE_CONSTRAINT_UNIQUE' && code !== 'SQLITE_CONSTRAINT_PRIMARYKEY') return undefined;
  const columns = message?.split('constraint failed: ')[1] ?? '';
  return ruleByColumns[columns] ?? 'other';
}

/**
 * Another transaction changed what this one has read. `Database.write` runs the work again, as it does when
 * PostgreSQL itself reports a serialization failure, whose code it bears.
 */
export class StaleRead extends Error {
  readonly code = '40001';

  constructor(what: string) {
    super(`${what} has been changed by another transaction`);
    this.name = 'StaleRead';
  }
}

/** Locks, contention, lost or refused connections: what may be otherwise when the client tries again. */
const passingCodes =
  /^(SQLITE_(BUSY|IOERR|READONLY|CANTOPEN)|08|25P03|40001|40P01|53|55P03|57|E(CONN|HOSTUNREACH|NETUNREACH|AI_AGAIN|NOTFOUND|PIPE|TIMEDOUT))/;

/** What the driver says, without a code, of a connection that ended under a query or has ended before it. */
const lostConnection = /^Connection terminated|^Client (?:was closed|has encountered a connection error)/;

function isLostConnection(error: unknown): boolean {
  return error instanceof Error && lostConnection.test(error.message);
}

/** A full disk, a lost connection, too much contention: the client's business only in so far as it may try again. */
export function toStorageError(error: unknown): unknown {
  const code = (error as { code?: string } | null)?.code ?? '';
  if (code === 'SQLITE_FULL' || code === '53100') {
    return new DomainError('storageFull', 'The disk is full; free some space and send the request again.', {
      cause: error,
    });
  }
  if (passingCodes.test(code) || isLostConnection(error)) {
    return new DomainError(
      'unavailable',
      'The database cannot be written now; send the request again later.',
      {
        cause: error,
        retryAfterSeconds: 5,
      },
    );
  }
  return error;
}
