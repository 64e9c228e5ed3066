// Random profile files for a property test: small pools of ids, names and addresses, so that they collide.

import * as fc from 'fast-check';
import { type DocumentParts, profileXml, userXml } from './support.ts';

/** A value; an empty one clears when it says so, and says nothing otherwise. */
export interface Leaf {
  readonly text: string;
  readonly clears: boolean;
}

export const unitTypes = ['company', 'department', 'location'] as const;
export type UnitType = (typeof unitTypes)[number];
const groupTypes = [...unitTypes, 'security group'] as const;
export type GroupType = (typeof groupTypes)[number];

export type Membership = { readonly ref: string } | { readonly type: GroupType; readonly name: string };

export interface RecordSpec {
  readonly id?: string;
  readonly username?: string;
  readonly active?: boolean;
  /** A value that no user can have. */
  readonly isWrong?: boolean;
  readonly surname?: Leaf;
  readonly email?: Leaf;
  readonly jobtitle?: Leaf;
  readonly culture?: Leaf;
  readonly phone?: Leaf;
  readonly street?: Leaf;
  readonly locality?: Leaf;
  readonly company?: Leaf;
  readonly department?: Leaf;
  readonly location?: Leaf;
  readonly manager?: Leaf;
  readonly groups?: readonly Membership[];
  /** An additional field that holds an integer. */
  readonly floor?: Leaf;
}

export interface GroupSpec {
  readonly id: string;
  readonly type: GroupType;
  readonly name: string;
}

export interface FileSpec {
  readonly source: 1 | 2;
  readonly options: Readonly<Record<string, string>>;
  /** A default of the kind of unit is the group that comes there in the order of ids. */
  readonly defaults: Readonly<Partial<Record<UnitType, number>>>;
  readonly groups: readonly GroupSpec[];
  readonly users: readonly RecordSpec[];
  readonly dryRun: boolean;
  /** The document is read in pieces of so many bytes: what becomes of it does not depend on that. */
  readonly piece: number;
}

/** What a client of SCIM does, to whom is told by a number that counts those who are there. */
export type ScimStep =
  | { readonly kind: 'create'; readonly userName: string; readonly email?: string }
  | { readonly kind: 'retitle'; readonly who: number; readonly title: string }
  | { readonly kind: 'rename'; readonly who: number; readonly userName: string }
  | { readonly kind: 'move'; readonly who: number; readonly department: string }
  | { readonly kind: 'manage'; readonly who: number; readonly manager: number }
  | { readonly kind: 'switch'; readonly who: number; readonly active: boolean }
  | { readonly kind: 'archive'; readonly who: number }
  | { readonly kind: 'join'; readonly who: number; readonly group: number }
  | { readonly kind: 'leave'; readonly who: number; readonly group: number }
  | { readonly kind: 'createGroup'; readonly type: GroupType; readonly name: string }
  | { readonly kind: 'deleteGroup'; readonly group: number };

/** What no client can do: somebody loses the owner, or is not to be synchronised. */
export interface PowerStep {
  readonly kind: 'orphan' | 'mark' | 'unmark';
  readonly who: number;
}

export function isPowerStep(step: Step): step is PowerStep {
  return step.kind === 'orphan' || step.kind === 'mark' || step.kind === 'unmark';
}

export type Step =
  | { readonly kind: 'file'; readonly file: FileSpec }
  | { readonly kind: 'again' }
  | ScimStep
  | PowerStep;

const ids = ['p1', 'p2', 'p3', 'p4', 'p5', 'p6'];
const userNames = ['u1', 'u2', 'u3', 'u4', 'u5', 'u6', 'U1', 'U2'];
const emails = ['e1@x', 'e2@x', 'e3@x'];
const managers = [...ids, ...ids, 'u1', 'u2', 'u7', 'e1@x', 'e2@x', 'nobody'];
const groupIds = ['g1', 'g2', 'g3', 'g4', 'g5'];
const groupNames = ['A', 'B', 'a'];
const unitValues = [...groupNames, ...groupIds];

const often = <T>(values: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(values, { nil: undefined, freq: 5 });
const seldom = <T>(values: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: values });

type Said<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** Without what is undefined, so that a counterexample can be read. */
function said<T extends object>(value: T): Said<T> {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as Said<T>;
}

