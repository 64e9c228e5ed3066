import { type Clock, timestamp } from '../clock.ts';
import { DomainError } from '../errors.ts';
import type { Database, Tx } from '../storage/database.ts';
import type { Account } from './account-store.ts';
import { sha256Hex } from './secret-key.ts';
import {
  deleteExpiredSessions,
  deleteOldestSessions,
  deleteSession,
  deleteSessionsOf,
  extendSession,
  findSession,
  insertSession,
  type StoredSession,
} from './session-store.ts';
import { createToken, isTokenWellFormed } from './tokens.ts';

const idleMsMax = 30 * 60_000;
const lifeMsMax = 12 * 60 * 60_000;
/** Not every request is worth a durable write: the end of a session moves by whole minutes. */
const extendStepMs = 60_000;
const perAccountMax = 20;

/** A session in force. */
export interface Session {
  /** Names the session inside the service; it is not the token. */
  readonly id: string;
  readonly account: Account;
  /** When it ends if nothing more is asked of it. */
  readonly expires: string;
}

/** Sessions of administrators: a random token that the browser keeps, of which the database has the SHA-256. */
export class Sessions {
  readonly #database: Database;
  readonly #clock: Clock;

  constructor({ database, clock }: { readonly database: Database; readonly clock: Clock }) {
    this.#database = database;
    this.#clock = clock;
  }

  /**
   * Opens a session under a new token, in the caller's transaction, and returns the token. Nothing that a client
   * sent becomes a token, and the session it came with (`replaced`) ends: there is none to fix beforehand.
   */
  async open(tx: Tx, accountId: number, replaced?: string): Promise<string> {
    const now = this.#clock();
    const token = createToken('session');
    await deleteExpiredSessions(tx, now.toISOString());
    if (replaced !== undefined) await deleteSession(tx, sha256Hex(replaced));
    await deleteOldestSessions(tx, accountId, perAccountMax - 1);
    await insertSession(tx, {
      hash: sha256Hex(token),
      accountId,
      created: now.toISOString(),
      expires: new Date(now.getTime() + idleMsMax).toISOString(),
    });
    return token;
  }

  /** The session that a token opens; its end moves on. Throws `unauthenticated`, for every reason alike. */
  async authenticate(token: string | undefined): Promise<Session> {
    const found =
      token !== undefined && isTokenWellFormed(token)
        ? await findSession(this.#database.read, sha256Hex(token), timestamp(this.#clock))
        : undefined;
    if (found === undefined)
      throw new DomainError('unauthenticated', 'There is no session, or it has ended; sign in.');
    return { id: found.hash, account: found.account, expires: await this.#extended(found) };
  }

  async end({ id }: Pick<Session, 'id'>): Promise<void> {
    await this.#database.write((tx) => deleteSession(tx, id));
  }

  /** Ends every session of the account, this one included. */
  async endAll({ account }: Pick<Session, 'account'>): Promise<void> {
    await this.#database.write((tx) => deleteSessionsOf(tx, account.id));
  }

  async #extended({ hash, created, expires }: StoredSession): Promise<string> {
    const endMs = Math.min(this.#clock().getTime() + idleMsMax, Date.parse(created) + lifeMsMax);
    if (endMs - Date.parse(expires) < extendStepMs) return expires;
    const moved = new Date(endMs).toISOString();
    try {
      await this.#database.write((tx) => extendSession(tx, hash, moved));
      return moved;
    } catch (error) {
      // On a full disk the console must still be readable; the session only ends earlier.
      if (error instanceof DomainError) return expires;
      throw error;
    }
  }
}
