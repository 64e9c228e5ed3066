// Turns records of the source into groups and users by the rules of a mapping, compiled once.
// It never judges whether a value suits its attribute (to-document.ts does), and sees one record at a time.

import { DomainError } from '../errors.ts';
import { addressPartNames, type LeafName, leafNames } from '../xml/records.ts';
import type {
  Address,
  ConnectorRecord,
  Group,
  GroupReference,
  Mapping,
  MappingRule,
  RecordMapper,
  SourceRecord,
  User,
  Value,
} from './contract.ts';
import { type CompiledRule, columnsOf, compileRule } from './mapping-rule.ts';
import { quoted, trimmed } from './record-values.ts';

/** The mapper of a run. */
export interface CompiledMapping extends RecordMapper {
  /**
   * Sentences for the log, once all records have been mapped: columns that the configuration names and that no record
   * had, with the columns that there are.
   */
  warnings(): readonly string[];
}

export const groupTypes = ['company', 'department', 'location', 'security group'] as const;

const plainUserKeys = leafNames.filter((name) => name !== 'alternateemail');
type PlainKey = Exclude<LeafName, 'alternateemail'>;

/** Keys of `Mapping.user`; those below `additionalfields` are any. */
export const userKeys: readonly string[] = [
  'id',
  'username',
  ...plainUserKeys,
  ...['home', 'mobile'].map((type) => `alternateemail.${type}`),
  ...['work', 'home', 'mobile'].map((type) => `phones.${type}`),
  ...['chat', 'skype'].map((type) => `ims.${type}`),
  ...['home', 'work'].flatMap((type) => addressPartNames.map((part) => `addresses.${type}.${part}`)),
  'groups',
  ...groupTypes.map((type) => `groups.${type}`),
];
const groupKeys: readonly string[] = ['id', 'type', 'name', 'description'];
const fieldPrefix = 'additionalfields.';

/**
 * Compiles the mapping of a configuration over a kind's own: a rule given replaces the default of the same key, `null`
 * switches it off. Throws DomainError `invalidValue` with one sentence for a key that no attribute has, for a rule that is
 * not one, and for a pattern that RE2 does not accept. `remembersSources` is for a preview: `sourceRecordOf` then knows what
 * a record was made of, which costs every record.
 */
export async function compileMapping(
  mapping: Mapping | undefined,
  defaults: Mapping | undefined,
  { remembersSources = false }: { readonly remembersSources?: boolean } = {},
): Promise<CompiledMapping> {
  const user = await compileRules('user', mapping?.user, defaults?.user);
  const group = await compileRules('group', mapping?.group, defaults?.group);
  const buildUser = userBuilder(user.rules);
  const buildGroup = groupBuilder(group.rules);
  const remember = remembersSources ? rememberSource : unremembered;
  return {
    user: (record) => remember(user.map(record, buildUser), record),
    group: (record) => remember(group.map(record, buildGroup), record),
    warnings: () => [...user.columns.warnings(), ...group.columns.warnings()],
  };
}

/**
 * For a kind that knows the columns before the first record: refuses, with one sentence, a column that the configuration
 * names and that is not among `columns`. `place` is what lacks it: `The file people.csv`.
 */
export function requireColumns(
  rules: RuleMap | undefined,
  { columns, place }: { readonly columns: readonly string[]; readonly place: string },
): void {
  const record = Object.fromEntries(columns.map((name) => [name, '']));
  for (const [key, rule] of Object.entries(rules ?? {})) {
    if (rule === null) continue;
    const missing = columnsOf(rule, key).find((column) => column.find(record) === undefined);
    if (missing === undefined) continue;
    const there = listed(columns);
    throw refusal(
      `${place} has no column ${quoted(missing.name)}, from which ${key} is taken. Its columns are: ${there}.`,
    );
  }
}

const sources = new WeakMap<ConnectorRecord, SourceRecord>();

