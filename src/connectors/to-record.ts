// Turns what a connector yields into records of the profile file: ids, booleans, dates, what is to be cleared.
// Connectors are written by customers: a record may hold anything, whatever its type says.
// It never decides what a record does to a person; the import does.

import { DomainError } from '../errors.ts';
import {
  type AddressPartName,
  type AddressRecord,
  addressPartNames,
  type FieldRecord,
  type GroupRecord,
  type Leaf,
  type LeafName,
  leafNames,
  type MembershipRecord,
  type TypedLeaf,
  type UserRecord,
} from '../xml/records.ts';
import type { ConnectorRecord, Group, User } from './contract.ts';
import { keyCharactersMax, leafText, plainText, quoted, ValueError } from './record-values.ts';

/** The record of the file for a group. Throws DomainError `invalidValue` naming group and attribute. */
export function toGroupRecord(group: Group): GroupRecord {
  const owner = ownerOf(group);
  const id = requiredText(owner, 'id', group.id);
  const type = groupType(owner, group.type);
  const name = requiredText(owner, 'name', group.name);
  const description = toLeaf(owner, 'description', group.description);
  return { line: 0, id, type, name, ...(description === undefined ? {} : { description }) };
}

interface Draft {
  readonly owner: string;
  readonly leaves: Partial<Record<LeafName, Leaf>>;
  phones: readonly TypedLeaf[];
  ims: readonly TypedLeaf[];
  addresses: readonly AddressRecord[];
  groups?: readonly MembershipRecord[];
  additionalfields: readonly FieldRecord[];
}

/**
 * The record of the file for a person; names that no attribute has are added to `unknown`. Throws DomainError
 * `invalidValue` naming person and attribute.
 */
export function toUserRecord(user: User, unknown: Set<string> = new Set()): UserRecord {
  const owner = ownerOf(user);
  const id = requiredText(owner, 'id', user.id);
  const draft: Draft = { owner, leaves: {}, phones: [], ims: [], addresses: [], additionalfields: [] };
  for (const [name, value] of Object.entries(user)) {
    if (value === undefined) continue;
    const take = takers.get(name);
    if (take !== undefined) take(draft, value);
    else if (unknown.size < unknownMax) unknown.add(name);
  }
  const { owner: _, ...parts } = draft;
  const { username } = user;
  if (isBlank(username)) return { line: 0, id, ...parts };
  return { line: 0, id, username: requiredText(owner, 'username', username), ...parts };
}

const unknownMax = 50;
type Taker = (draft: Draft, value: unknown) => void;

const takers: ReadonlyMap<string, Taker> = new Map<string, Taker>([
  ...leafNames.map((name): [string, Taker] => [name, (draft, value) => takeLeaf(draft, value, name)]),
  ...['kind', 'id', 'username'].map((name): [string, Taker] => [name, () => {}]),
  ['alternateemail', takeAlternateEmail],
  ['phones', (draft, value) => Object.assign(draft, { phones: typedLeaves(draft.owner, 'phones', value) })],
  ['ims', (draft, value) => Object.assign(draft, { ims: typedLeaves(draft.owner, 'ims', value) })],
  ['addresses', (draft, value) => Object.assign(draft, { addresses: toAddresses(draft.owner, value) })],
  ['groups', (draft, value) => Object.assign(draft, { groups: toMemberships(draft.owner, value) })],
  [
    'additionalfields',
    (draft, value) => Object.assign(draft, { additionalfields: toFields(draft.owner, value) }),
  ],
]);

function takeLeaf(draft: Draft, value: unknown, name: LeafName): void {
  const leaf = toLeaf(draft.owner, name, value);
  if (leaf !== undefined) draft.leaves[name] = leaf;
}

const cleared: Leaf = { value: '', applyBlank: true };

/** Undefined for a value that leaves alone what is stored. */
function toLeaf(owner: string, name: string, value: unknown): Leaf | undefined {
  if (value === undefined) return undefined;
  if (value === null) return cleared;
  const text = valued(owner, name, () => leafText(name, value));
  return text === '' ? undefined : { value: text, applyBlank: false };
}

function valued<T>(owner: string, name: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ValueError)) throw error;
    throw refusal(`${printable(name)} of ${owner} ${error.message}.`);
  }
}

function takeAlternateEmail(draft: Draft, value: unknown): void {
  const { type, value: address } = members(draft.owner, 'alternateemail', value);
  const leaf = toLeaf(draft.owner, 'alternateemail', address);
  if (leaf === undefined) return;
  draft.leaves.alternateemail = { ...leaf, type: kindOf('alternateemail', type, draft.owner) };
}

