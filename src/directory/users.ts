import { DomainError } from '../errors.ts';
import { replaceResource } from '../resource/merge.ts';
import type { PatchOptions, PatchResult } from '../resource/patch.ts';
import type { PatchOperation } from '../resource/patch-operation.ts';
import type { ScimObject } from '../resource/value.ts';
import type { PasswordHasher } from '../security/password-hash.ts';
import { checkPassword } from '../security/password-rule.ts';
import type { Database, Tx } from '../storage/database.ts';
import { isPostgres } from '../storage/list-parameter.ts';
import { lockRows } from '../storage/row-lock.ts';
import { archiveUser } from './archive-user.ts';
import type { DirectoryContext } from './context.ts';
import { type Created, createOrMatch, createRing, MatchGone, type OnMatch } from './create-user.ts';
import { findMatchingUser } from './match.ts';
import { settleCompany } from './organisation.ts';
import { patchResource, removesManager } from './patch-resource.ts';
import { type Query, queryRows } from './query.ts';
import type { Link } from './resource-view.ts';
import { saveUser } from './save-users.ts';
import { getLiveUser, getSeenUser, notFound, seenBy } from './seen-user.ts';
import type { Selection } from './select-rows.ts';
import { listGroupIdsOf } from './touch-store.ts';
import { writeCreate, writeUnique } from './uniqueness.ts';
import { toParts, type User } from './user.ts';
import type { UserChange } from './user-draft.ts';
import { userListing, userListingFor } from './user-listing.ts';
import { textOfUser } from './user-text.ts';
import { type ResourceText, UserTexts } from './user-texts.ts';
import { UsersAtOnce } from './users-at-once.ts';
import { type Preconditions, requireVersion } from './version.ts';

const createAttemptsMax = 3;

/** People, by the verbs of RFC 7644 §3. Each method is one transaction, or none. */
export class Users {
  readonly #database: Database;
  readonly #hasher: PasswordHasher;
  readonly #texts = new UserTexts();
  readonly atOnce: UsersAtOnce;

  constructor(database: Database, hasher: PasswordHasher) {
    this.#database = database;
    this.#hasher = hasher;
    this.atOnce = new UsersAtOnce(database, this.#texts);
  }

  async get(context: DirectoryContext, id: number): Promise<User> {
    return getSeenUser(this.#database.read, context, id);
  }

  /** Whom a query finds, in its order, without loading anyone. */
  queryRows(context: DirectoryContext, query: Query): Promise<Selection> {
    return queryRows(this.#database, context, query, userListing);
  }

  /** Those of `ids` that are there, in the order of ids. */
  load(context: DirectoryContext, ids: readonly number[]): Promise<User[]> {
    return userListingFor(context).select(this.#database.read, ids, context.sourceId);
  }

  /** The user as an answer shows it. */
  async getText(context: DirectoryContext, link: Link, id: number): Promise<ResourceText> {
    if (context.scope === 'own') return textOf(await this.get(context, id), context, link);
    const [found] = await this.#texts.read(this.#database.read, context, link, [id]);
    if (found === undefined) throw notFound(id);
    return found;
  }

  /** Those of `ids` that are there, as answers show them, in no particular order. */
  async loadTexts(context: DirectoryContext, link: Link, ids: readonly number[]): Promise<ResourceText[]> {
    if (context.scope === 'all') return this.#texts.read(this.#database.read, context, link, ids);
    return (await this.load(context, ids)).map((user) => textOf(user, context, link));
  }

  /** Creates the user, or finds the one it would duplicate and does with it what `onMatch` says. */
  create(context: DirectoryContext, resource: ScimObject, onMatch: OnMatch): Promise<Created<User>> {
    return this.#create(context, [resource], (tx, [hash]) =>
      createOrMatch(tx, context, { resource, onMatch, hash }),
    );
  }

  /**
   * Creates users each of whom is the manager of the next, and the last one that of the first: all of them or none.
   * What the resources say of managers is not read.
   */
  createRing(
    context: DirectoryContext,
    resources: readonly ScimObject[],
    onMatch: OnMatch,
  ): Promise<Created<User>[]> {
    return this.#create(context, resources, (tx, hashes) => {
      const creations = resources.map((resource, index) => ({ resource, onMatch, hash: hashes[index] }));
      return createRing(tx, context, creations);
    });
  }

  /** Passwords are hashed before the transaction; the create begins again when a match for one has gone by then. */
  async #create<T>(
    context: DirectoryContext,
    resources: readonly ScimObject[],
    work: (tx: Tx, hashes: readonly (string | undefined)[]) => Promise<T>,
  ): Promise<T> {
    for (let attempt = 1; attempt <= createAttemptsMax; attempt += 1) {
      const hashes: (string | undefined)[] = [];
      for (const resource of resources) hashes.push(await this.#hashForNewUser(context, resource));
      try {
        return await writeCreate(this.#database, (tx) => work(tx, hashes));
      } catch (error) {
        if (!(error instanceof MatchGone)) throw error;
      }
    }
    const detail = 'The user is being changed by others at the moment; send the request again later.';
    throw new DomainError('unavailable', detail, { retryAfterSeconds: 1 });
  }

  /** PUT. A user that would not change keeps its version. */
  replace(
    context: DirectoryContext,
    id: number,
    body: ScimObject,
    preconditions: Preconditions = {},
  ): Promise<User> {
    return this.#write(async (tx) => {
      await lockRows(tx, 'user', [id]);
      const before = await getLiveUser(tx, context, id);
      requireVersion(before.version, preconditions);
      const seen = await seenBy(tx, context, before);
      const next = replaceResource(context.configuration.userType, seen.resource, body);
      const change = { before, next, mode: 'replace' as const, ...keptManager(before, seen, next) };
      return seenBy(tx, context, await saveUser(tx, context, change));
    });
  }

