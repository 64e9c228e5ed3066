import { type Clock, timestamp } from '../clock.ts';
import { DomainError } from '../errors.ts';
import { canonicalKey } from '../resource/canonical-key.ts';
import { brokenUniqueRule } from '../storage/constraints.ts';
import type { Database } from '../storage/database.ts';
import { type Account, findAccountByNameKey, insertAccount } from './account-store.ts';
import type { Invitations } from './invitations.ts';
import type { PasswordHasher } from './password-hash.ts';
import type { Sessions } from './sessions.ts';
import { type ElapsedMs, SignInThrottle } from './sign-in-throttle.ts';

const nameLengthMax = 200;
export const passwordCharactersMin = 12;
export const passwordBytesMax = 1_024;

/** The hash of a password that nobody has, with the cost of a real one: a name that does not exist takes as long. */
export const decoyHash =
  '$argon2id$v=19$m=19456,t=2,p=1$JQ2FAXcFkINSY9WBy4OhzYt2eFXpWvytraKLDAw8HSA$N4hTsaE92hG5v0HMhkgQpKVbKYg+gGI8oHDUeOQOGFw';

export interface AccountParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly passwords: PasswordHasher;
  readonly invitations: Invitations;
  readonly sessions: Sessions;
  /** What delays of signing in are measured by; absent for the time since the process began. */
  readonly elapsedMs?: ElapsedMs;
}

/** Who has come in, and the token of the new session. */
export interface SignedIn {
  readonly account: Account;
  readonly token: string;
}

export interface Credentials {
  readonly name: string;
  readonly password: string;
  /** The session token that the browser had so far; that session ends. */
  readonly replaced?: string | undefined;
}

export interface SignIn extends Credentials {
  /** The address of the browser: each has only so many attempts. */
  readonly clientAddress: string;
}

/** Accounts of administrators: made through an invitation, opened by a password. */
export class Accounts {
  readonly #parts: AccountParts;
  readonly #throttle: SignInThrottle;

  constructor(parts: AccountParts) {
    this.#parts = parts;
    this.#throttle = new SignInThrottle(parts.elapsedMs ?? (() => performance.now()));
  }

  /**
   * Makes the account that an invitation allows, and signs it in. Throws `unauthenticated` for an invitation that is
   * not in force, `invalidValue` for a name or password that will not do, `uniqueness` for a name that is taken; the
   * invitation stays good after the last two.
   */
  async acceptInvitation(invitationToken: string, credentials: Credentials): Promise<SignedIn> {
    const { database, clock, passwords, invitations, sessions } = this.#parts;
    // Before the hash, so that only the holder of a good link can make us work.
    await invitations.get(invitationToken);
    const { name, nameKey } = checkName(credentials.name);
    const password = checkPassword(credentials.password);
    const passwordHash = await passwords.hash(password);
    try {
      return await database.write(async (tx) => {
        await invitations.accept(tx, invitationToken);
        const account = await insertAccount(tx, { name, nameKey, passwordHash, created: timestamp(clock) });
        return { account, token: await sessions.open(tx, account.id, credentials.replaced) };
      });
    } catch (error) {
      if (brokenUniqueRule(error) === undefined) throw error;
      const detail = `There is an administrator named "${name}" already; choose another name.`;
      throw new DomainError('uniqueness', detail, { attribute: 'name' });
    }
  }

  /** Throws `unauthenticated`, alike for a wrong name and a wrong password; `limitExceeded` after too many. */
  async signIn({ name, password, replaced, clientAddress }: SignIn): Promise<SignedIn> {
    const { database, passwords, sessions } = this.#parts;
    const nameKey = canonicalKey(name);
    this.#throttle.enter(nameKey, clientAddress);
    const found = await findAccountByNameKey(database.read, nameKey);
    const matches = await passwords.verify(normalised(password), found?.passwordHash ?? decoyHash);
    if (found === undefined || !matches) {
      throw new DomainError('unauthenticated', 'The name or the password is wrong.');
    }
    this.#throttle.succeeded(nameKey);
    const token = await database.write((tx) => sessions.open(tx, found.id, replaced));
    return { account: { id: found.id, name: found.name }, token };
  }
}

function checkName(given: string): { name: string; nameKey: string } {
  const name = given.trim();
  const nameKey = canonicalKey(name);
  if (nameKey.length > 0 && name.length <= nameLengthMax && !/\p{Cc}/u.test(name)) return { name, nameKey };
  const detail = `An administrator needs a name of 1 to ${nameLengthMax} printable characters.`;
  throw new DomainError('invalidValue', detail, { attribute: 'name' });
}

function checkPassword(given: string): string {
  const password = normalised(given);
  const isLongEnough = [...password].length >= passwordCharactersMin;
  if (isLongEnough && Buffer.byteLength(password) <= passwordBytesMax) return password;
  const detail = `The password needs at least ${passwordCharactersMin} characters, and at most ${passwordBytesMax} bytes.`;
  throw new DomainError('invalidValue', detail, { attribute: 'password' });
}

/** Keyboards of different systems compose the same letter differently. */
function normalised(password: string): string {
  return password.normalize('NFKC');
}
