// Up to where the journal can be read by position. PostgreSQL gives a row its number before the row is committed, so a
// later number may be seen before an earlier one: whoever keeps "read up to here" would pass over rows for good.
// Writers pay nothing for this; only who asks waits, for the transactions under way.

import { sql } from 'kysely';
import { DomainError } from '../errors.ts';
import type { Reader } from '../storage/database.ts';
import { isPostgres } from '../storage/list-parameter.ts';

/** A transaction that has been idle for longer is ended by the server. */
const waitMsMax = 30_000;
const pollMs = 5;

/**
 * The highest number of the journal for which no row with this number or a lower one can still appear; 0 at first.
 * Throws `unavailable` when a transaction stays open for half a minute.
 */
export async function settledJournalSeq(db: Reader): Promise<number> {
  if (!isPostgres(db)) return lastSeq(db);
  // In this order: who has taken a number by now has a transaction id by then, as a change is written, which gives
  // the id, before it is journalled.
  const seq = await lastGivenSeq(db);
  const under = await listWriting(db);
  const deadline = performance.now() + waitMsMax;
  while (under.intersection(await listWriting(db)).size > 0) {
    if (performance.now() > deadline) {
      throw new DomainError('unavailable', 'A change has been under way for too long; try again later.');
    }
    await Bun.sleep(pollMs);
  }
  return seq;
}

/**
 * The transactions under way that write in this database. A snapshot would tell of those in every database of the
 * server, and wait for them.
 */
async function listWriting(db: Reader): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{
    id: string;
  }>`select pid || ':' || backend_xid::text as id from pg_stat_activity
    where datname = current_database() and backend_xid is not null`.execute(db);
  return new Set(rows.map((row) => row.id));
}

/** SQLite has one writer: numbers are in the order of commits. */
async function lastSeq(db: Reader): Promise<number> {
  const row = await db
    .selectFrom('journal')
    .select((select) => select.fn.max('seq').as('seq'))
    .executeTakeFirst();
  return Number(row?.seq ?? 0);
}

async function lastGivenSeq(db: Reader): Promise<number> {
  const { rows } = await sql<{ seq: number | null }>`select
    pg_sequence_last_value(pg_get_serial_sequence('journal', 'seq')::regclass) as seq`.execute(db);
  return rows[0]?.seq ?? 0;
}