  /** PATCH: all operations or none. */
  patch(
    context: DirectoryContext,
    id: number,
    operations: readonly PatchOperation[],
    options: PatchOptions & Preconditions,
  ): Promise<{ readonly user: User; readonly result: PatchResult }> {
    return this.#write(async (tx) => {
      await lockRows(tx, 'user', [id]);
      const before = await getLiveUser(tx, context, id);
      requireVersion(before.version, options);
      const { userType } = context.configuration;
      const seen = await seenBy(tx, context, before);
      const result = patchResource(userType, seen, operations, { ...options, settle: settleCompany });
      const user = await saveUser(tx, context, {
        before,
        next: result.resource,
        mode: 'patch',
        removesManager: operations.some((operation) => removesManager(userType, operation)),
        ...keptManager(before, seen, result.resource),
      });
      return { user: await seenBy(tx, context, user), result };
    });
  }

  /** DELETE archives: the user is gone for every source, and stays for Power Users (service-description.md §3). */
  delete(context: DirectoryContext, id: number, preconditions: Preconditions = {}): Promise<void> {
    return this.#write(async (tx) => {
      if (isPostgres(tx)) await lockRows(tx, 'group_', await listGroupIdsOf(tx, [id]));
      await lockRows(tx, 'user', [id]);
      const user = await getLiveUser(tx, context, id);
      requireVersion(user.version, preconditions);
      await archiveUser(tx, context, user);
    });
  }

  #write<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return writeUnique(this.#database, work);
  }

  /** Hashing takes milliseconds, so it is done before the transaction, and only for someone who seems to be new. */
  async #hashForNewUser(context: DirectoryContext, resource: ScimObject): Promise<string | undefined> {
    if (typeof resource.password !== 'string') return undefined;
    if ((await findMatchingUser(this.#database.read, context, resource)) !== undefined) return undefined;
    await checkPassword(resource.password, context.configuration.settings.passwordStrengthRegex);
    return this.#hasher.hash(resource.password);
  }
}

/** A manager whom the source cannot see stays until it names one: nothing that it leaves out speaks of this one. */
function keptManager(before: User, seen: User, next: ScimObject): Partial<UserChange> {
  if (before.manager === undefined || seen.manager !== undefined) return {};
  if (toParts(next).managerValue !== undefined) return { hidesManager: true };
  return { managerId: before.manager.id };
}

function textOf(user: User, { configuration }: DirectoryContext, link: Link): ResourceText {
  return { id: user.id, version: user.version, text: textOfUser(user, configuration, link) };
}
