// Reads a tenant whole, or what has changed in it. The place to go on from is fetched before everything is read: what changes
// meanwhile is told once more the next time, and never passed over.

import type { ConnectorContext, ConnectorRecord, Json } from '../../src/connectors/contract.ts';
import { mappedColumns } from '../../src/connectors/mapped-columns.ts';
import { NestedGroups } from '../../src/connectors/nested-groups.ts';
import { DomainError } from '../../src/errors.ts';
import { computedColumns, defaultMapping, type EntraConfig } from './entra-config.ts';
import { changesMax, type Delta, Graph, type GraphObject } from './graph.ts';

/** How many groups are asked for their members at a time. */
const groupsAtOnce = 4;
const groupsMax = 500_000;

export class TenantReader {
  readonly #context: ConnectorContext<EntraConfig>;
  readonly #graph: Graph;
  readonly #userQuery: Readonly<Record<string, string | undefined>>;
  readonly #groupQuery: Readonly<Record<string, string | undefined>>;
  /** Of somebody who is gone Graph tells the id alone. */
  readonly #isIdKept: boolean;

  constructor(context: ConnectorContext<EntraConfig>) {
    const { mapping, pageSize, groupFilter } = context.config;
    const columns = mappedColumns(mapping, defaultMapping);
    this.#context = context;
    this.#graph = new Graph(context);
    this.#isIdKept = columns.userId.every((name) => name === 'id');
    this.#userQuery = { $select: selection(columns.user), $expand: 'manager($select=id)' };
    this.#groupQuery = { $select: selection(columns.group), $top: String(pageSize), $filter: groupFilter };
  }