const kinds = {
  alternateemail: ['home', 'mobile'],
  phones: ['work', 'home', 'mobile'],
  ims: ['chat', 'skype'],
  addresses: ['home', 'work'],
} as const;

function kindOf(name: keyof typeof kinds, type: unknown, owner: string): string {
  const known: readonly string[] = kinds[name];
  if (typeof type === 'string' && known.includes(type)) return type;
  const given = plainName(type);
  throw refusal(`${name} of ${owner} has the type ${quoted(given)}; there are ${known.join(', ')}.`);
}

function typedLeaves(owner: string, name: 'phones' | 'ims', value: unknown): readonly TypedLeaf[] {
  return Object.entries(members(owner, name, value)).flatMap(([type, each]) => {
    const leaf = toLeaf(owner, `${name}.${type}`, each);
    return leaf === undefined ? [] : [{ ...leaf, type: kindOf(name, type, owner) }];
  });
}

function toAddresses(owner: string, value: unknown): readonly AddressRecord[] {
  return Object.entries(members(owner, 'addresses', value)).flatMap(([given, address]) => {
    if (address === undefined || address === null) return [];
    const type = kindOf('addresses', given, owner);
    const parts: Partial<Record<AddressPartName, Leaf>> = {};
    for (const [name, each] of Object.entries(members(owner, `addresses.${type}`, address))) {
      const part = addressPartNames.find((known) => known === name);
      if (part === undefined) throw refusal(unknownPart(owner, type, name));
      const leaf = toLeaf(owner, `addresses.${type}.${part}`, each);
      if (leaf !== undefined) parts[part] = leaf;
    }
    return Object.keys(parts).length === 0 ? [] : [{ type, parts }];
  });
}

function unknownPart(owner: string, type: string, name: string): string {
  return `addresses.${type} of ${owner} has a member ${quoted(name)}; there are ${addressPartNames.join(', ')}.`;
}

function toMemberships(owner: string, value: unknown): readonly MembershipRecord[] {
  if (!Array.isArray(value)) throw refusal(`groups of ${owner} must be a list.`);
  return value.flatMap((each: unknown): MembershipRecord[] => {
    if (isBlank(each)) return [];
    if (typeof each !== 'object') return [{ ref: requiredText(owner, 'groups', each), name: '' }];
    const { type, name } = members(owner, 'groups', each);
    return [{ type: groupType(owner, type), name: requiredText(owner, 'groups', name) }];
  });
}

function toFields(owner: string, value: unknown): readonly FieldRecord[] {
  return Object.entries(members(owner, 'additionalfields', value)).flatMap(([given, each]) => {
    const leaf = toLeaf(owner, `additionalfields.${given}`, each);
    return leaf === undefined ? [] : [{ ...leaf, id: requiredText(owner, 'additionalfields', given) }];
  });
}

function members(owner: string, name: string, value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date))
    return value as Readonly<Record<string, unknown>>;
  throw refusal(`${name} of ${owner} must be an object.`);
}

const groupTypes = ['company', 'department', 'location', 'security group'];

function groupType(owner: string, type: unknown): string {
  if (typeof type === 'string' && groupTypes.includes(type)) return type;
  const given = plainName(type);
  throw refusal(`The type of ${owner} is ${quoted(given)}; there are ${groupTypes.join(', ')}.`);
}

/** A key, by which something is found again: not empty, and not longer than the schema allows. */
function requiredText(owner: string, name: string, value: unknown): string {
  const text = isBlank(value) ? '' : valued(owner, name, () => plainText(value));
  if (text.trim() === '') throw refusal(`The ${name} of ${owner} is missing or empty.`);
  if (text.trim().length > keyCharactersMax)
    throw refusal(`The ${name} of ${owner} is longer than ${keyCharactersMax} characters.`);
  return text;
}

function isBlank(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && value.trim() === '');
}

function ownerOf(record: ConnectorRecord): string {
  return isBlank(record.id) ? `a ${record.kind}` : `the ${record.kind} ${quoted(plainName(record.id))}`;
}

/** The key of an additional field may hold anything. */
function printable(name: string): string {
  return quoted(name).slice(1, -1);
}

/** Whatever was given, for a sentence. */
function plainName(value: unknown): string {
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}

function refusal(detail: string): DomainError {
  return new DomainError('invalidValue', detail);
}
