import { DomainError } from '../errors.ts';
import type { GroupReference, User } from './contract.ts';
import { rememberSource, sourceRecordOf } from './mapping.ts';

/** Pairs of one run. A pair takes about 10 bytes, a person with pairs about 200 more. */
export const membershipsMax = 10_000_000;

/**
 * Memberships that a source keeps apart from its people: read first, then given to each person. Groups are kept once,
 * pairs as numbers, so that a million pairs take tens of megabytes.
 */
export class Memberships {
  readonly #byUser = new Map<string, number[]>();
  readonly #references: GroupReference[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #toReference: (group: string) => GroupReference;
  #count = 0;
  #given = 0;

  /** With groups in the run a group is told by its id, without them by the name of a security group. */
  constructor({ hasGroups }: { readonly hasGroups: boolean }) {
    this.#toReference = hasGroups ? (id) => id : (name) => ({ type: 'security group', name });
  }

  /** Takes one pair. Throws DomainError when a part is missing, or when there are more than `membershipsMax`. */
  add(user: string, group: string): void {
    if (user === '' || group === '')
      throw new DomainError(
        'invalidValue',
        'A membership lacks its person or its group: both columns need a value.',
      );
    this.#count += 1;
    if (this.#count > membershipsMax)
      throw new DomainError('limitExceeded', `There are more than ${membershipsMax} memberships in one run.`);
    const number = this.#numberOf(group);
    const known = this.#byUser.get(user);
    if (known === undefined) this.#byUser.set(user, [number]);
    else known.push(number);
  }

  /** The person with these groups in addition: none at all is said too, so that memberships end. */
  applyTo(user: User): User {
    const numbers = this.#byUser.get(user.id);
    if (numbers !== undefined) this.#given += 1;
    const own = (numbers ?? []).flatMap((number) => this.#references[number] ?? []);
    const groups = [...(user.groups ?? []), ...own];
    return rememberSource({ ...user, groups }, sourceRecordOf(user));
  }

  /** For the log, after the last person. */
  warnings(): readonly string[] {
    const left = this.#byUser.size - this.#given;
    if (left <= 0) return [];
    const whose = left === 1 ? 'one person' : `${left} people`;
    return [`The memberships name ${whose} whom the source does not have; compare the ids in both.`];
  }

  #numberOf(group: string): number {
    const known = this.#numbers.get(group);
    if (known !== undefined) return known;
    const number = this.#references.push(this.#toReference(group)) - 1;
    this.#numbers.set(group, number);
    return number;
  }
}
