import type { Reader, Tx } from '../storage/database.ts';
import type { Account } from './account-store.ts';

/** A session as it is stored: of its token only the SHA-256. */
export interface StoredSession {
  readonly hash: string;
  readonly account: Account;
  readonly created: string;
  readonly expires: string;
}

/** The session whose token has this hash, when it is in force at `now`. */
export async function findSession(db: Reader, hash: string, now: string): Promise<StoredSession | undefined> {
  const row = await db
    .selectFrom('session')
    .innerJoin('admin_account', 'admin_account.id', 'session.account_id')
    .select(['session.hash', 'session.created', 'session.expires', 'admin_account.id', 'admin_account.name'])
    .where('session.hash', '=', hash)
    .where('session.expires', '>', now)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { id, name, ...session } = row;
  return { ...session, account: { id, name } };
}

export interface NewSession {
  readonly hash: string;
  readonly accountId: number;
  readonly created: string;
  readonly expires: string;
}

export async function insertSession(tx: Tx, { accountId, ...session }: NewSession): Promise<void> {
  await tx
    .insertInto('session')
    .values({ ...session, account_id: accountId })
    .execute();
}

/** Moves the end of a session; one that was ended meanwhile stays ended. */
export async function extendSession(tx: Tx, hash: string, expires: string): Promise<void> {
  await tx.updateTable('session').set({ expires }).where('hash', '=', hash).execute();
}

export async function deleteSession(tx: Tx, hash: string): Promise<void> {
  await tx.deleteFrom('session').where('hash', '=', hash).execute();
}

export async function deleteSessionsOf(tx: Tx, accountId: number): Promise<void> {
  await tx.deleteFrom('session').where('account_id', '=', accountId).execute();
}

export async function deleteExpiredSessions(tx: Tx, now: string): Promise<void> {
  await tx.deleteFrom('session').where('expires', '<=', now).execute();
}

/** Leaves the account its `keep` newest sessions. */
export async function deleteOldestSessions(tx: Tx, accountId: number, keep: number): Promise<void> {
  const newest = tx
    .selectFrom('session')
    .select('hash')
    .where('account_id', '=', accountId)
    .orderBy('created', 'desc')
    .orderBy('hash')
    .limit(keep);
  await tx
    .deleteFrom('session')
    .where('account_id', '=', accountId)
    .where('hash', 'not in', newest)
    .execute();
}
