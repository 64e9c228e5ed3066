// One file of a source, as a person with a notebook would take it in: see naive-directory.ts.

import { type Group, keyOf, missing, type NaiveDirectory, type Outcome, Person } from './naive-directory.ts';
import { groupKey, type Known, type Row, write } from './naive-row.ts';
import {
  type FileSpec,
  type GroupSpec,
  type GroupType,
  type Leaf,
  type Membership,
  type RecordSpec,
  type UnitType,
  unitTypes,
} from './random-files.ts';

const loginTypes: Readonly<Record<string, string>> = { 0: 'Local Login', 2: 'SAML' };
const cultureOf = (options: Readonly<Record<string, string>>) => options.defaultCulture ?? '';

/** One file of a source, from its first record to its last effect. */
export class NaiveImport {
  readonly #directory: NaiveDirectory;
  readonly #file: FileSpec;
  readonly #source: number;
  readonly #defaults: ReadonlyMap<UnitType, Group>;
  readonly #options: Readonly<Record<string, string>>;
  readonly #issues: string[] = [];
  readonly #refs = new Map<string, GroupSpec>();
  /** What groups are meant by names, while the file is at work. */
  readonly #meant = new Map<string, Group>();
  readonly #counts: Record<string, number> = {};
  #isVague = false;

  constructor(directory: NaiveDirectory, file: FileSpec, defaults: ReadonlyMap<UnitType, Group>) {
    this.#directory = directory;
    this.#file = file;
    this.#source = file.source;
    this.#options = file.options;
    this.#defaults = new Map([...defaults].filter(([type]) => this.#isOn(type)));
  }

  apply(): Outcome {
    for (const spec of this.#file.groups) if (!this.#refs.has(spec.id)) this.#refs.set(spec.id, spec);
    const rows = this.#file.users.map((record) => this.#row(record));
    const alsoPresent = this.#match(rows);
    for (const row of rows) this.#decide(row);
    for (const row of rows) this.#tellUnknown(row);
    const absent = this.#absent(rows, alsoPresent);
    this.#applyGroups();
    this.#implyGroups(rows);
    const writing = rows.filter(({ action }) => ['create', 'update', 'reactivate'].includes(action));
    const ending = rows.filter(({ action }) => ['disable', 'archive'].includes(action));
    this.#applyRenames([...writing, ...ending]);
    for (const row of [...writing, ...ending]) if (!this.#done.has(row)) this.#applyRow(row);
    const written = rows.filter((row) => this.#done.has(row) && row.action !== 'archive');
    for (const row of written) this.#applyManager(row, rows);
    this.#count(rows);
    for (const person of absent) this.#end(person);
    return { issues: this.#issues, counts: this.#counts, isVague: this.#isVague };
  }

  // What the file says

  #isOn(type: GroupType): boolean {
    const names = {
      company: 'syncCompanies',
      department: 'syncDepartments',
      location: 'syncLocations',
      'security group': 'syncGroups',
    };
    return this.#options[names[type]] !== 'false';
  }

  #issue(record: RecordSpec, code: string): void {
    this.#issues.push(`${record.id ?? record.username ?? ''} ${code}`);
  }

  #unitName(type: UnitType, { text }: Leaf): string {
    const spec = this.#refs.get(text);
    return spec?.type === type ? spec.name : text;
  }

  #row(record: RecordSpec): Row {
    const unknown: Membership[] = [];
    const wanted =
      this.#options.syncGroups === 'false'
        ? undefined
        : record.groups?.flatMap((given) => {
            const spec = 'ref' in given ? this.#refs.get(given.ref) : given;
            if (spec === undefined) unknown.push(given);
            return spec === undefined || !this.#isOn(spec.type) ? [] : [{ type: spec.type, name: spec.name }];
          });
    const units = unitTypes.filter((type) => this.#isOn(type) && (record[type]?.text ?? '') !== '');
    const named = units.map((type) => [type, this.#unitName(type, record[type] as Leaf)]);
    const { mode: _mode, actionMissingDeletedUsers: _action, ...options } = this.#options;
    const on = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== 'true'));
    const { actionDisabledUsers = 'd', loginType = '0', ...rest } = on;
    const context = { ...rest, actionDisabledUsers, loginType };
    const defaults = [...this.#defaults].map(([type, { name }]) => [type, name]);
    const said = JSON.stringify([record, named, wanted, Object.entries(context).sort(), defaults.sort()]);
    const row: Row = {
      record,
      name: record.username === undefined ? '' : keyOf(record.username),
      said,
      wanted,
      person: undefined,
      action: 'update',
      becomes: undefined,
      hasFailed: false,
      isChanged: false,
    };
    this.#unknown.set(row, unknown.length);
    return row;
  }

  readonly #unknown = new Map<Row, number>();

  // Whom it is about

  /** Finds everybody's person; returns whom records in error may have meant. */
  #match(rows: readonly Row[]): ReadonlySet<Person> {
    const [seenIds, seenNames] = [new Set<string>(), new Set<string>()];
    const present = new Set<Person>();
    const inFile = new Set(rows.map(({ record }) => record.id));
    for (const row of rows) {
      const { record, name } = row;
      const isTwice = seenIds.has(record.id ?? '') || (name !== '' && seenNames.has(name));
      if (isTwice || (record.id === undefined && name === '')) {
        row.action = 'issue';
        this.#issue(record, isTwice ? 'duplicateRecord' : 'invalidRecord');
      } else {
        if (record.id !== undefined) seenIds.add(record.id);
        seenNames.add(name);
      }
      row.person = this.#linked(record.id);
    }
    const taken = new Set(
      rows.flatMap(({ person, action }) => (person && action !== 'issue' ? [person] : [])),
    );
    for (const row of rows) this.#find(row, { inFile, taken, present });
    return present;
  }

  #linked(id: string | undefined): Person | undefined {
    if (id === undefined) return undefined;
    return this.#directory.live().find((person) => person.links.get(this.#source) === id);
  }

