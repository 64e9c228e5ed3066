import { type Clock, timestamp } from '../clock.ts';
import { DomainError } from '../errors.ts';
import { parseFilter } from '../resource/filter.ts';
import { type ResolvedFilter, resolveFilter } from '../resource/filter-resolve.ts';
import { withSchemas } from '../resource/normalise.ts';
import { toId } from '../resource/resource-id.ts';
import type { ResourceType } from '../resource/schema.ts';
import type { ScimObject } from '../resource/value.ts';
import type { Configuration, Configurations } from '../settings/configuration.ts';
import type { Database } from '../storage/database.ts';
import type { ResourceTypeName } from '../storage/schema.ts';
import { type DirectoryContext, machineContext } from './context.ts';
import { groupListing } from './group-listing.ts';
import { type Group, selectGroups } from './group-store.ts';
import { findNamedById, type HistoryPage, listHistory } from './history-store.ts';
import { type Page, type Query, queryList } from './query.ts';
import { groupView, type Link, userView } from './resource-view.ts';
import type { ManagerOfUser, User } from './user.ts';
import { userListing } from './user-listing.ts';
import { selectUsers } from './user-store.ts';

export interface BrowseQuery {
  /** Whose userName, display name, family name or email address begins with this, or given and family name; or the id. */
  readonly search?: string | undefined;
  /** A SCIM filter (RFC 7644 §3.4.2.2), which must hold as well. */
  readonly filter?: string | undefined;
  /** From 1. */
  readonly startIndex: number;
  readonly count: number;
  readonly signal?: AbortSignal | undefined;
}

/** A person with those above and below. */
export interface PersonInView {
  readonly user: User;
  /** As SCIM shows it, with what follows from memberships and configuration. */
  readonly resource: ScimObject;
  /** The manager, their manager and so on, at most 20. */
  readonly managers: readonly ManagerOfUser[];
  readonly reports: Page<User>;
}

export interface GroupInView {
  readonly group: Group;
  readonly resource: ScimObject;
}

const searchedOfUser = ['userName', 'displayName', 'name.familyName', 'emails.value'];
const searchedOfGroup = ['displayName'];
const searchCharactersMax = 200;
const managersMax = 20;
const reportsMax = 100;

/** What an administrator sees of the directory: everybody, whoever owns them. It changes nothing. */
export class DirectoryView {
  readonly #database: Database;
  readonly #configurations: Configurations;
  readonly #clock: Clock;

  constructor(parts: {
    readonly database: Database;
    readonly configurations: Configurations;
    readonly clock: Clock;
  }) {
    this.#database = parts.database;
    this.#configurations = parts.configurations;
    this.#clock = parts.clock;
  }

  /** Throws `invalidFilter`, and `tooMany` for what would have to look at too many rows. */
  async users(asked: BrowseQuery): Promise<Page<User>> {
    const context = await this.#context(asked.signal);
    const query = queryOf(context.configuration.userType, searchedOfUser, asked);
    return queryList(this.#database, context, query, userListing);
  }

  async groups(asked: BrowseQuery): Promise<Page<Group>> {
    const context = await this.#context(asked.signal);
    const query = queryOf(context.configuration.groupType, searchedOfGroup, asked);
    return queryList(this.#database, context, query, groupListing);
  }

  /** Throws `notFound`; somebody archived is shown too. */
  async user(id: number, link: Link): Promise<PersonInView> {
    const context = await this.#context();
    const [user] = await selectUsers(this.#database.read, [id], null);
    if (user === undefined) throw new DomainError('notFound', `There is no user with the id ${id}.`);
    const { configuration } = context;
    const reports = `urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:manager.value eq "${id}"`;
    return {
      user,
      resource: withSchemas(configuration.userType, userView(user, configuration, link)),
      managers: await this.#managersOf(user),
      reports: await this.users({ filter: reports, startIndex: 1, count: reportsMax }),
    };
  }

  /** Throws `notFound`, also for a group that was deleted. */
  async group(id: number, link: Link): Promise<GroupInView> {
    const { configuration } = await this.#context();
    const [group] = await selectGroups(this.#database.read, [id], null);
    if (group === undefined) throw new DomainError('notFound', `There is no group with the id ${id}.`);
    const view = groupView(group, configuration, link);
    return { group, resource: withSchemas(configuration.groupType, view) };
  }

  /** Every change of one resource, newest first; also of one that is gone. Throws `notFound`. */
  async history(
    resourceType: ResourceTypeName,
    resourceId: number,
    { before, limit }: { readonly before?: number | undefined; readonly limit: number },
  ): Promise<HistoryPage> {
    const { read } = this.#database;
    if ((await findNamedById(read, resourceType, resourceId)) === undefined) {
      const noun = resourceType === 'User' ? 'user' : 'group';
      throw new DomainError('notFound', `There is no ${noun} with the id ${resourceId}.`);
    }
    const query = { resourceType, resourceId, limit };
    return listHistory(read, before === undefined ? query : { ...query, before });
  }

  /** A ring of managers ends where it comes round. */
  async #managersOf(user: User): Promise<ManagerOfUser[]> {
    const found: ManagerOfUser[] = [];
    const seen = new Set([user.id]);
    let { manager } = user;
    while (manager !== undefined && !seen.has(manager.id) && found.length < managersMax) {
      found.push(manager);
      seen.add(manager.id);
      manager = (await selectUsers(this.#database.read, [manager.id], null))[0]?.manager;
    }
    return found;
  }

  async #context(signal?: AbortSignal): Promise<DirectoryContext> {
    const configuration: Configuration = await this.#configurations.current();
    const context = machineContext(configuration, { kind: 'system', id: null }, timestamp(this.#clock));
    return signal === undefined ? context : { ...context, signal };
  }
}

function queryOf(type: ResourceType, searched: readonly string[], asked: BrowseQuery): Query {
  const { startIndex, count } = asked;
  const filter = filterOf(type, searched, asked);
  return filter === undefined ? { startIndex, count } : { filter, startIndex, count };
}

function filterOf(
  type: ResourceType,
  searched: readonly string[],
  { search = '', filter = '' }: BrowseQuery,
): ResolvedFilter | undefined {
  const texts = [search.trim() === '' ? '' : searchTerms(searched, search.trim()), filter.trim()];
  const [first, ...others] = texts.filter((text) => text !== '').map((text) => parseFilter(text));
  if (first === undefined) return undefined;
  return resolveFilter(type, others.length === 0 ? first : { kind: 'and', terms: [first, ...others] });
}

/** The family name has an index, and leads to few; given names alone would have to be looked for in everybody. */
function fullName(given: string, family: string): string {
  return `(name.familyName sw ${JSON.stringify(family)} and name.givenName sw ${JSON.stringify(given)})`;
}

function searchTerms(searched: readonly string[], text: string): string {
  if (text.length > searchCharactersMax) {
    const detail = `Search for a text of at most ${searchCharactersMax} characters.`;
    throw new DomainError('invalidValue', detail);
  }
  const literal = JSON.stringify(text);
  const terms = searched.map((path) => `${path} sw ${literal}`);
  if (toId(text) > 0) terms.push(`id eq ${literal}`);
  const [given = '', ...family] = text.split(/\s+/);
  if (searched === searchedOfUser && family.length > 0) terms.push(fullName(given, family.join(' ')));
  return terms.join(' or ');
}
