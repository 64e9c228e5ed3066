import { fitsPattern } from '../directory/field-pattern.ts';
import type { UnitType } from '../directory/organisation.ts';
import { DomainError } from '../errors.ts';
import { normaliseResource } from '../resource/normalise.ts';
import {
  type AttributeDefinition,
  additionalFieldsUrn,
  enterpriseUserUrn,
  findExtension,
  platformUserUrn,
} from '../resource/schema.ts';
import type { ScimObject, ScimValue } from '../resource/value.ts';
import type { Configuration } from '../settings/configuration.ts';
import {
  type AddressPartName,
  type Leaf,
  type LeafName,
  toBoolean,
  type UserRecord,
} from '../xml/records.ts';
import { passwordMask } from '../xml/scanner.ts';
import type { ImportOptions } from './options.ts';
import type { ProfileChange } from './profile-change.ts';

/** Names of the groups that take the place of a unit that a person does not have. */
export type DefaultUnits = { readonly [T in UnitType]?: string };

/** What turns a record into a change, the same for all records of a run. */
export interface RecordRules {
  readonly options: ImportOptions;
  readonly configuration: Configuration;
  readonly defaultUnits: DefaultUnits;
  /** The document is from the archive: what stands where secrets were says nothing. */
  readonly isMasked: boolean;
}

/** The units that a record names, references resolved. */
export type RecordUnits = { readonly [T in UnitType]?: string };

export interface RecordChange {
  readonly change: ProfileChange;
  /** Fields that are not configured: accepted, and named in the log. */
  readonly unknownFields: readonly string[];
}

type Path = readonly [string] | readonly [string, string];
type Read = (text: string) => ScimValue;

const asText: Read = (text) => text;
const asBoolean: Read = (text) => toBoolean(text) ?? text;

/** A day is stored as its first instant in UTC: the attributes are of type dateTime. */
const asDateTime: Read = (text) => {
  const day = /^(\d{4}-\d\d-\d\d)(Z|[+-]\d\d:\d\d)?$/.exec(text);
  if (day !== null) return `${day[1]}T00:00:00${day[2] ?? 'Z'}`;
  return /(Z|[+-]\d\d:\d\d)$/.test(text) ? text : `${text}Z`;
};

const loginTypes: Readonly<Record<string, string>> = { 0: 'Local Login', 1: 'Windows Login', 2: 'SAML' };
const asLoginType: Read = (text) => loginTypes[text] ?? text;

/** Where the plain leaves go. */
const places: readonly (readonly [leaf: LeafName, path: Path, read: Read])[] = [
  ['loginType', [platformUserUrn, 'loginType'], asLoginType],
  ['userType', ['userType'], asText],
  ['title', [platformUserUrn, 'name.title'], asText],
  ['initials', [platformUserUrn, 'name.initials'], asText],
  ['firstname', ['name', 'givenName'], asText],
  ['middlename', ['name', 'middleName'], asText],
  ['surname', ['name', 'familyName'], asText],
  ['displayname', ['displayName'], asText],
  ['pronouns', [platformUserUrn, 'pronouns'], asText],
  ['jobtitle', ['title'], asText],
  ['employeenumber', [enterpriseUserUrn, 'employeeNumber'], asText],
  ['jobstartdate', [platformUserUrn, 'jobStartDate'], asDateTime],
  ['jobenddate', [platformUserUrn, 'jobEndDate'], asDateTime],
  ['dateofbirth', [platformUserUrn, 'dateOfBirth'], asDateTime],
  ['culture', ['preferredLanguage'], asText],
  ['timezone', ['timezone'], asText],
  ['omitfromsearch', [platformUserUrn, 'omitFromSearch'], asBoolean],
  ['forcepasswordreset', [platformUserUrn, 'forcePasswordReset'], asBoolean],
  ['bio', [platformUserUrn, 'bio'], asText],
];

