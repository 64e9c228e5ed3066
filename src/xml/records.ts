// The records of a profile file, as the reader yields them and the writer takes them.

/** Elements of `user` that carry one value. The order is that of the schema. */
export const leafNames = [
  'active',
  'loginType',
  'userType',
  'password',
  'title',
  'initials',
  'firstname',
  'middlename',
  'surname',
  'displayname',
  'pronouns',
  'email',
  'alternateemail',
  'jobtitle',
  'employeenumber',
  'jobstartdate',
  'jobenddate',
  'dateofbirth',
  'culture',
  'timezone',
  'omitfromsearch',
  'forcepasswordreset',
  'bio',
  'company',
  'department',
  'location',
  'manager',
] as const;
export type LeafName = (typeof leafNames)[number];

export const addressPartNames = ['street', 'locality', 'region', 'postalcode', 'country'] as const;
export type AddressPartName = (typeof addressPartNames)[number];

/** One value. Empty without `applyBlank` leaves the stored value alone; empty with it clears it. */
export interface Leaf {
  readonly value: string;
  readonly applyBlank: boolean;
  /** Only `alternateemail` has one. */
  readonly type?: string;
}

export interface TypedLeaf extends Leaf {
  readonly type: string;
}

export interface AddressRecord {
  readonly type: string;
  readonly parts: Readonly<Partial<Record<AddressPartName, Leaf>>>;
}

/** A membership: `ref` is a group's id in the same file; otherwise `type` and `name` tell the group. */
export interface MembershipRecord {
  readonly ref?: string;
  readonly type?: string;
  readonly name: string;
}

export interface FieldRecord extends Leaf {
  readonly id: string;
}

export interface UserRecord {
  /** Line of the start tag in the file; 0 for a record that comes from elsewhere. */
  readonly line: number;
  readonly id?: string;
  readonly username?: string;
  readonly leaves: Readonly<Partial<Record<LeafName, Leaf>>>;
  readonly phones: readonly TypedLeaf[];
  readonly ims: readonly TypedLeaf[];
  readonly addresses: readonly AddressRecord[];
  /** Absent when the user has no element `groups`: then memberships are left alone. */
  readonly groups?: readonly MembershipRecord[];
  readonly additionalfields: readonly FieldRecord[];
}

export interface GroupRecord {
  readonly line: number;
  readonly id: string;
  readonly type: string;
  readonly name: string;
  readonly description?: Leaf;
}

export interface DocumentHead {
  readonly version: string;
  readonly domain: string;
  readonly ldapid: string;
  /** Options by name, in the order of the file; unknown ones too. */
  readonly options: ReadonlyMap<string, string>;
  /** Line and column (from 1) of the element `syncoptions`; 0 for a head that comes from elsewhere. */
  readonly line: number;
  readonly column: number;
  /** Sentences for the log: options that are not known. */
  readonly warnings: readonly string[];
}

export type DocumentItem =
  | { readonly kind: 'head'; readonly head: DocumentHead }
  | { readonly kind: 'group'; readonly record: GroupRecord }
  | { readonly kind: 'user'; readonly record: UserRecord };

/** Reads a value of `active`, `omitfromsearch` and the `sync…` options; undefined for an empty one. */
export function toBoolean(value: string): boolean | undefined {
  const text = value.toLowerCase();
  if (text === 'true' || text === '1') return true;
  if (text === 'false' || text === '0') return false;
  return undefined;
}