/** The record of the source that a mapper made `record` of; undefined for one that came about otherwise. */
export function sourceRecordOf(record: ConnectorRecord): SourceRecord | undefined {
  return sources.get(record);
}

/** Says what `record` was made of; for whoever makes another record of a mapped one. Returns `record`. */
export function rememberSource<T extends ConnectorRecord>(record: T, source: SourceRecord | undefined): T {
  if (source !== undefined) sources.set(record, source);
  return record;
}

function unremembered<T extends ConnectorRecord>(record: T): T {
  return record;
}

type Rules = ReadonlyMap<string, CompiledRule>;
type RuleMap = Readonly<Record<string, MappingRule | null>>;

interface Side {
  readonly rules: Rules;
  readonly columns: ColumnWatch;
  map<T>(record: SourceRecord, build: (record: SourceRecord) => T): T;
}

async function compileRules(
  side: 'user' | 'group',
  given: RuleMap | undefined,
  defaults: RuleMap | undefined,
): Promise<Side> {
  const merged = new Map([...Object.entries(defaults ?? {}), ...Object.entries(given ?? {})]);
  const rules = new Map<string, CompiledRule>();
  for (const [key, rule] of merged) {
    requireKey(side, key);
    if (rule === null) continue;
    rules.set(key, await compileRule(rule, { attribute: key, isVerbatim: key === 'password' }));
  }
  const own = new Set(Object.keys(given ?? {}));
  const columns = new ColumnWatch(new Map([...rules].filter(([key]) => own.has(key))));
  return { rules, columns, map: (record, build) => mapOne({ record, build, columns, rules }) };
}

function requireKey(side: 'user' | 'group', key: string): void {
  const known = side === 'user' ? userKeys : groupKeys;
  if (known.includes(key)) return;
  if (side === 'user' && key.startsWith(fieldPrefix) && key.length > fieldPrefix.length) return;
  const near = known.find((each) => isNear(each, key));
  const advice = near === undefined ? `There are: ${known.join(', ')}` : `Did you mean "${near}"`;
  const others = side === 'user' && near === undefined ? `, and ${fieldPrefix}ID` : '';
  throw refusal(
    `The mapping names "${key}", which no ${side} has. ${advice}${others}${near === undefined ? '.' : '?'}`,
  );
}

/** Alike but for case, signs between words, and a last part that one of the two lacks. */
function isNear(known: string, key: string): boolean {
  const [left, right] = [known, key].map((each) => each.toLowerCase().replace(/[^a-z]/g, ''));
  if (left === undefined || right === undefined || right.length < 3) return false;
  return left === right || left.startsWith(right) || right.startsWith(left);
}

interface OneRecord<T> {
  readonly record: SourceRecord;
  readonly build: (record: SourceRecord) => T;
  readonly columns: ColumnWatch;
  readonly rules: Rules;
}

function mapOne<T>({ record, build, columns, rules }: OneRecord<T>): T {
  columns.see(record);
  try {
    return build(record);
  } catch (cause) {
    throw refusal(`${whichRecord(record, rules, columns)}: ${faultOf(record, rules, cause)}.`);
  }
}

function whichRecord(record: SourceRecord, rules: Rules, columns: ColumnWatch): string {
  const id = attempt(() => rules.get('id')?.text(record));
  return typeof id === 'string' ? `The record with the id ${quoted(id)}` : `Record ${columns.count}`;
}

