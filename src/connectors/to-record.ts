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
import {
  type Form,
  formOf,
  keyCharactersMax,
  plainText,
  quoted,
  textForm,
  trimmed,
  ValueError,
} from './record-values.ts';

/** The record of the file for a group. Throws DomainError `invalidValue` naming group and attribute. */
export function toGroupRecord(group: Group): GroupRecord {
  const id = requiredText(group, 'id', group.id);
  const type = groupType(group, group.type);
  const name = requiredText(group, 'name', group.name);
  const description = toLeaf(group, 'description', group.description);
  return { line: 0, id, type, name, ...(description === undefined ? {} : { description }) };
}

/** A record on its way; `of` is what the connector yielded, for sentences. */
type Draft = { -readonly [name in keyof UserRecord]: UserRecord[name] } & {
  readonly leaves: Partial<Record<LeafName, Leaf>>;
};

/**
 * The record of the file for a person; names that no attribute has are added to `unknown`. Throws DomainError
 * `invalidValue` naming person and attribute.
 */
export function toUserRecord(user: User, unknown: Set<string> = new Set()): UserRecord {
  const draft: Draft = {
    line: 0,
    id: requiredText(user, 'id', user.id),
    leaves: {},
    phones: [],
    ims: [],
    addresses: [],
    additionalfields: [],
  };
  for (const name of Object.keys(user)) {
    const value: unknown = user[name as keyof User];
    if (value === undefined) continue;
    const take = takers.get(name);
    if (take !== undefined) take(draft, value, user);
    else if (unknown.size < unknownMax) unknown.add(name);
  }
  return draft;
}

const unknownMax = 50;
type Taker = (draft: Draft, value: unknown, user: User) => void;

const takers: ReadonlyMap<string, Taker> = new Map<string, Taker>([
  ...leafNames.map((name): [string, Taker] => [name, leafTaker(name)]),
  ['kind', () => {}],
  ['id', () => {}],
  ['username', takeUsername],
  ['alternateemail', takeAlternateEmail],
  ['phones', (draft, value, user) => Object.assign(draft, { phones: typedLeaves(user, 'phones', value) })],
  ['ims', (draft, value, user) => Object.assign(draft, { ims: typedLeaves(user, 'ims', value) })],
  ['addresses', (draft, value, user) => Object.assign(draft, { addresses: toAddresses(user, value) })],
  ['groups', (draft, value, user) => Object.assign(draft, { groups: toMemberships(user, value) })],
  [
    'additionalfields',
    (draft, value, user) => Object.assign(draft, { additionalfields: toFields(user, value) }),
  ],
]);

function leafTaker(name: LeafName): Taker {
  const form = formOf(name);
  return (draft, value, user) => {
    const leaf = toLeaf(user, name, value, form);
    if (leaf !== undefined) draft.leaves[name] = leaf;
  };
}

function takeUsername(draft: Draft, value: unknown, user: User): void {
  if (!isBlank(value)) draft.username = requiredText(user, 'username', value);
}

const cleared: Leaf = { value: '', applyBlank: true };

/** Undefined for a value that leaves alone what is stored. */
function toLeaf(of: ConnectorRecord, name: string, value: unknown, form: Form = textForm): Leaf | undefined {
  if (value === undefined) return undefined;
  if (value === null) return cleared;
  try {
    const text = form(value);
    return text === '' ? undefined : { value: text, applyBlank: false };
  } catch (error) {
    throw ofAttribute(of, name, error);
  }
}

function ofAttribute(of: ConnectorRecord, name: string, error: unknown): unknown {
  if (!(error instanceof ValueError)) return error;
  return refusal(`${printable(name)} of ${ownerOf(of)} ${error.message}.`);
}

function takeAlternateEmail(draft: Draft, value: unknown, user: User): void {
  const { type, value: address } = members(user, 'alternateemail', value);
  const leaf = toLeaf(user, 'alternateemail', address);
  if (leaf === undefined) return;
  draft.leaves.alternateemail = { ...leaf, type: kindOf('alternateemail', type, user) };
}

const kinds = {
  alternateemail: ['home', 'mobile'],
  phones: ['work', 'home', 'mobile'],
  ims: ['chat', 'skype'],
  addresses: ['home', 'work'],
} as const;

