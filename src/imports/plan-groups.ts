import { findGroupsByNameKeys, type Group, selectGroups } from '../directory/group-store.ts';
import { isTooLongForKey } from '../directory/key-length.ts';
import { type UnitType, unitTypes } from '../directory/organisation.ts';
import { findLinks } from '../directory/source-link-store.ts';
import { canonicalKey } from '../resource/canonical-key.ts';
import { toId } from '../resource/resource-id.ts';
import { platformGroupUrn } from '../resource/schema.ts';
import { isObject } from '../resource/value.ts';
import type { Reader } from '../storage/database.ts';
import type { GroupRecord, Leaf, UserRecord } from '../xml/records.ts';
import type { Issue } from './imports.ts';
import type { GroupFacts } from './match-store.ts';
import type { ImportOptions } from './options.ts';
import { planRow } from './plan-row.ts';
import type { NewPlanRow } from './plan-store.ts';
import type { DefaultUnits, RecordUnits } from './profile-record.ts';

/** A group by number: its id, or for one that the run creates -1 minus its ordinal. */
export type GroupNumber = number;

export function createdGroup(ordinal: number): GroupNumber {
  return -1 - ordinal;
}

/** The ordinal of a group that the run creates. */
export function ordinalOf(number: GroupNumber): number {
  return -1 - number;
}

/** What a plan row of kind `group` carries. */
export interface GroupPayload {
  readonly displayName: string;
  readonly groupType: string;
  readonly externalId?: string;
  readonly description?: string | null;
}

interface NamedGroup {
  readonly type: string;
  readonly name: string;
}

/** What a user record says of groups, references resolved. */
export interface UserGroups {
  readonly units: RecordUnits;
  /** Undefined when the record leaves memberships alone. */
  readonly memberships: readonly NamedGroup[] | undefined;
  readonly issues: readonly Issue[];
}

export interface GroupPlanParts {
  readonly db: Reader;
  readonly sourceId: number;
  readonly options: ImportOptions;
  readonly nextSeq: () => number;
}

export interface PlannedGroups {
  readonly rows: readonly NewPlanRow[];
  readonly issues: readonly Issue[];
}

const groupsAtOnce = 500;

/** The groups that a document names: which exist, and which the run is to create. */
export class GroupPlan {
  readonly #parts: GroupPlanParts;
  readonly #byRef = new Map<string, NamedGroup>();
  readonly #wanted: GroupRecord[] = [];
  readonly #numbers = new Map<string, GroupNumber>();
  /** Canonical keys of names: thousands of people name the same few groups. */
  readonly #keys = new Map<string, string>();
  /** Names that groups have now, and not after this run. */
  readonly #givenUp = new Set<string>();
  #created = 0;

  constructor(parts: GroupPlanParts) {
    this.#parts = parts;
  }

