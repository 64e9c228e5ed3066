import { type Clock, timestamp } from '../clock.ts';
import { DomainError } from '../errors.ts';
import type { Database, Tx } from '../storage/database.ts';
import { recordAudit, unnamedOperator } from './audit.ts';
import {
  acceptInvitation,
  findInvitationByHash,
  hasAdminAccount,
  hasOpenInvitation,
  type Invitation,
  insertInvitation,
} from './invitation-store.ts';
import { sha256Hex } from './secret-key.ts';
import { createToken, isTokenWellFormed } from './tokens.ts';

const validMs = 24 * 60 * 60 * 1_000;
const nameLengthMax = 200;

/** A link's worth: whoever holds the token may make one administrator account, once, until it expires. */
export interface IssuedInvitation {
  readonly id: number;
  readonly name: string;
  readonly token: string;
  readonly expires: string;
}

/** One-time invitations to the admin console. A token is stored as its SHA-256 and shown once. */
export class Invitations {
  readonly #database: Database;
  readonly #clock: Clock;

  constructor({ database, clock }: { readonly database: Database; readonly clock: Clock }) {
    this.#database = database;
    this.#clock = clock;
  }

  issue(name: string, by = unnamedOperator): Promise<IssuedInvitation> {
    const trimmed = checkName(name);
    return this.#database.write(async (tx) => {
      const issued = await this.#insert(tx, trimmed);
      const subject = { id: String(issued.id), name: trimmed };
      await recordAudit(tx, { action: 'administrator.invite', by, subject }, timestamp(this.#clock));
      return issued;
    });
  }

  /** The invitation by which a new installation is set up; undefined when there is an administrator, or a link that works. */
  issueForSetUp(): Promise<IssuedInvitation | undefined> {
    return this.#database.write(async (tx) => {
      if (await hasAdminAccount(tx)) return undefined;
      if (await hasOpenInvitation(tx, timestamp(this.#clock))) return undefined;
      return this.#insert(tx, 'Administrator');
    });
  }

  /** The invitation that a token opens, unused. Throws `unauthenticated` for any other token, always alike. */
  async get(token: string): Promise<Invitation> {
    const found = isTokenWellFormed(token)
      ? await findInvitationByHash(this.#database.read, sha256Hex(token))
      : undefined;
    if (found === undefined || found.accepted !== null || found.expires <= timestamp(this.#clock))
      throw refused();
    return found;
  }

  /** Uses the invitation up, in the transaction that makes the account. Throws `unauthenticated` as `get` does. */
  async accept(tx: Tx, token: string): Promise<Invitation> {
    const found = isTokenWellFormed(token)
      ? await acceptInvitation(tx, sha256Hex(token), timestamp(this.#clock))
      : undefined;
    if (found === undefined) throw refused();
    const by = { kind: 'administrator', name: found.name } as const;
    const subject = { id: String(found.id), name: found.name };
    await recordAudit(tx, { action: 'administrator.accept', by, subject }, timestamp(this.#clock));
    return found;
  }

  async #insert(tx: Tx, name: string): Promise<IssuedInvitation> {
    const now = this.#clock();
    const expires = new Date(now.getTime() + validMs).toISOString();
    const token = createToken('invite');
    const id = await insertInvitation(tx, {
      name,
      hash: sha256Hex(token),
      created: now.toISOString(),
      expires,
    });
    return { id, name, token, expires };
  }
}

/** The token stands in the fragment, which a browser keeps to itself: it reaches no log on the way. */
export function invitationLink(baseUrl: string, { token }: Pick<IssuedInvitation, 'token'>): string {
  return `${baseUrl}/console/#invite=${token}`;
}

function refused(): DomainError {
  const detail = 'The invitation has been used, has expired or does not exist; ask for another one.';
  return new DomainError('unauthenticated', detail);
}

function checkName(name: string): string {
  const trimmed = name.trim();
  if (trimmed.length > 0 && trimmed.length <= nameLengthMax && !/\p{Cc}/u.test(trimmed)) return trimmed;
  throw new DomainError(
    'invalidValue',
    `An invitation needs a name of 1 to ${nameLengthMax} printable characters.`,
  );
}