const unitPlaces: { readonly [T in UnitType]: readonly Path[] } = {
  company: [
    [enterpriseUserUrn, 'organization'],
    [platformUserUrn, 'company'],
  ],
  department: [[enterpriseUserUrn, 'department']],
  location: [[platformUserUrn, 'location']],
};

const addressParts: Readonly<Record<AddressPartName, string>> = {
  street: 'streetAddress',
  locality: 'locality',
  region: 'region',
  postalcode: 'postalCode',
  country: 'country',
};

/**
 * What a record asks of a user: an empty value clears with `applyBlank`, and says nothing without. Throws DomainError
 * `invalidValue` for a value that no user can have.
 */
export function toProfileChange(record: UserRecord, units: RecordUnits, rules: RecordRules): RecordChange {
  const draft = new ChangeDraft();
  for (const [leaf, path, read] of places) draft.put(record.leaves[leaf], path, read);
  for (const type of isSynchronised(rules.options)) draft.putUnit(type, units[type], record.leaves[type]);
  draft.putEmails(record);
  for (const phone of record.phones) draft.putTyped('phoneNumbers', phone.type, phone);
  for (const im of record.ims) draft.putTyped('ims', im.type, im);
  for (const address of record.addresses) draft.putAddress(address.type, address.parts);
  const unknownFields = rules.options.syncAdditionalFields ? putFields(draft, record, rules) : [];
  const { userType } = rules.configuration;
  const { schemas: _schemas, ...set } = normaliseResource(userType, draft.body(), 'merge').resource;
  const change = {
    ...(record.username === undefined ? {} : { userName: record.username }),
    ...(record.id === undefined ? {} : { externalId: record.id }),
    set,
    clear: draft.cleared,
    defaults: defaultsFor(draft, rules),
  };
  return { change, unknownFields };
}

function isSynchronised(options: ImportOptions): UnitType[] {
  const switches: readonly [UnitType, boolean][] = [
    ['company', options.syncCompanies],
    ['department', options.syncDepartments],
    ['location', options.syncLocations],
  ];
  return switches.filter(([, isOn]) => isOn).map(([type]) => type);
}

class ChangeDraft {
  readonly cleared: (readonly string[])[] = [];
  readonly #set: Record<string, Record<string, ScimValue> | ScimValue> = {};
  readonly #lists = new Map<string, Record<string, ScimValue>[]>();

  put(leaf: Leaf | undefined, path: Path, read: Read): void {
    if (leaf === undefined) return;
    if (leaf.value !== '') this.#assign(path, read(leaf.value));
    else if (leaf.applyBlank) this.cleared.push(path.flatMap(splitName));
  }

  putUnit(type: UnitType, name: string | undefined, leaf: Leaf | undefined): void {
    for (const path of unitPlaces[type]) {
      if (name !== undefined) this.#assign(path, name);
      else if (leaf?.value === '' && leaf.applyBlank) this.cleared.push([...path]);
    }
  }

  putEmails({ leaves: { email, alternateemail } }: UserRecord): void {
    if (email !== undefined) this.putTyped('emails', 'work', email, { primary: true });
    if (alternateemail !== undefined) this.putTyped('emails', alternateemail.type ?? 'home', alternateemail);
  }

  putTyped(list: string, type: string, { value, applyBlank }: Leaf, more: ScimObject = {}): void {
    if (value !== '') this.#list(list).push({ type, value, ...more });
    else if (applyBlank) this.cleared.push([list, type]);
  }

  putAddress(type: string, parts: Readonly<Partial<Record<AddressPartName, Leaf>>>): void {
    const element: Record<string, ScimValue> = { type };
    for (const [name, leaf] of Object.entries(parts)) {
      const part = addressParts[name as AddressPartName];
      if (leaf.value !== '') element[part] = leaf.value;
      else if (leaf.applyBlank) this.cleared.push(['addresses', type, part]);
    }
    if (Object.keys(element).length > 1) this.#list('addresses').push(element);
  }

