// Reads a directory in the order that a profile file needs: groups with their members, then who everybody is, then people.
// What it keeps between them is names, ids and numbers (nested-groups.ts); entries pass by one at a time.

import type { ConnectorContext, ConnectorRecord, SourceRecord } from '../../src/connectors/contract.ts';
import type { MappedColumns } from '../../src/connectors/mapped-columns.ts';
import { NestedGroups } from '../../src/connectors/nested-groups.ts';
import { DomainError } from '../../src/errors.ts';
import { canonicalDn } from './distinguished-name.ts';
import { parseFilter } from './filter.ts';
import { type LdapConfig, type Product, products } from './ldap-config.ts';
import type { Attribute } from './message.ts';
import type { Entry, Session } from './session.ts';
import { isAccountActive, toTexts, toValue } from './values.ts';

/** Columns that no entry has, made from what it has. */
export const computed = { active: 'isActive', manager: 'managerId', groups: 'groupIds', dn: 'dn' } as const;
const computedNames: ReadonlySet<string> = new Set(Object.values(computed));
const memberAttributes = ['member', 'uniqueMember'];
const memberUid = 'memberUid';
const peopleMax = 5_000_000;
const rangesMax = 100_000;

export class DirectoryReader {
  readonly #session: Session;
  readonly #context: ConnectorContext<LdapConfig>;
  readonly #product: Product;
  readonly #columns: MappedColumns;
  readonly #userRecords: RecordMaker;
  readonly #groupRecords: RecordMaker;
  readonly #memberships = new NestedGroups();
  /** By canonical name, of everybody: whom a manager's name means. */
  readonly #idByDn = new Map<string, string>();
  #unknownManagers = 0;

  constructor(session: Session, context: ConnectorContext<LdapConfig>, columns: MappedColumns) {
    this.#session = session;
    this.#context = context;
    this.#product = products[context.config.product];
    this.#columns = columns;
    this.#userRecords = new RecordMaker(columns.user);
    this.#groupRecords = new RecordMaker(columns.group);
  }

  /** Groups, then people. Throws when either answer is not whole, or empty. */
  async *records(): AsyncGenerator<ConnectorRecord> {
    if (this.#hasGroups) yield* this.#groups();
    if (this.#needs(computed.manager)) await this.#learnIds();
    yield* this.#users();
    if (this.#unknownManagers > 0)
      this.#context.log.warn(
        `${this.#unknownManagers} people have a manager whom the search of people does not find; they count as without one.`,
      );
  }

  /** The name of the first person and of the first group, if there are any. */
  async firstNames(): Promise<{ readonly user: string | undefined; readonly group: string | undefined }> {
    const user = await this.#first(this.#search('user', ['1.1']));
    const group = this.#hasGroups ? await this.#first(this.#search('group', ['1.1'])) : undefined;
    return { user, group };
  }

  get #hasGroups(): boolean {
    return this.#context.config.groupBaseDns !== undefined;
  }

  #needs(column: string): boolean {
    return this.#columns.user.includes(column);
  }