  async *records(): AsyncGenerator<ConnectorRecord> {
    const { mode, checkpoint, log } = this.#context;
    const links = mode === 'delta' ? readCheckpoint(checkpoint, this.#fingerprint()) : undefined;
    const changes = links === undefined ? undefined : await this.#changesSince(links);
    if (changes !== undefined) return yield* this.#changed(changes);
    if (mode === 'delta')
      log.info('There is no place to go on from, or too much has changed: reading everything.');
    yield* this.#everything();
  }

  /** The first page of people and groups, for a look. */
  async firstNames(): Promise<{ readonly user: string | undefined; readonly group: string | undefined }> {
    const { groups, userFilter } = this.#context.config;
    const one = { $top: '1', $select: 'id,displayName' };
    const user = await first(this.#graph.list('/users', { ...one, $filter: userFilter }));
    const group = groups
      ? await first(this.#graph.list('/groups', { ...one, $filter: this.#groupQuery.$filter }))
      : undefined;
    return { user, group };
  }

  async *#everything(): AsyncGenerator<ConnectorRecord> {
    const { config, mapped, log } = this.#context;
    const { groups, userFilter, pageSize } = config;
    const users = await this.#graph.latestDeltaLink('/users', `${this.#userQuery.$select},manager`);
    const groupLink = groups ? await this.#graph.latestDeltaLink('/groups', 'id,members') : undefined;
    const members = new NestedGroups();
    if (groups) yield* this.#groups(members);
    let count = 0;
    const query = { ...this.#userQuery, $top: String(pageSize), $filter: userFilter };
    for await (const user of this.#graph.list('/users', query)) {
      count += 1;
      yield mapped.user(toColumns(user, groups ? members.groupsOf([user.id], false) : undefined));
    }
    if (count === 0) throw nothing('nobody', 'userFilter');
    log.info(`People read: ${count}.`);
    this.#keep({ users, groups: groupLink });
  }

  /** Yields the groups, and notes who is in each. */
  async *#groups(members: NestedGroups): AsyncGenerator<ConnectorRecord> {
    const waiting: GroupToAsk[] = [];
    let count = 0;
    for await (const group of this.#graph.list('/groups', this.#groupQuery)) {
      const record = this.#context.mapped.group(group);
      waiting.push({ graphId: group.id, number: members.addGroup(group.id, record.id) });
      count += 1;
      if (count > groupsMax)
        throw new DomainError(
          'limitExceeded',
          `There are more than ${groupsMax} groups; narrow groupFilter.`,
        );
      yield record;
    }
    if (count === 0) throw nothing('no group', 'groupFilter', ', or set groups to false');
    for (let from = 0; from < waiting.length; from += groupsAtOnce)
      await Promise.all(
        waiting.slice(from, from + groupsAtOnce).map((each) => this.#addMembers(members, each)),
      );
    this.#context.log.info(`Groups read: ${count}.`);
  }

  async #addMembers(members: NestedGroups, { graphId, number }: GroupToAsk): Promise<void> {
    const path = this.#context.config.nestedGroups ? 'transitiveMembers' : 'members';
    const query = { $select: 'id', $top: String(this.#context.config.pageSize) };
    for await (const { id } of this.#graph.list(`/groups/${encodeURIComponent(graphId)}/${path}`, query))
      members.addMember(number, id);
  }

  /** Undefined when everything has to be read. */
  async #changesSince({ users, groups }: Links): Promise<Changes | undefined> {
    const people = await this.#graph.changesSince(users);
    const memberships = groups === undefined ? undefined : await this.#graph.changesSince(groups);
    if (people === undefined || (groups !== undefined && memberships === undefined)) return undefined;
    const ids = new Set(people.changes.map(({ id }) => id));
    for (const id of await this.#membersChanged(memberships?.changes ?? [])) ids.add(id);
    return ids.size > changesMax ? undefined : { ids, people, memberships };
  }

  /** People whose groups have changed; a group that came into another, or left it, brings everybody in it. */
  async #membersChanged(groups: readonly GraphObject[]): Promise<ReadonlySet<string>> {
    const people = new Set<string>();
    for (const member of groups.flatMap((group) => toMembers(group['members@delta']))) {
      if (member['@odata.type'] === '#microsoft.graph.user') people.add(member.id);
      else if (member['@odata.type'] === '#microsoft.graph.group' && this.#context.config.nestedGroups)
        for (const id of await this.#peopleIn(member.id)) people.add(id);
    }
    return people;
  }

  async #peopleIn(groupId: string): Promise<readonly string[]> {
    const path = `/groups/${encodeURIComponent(groupId)}/transitiveMembers`;
    if ((await this.#graph.find(`/groups/${encodeURIComponent(groupId)}`, { $select: 'id' })) === undefined)
      return [];
    const ids: string[] = [];
    for await (const member of this.#graph.list(path, { $select: 'id', $top: '999' }))
      if (member['@odata.type'] === '#microsoft.graph.user') ids.push(member.id);
    return ids;
  }

  async *#changed({ ids, people, memberships }: Changes): AsyncGenerator<ConnectorRecord> {
    const { config, mapped, log } = this.#context;
    const groupIds = new Map<string, string>();
    if (config.groups && ids.size > 0)
      for await (const group of this.#graph.list('/groups', this.#groupQuery)) {
        const record = mapped.group(group);
        groupIds.set(group.id, record.id);
        yield record;
      }
    const removed = removedIds(people);
    for (const id of ids) {
      const user = removed.has(id) ? undefined : await this.#person(id);
      if (user !== undefined)
        yield mapped.user(toColumns(user, config.groups ? await this.#groupsOf(id, groupIds) : undefined));
      // A file says that somebody is gone by saying that the person is not active.
      else if (removed.has(id) && this.#isIdKept)
        yield { kind: 'user', id: mapped.user({ id }).id, active: false };
    }
    if (removed.size > 0 && !this.#isIdKept)
      log.warn(
        'The mapping takes ids from elsewhere than the id: who is gone is noticed by the next full run only.',
      );
    log.info(`People changed: ${ids.size}, of whom gone: ${removed.size}.`);
    this.#keep({ users: people.deltaLink, groups: memberships?.deltaLink });
  }

  /** Undefined for an id that is no person's, or whose person does not meet the filter. */
  async #person(id: string): Promise<GraphObject | undefined> {
    const { userFilter } = this.#context.config;
    if (userFilter === undefined)
      return this.#graph.find(`/users/${encodeURIComponent(id)}`, this.#userQuery);
    const $filter = `id eq '${id.replaceAll("'", "''")}' and (${userFilter})`;
    for await (const user of this.#graph.list('/users', { ...this.#userQuery, $filter })) return user;
    return undefined;
  }

  async #groupsOf(id: string, known: ReadonlyMap<string, string>): Promise<readonly string[]> {
    const path = this.#context.config.nestedGroups ? 'transitiveMemberOf' : 'memberOf';
    const found: string[] = [];
    for await (const group of this.#graph.list(`/users/${encodeURIComponent(id)}/${path}`, {
      $select: 'id',
      $top: '999',
    })) {
      const groupId = known.get(group.id);
      if (groupId !== undefined) found.push(groupId);
    }
    return found;
  }

  #keep({ users, groups }: Links): void {
    const of = this.#fingerprint();
    this.#context.setCheckpoint(groups === undefined ? { of, users } : { of, users, groups });
  }

  /** A checkpoint of another configuration says nothing about this one. */
  #fingerprint(): string {
    const { tenantId, userFilter, groupFilter, groups, nestedGroups, mapping } = this.#context.config;
    return Bun.hash(
      JSON.stringify([tenantId, userFilter, groupFilter, groups, nestedGroups, mapping]),
    ).toString(36);
  }
}

interface GroupToAsk {
  readonly graphId: string;
  readonly number: number;
}

interface Links {
  readonly users: string;
  readonly groups: string | undefined;
}

interface Changes {
  readonly ids: ReadonlySet<string>;
  readonly people: Delta;
  readonly memberships: Delta | undefined;
}

function readCheckpoint(checkpoint: Json | undefined, fingerprint: string): Links | undefined {
  if (typeof checkpoint !== 'object' || checkpoint === null) return undefined;
  const { of, users, groups } = checkpoint as Readonly<Record<string, unknown>>;
  if (of !== fingerprint || typeof users !== 'string') return undefined;
  return { users, groups: typeof groups === 'string' ? groups : undefined };
}

/** The last word about each counts: somebody may be deleted and restored. */
function removedIds({ changes }: Delta): ReadonlySet<string> {
  const removed = new Set<string>();
  for (const change of changes) {
    if (change['@removed'] === undefined) removed.delete(change.id);
    else removed.add(change.id);
  }
  return removed;
}

function toMembers(list: unknown): readonly GraphObject[] {
  return Array.isArray(list)
    ? (list as readonly GraphObject[]).filter((each) => typeof each?.id === 'string')
    : [];
}

function toColumns(
  user: GraphObject,
  groupIds: readonly string[] | undefined,
): Readonly<Record<string, unknown>> {
  const manager = user.manager as { readonly id?: unknown } | null | undefined;
  const columns = { ...user, managerId: manager?.id ?? '' };
  return groupIds === undefined ? columns : { ...columns, groupIds };
}

/** The properties that the mapping needs; of a path the first part. */
function selection(columns: readonly string[]): string {
  const names = columns
    .filter((name) => !computedColumns.includes(name))
    .map((name) => name.replace(/[.[].*$/s, ''));
  return [...new Set(['id', ...names])].filter((name) => name !== 'manager').join(',');
}

async function first(objects: AsyncGenerator<GraphObject>): Promise<string | undefined> {
  for await (const { id, displayName } of objects) return typeof displayName === 'string' ? displayName : id;
  return undefined;
}

function nothing(what: string, where: string, otherwise = ''): DomainError {
  return new DomainError(
    'invalidValue',
    `Graph gives ${what}: check ${where}, and the permissions of the application${otherwise}.`,
  );
}