/** Runs the rules once more to find the one at fault: naming it beforehand would cost every record. */
function faultOf(record: SourceRecord, rules: Rules, cause: unknown): string {
  for (const [key, rule] of rules) {
    const isList = key === 'groups' || key.startsWith('groups.');
    const isSound = attempt(() => {
      if (isList) rule.list(record);
      else rule.text(record);
      return true;
    });
    if (isSound) continue;
    const names = rule.columns.map(({ name }) => quoted(name)).join(', ');
    return `${key} cannot be read from ${names === '' ? 'its rule' : names}: ${messageOf(cause)}`;
  }
  return messageOf(cause);
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

function messageOf(cause: unknown): string {
  const message = cause instanceof Error ? cause.message : String(cause);
  return message.replace(/\.$/, '');
}

const namesMax = 200;
const namesFromRecordsMax = 50;

/** Notes which of the columns that a configuration names have been there, and what columns there are. */
class ColumnWatch {
  count = 0;
  readonly #names = new Set<string>();
  readonly #missing: Map<string, CompiledRule['columns'][number][]>;

  constructor(rules: Rules) {
    this.#missing = new Map([...rules].map(([key, rule]) => [key, [...rule.columns]]));
  }

  see(record: SourceRecord): void {
    this.count += 1;
    if (this.count <= namesFromRecordsMax) this.#learn(record);
    if (this.#missing.size > 0) this.#strike(record);
  }

  warnings(): readonly string[] {
    if (this.count === 0) return [];
    const names = listed([...this.#names]);
    return [...this.#missing].flatMap(([key, columns]) =>
      columns.map(
        ({ name }) =>
          `No record has the column ${quoted(name)}, from which ${key} is taken. There are: ${names}.`,
      ),
    );
  }

  #learn(record: SourceRecord): void {
    for (const name of Object.keys(record)) if (this.#names.size < namesMax) this.#names.add(name);
  }

  #strike(record: SourceRecord): void {
    for (const [key, columns] of this.#missing) {
      const still = columns.filter((column) => column.find(record) === undefined);
      if (still.length === columns.length && still.length > 0) continue;
      if (still.length === 0) this.#missing.delete(key);
      else this.#missing.set(key, still);
    }
  }
}

type Draft = { -readonly [name in keyof User]: User[name] };
type PartBuilder = (user: Draft, record: SourceRecord) => void;

function userBuilder(rules: Rules): (record: SourceRecord) => User {
  const [id, username] = [rules.get('id'), rules.get('username')];
  const plain = plainUserKeys.flatMap((key): [PlainKey, CompiledRule][] => {
    const rule = rules.get(key);
    return rule === undefined ? [] : [[key, rule]];
  });
  const parts = [
    emails(rules),
    typed(rules, 'phones'),
    typed(rules, 'ims'),
    addresses(rules),
    memberships(rules),
    fields(rules),
  ].filter((each) => each !== undefined);
  return (record) => {
    const user: Draft = { kind: 'user', id: requireText(id, 'id', record) };
    const name = username?.text(record);
    if (typeof name === 'string') user.username = name;
    for (const [key, rule] of plain) {
      const value = rule.text(record);
      if (value !== undefined) user[key] = value;
    }
    for (const build of parts) build(user, record);
    return user;
  };
}

function requireText(rule: CompiledRule | undefined, key: string, record: SourceRecord): string {
  if (rule === undefined) throw new Error(`the mapping has no rule for ${key}`);
  const text = rule.text(record);
  if (typeof text === 'string' && trimmed(text) !== '') return text;
  const columns = rule.columns.map(({ name }) => quoted(name)).join(' and ');
  const has = listed(Object.keys(record));
  throw new Error(
    `it has no ${key}: ${columns || 'its rule'} gives nothing. Its columns are ${has || 'none'}`,
  );
}

/** The rules below `prefix`, by what stands behind it. */
function rulesBelow(rules: Rules, prefix: string): readonly (readonly [string, CompiledRule])[] {
  return [...rules].flatMap(([key, rule]): [string, CompiledRule][] =>
    key.startsWith(prefix) ? [[key.slice(prefix.length), rule]] : [],
  );
}

/** Values by name; members of an object whatever they are called. Undefined when none has a value. */
function valuesOf(
  rules: readonly (readonly [string, CompiledRule])[],
  record: SourceRecord,
): Readonly<Record<string, Value>> | undefined {
  let values: [string, Value][] | undefined;
  for (const [name, rule] of rules) {
    const value = rule.text(record);
    if (value === undefined) continue;
    values ??= [];
    values.push([name, value]);
  }
  return values === undefined ? undefined : Object.fromEntries(values);
}

function typed(rules: Rules, name: 'phones' | 'ims'): PartBuilder | undefined {
  const inside = rulesBelow(rules, `${name}.`);
  if (inside.length === 0) return undefined;
  return (user, record) => {
    const values = valuesOf(inside, record);
    if (values !== undefined) user[name] = values;
  };
}

function fields(rules: Rules): PartBuilder | undefined {
  const inside = rulesBelow(rules, fieldPrefix);
  if (inside.length === 0) return undefined;
  return (user, record) => {
    const values = valuesOf(inside, record);
    if (values !== undefined) user.additionalfields = values;
  };
}

/** A file has one alternate address: the first that has a text, else the first that is to be cleared. */
function emails(rules: Rules): PartBuilder | undefined {
  const types = (['home', 'mobile'] as const).flatMap((type) => {
    const rule = rules.get(`alternateemail.${type}`);
    return rule === undefined ? [] : [{ type, rule }];
  });
  if (types.length === 0) return undefined;
  return (user, record) => {
    const values = types.map(({ type, rule }) => ({ type, value: rule.text(record) }));
    const chosen =
      values.find(({ value }) => typeof value === 'string') ?? values.find(({ value }) => value === null);
    if (chosen !== undefined) user.alternateemail = chosen;
  };
}

function addresses(rules: Rules): PartBuilder | undefined {
  const types = (['home', 'work'] as const)
    .map((type) => ({ type, inside: rulesBelow(rules, `addresses.${type}.`) }))
    .filter(({ inside }) => inside.length > 0);
  if (types.length === 0) return undefined;
  return (user, record) => {
    let found: Partial<Record<'home' | 'work', Address>> | undefined;
    for (const { type, inside } of types) {
      const values = valuesOf(inside, record);
      if (values !== undefined) found = { ...found, [type]: values };
    }
    if (found !== undefined) user.addresses = found;
  };
}

/** Absent when no rule found its column: memberships then stay as they are. */
function memberships(rules: Rules): PartBuilder | undefined {
  const byId = rules.get('groups');
  const byName = groupTypes.flatMap((type) => {
    const rule = rules.get(`groups.${type}`);
    return rule === undefined ? [] : [{ type, rule }];
  });
  if (byId === undefined && byName.length === 0) return undefined;
  return (user, record) => {
    const ids = byId?.list(record);
    const lists = byName.map(({ type, rule }) => rule.list(record)?.map((name) => ({ type, name })));
    if (ids === undefined && lists.every((list) => list === undefined)) return;
    const groups: readonly GroupReference[] = [...(ids ?? []), ...lists.flatMap((list) => list ?? [])];
    user.groups = groups;
  };
}

function groupBuilder(rules: Rules): (record: SourceRecord) => Group {
  return (record) => {
    const group = {
      kind: 'group',
      id: requireText(rules.get('id'), 'id', record),
      type: groupType(requireText(rules.get('type'), 'type', record)),
      name: requireText(rules.get('name'), 'name', record),
    } as const;
    const description = rules.get('description')?.text(record);
    return description === undefined ? group : { ...group, description };
  };
}

function groupType(text: string): Group['type'] {
  const type = groupTypes.find((each) => each === text.toLowerCase());
  if (type !== undefined) return type;
  throw new Error(
    `its type is ${quoted(text)}, which has to be one of ${groupTypes.join(', ')}; translate it by "values"`,
  );
}

/** Names of columns in a sentence; they come from the source. */
function listed(names: readonly string[]): string {
  return names
    .slice(0, namesMax)
    .map((name) => quoted(name).slice(1, -1))
    .join(', ');
}

function refusal(detail: string): DomainError {
  return new DomainError('invalidValue', detail);
}