  #find(row: Row, known: Known): void {
    const { record, name } = row;
    if (row.person !== undefined && row.action !== 'issue') return;
    const named = name === '' ? undefined : this.#directory.named(name);
    const emailed = this.#directory
      .mailed(record.email?.text || 'none')
      .filter((person) => !person.links.has(this.#source) && !known.taken.has(person));
    const hits = [...emailed, ...(named === undefined ? [] : [named])];
    if (row.action === 'issue') {
      for (const person of hits) known.present.add(person);
      return;
    }
    if (named !== undefined && this.#isSomebodyElse(record, named, known)) return;
    const isUnclear =
      named === undefined ? emailed.length > 1 : emailed.length > 0 && !emailed.includes(named);
    if (isUnclear) {
      row.action = 'issue';
      this.#issue(record, 'ambiguousMatch');
      for (const person of hits) known.present.add(person);
      return;
    }
    row.person = named ?? emailed[0];
    if (row.person !== undefined) known.taken.add(row.person);
  }

  /** The one who bears the username stands in the file under an id, or is whom an earlier record is about. */
  #isSomebodyElse(record: RecordSpec, named: Person, { taken, inFile }: Known): boolean {
    const id = named.links.get(this.#source);
    const isOther = record.id !== undefined && id !== undefined && id !== record.id;
    return taken.has(named) || (isOther && inFile.has(id));
  }

  // What becomes of them

  #decide(row: Row): void {
    const { record, person } = row;
    if (row.action === 'issue') return;
    if (person?.isMarked === true) {
      row.action = 'skip';
      return;
    }
    this.#decideState(row);
    const isSaid = person !== undefined && person.said.get(this.#source) === row.said;
    if (isSaid && row.action === 'update') {
      row.action = 'unchanged';
      return;
    }
    const isFieldWrong = this.#options.syncAdditionalFields !== 'false' && record.floor?.text === 'third';
    const isNew = person === undefined;
    const isSkipped = isNew && record.active === false && this.#options.actionDisabledUsers === 'a';
    if (record.isWrong === true || isFieldWrong || (isNew && !isSkipped && record.username === undefined)) {
      row.action = 'issue';
      this.#issue(record, 'invalidRecord');
    } else if (isNew) {
      row.action = isSkipped ? 'skip' : 'create';
      row.becomes = record.active === false ? 'inactive' : 'active';
    }
  }

  #tellUnknown(row: Row): void {
    if (row.action === 'issue' || row.action === 'skip') return;
    for (let n = this.#unknown.get(row) ?? 0; n > 0; n -= 1) this.#issue(row.record, 'unknownGroup');
  }

  /** A source enables and disables only its own people, and those of nobody. */
  #decideState(row: Row): void {
    const { record, person } = row;
    if (person === undefined || (person.owner !== null && person.owner !== this.#source)) return;
    const action = this.#options.actionDisabledUsers ?? 'd';
    if (record.active === false) {
      if (action === 'a') row.action = 'archive';
      if (action !== 'd' || person.state === 'inactive') return;
      [row.action, row.becomes] = ['disable', 'inactive'];
      return;
    }
    const isBack = record.active === true || person.said.get(this.#source) === missing;
    if (isBack && person.state === 'inactive') [row.action, row.becomes] = ['reactivate', 'active'];
  }

  #absent(rows: readonly Row[], alsoPresent: ReadonlySet<Person>): Person[] {
    const { mode, actionMissingDeletedUsers: action = 'd' } = this.#options;
    if (mode === 'delta' || action === 'x') return [];
    const present = new Set(rows.map(({ person }) => person)).union(alsoPresent);
    return this.#directory
      .live()
      .filter((person) => person.owner === this.#source && !person.isMarked && !present.has(person))
      .filter((person) => person.state === 'active' || action === 'a');
  }

  // Groups

  #applyGroups(): void {
    const names = new Set<string>();
    const seen = new Set<string>();
    const found = this.#file.groups.map((spec) => this.#knownGroup(spec));
    const written: (() => void)[] = [];
    const made: (() => void)[] = [];
    for (const [index, spec] of this.#file.groups.entries()) {
      const { id, type } = spec;
      if (seen.has(id)) {
        this.#issues.push(`${id} duplicateRecord`);
        continue;
      }
      seen.add(id);
      if (!this.#isOn(type)) continue;
      const key = groupKey(spec);
      const known = found[index];
      if (names.has(key)) this.#issues.push(`${id} duplicateRecord`);
      else if (known !== undefined && known.type !== type) this.#issues.push(`${id} refused`);
      else {
        names.add(key);
        (known === undefined ? made : written).push(() => this.#writeGroup(spec, known));
      }
    }
    // New ones last: a name may be given up in the same file.
    for (const write of [...written, ...made]) write();
  }

  #knownGroup({ id, type, name }: GroupSpec): Group | undefined {
    const { groups } = this.#directory;
    const linked = groups.find((group) => group.links.get(this.#source) === id);
    if (linked !== undefined) return linked;
    const named = this.#directory.group(type, name);
    const other = named?.links.get(this.#source);
    // Whom the file knows by an id of its own is another group, even if it bears the name still.
    return other !== undefined && this.#refs.has(other) ? undefined : named;
  }

  #writeGroup(spec: GroupSpec, known: Group | undefined): void {
    const { id, type, name } = spec;
    const holder = this.#directory.group(type, name);
    if (holder !== undefined && holder !== known) {
      this.#issues.push(`${id} uniqueness`);
      if (known !== undefined) this.#meant.set(groupKey(spec), known);
      return;
    }
    const group = known ?? this.#directory.requireGroup(type, name, this.#source);
    group.name = name;
    group.links.set(this.#source, id);
    this.#meant.set(groupKey(spec), group);
  }

  /** Groups that records name are made, if the records are to be written. */
  #implyGroups(rows: readonly Row[]): void {
    const writing = rows.filter(({ action }) => !['issue', 'skip', 'unchanged'].includes(action));
    for (const { record, wanted = [] } of writing) {
      for (const type of unitTypes) {
        const leaf = record[type];
        if (leaf !== undefined && leaf.text !== '' && this.#isOn(type))
          this.#mean({ type, name: this.#unitName(type, leaf) });
      }
      for (const group of wanted) this.#mean(group);
    }
  }

  #mean(named: { readonly type: GroupType; readonly name: string }): Group {
    const meant = this.#meant.get(groupKey(named));
    if (meant !== undefined) return meant;
    const group = this.#directory.requireGroup(named.type, named.name, this.#source);
    this.#meant.set(groupKey(named), group);
    return group;
  }

  // People

  readonly #done = new Set<Row>();

  /** Rows that take the names of others who give them up are written together or not at all. */
  #applyRenames(rows: readonly Row[]): void {
    const isRenamed = ({ name, person }: Row) => name !== '' && name !== keyOf(person?.userName ?? '');
    const taking = rows.filter(isRenamed);
    const chains = new Map(rows.map((row) => [row, new Set([row])]));
    for (const row of taking) {
      const holder = this.#directory.named(row.name);
      const giver = taking.find((other) => holder !== undefined && other.person === holder);
      if (giver === undefined) continue;
      const joined = (chains.get(row) as Set<Row>).union(chains.get(giver) as Set<Row>);
      for (const each of joined) chains.set(each, joined);
    }
    for (const chain of new Set(chains.values())) {
      if (chain.size === 1) continue;
      const movers = [...chain];
      const people = new Set(movers.map(({ person }) => person));
      const isFree = ({ name, action }: Row) => {
        const holder = this.#directory.named(name);
        return action === 'archive' || holder === undefined || people.has(holder);
      };
      if (movers.every(isFree)) for (const row of movers) this.#write(row);
      else for (const row of movers) this.#fail(row);
    }
  }

  #applyRow(row: Row): void {
    if (row.hasFailed) return;
    const holder = row.name === '' ? undefined : this.#directory.named(row.name);
    if (row.action !== 'archive' && holder !== undefined && holder !== row.person) this.#fail(row);
    else this.#write(row);
  }

  #fail(row: Row): void {
    row.hasFailed = true;
    this.#issue(row.record, 'uniqueness');
  }

  #write(row: Row): void {
    this.#done.add(row);
    if (row.action === 'archive') {
      this.#directory.archive(row.person as Person);
      return;
    }
    const person = row.person ?? this.#create(row);
    const before = this.#view(person);
    this.#writeValues(person, row.record);
    this.#writeUnits(person, row.record);
    if (row.wanted !== undefined) this.#writeGroups(person, row.wanted);
    if (row.becomes !== undefined) person.state = row.becomes;
    person.owner ??= this.#source;
    if (row.record.id !== undefined) person.links.set(this.#source, row.record.id);
    if (person.links.has(this.#source)) person.said.set(this.#source, row.said);
    row.isChanged = row.action === 'create' || this.#view(person) !== before;
  }

  #create(row: Row): Person {
    const person = new Person(this.#source);
    row.person = person;
    this.#directory.people.push(person);
    return person;
  }

  #view({ userName, values, groups, links, owner, state }: Person): string {
    const memberships = [...groups].map(([group, isPrimary]) => [
      this.#directory.groups.indexOf(group),
      isPrimary,
    ]);
    const link = links.get(this.#source);
    return JSON.stringify([userName, [...values].sort(), memberships.sort(), link, owner, state]);
  }

  #writeValues(person: Person, record: RecordSpec): void {
    if (record.username !== undefined) person.userName = record.username;
    for (const name of ['surname', 'email', 'jobtitle', 'culture', 'phone', 'street', 'locality'] as const)
      write(person, name, record[name]);
    if (this.#options.syncAdditionalFields !== 'false') write(person, 'floor', record.floor);
    const culture = cultureOf(this.#options);
    if (culture !== '' && !person.values.has('culture') && record.culture?.clears !== true)
      person.values.set('culture', culture);
    if (!person.values.has('loginType'))
      person.values.set('loginType', loginTypes[this.#options.loginType ?? '0'] ?? '');
  }

  #writeUnits(person: Person, record: RecordSpec): void {
    for (const type of unitTypes) {
      const leaf = record[type];
      if (!this.#isOn(type)) continue;
      if (leaf !== undefined && leaf.text !== '')
        this.#directory.place(person, this.#unit(type, this.#unitName(type, leaf)), type);
      else if (leaf?.clears === true) this.#directory.place(person, undefined, type);
      else if (person.unit(type) === undefined) this.#directory.place(person, this.#defaults.get(type), type);
    }
  }

  #unit(type: UnitType, name: string): Group {
    return this.#directory.requireGroup(type, name, this.#source);
  }

  #writeGroups(person: Person, wanted: NonNullable<Row['wanted']>): void {
    const meant = new Set(wanted.map((each) => this.#mean(each)));
    for (const group of meant) if (!person.groups.has(group)) person.groups.set(group, false);
    for (const [group, isPrimary] of person.groups) {
      const isOurs = group.owner === this.#source && this.#isOn(group.type);
      if (!isPrimary && isOurs && !meant.has(group)) person.groups.delete(group);
    }
  }

  // Managers, when everybody else is written

  #applyManager(row: Row, rows: readonly Row[]): void {
    const person = row.person as Person;
    const { manager } = row.record;
    if (this.#options.syncManagers === 'false' || manager === undefined) return;
    const before = person.manager;
    if (manager.text === '') {
      if (manager.clears) person.manager = undefined;
    } else {
      this.#setManager(row, person, this.#managerOf(manager.text, rows));
    }
    if (person.manager !== before) row.isChanged = true;
  }

  #setManager(row: Row, person: Person, found: Person | 'nobody' | 'several' | 'failed'): void {
    if (found instanceof Person) {
      person.manager = found;
      return;
    }
    if (found === 'failed') {
      person.manager = undefined;
      this.#isVague = true;
    }
    this.#issue(row.record, found === 'several' ? 'managerAmbiguous' : 'managerNotFound');
    person.said.delete(this.#source);
  }

  #managerOf(text: string, rows: readonly Row[]): Person | 'nobody' | 'several' | 'failed' {
    const row = rows.find(
      ({ record, action, person }) => record.id === text && (action !== 'issue' || person),
    );
    if (row?.person?.isLive === true) return row.person;
    if (row?.action === 'create' && row.hasFailed) return 'failed';
    const linked = this.#linked(text);
    if (linked !== undefined) return linked;
    const hits = this.#directory
      .live()
      .filter((person) => keyOf(person.userName) === keyOf(text) || person.values.get('email') === text);
    return hits.length > 1 ? 'several' : (hits[0] ?? 'nobody');
  }

  // The end

  #count(rows: readonly Row[]): void {
    const plural = { create: 'created', archive: 'archived', skip: 'skipped', disable: 'disabled' } as const;
    for (const row of rows) {
      if (row.action === 'issue' || row.hasFailed) continue;
      if (row.action === 'reactivate') this.#add('reactivated');
      else if (row.action === 'update' || row.action === 'unchanged')
        this.#add(row.isChanged ? 'updated' : 'unchanged');
      else this.#add(plural[row.action]);
    }
  }

  #add(name: string): void {
    this.#counts[name] = (this.#counts[name] ?? 0) + 1;
  }

  #end(person: Person): void {
    if (this.#options.actionMissingDeletedUsers === 'a') {
      this.#directory.archive(person);
      this.#add('archived');
    } else if (person.state === 'active') {
      person.state = 'inactive';
      if (person.links.has(this.#source)) person.said.set(this.#source, missing);
      this.#add('disabled');
    }
  }
}