  /** Everything that was put, as a resource in a client's form. */
  body(): ScimObject {
    const body: Record<string, ScimValue> = {};
    for (const [name, value] of Object.entries(this.#set)) body[name] = value;
    for (const [name, elements] of this.#lists) body[name] = elements;
    return body;
  }

  isCleared(path: readonly string[]): boolean {
    return this.cleared.some((other) => other.join('\n') === path.join('\n'));
  }

  #assign([name, part]: Path, value: ScimValue): void {
    if (part === undefined) {
      this.#set[name] = value;
      return;
    }
    const holder = (this.#set[name] ?? {}) as Record<string, ScimValue>;
    this.#set[name] = holder;
    const [outer = part, inner] = splitName(part);
    if (inner === undefined) holder[outer] = value;
    else holder[outer] = { ...(holder[outer] as ScimObject | undefined), [inner]: value };
  }

  #list(name: string): Record<string, ScimValue>[] {
    const list = this.#lists.get(name) ?? [];
    this.#lists.set(name, list);
    return list;
  }
}

/** `name.title` of an extension; its URN has dots of its own and is never split. */
function splitName(name: string): string[] {
  return name.startsWith('urn:') ? [name] : name.split('.');
}

function putFields(
  draft: ChangeDraft,
  record: UserRecord,
  { configuration, isMasked }: RecordRules,
): string[] {
  const extension = findExtension(configuration.userType, additionalFieldsUrn);
  const unknown: string[] = [];
  for (const field of record.additionalfields) {
    const { id } = field;
    const definition = extension?.attributes.get(id) ?? extension?.attributes.get(id.toLowerCase());
    if (definition === undefined) {
      unknown.push(id);
      continue;
    }
    if (isMasked && field.value === passwordMask) continue;
    draft.put(field, [additionalFieldsUrn, definition.name], fieldReader(definition));
    checkPattern(field, definition, configuration);
  }
  return unknown;
}

/** XML knows text only; the attribute has a type. What cannot be read stays text, and is refused as of the wrong type. */
function fieldReader({ type }: AttributeDefinition): Read {
  if (type === 'boolean') return asBoolean;
  if (type === 'dateTime') return asDateTime;
  if (type !== 'integer' && type !== 'decimal') return asText;
  return (text) => (/^[+-]?\d+(\.\d+)?$/.test(text) ? Number(text) : text);
}

function checkPattern(field: Leaf, { name }: AttributeDefinition, { fieldPatterns }: Configuration): void {
  const pattern = fieldPatterns.get(name);
  if (pattern === undefined || field.value === '' || fitsPattern(pattern, name, field.value)) return;
  throw new DomainError(
    'invalidValue',
    `The value of the additional field "${name}" does not fit its pattern.`,
  );
}

function defaultsFor(draft: ChangeDraft, { options, defaultUnits }: RecordRules): ScimObject {
  const platform: Record<string, ScimValue> = { loginType: loginTypes[options.loginType] ?? '' };
  const enterprise: Record<string, ScimValue> = {};
  const { company, department, location } = defaultUnits;
  if (company !== undefined) {
    enterprise.organization = company;
    platform.company = company;
  }
  if (department !== undefined) enterprise.department = department;
  if (location !== undefined) platform.location = location;
  const all: Record<string, ScimValue> = {};
  if (options.defaultCulture !== '') all.preferredLanguage = options.defaultCulture;
  if (draft.isCleared(['preferredLanguage'])) delete all.preferredLanguage;
  for (const [urn, values] of [
    [platformUserUrn, platform],
    [enterpriseUserUrn, enterprise],
  ] as const) {
    const kept = Object.entries(values).filter(([name]) => !draft.isCleared([urn, name]));
    if (kept.length > 0) all[urn] = Object.fromEntries(kept);
  }
  return all;
}
