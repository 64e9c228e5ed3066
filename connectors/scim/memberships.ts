// Who is in which group, by what groups say of their members and users of their groups: some servers give the one only.

import type { ConnectorContext } from '../../src/connectors/contract.ts';
import { NestedGroups } from '../../src/connectors/nested-groups.ts';
import { DomainError } from '../../src/errors.ts';
import type { Resource } from './walk.ts';

export class ScimMemberships {
  readonly #groups = new NestedGroups();
  /** By the server's id: the id as it was yielded. */
  readonly #ids = new Map<string, string>();
  readonly #isNested: boolean;
  #hasMembers = false;

  constructor(isNested: boolean) {
    this.#isNested = isNested;
  }

  /** A group, and the id under which it was yielded. */
  add(group: Resource, id: string): void {
    const number = this.#groups.addGroup(group.id, id);
    this.#ids.set(group.id, id);
    for (const { value } of toReferences(group.members)) {
      this.#hasMembers = true;
      this.#groups.addMember(number, value);
    }
  }

  /** Once all groups are there: none at all would take everybody out of every group. */
  check(log: ConnectorContext['log']): void {
    if (this.#ids.size === 0)
      throw new DomainError(
        'invalidValue',
        'The server gives no group: check groupFilter, and what the credentials may see, or set groups to false.',
      );
    log.info(`Groups read: ${this.#ids.size}.`);
    if (!this.#hasMembers)
      log.warn('No group names a member: memberships are taken from the attribute groups of users alone.');
  }

  /** Ids of the groups of a user, each once. */
  of(user: Resource): readonly string[] {
    const own = toReferences(user.groups).filter(({ type }) => this.#isNested || type !== 'indirect');
    const named = own.flatMap(({ value }) => this.#ids.get(value) ?? []);
    return [...new Set([...this.#groups.groupsOf([user.id], this.#isNested), ...named])];
  }
}

/** RFC 7643 §4.1.2 and §4.2. */
function toReferences(list: unknown): readonly { readonly value: string; readonly type: unknown }[] {
  if (!Array.isArray(list)) return [];
  return (list as readonly unknown[]).flatMap((each) => {
    const { value, type } = (each ?? {}) as { readonly value?: unknown; readonly type?: unknown };
    return typeof value === 'string' || typeof value === 'number' ? [{ value: String(value), type }] : [];
  });
}
