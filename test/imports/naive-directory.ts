// The directory as a person with a notebook would keep it: what a profile file, a client of SCIM and a Power User make
// of it, read from the requirements and from docs/adr/0005. Nothing here knows how the service does it.

import type { GroupType, PowerStep, ScimStep, UnitType } from './random-files.ts';

export class Person {
  /** Of the directory, once it is known. */
  id: number | undefined;
  state: 'active' | 'inactive' | 'archived' = 'active';
  owner: number | null;
  isMarked = false;
  userName = '';
  /** Of attributes with one value, by the names of the file. */
  readonly values = new Map<string, string>();
  manager: Person | undefined;
  /** True for the one that shows as company, department or location. */
  readonly groups = new Map<Group, boolean>();
  readonly links = new Map<number, string>();
  /** By source, what it last said of the person. */
  readonly said = new Map<number, string>();

  constructor(owner: number | null) {
    this.owner = owner;
  }

  get isLive(): boolean {
    return this.state !== 'archived';
  }

  unit(type: UnitType): Group | undefined {
    return [...this.groups].find(([group, isPrimary]) => isPrimary && group.type === type)?.[0];
  }
}

export class Group {
  readonly links = new Map<number, string>();
  isGone = false;

  constructor(
    readonly type: GroupType,
    public name: string,
    readonly owner: number,
  ) {}
}

/** What a file did: issues as `record code`, in any order, and how many people met which fate. */
export interface Outcome {
  readonly issues: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
  /** Whose manager could not be created: whether that counts as a change depends on the order. */
  readonly isVague: boolean;
}

export const keyOf = (text: string) => text.toLowerCase();
export const missing = 'missing';

type ChangeStep = Exclude<ScimStep, { kind: 'create' | 'createGroup' | 'deleteGroup' }>;

/** What a client says of the person alone, to be compared. */
function saidOf({ userName, values, groups, manager, state }: Person): string {
  const units = [...groups].filter(([, isPrimary]) => isPrimary).map(([{ type, name }]) => `${type} ${name}`);
  return JSON.stringify([userName, [...values].sort(), units.sort(), manager?.userName, state]);
}

export class NaiveDirectory {
  readonly people: Person[] = [];
  groups: Group[] = [];

  live(): Person[] {
    return this.people.filter((person) => person.isLive);
  }

  named(userName: string): Person | undefined {
    return this.live().find((person) => keyOf(person.userName) === keyOf(userName));
  }

  mailed(email: string): Person[] {
    return this.live().filter((person) => person.values.get('email') === email);
  }

  group(type: GroupType, name: string): Group | undefined {
    return this.groups.find((group) => group.type === type && keyOf(group.name) === keyOf(name));
  }

  archive(person: Person): void {
    person.state = 'archived';
    person.groups.clear();
    person.links.clear();
    person.said.clear();
    for (const report of this.people) if (report.manager === person) report.manager = undefined;
  }

  /** Puts the person where a unit shows; the membership in the former one ends. */
  place(person: Person, group: Group | undefined, type: UnitType): void {
    const former = person.unit(type);
    if (former === group) return;
    if (former !== undefined) person.groups.delete(former);
    if (group !== undefined) person.groups.set(group, true);
  }

  requireGroup(type: GroupType, name: string, owner: number): Group {
    const found = this.group(type, name);
    if (found !== undefined) return found;
    const made = new Group(type, name, owner);
    this.groups.push(made);
    return made;
  }

  power({ kind, who }: PowerStep): Person | undefined {
    const person = this.live()[who];
    if (person === undefined) return undefined;
    if (kind === 'orphan') person.owner = null;
    else person.isMarked = kind === 'mark';
    return person;
  }

  /** What a client of source 3 does; undefined when there is nobody to do it to. */
  scim(step: ScimStep): Person | Group | undefined {
    if (step.kind === 'create') return this.#create(step.userName, step.email);
    if (step.kind === 'createGroup') {
      if (this.group(step.type, step.name) !== undefined) return undefined;
      return this.requireGroup(step.type, step.name, 3);
    }
    if (step.kind === 'deleteGroup') return this.#deleteGroup(this.groups[step.group]);
    const person = this.live()[step.who];
    return person && this.#change(person, step);
  }

  #create(userName: string, email: string | undefined): Person | undefined {
    if (this.named(userName) !== undefined || (email !== undefined && this.mailed(email).length > 0))
      return undefined;
    const person = new Person(3);
    person.userName = userName;
    if (email !== undefined) person.values.set('email', email);
    this.people.push(person);
    return person;
  }

  #deleteGroup(group: Group | undefined): Group | undefined {
    if (group === undefined) return undefined;
    group.isGone = true;
    this.groups = this.groups.filter((other) => other !== group);
    for (const person of this.people) person.groups.delete(group);
    return group;
  }

  /** Whoever changes what is said of somebody of nobody takes them over; memberships are said of groups. */
  #change(person: Person, step: ChangeStep): Person | undefined {
    const former = saidOf(person);
    const changed = this.#apply(person, step);
    const isAbout = step.kind !== 'archive' && step.kind !== 'join' && step.kind !== 'leave';
    if (changed !== undefined && isAbout && saidOf(person) !== former) person.owner ??= 3;
    return changed;
  }

  #apply(person: Person, step: ChangeStep): Person | undefined {
    switch (step.kind) {
      case 'retitle':
        person.values.set('jobtitle', step.title);
        return person;
      case 'rename':
        if ((this.named(step.userName) ?? person) !== person) return undefined;
        person.userName = step.userName;
        return person;
      case 'move':
        this.place(person, this.requireGroup('department', step.department, 3), 'department');
        return person;
      case 'manage': {
        const manager = this.live()[step.manager];
        if (manager === undefined) return undefined;
        person.manager = manager;
        return person;
      }
      case 'switch':
        person.state = step.active ? 'active' : 'inactive';
        return person;
      case 'archive':
        this.archive(person);
        return person;
      case 'join':
      case 'leave': {
        const group = this.groups[step.group];
        if (group === undefined || person.groups.get(group) === true) return undefined;
        if (step.kind === 'join') person.groups.set(group, false);
        else person.groups.delete(group);
        return person;
      }
    }
  }
}