function leaf(values: readonly string[]): fc.Arbitrary<Leaf> {
  const given = fc.constantFrom(...values).map((text) => ({ text, clears: false }));
  const empty = fc.boolean().map((clears) => ({ text: '', clears }));
  return fc.oneof({ weight: 5, arbitrary: given }, { weight: 1, arbitrary: empty });
}

const membership: fc.Arbitrary<Membership> = fc.oneof(
  fc.constantFrom(...groupIds).map((ref) => ({ ref })),
  fc.record({ type: fc.constantFrom(...groupTypes), name: fc.constantFrom(...groupNames) }),
);

const record: fc.Arbitrary<RecordSpec> = fc
  .record({
    id: often(fc.constantFrom(...ids)),
    username: often(fc.constantFrom(...userNames)),
    active: seldom(fc.boolean()),
    isWrong: fc.nat({ max: 14 }).map((number) => (number === 14 ? true : undefined)),
    surname: seldom(leaf(['S1', 'S2'])),
    email: seldom(leaf(emails)),
    jobtitle: seldom(leaf(['T1', 'T2'])),
    culture: seldom(leaf(['de-DE', 'nb-NO'])),
    phone: seldom(leaf(['1', '2'])),
    street: seldom(leaf(['Street 1', 'Street 2'])),
    locality: seldom(leaf(['Oslo', 'Bonn'])),
    company: seldom(leaf(unitValues)),
    department: seldom(leaf(unitValues)),
    location: seldom(leaf(unitValues)),
    manager: seldom(leaf(managers)),
    groups: seldom(fc.array(membership, { maxLength: 3 })),
    floor: seldom(leaf(['1', '2', 'third'])),
  })
  .map(said);

const group: fc.Arbitrary<GroupSpec> = fc
  .record({
    id: fc.constantFrom(...groupIds),
    name: fc.constantFrom(...groupNames),
    type: fc.constantFrom(...groupTypes),
    isUsual: fc.nat({ max: 7 }).map((number) => number > 0),
  })
  // Nearly always of one type, so that it comes again.
  .map(({ id, name, type, isUsual }) => ({ id, name, type: isUsual ? usualType(id) : type }));

function usualType(id: string): GroupType {
  return groupTypes[groupIds.indexOf(id) % groupTypes.length] ?? 'company';
}

const switches = [
  'syncCompanies',
  'syncDepartments',
  'syncLocations',
  'syncManagers',
  'syncGroups',
  'syncAdditionalFields',
] as const;
const trueOrFalse = fc.constantFrom('true', 'false');
const action = fc.constantFrom('d', 'a', 'x');

const options: fc.Arbitrary<Readonly<Record<string, string>>> = fc
  .record({
    mode: fc.constantFrom('full', 'full', 'full', 'delta'),
    off: fc.subarray([...switches], { maxLength: 2 }),
    hasSwitches: fc.nat({ max: 3 }).map((number) => number === 3),
    written: trueOrFalse,
    actionDisabledUsers: seldom(action),
    actionMissingDeletedUsers: seldom(action),
    loginType: seldom(fc.constantFrom('0', '2')),
    defaultCulture: seldom(fc.constantFrom('en-GB', 'fr-FR')),
  })
  .map(({ off, hasSwitches, written, mode, ...others }) => {
    const set = hasSwitches ? off.map((name) => [name, written] as const) : [];
    return { mode, ...said(others), ...Object.fromEntries(set) };
  });

const place = fc.nat({ max: 5 });

/** In a file that is read in pieces all records have an id, or none: who stands in it by which is known piece by piece. */
function alike(spec: FileSpec): FileSpec {
  if (spec.piece === wholeFile) return spec;
  const areNamed = spec.users[0]?.id !== undefined;
  const users = spec.users.map(({ id, ...rest }, index) =>
    areNamed ? { ...rest, id: id ?? ids[index % ids.length] ?? '' } : rest,
  );
  return { ...spec, users };
}

const wholeFile = 100_000;

const file: fc.Arbitrary<FileSpec> = fc.record({
  source: fc.constantFrom(1 as const, 1 as const, 2 as const),
  options,
  defaults: fc
    .record({ company: seldom(place), department: seldom(place), location: seldom(place) })
    .map((given) => Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))),
  groups: fc.oneof(fc.constant([]), fc.array(group, { maxLength: 4 })),
  users: fc.array(record, { minLength: 1, maxLength: 7 }),
  dryRun: fc.nat({ max: 9 }).map((number) => number === 9),
  piece: fc.constantFrom(wholeFile, wholeFile, 100, 700),
});