function kindOf(name: keyof typeof kinds, type: unknown, of: ConnectorRecord): string {
  const known: readonly string[] = kinds[name];
  if (typeof type === 'string' && known.includes(type)) return type;
  const given = plainName(type);
  throw refusal(`${name} of ${ownerOf(of)} has the type ${quoted(given)}; there are ${known.join(', ')}.`);
}

function typedLeaves(of: ConnectorRecord, name: 'phones' | 'ims', value: unknown): readonly TypedLeaf[] {
  return Object.entries(members(of, name, value)).flatMap(([type, each]) => {
    const leaf = toLeaf(of, `${name}.${type}`, each);
    return leaf === undefined ? [] : [{ ...leaf, type: kindOf(name, type, of) }];
  });
}

function toAddresses(of: ConnectorRecord, value: unknown): readonly AddressRecord[] {
  return Object.entries(members(of, 'addresses', value)).flatMap(([given, address]) => {
    if (address === undefined || address === null) return [];
    const type = kindOf('addresses', given, of);
    const parts: Partial<Record<AddressPartName, Leaf>> = {};
    for (const [name, each] of Object.entries(members(of, `addresses.${type}`, address))) {
      const part = addressPartNames.find((known) => known === name);
      if (part === undefined) throw refusal(unknownPart(of, type, name));
      const leaf = toLeaf(of, `addresses.${type}.${part}`, each);
      if (leaf !== undefined) parts[part] = leaf;
    }
    return Object.keys(parts).length === 0 ? [] : [{ type, parts }];
  });
}

function unknownPart(of: ConnectorRecord, type: string, name: string): string {
  return `addresses.${type} of ${ownerOf(of)} has a member ${quoted(name)}; there are ${addressPartNames.join(', ')}.`;
}

function toMemberships(of: ConnectorRecord, value: unknown): readonly MembershipRecord[] {
  if (!Array.isArray(value)) throw refusal(`groups of ${ownerOf(of)} must be a list.`);
  return value.flatMap((each: unknown): MembershipRecord[] => {
    if (isBlank(each)) return [];
    if (typeof each !== 'object') return [{ ref: requiredText(of, 'groups', each), name: '' }];
    const { type, name } = members(of, 'groups', each);
    return [{ type: groupType(of, type), name: requiredText(of, 'groups', name) }];
  });
}

function toFields(of: ConnectorRecord, value: unknown): readonly FieldRecord[] {
  return Object.entries(members(of, 'additionalfields', value)).flatMap(([given, each]) => {
    const leaf = toLeaf(of, `additionalfields.${given}`, each);
    return leaf === undefined ? [] : [{ ...leaf, id: requiredText(of, 'additionalfields', given) }];
  });
}

function members(of: ConnectorRecord, name: string, value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date))
    return value as Readonly<Record<string, unknown>>;
  throw refusal(`${name} of ${ownerOf(of)} must be an object.`);
}

const groupTypes = ['company', 'department', 'location', 'security group'];

function groupType(of: ConnectorRecord, type: unknown): string {
  if (typeof type === 'string' && groupTypes.includes(type)) return type;
  const given = plainName(type);
  throw refusal(`The type of ${ownerOf(of)} is ${quoted(given)}; there are ${groupTypes.join(', ')}.`);
}

/** A key, by which something is found again: not empty, and not longer than the schema allows. */
function requiredText(of: ConnectorRecord, name: string, value: unknown): string {
  const text = typeof value === 'string' ? value : keyText(of, name, value);
  const { length } = trimmed(text);
  if (length === 0) throw refusal(`The ${name} of ${ownerOf(of)} is missing or empty.`);
  if (length > keyCharactersMax)
    throw refusal(`The ${name} of ${ownerOf(of)} is longer than ${keyCharactersMax} characters.`);
  return text;
}

function keyText(of: ConnectorRecord, name: string, value: unknown): string {
  try {
    return isBlank(value) ? '' : plainText(value);
  } catch (error) {
    throw ofAttribute(of, name, error);
  }
}

function isBlank(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && trimmed(value) === '');
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
