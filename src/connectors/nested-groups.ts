// Who is in which group, nested groups included, in numbers: names of entries are kept once, everything else is typed arrays.
// A member takes some 150 bytes and a membership 8: a million people with ten groups each fit into 250 MB.

import { DomainError } from '../errors.ts';

const edgesMax = 100_000_000;
const nestingMax = 64;

/** A list of numbers that grows by doubling. */
class Numbers {
  #values = new Int32Array(1_024);
  length = 0;

  push(value: number): void {
    if (this.length === this.#values.length) {
      const larger = new Int32Array(this.#values.length * 2);
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[this.length++] = value;
  }

  at(index: number): number {
    return this.#values[index] ?? -1;
  }

  set(index: number, value: number): void {
    this.#values[index] = value;
  }
}

/** Groups by number, in the order in which they were added, and their members by key: what the source calls them. */
export class NestedGroups {
  readonly #numbers = new Map<string, number>();
  /** By member: its last edge. By edge: the group, and the member's edge before it. */
  readonly #lastEdge = new Numbers();
  readonly #groupOf = new Numbers();
  readonly #edgeBefore = new Numbers();
  readonly #groupKeys: string[] = [];
  readonly #ids: string[] = [];
  readonly #closures = new Map<number, readonly number[]>();

  /** `key`: under which other groups have it as a member. `id`: as the group is yielded. */
  addGroup(key: string, id: string): number {
    this.#groupKeys.push(key);
    return this.#ids.push(id) - 1;
  }

  addMember(group: number, key: string): void {
    if (this.#groupOf.length >= edgesMax)
      throw new DomainError('limitExceeded', `The groups have more than ${edgesMax} members together.`);
    const member = this.#numberOf(key);
    this.#groupOf.push(group);
    this.#edgeBefore.push(this.#lastEdge.at(member));
    this.#lastEdge.set(member, this.#groupOf.length - 1);
  }

  /** Ids of the groups that have one of `keys` as a member; with `isNested` also of those that have these groups. */
  groupsOf(keys: readonly string[], isNested: boolean): readonly string[] {
    const direct = keys.flatMap((key) => this.#directGroups(key));
    const all = isNested ? direct.flatMap((group) => this.#withParents(group)) : direct;
    return [...new Set(all)].sort((a, b) => a - b).map((group) => this.#ids[group] ?? '');
  }

  #numberOf(key: string): number {
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    this.#numbers.set(key, this.#numbers.size);
    this.#lastEdge.push(-1);
    return this.#numbers.size - 1;
  }

  #directGroups(key: string): readonly number[] {
    const member = this.#numbers.get(key);
    const groups: number[] = [];
    if (member === undefined) return groups;
    for (let edge = this.#lastEdge.at(member); edge !== -1; edge = this.#edgeBefore.at(edge))
      groups.push(this.#groupOf.at(edge));
    return groups;
  }

  /** The group and every group around it. A ring of groups is walked once. */
  #withParents(group: number): readonly number[] {
    const known = this.#closures.get(group);
    if (known !== undefined) return known;
    const seen = new Set([group]);
    let level: readonly number[] = [group];
    for (let depth = 0; level.length > 0; depth++) {
      if (depth > nestingMax) throw this.#tooDeep(group);
      level = level
        .flatMap((each) => this.#directGroups(this.#groupKeys[each] ?? ''))
        .filter((each) => !seen.has(each));
      for (const each of level) seen.add(each);
    }
    const closure = [...seen];
    this.#closures.set(group, closure);
    return closure;
  }

  #tooDeep(group: number): DomainError {
    return new DomainError(
      'limitExceeded',
      `The group ${this.#groupKeys[group]} lies in more than ${nestingMax} groups within each other. Set nestedGroups to false, or leave groups out by the group filter.`,
    );
  }
}