const who = fc.nat({ max: 9 });
const some = { who, group: fc.nat({ max: 9 }) };
const scimStep = fc.oneof<fc.Arbitrary<ScimStep>[]>(
  fc
    .record({
      kind: fc.constant('create' as const),
      userName: fc.constantFrom('u1', 'u2', 'u7', 'u8'),
      email: seldom(fc.constantFrom(...emails)),
    })
    .map(said),
  fc.record({ kind: fc.constant('retitle'), who, title: fc.constantFrom('T1', 'Z') }),
  fc.record({ kind: fc.constant('rename'), who, userName: fc.constantFrom('u1', 'u3', 'u8') }),
  fc.record({ kind: fc.constant('move'), who, department: fc.constantFrom('A', 'C') }),
  fc.record({ kind: fc.constant('manage'), who, manager: who }),
  fc.record({ kind: fc.constant('switch'), who, active: fc.boolean() }),
  fc.record({ kind: fc.constant('archive'), who }),
  fc.record({ kind: fc.constant('join'), ...some }),
  fc.record({ kind: fc.constant('leave'), ...some }),
  fc.record({
    kind: fc.constant('createGroup'),
    type: fc.constantFrom(...groupTypes),
    name: fc.constantFrom(...groupNames),
  }),
  fc.record({ kind: fc.constant('deleteGroup'), group: some.group }),
);
const powerStep: fc.Arbitrary<PowerStep> = fc.record({
  kind: fc.constantFrom('orphan', 'mark', 'unmark'),
  who,
});

const step = fc.oneof<fc.WeightedArbitrary<Step>[]>(
  { weight: 8, arbitrary: file.map((each) => ({ kind: 'file', file: alike(each) })) },
  { weight: 2, arbitrary: fc.constant({ kind: 'again' }) },
  { weight: 4, arbitrary: scimStep },
  { weight: 1, arbitrary: powerStep },
);

export const steps: fc.Arbitrary<Step[]> = fc.array(step, { minLength: 4, maxLength: 12 });

export const domains = { 1: 'Human Resources', 2: 'Payroll' } as const;

export function toXml(
  { source, options: given, groups, users }: FileSpec,
  defaults: Readonly<Record<string, string>>,
): string {
  const parts: DocumentParts = {
    domain: domains[source],
    ldapid: String(source),
    options: { ...given, ...defaults },
    ...(groups.length === 0 ? {} : { groups: groups.map(groupXml).join('') }),
  };
  return profileXml(users.map(toUserXml), parts);
}

function groupXml({ id, type, name }: GroupSpec): string {
  return `<group id="${id}" type="${type}" name="${name}"/>`;
}

function toUserXml(spec: RecordSpec): string {
  const address = `${leafXml('street', spec.street)}${leafXml('locality', spec.locality)}`;
  const content = [
    spec.active === undefined ? '' : `<active>${spec.active}</active>`,
    spec.isWrong === true ? '<userType>King</userType>' : '',
    leafXml('surname', spec.surname),
    leafXml('email', spec.email),
    leafXml('jobtitle', spec.jobtitle),
    leafXml('culture', spec.culture),
    leafXml('phone', spec.phone, ' type="work"'),
    address === '' ? '' : `<address type="home">${address}</address>`,
    ...unitTypes.map((type) => leafXml(type, spec[type])),
    leafXml('manager', spec.manager),
    spec.groups === undefined ? '' : `<groups>${spec.groups.map(membershipXml).join('')}</groups>`,
  ].join('');
  const field = leafXml('field', spec.floor, ' id="floor"');
  const { id, username } = spec;
  const names = `${id === undefined ? '' : ` id="${id}"`}${username === undefined ? '' : ` username="${username}"`}`;
  return userXml('', '', content, field).replace('<user username="">', `<user${names}>`);
}

function leafXml(name: string, value: Leaf | undefined, attributes = ''): string {
  if (value === undefined) return '';
  const blank = value.clears ? ' applyBlank="True"' : '';
  return `<${name}${attributes}${blank}>${value.text}</${name}>`;
}

function membershipXml(given: Membership): string {
  if ('ref' in given) return `<group ref="${given.ref}"/>`;
  return `<group type="${given.type}">${given.name}</group>`;
}