  async #first(entries: AsyncGenerator<Entry>): Promise<string | undefined> {
    for await (const { dn } of entries) return dn;
    return undefined;
  }

  /** Entries below every base, each once, though bases may lie in each other. */
  async *#search(side: 'user' | 'group', attributes: readonly string[]): AsyncGenerator<Entry> {
    const { config } = this.#context;
    const bases = (side === 'user' ? config.userBaseDns : config.groupBaseDns) ?? [];
    const text = side === 'user' ? config.userFilter : config.groupFilter;
    const filter = parseFilter(text ?? this.#product[side === 'user' ? 'userFilter' : 'groupFilter']);
    for (const base of outermost(bases)) {
      const scope = 'subtree';
      yield* this.#session.search({ base, scope, filter, attributes, pageSize: config.pageSize });
    }
  }

  async *#groups(): AsyncGenerator<ConnectorRecord> {
    const attributes = [...this.#groupRecords.attributes, ...memberAttributes, memberUid];
    const unfinished: RangedMembers[] = [];
    let count = 0;
    for await (const entry of this.#search('group', unique(attributes))) {
      const group = this.#context.mapped.group(this.#groupRecords.record(entry));
      const number = this.#memberships.addGroup(canonicalDn(entry.dn), group.id);
      const next = this.#addMembers(number, entry);
      if (next !== undefined) unfinished.push({ dn: entry.dn, group: number, ...next });
      count += 1;
      yield group;
    }
    if (count === 0) throw nothingFound('no group', 'groupBaseDns and groupFilter');
    for (const each of unfinished) await this.#addRanges(each);
    this.#context.log.info(`Groups read: ${count}.`);
  }

  /** Adds the members that came with the entry, and says where those that did not begin. */
  #addMembers(group: number, entry: Entry): RangeEnd | undefined {
    let end: RangeEnd | undefined;
    for (const attribute of entry.attributes) {
      const { name, from } = readRange(attribute.name);
      if (name === memberUid.toLowerCase())
        for (const uid of toTexts(attribute)) this.#memberships.addMember(group, uidKey(uid));
      else if (memberAttributes.some((each) => each.toLowerCase() === name))
        for (const dn of toTexts(attribute)) this.#memberships.addMember(group, canonicalDn(withoutBits(dn)));
      if (from !== undefined) end = { attribute: name, from };
    }
    return end;
  }

  /** The rest of a group that Active Directory gives piece by piece (MS-ADTS 3.1.1.3.1.3.3). */
  async #addRanges({ dn, group, ...start }: RangedMembers): Promise<void> {
    let end: RangeEnd | undefined = start;
    for (let pieces = 0; end !== undefined && pieces < rangesMax; pieces++) {
      const attributes = [`${end.attribute};range=${end.from}-*`];
      const filter = parseFilter('(objectClass=*)');
      const before: number = end.from;
      end = undefined;
      let isFound = false;
      const search = { base: dn, scope: 'base', filter, attributes, pageSize: 0 } as const;
      for await (const entry of this.#session.search(search)) {
        isFound = entry.attributes.length > 0;
        end = this.#addMembers(group, entry);
      }
      if (!isFound || (end !== undefined && end.from <= before)) throw brokenRange(dn);
    }
  }

  async #learnIds(): Promise<void> {
    const records = new RecordMaker(this.#columns.userId);
    for await (const entry of this.#search('user', records.attributes)) {
      if (this.#idByDn.size >= peopleMax)
        throw new DomainError('limitExceeded', `The search finds more than ${peopleMax} people.`);
      const { id } = this.#context.mapped.user(records.record(entry));
      this.#idByDn.set(canonicalDn(entry.dn), id);
    }
  }

  async *#users(): AsyncGenerator<ConnectorRecord> {
    const rule = this.#context.config.inactiveWhen ?? this.#product.inactiveWhen;
    const own = [rule?.attribute ?? 'userAccountControl', 'manager', ...(this.#hasGroups ? ['uid'] : [])];
    const attributes = unique([...this.#userRecords.attributes, ...own]);
    let count = 0;
    for await (const entry of this.#search('user', attributes)) {
      count += 1;
      yield this.#context.mapped.user(this.#userRecord(entry));
    }
    if (count === 0) throw nothingFound('nobody', 'userBaseDns and userFilter');
    this.#context.log.info(`People read: ${count}.`);
  }

  #userRecord(entry: Entry): SourceRecord {
    const record = this.#userRecords.record(entry);
    const active = this.#isActive(entry);
    if (active !== undefined) record[computed.active] = active;
    if (this.#needs(computed.manager)) record[computed.manager] = this.#managerId(entry);
    if (this.#hasGroups) {
      const uids = toTexts(find(entry, 'uid')).map(uidKey);
      const { nestedGroups } = this.#context.config;
      record[computed.groups] = this.#memberships.groupsOf([canonicalDn(entry.dn), ...uids], nestedGroups);
    }
    return record;
  }

  #isActive(entry: Entry): boolean | undefined {
    const rule = this.#context.config.inactiveWhen ?? this.#product.inactiveWhen;
    if (rule === undefined) return isAccountActive(find(entry, 'userAccountControl'));
    const values = toTexts(find(entry, rule.attribute)).map((each) => each.toLowerCase());
    if (rule.values.length === 0) return values.length === 0;
    return !rule.values.some((each) => values.includes(each.toLowerCase()));
  }

  #managerId(entry: Entry): string {
    const [manager] = toTexts(find(entry, 'manager'));
    if (manager === undefined) return '';
    const id = this.#idByDn.get(canonicalDn(manager));
    if (id === undefined) this.#unknownManagers += 1;
    return id ?? '';
  }
}

interface RangeEnd {
  /** In small letters. */
  readonly attribute: string;
  /** The number of the first value that has not come. */
  readonly from: number;
}

interface RangedMembers extends RangeEnd {
  readonly dn: string;
  readonly group: number;
}

/** `member;range=0-1499` says that 1500 follows; `member;range=1500-*` was the last piece. */
function readRange(description: string): { readonly name: string; readonly from: number | undefined } {
  const [name = '', ...options] = description.toLowerCase().split(';');
  const range = options.map((option) => /^range=\d+-(\d+)$/.exec(option)).find((found) => found !== null);
  return { name, from: range === undefined ? undefined : Number(range[1]) + 1 };
}

function brokenRange(dn: string): DomainError {
  return new DomainError('unavailable', `The directory does not give the rest of the members of ${dn}.`);
}

function nothingFound(what: string, where: string): DomainError {
  return new DomainError(
    'invalidValue',
    `The search finds ${what}: check ${where}, and whether the bind account may read there.`,
  );
}

/** Makes records of entries, under the names of the columns, whichever way the server spells them. */
class RecordMaker {
  /** Attributes to ask for; a column may be a path into one with several values: `mail[0]`. */
  readonly attributes: readonly string[];
  readonly #columnByAttribute: ReadonlyMap<string, readonly string[]>;

  constructor(columns: readonly string[]) {
    this.attributes = unique(columns.map((name) => name.replace(/\[.*$/s, ''))).filter(
      (name) => !computedNames.has(name),
    );
    this.#columnByAttribute = Map.groupBy(this.attributes, (name) => name.toLowerCase());
  }

  record(entry: Entry): Record<string, unknown> {
    const record: Record<string, unknown> = { [computed.dn]: entry.dn };
    for (const attribute of entry.attributes) {
      if (attribute.name.includes(';range=')) requireMember(entry, attribute);
      const columns = this.#columnByAttribute.get(attribute.name.toLowerCase());
      if (columns === undefined) continue;
      const value = toValue(attribute);
      if (value !== undefined) for (const name of columns) record[name] = value;
    }
    return record;
  }
}

function requireMember(entry: Entry, attribute: Attribute): void {
  if (readRange(attribute.name).from !== undefined && !isMember(attribute.name))
    throw tooManyValues(entry, attribute);
}

function isMember(description: string): boolean {
  return memberAttributes.some((name) => name.toLowerCase() === readRange(description).name);
}

function tooManyValues(entry: Entry, { name }: Attribute): DomainError {
  const [attribute] = name.split(';');
  return new DomainError(
    'invalidValue',
    `${entry.dn} has more values of ${attribute} than the directory gives at once; leave it out of the mapping.`,
  );
}

function find(entry: Entry, name: string): Attribute | undefined {
  const wanted = name.toLowerCase();
  return entry.attributes.find(
    (each) => each.name.length === name.length && each.name.toLowerCase() === wanted,
  );
}

function unique(names: readonly string[]): readonly string[] {
  return [...new Set(names)];
}

/** Bases that no other base contains. */
function outermost(bases: readonly string[]): readonly string[] {
  const byName = new Map(bases.map((base) => [canonicalDn(base), base]));
  const names = [...byName.keys()];
  const isInside = (name: string) => names.some((other) => name.endsWith(`,${other}`));
  return [...byName].flatMap(([name, base]) => (isInside(name) ? [] : [base]));
}

function uidKey(uid: string): string {
  return `uid:${uid.toLowerCase()}`;
}

/** A name with an optional bit string behind it (RFC 4517 §3.3.21). */
function withoutBits(dn: string): string {
  return dn.replace(/#'[01]*'B$/, '');
}