  /** Notes groups of the document; what to do about them is decided when all of them are known. */
  note(records: readonly GroupRecord[]): Issue[] {
    const issues: Issue[] = [];
    for (const record of records) if (this.#accept(record, issues)) this.#wanted.push(record);
    return issues;
  }

  /** Rows for the groups that were noted, some at a time: none when that was done. */
  async *planNoted(): AsyncGenerator<PlannedGroups> {
    const records = this.#wanted.splice(0);
    const creations: NewPlanRow[] = [];
    for (const some of pieces(records)) {
      const { updates, made, issues } = await this.#planSome(some);
      creations.push(...made);
      yield { rows: updates, issues };
    }
    // New groups come last: one of them may bear the name that another one gives up.
    for (const some of pieces(creations)) {
      yield { rows: some.map((row) => ({ ...row, seq: this.#parts.nextSeq() })), issues: [] };
    }
  }

  async #planSome(records: readonly GroupRecord[]) {
    const known = await this.#findKnown(records);
    const updates: NewPlanRow[] = [];
    const made: NewPlanRow[] = [];
    const issues: Issue[] = [];
    for (const record of records) {
      const group = known(record);
      const problem = this.#problemOf(record, group);
      if (problem !== undefined) issues.push(problem);
      else if (group === undefined) made.push(this.#creationRow(record));
      else updates.push(this.#updateRow(record, group));
    }
    return { updates, made, issues };
  }

  /** The names behind a record's references, those that lead nowhere as issues. */
  read(record: UserRecord, recordId: string): UserGroups {
    const issues: Issue[] = [];
    const { options } = this.#parts;
    const units: { [T in UnitType]?: string } = {};
    for (const type of unitTypes) {
      const name = this.#unitName(type, record.leaves[type]);
      if (name !== undefined && isTypeSynchronised(options, type)) units[type] = name;
    }
    if (record.groups === undefined || !options.syncGroups) return { units, memberships: undefined, issues };
    const memberships: NamedGroup[] = [];
    for (const { ref, type = 'security group', name } of record.groups) {
      const group = ref === undefined ? { type, name } : this.#byRef.get(ref);
      if (group === undefined || group.name === '') issues.push(unknownGroup(record, recordId, ref));
      else if (isTypeSynchronised(options, group.type)) memberships.push(group);
    }
    return { units, memberships, issues };
  }

  /** Makes every group that these records name known, with a row for each that does not exist. */
  async require(groups: readonly UserGroups[]): Promise<NewPlanRow[]> {
    const named = groups.flatMap(({ units, memberships = [] }) => [
      ...unitTypes.flatMap((type) => (units[type] === undefined ? [] : [{ type, name: units[type] }])),
      ...memberships,
    ]);
    const missing = new Map<string, NamedGroup>();
    for (const group of named) {
      const key = this.#keyOf(group);
      // A new group is spelled as it is first, wherever the document is cut into batches.
      if (!this.#numbers.has(key) && !missing.has(key)) missing.set(key, group);
    }
    if (missing.size === 0) return [];
    const keys = [...new Set([...missing.values()].map(({ name }) => canonicalKey(name)))];
    for (const hit of await findGroupsByNameKeys(this.#parts.db, keys)) {
      const key = `${hit.group_type}:${hit.key}`;
      if (!this.#givenUp.has(key)) this.#numbers.set(key, hit.id);
    }
    const rows: NewPlanRow[] = [];
    for (const [key, group] of missing) if (!this.#numbers.has(key)) rows.push(this.#impliedRow(key, group));
    return rows;
  }

  numberOf(group: NamedGroup): GroupNumber | undefined {
    return this.#numbers.get(this.#keyOf(group));
  }

  #accept(record: GroupRecord, issues: Issue[]): boolean {
    const { id, type, name, line } = record;
    if (this.#byRef.has(id)) {
      issues.push({
        line,
        recordId: id,
        code: 'duplicateRecord',
        message: `The group id "${id}" is given twice; the first one counts.`,
      });
      return false;
    }
    this.#byRef.set(id, { type, name });
    return isTypeSynchronised(this.#parts.options, type);
  }

  #problemOf(record: GroupRecord, group: Group | undefined): Issue | undefined {
    const { id, line, type, name } = record;
    if (isTooLongForKey(id) || isTooLongForKey(name)) {
      const message = 'The id or name of the group is longer than 1024 bytes (in UTF-8); shorten it.';
      return { line, recordId: `${id.slice(0, 100).toWellFormed()}…`, code: 'invalidRecord', message };
    }
    const recordId = id;
    if (this.#numbers.has(this.#keyOf(record))) {
      const message = `The file has another ${type} named "${name}"; the first one counts.`;
      return { line, recordId, code: 'duplicateRecord', message };
    }
    if (group === undefined || group.groupType === type) return undefined;
    const message = `The group was a ${group.groupType} and is a ${type} in the file; the type of a group cannot change. Give it another id.`;
    return { line, recordId, code: 'refused', message };
  }

  async #findKnown(records: readonly GroupRecord[]): Promise<(record: GroupRecord) => Group | undefined> {
    const { db, sourceId } = this.#parts;
    const links = await findLinks(
      db,
      sourceId,
      'Group',
      records.map(({ id }) => id),
    );
    const named = await findGroupsByNameKeys(
      db,
      records.map(({ name }) => canonicalKey(name)),
    );
    const ids = [...links.map((link) => link.resource_id), ...named.map((group) => group.id)];
    const groups = new Map(
      (await selectGroups(db, [...new Set(ids)], sourceId)).map((group) => [group.id, group]),
    );
    const byLink = new Map(links.map((link) => [link.external_id, link.resource_id]));
    const byName = new Map(named.map((group) => [`${group.group_type}:${group.key}`, group.id]));
    return (record) => {
      const linked = byLink.get(record.id);
      if (linked !== undefined) return groups.get(linked);
      const found = groups.get(byName.get(this.#keyOf(record)) ?? 0);
      // Whom the document knows by an id of its own is another group, even if it bears the name still.
      const { externalId } = found?.resource ?? {};
      return typeof externalId === 'string' && this.#byRef.has(externalId) ? undefined : found;
    };
  }

  #updateRow(record: GroupRecord, group: Group): NewPlanRow {
    const key = this.#keyOf(record);
    this.#numbers.set(key, group.id);
    const former = this.#keyOf({ type: group.groupType, name: group.displayName });
    if (former !== key) this.#givenUp.add(former);
    const payload = toPayload(record);
    const changed = changedOfGroup(group, payload);
    const row = { ...rowOf(record, this.#parts.nextSeq()), resource_id: group.id };
    if (changed.length === 0) return { ...row, action: 'unchanged' };
    return {
      ...row,
      action: 'update',
      phase: 'groups',
      payload: JSON.stringify(payload),
      changed: JSON.stringify(changed),
    };
  }

  /** Without its place in the plan. */
  #creationRow(record: GroupRecord): NewPlanRow {
    return { ...rowOf(record, 0), ...creation(this.#nextOrdinal(this.#keyOf(record)), toPayload(record)) };
  }

  #impliedRow(key: string, { type, name }: NamedGroup): NewPlanRow {
    const row = planRow(this.#parts.nextSeq(), { kind: 'group', record_id: null, line: null });
    return { ...row, ...creation(this.#nextOrdinal(key), { displayName: name, groupType: type }) };
  }

  #nextOrdinal(key: string): number {
    const ordinal = this.#created;
    this.#created += 1;
    this.#numbers.set(key, createdGroup(ordinal));
    return ordinal;
  }

  #keyOf({ type, name }: NamedGroup): string {
    let key = this.#keys.get(name);
    if (key === undefined) {
      key = canonicalKey(name);
      this.#keys.set(name, key);
    }
    return `${type}:${key}`;
  }

  /** A unit is given by the `@id` of one of the document's groups, or by name. */
  #unitName(type: UnitType, leaf: Leaf | undefined): string | undefined {
    if (leaf === undefined || leaf.value === '') return undefined;
    const group = this.#byRef.get(leaf.value);
    return group?.type === type ? group.name : leaf.value;
  }
}

/** Memberships end in groups of the source only, and in none of a type that it is not to touch. */
export function mayLeave(
  group: GroupFacts | undefined,
  { sourceId, options }: { readonly sourceId: number; readonly options: ImportOptions | undefined },
): boolean {
  if (group === undefined || group.owner_source_id !== sourceId) return false;
  return options === undefined || isTypeSynchronised(options, group.group_type);
}

export function isTypeSynchronised(options: ImportOptions, type: string): boolean {
  if (type === 'company') return options.syncCompanies;
  if (type === 'department') return options.syncDepartments;
  if (type === 'location') return options.syncLocations;
  return options.syncGroups;
}

function* pieces<T>(values: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < values.length; start += groupsAtOnce)
    yield values.slice(start, start + groupsAtOnce);
}

function rowOf({ id, line }: GroupRecord, seq: number): NewPlanRow {
  return planRow(seq, { kind: 'group', record_id: id, line });
}

function creation(ordinal: number, payload: GroupPayload) {
  return { action: 'create', phase: 'groups', ordinal, payload: JSON.stringify(payload) } as const;
}

function toPayload({ id, name, type, description }: GroupRecord): GroupPayload {
  const said = readDescription(description);
  return {
    displayName: name,
    groupType: type,
    externalId: id,
    ...(said === undefined ? {} : { description: said }),
  };
}

function readDescription(leaf: Leaf | undefined): string | null | undefined {
  if (leaf === undefined || (leaf.value === '' && !leaf.applyBlank)) return undefined;
  return leaf.value === '' ? null : leaf.value;
}

function changedOfGroup(group: Group, { displayName, externalId, description }: GroupPayload): string[] {
  const platform = group.resource[platformGroupUrn];
  const stored = isObject(platform) ? (platform.description ?? null) : null;
  return [
    ...(group.displayName === displayName ? [] : ['displayName']),
    ...(externalId === undefined || group.resource.externalId === externalId ? [] : ['externalId']),
    ...(description === undefined || description === stored ? [] : ['description']),
  ];
}

function unknownGroup(record: UserRecord, recordId: string, ref: string | undefined): Issue {
  const what =
    ref === undefined ? 'a group without a name' : `the group "${ref}", which the file does not define`;
  return {
    line: record.line,
    recordId,
    code: 'unknownGroup',
    message: `The user is to be a member of ${what}; the membership is left out.`,
  };
}

/** The names of the default units, by the platform ids in the options; those that lead nowhere as warnings. */
export async function readDefaultUnits(
  db: Reader,
  options: ImportOptions,
): Promise<{ units: DefaultUnits; warnings: string[] }> {
  const ids: readonly [UnitType, string][] = [
    ['company', options.defaultCompany],
    ['department', options.defaultDepartment],
    ['location', options.defaultLocation],
  ];
  const units: { [T in UnitType]?: string } = {};
  const warnings: string[] = [];
  for (const [type, text] of ids) {
    if (text === '' || !isTypeSynchronised(options, type)) continue;
    const id = toId(text);
    const [group] = id === 0 ? [] : await selectGroups(db, [id], null);
    if (group?.groupType === type) units[type] = group.displayName;
    else
      warnings.push(
        `There is no ${type} with the id "${text.slice(0, 100)}"; new users get no default ${type}.`,
      );
  }
  return { units, warnings };
}
