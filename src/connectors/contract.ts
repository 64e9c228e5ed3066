// The contract between Rollcall and a connector: types only, so that a connector outside the executable needs no package.
// A connector reads one kind of source and yields groups and users in the terms of a profile file; it never sees the directory.
// `rollcall connector new` copies this file beside a new connector; it therefore imports nothing.

/** Anything that JSON can say. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [name: string]: Json | undefined };

/**
 * A value of an attribute. `null` clears what is stored; `undefined` and the empty text leave it alone; a `Date` is written
 * as xs:dateTime in UTC.
 */
export type Value = string | number | boolean | Date | null | undefined;

/** A group. All groups come before the first user. */
export interface Group {
  readonly kind: 'group';
  /** What the source calls it, the same in every run; `groups`, `department` and the like of a user refer to it. */
  readonly id: string;
  readonly type: 'company' | 'department' | 'location' | 'security group';
  readonly name: string;
  readonly description?: Value;
}

/** A membership: the id of a group of this run, or type and name of one that may be anywhere. */
export type GroupReference = string | { readonly type: Group['type']; readonly name: string };

/** A person, in the terms of the profile file (`rollcall schema xsd`). What is absent is left as it is. */
export interface User {
  readonly kind: 'user';
  /** What the source calls the person, the same for ever: a number or key, not a name. */
  readonly id: string;
  readonly username?: string | undefined;
  readonly active?: Value;
  /** 0 local, 1 Windows, 2 SAML. */
  readonly loginType?: Value;
  readonly userType?: Value;
  /** Is set for a new person only. */
  readonly password?: Value;
  readonly title?: Value;
  readonly initials?: Value;
  readonly firstname?: Value;
  readonly middlename?: Value;
  readonly surname?: Value;
  readonly displayname?: Value;
  readonly pronouns?: Value;
  readonly email?: Value;
  readonly alternateemail?: { readonly type: 'home' | 'mobile'; readonly value: Value } | undefined;
  readonly jobtitle?: Value;
  readonly employeenumber?: Value;
  /** Dates as `2024-05-31`, as `2024-05-31T08:00:00Z`, or as `Date`. */
  readonly jobstartdate?: Value;
  readonly jobenddate?: Value;
  readonly dateofbirth?: Value;
  /** A language tag, `nb-NO`. */
  readonly culture?: Value;
  readonly timezone?: Value;
  readonly omitfromsearch?: Value;
  readonly forcepasswordreset?: Value;
  readonly phones?: Readonly<Partial<Record<'work' | 'home' | 'mobile', Value>>> | undefined;
  readonly ims?: Readonly<Partial<Record<'chat' | 'skype', Value>>> | undefined;
  readonly addresses?: Readonly<Partial<Record<'home' | 'work', Address>>> | undefined;
  readonly bio?: Value;
  /** Id of a group of this run, or the name of the company, department or location. */
  readonly company?: Value;
  readonly department?: Value;
  readonly location?: Value;
  /** The manager's id in this source, username, email address or employee number. */
  readonly manager?: Value;
  /** Present: the person is in these groups of the source and in no others of it. Absent: memberships stay. */
  readonly groups?: readonly GroupReference[] | undefined;
  /** Additional fields by id. */
  readonly additionalfields?: Readonly<Record<string, Value>> | undefined;
}

export interface Address {
  readonly street?: Value;
  readonly locality?: Value;
  readonly region?: Value;
  readonly postalcode?: Value;
  readonly country?: Value;
}

export type ConnectorRecord = Group | User;

/** What a source gave for one person or group, by column or attribute name, before it is mapped. */
export type SourceRecord = Readonly<Record<string, unknown>>;

/**
 * How records of the source become records of the file; a part of a connector's configuration. Keys of `user` are the members
 * of `User`, with dots for what is inside: `phones.work`, `addresses.home.street`, `additionalfields.badge`; those of `group`
 * the members of `Group`. A rule given replaces the default of the same key; `null` switches the default off.
 */
export interface Mapping {
  readonly user?: Readonly<Record<string, MappingRule | null>>;
  readonly group?: Readonly<Record<string, MappingRule | null>>;
}

/**
 * Where a value comes from: the name of a column; or exactly one of `column`, `template` (`"{first}.{last}@example.com"`) and
 * `constant`, and what is done to it, in the order of the members below.
 */
export type MappingRule =
  | string
  | {
      readonly column?: string;
      readonly template?: string;
      readonly constant?: string | boolean | number;
      /** An RE2 pattern that cuts the text into a list, for `groups`. */
      readonly split?: string;
      /** RE2 patterns and what each match becomes (`$1` is the first group), one after the other. */
      readonly replace?: readonly { readonly pattern: string; readonly with: string }[];
      /** Exact texts and what they become; one that is not named stays. */
      readonly values?: Readonly<Record<string, string>>;
      readonly case?: 'lower' | 'upper';
      /** What stands for an empty value; `null` clears what is stored. */
      readonly otherwise?: string | null;
    };

/** Everything that a connector may use. */
export interface ConnectorContext<Config = unknown> {
  /** As `configSchema` describes it, checked and with its defaults. */
  readonly config: Config;
  /** The source of Rollcall that is fed. */
  readonly source: { readonly name: string; readonly id: number };
  /** `full`: yield everybody, for whoever is not there is missing. `delta`: what has changed since `checkpoint` is enough. */
  readonly mode: 'full' | 'delta';
  /** What `setCheckpoint` was last given in a run whose import was completed; undefined before that. */
  readonly checkpoint: Json | undefined;
  /** Kept once what this run yields has been imported, and not otherwise. The last call counts. */
  setCheckpoint(checkpoint: Json): void;
  /** A line for the log of the run. Secrets of the configuration are struck out, but do not rely on it. */
  readonly log: Readonly<Record<'debug' | 'info' | 'warn', (message: string) => void>>;
  /**
   * `fetch` for http and https. It refuses addresses that nothing on a network should ask (link-local, metadata services)
   * unless an administrator has allowed them, and checks every redirection.
   */
  readonly fetch: (url: string | URL, init?: RequestInit) => Promise<Response>;
  /** Resolves a host by the same rule, for protocols other than HTTP: the address to connect to. */
  readonly resolveHost: (host: string) => Promise<string>;
  /** Aborted when the run is cancelled or its time is over: stop within a second. */
  readonly signal: AbortSignal;
  readonly now: () => Date;
  /** The mapping of the configuration over the connector's `defaultMapping`. */
  readonly mapped: RecordMapper;
}

/** Both throw a sentence that names the attribute when a record cannot be mapped: it has no id, for example. */
export interface RecordMapper {
  user(record: SourceRecord): User;
  group(record: SourceRecord): Group;
}

/** A connector. Creating it has no effects. */
export interface Connector<Config = unknown> {
  /** Its name in commands and settings: small letters, digits and hyphens. */
  readonly kind: string;
  /** One sentence for lists: what it reads. */
  readonly summary: string;
  /** JSON Schema (2020-12) of the configuration, an object. A text with `"writeOnly": true` is a secret. */
  readonly configSchema: Readonly<Record<string, unknown>>;
  /** For a connector that reads records of the source through `context.mapped`: how they are mapped without configuration. */
  readonly defaultMapping?: Mapping;
  /** Instead of `defaultMapping`, where it depends on the configuration: on the product that is asked, for example. */
  defaultMappingFor?(config: Config): Mapping;
  /** Whether `read` understands the mode `delta`. */
  readonly canDelta?: boolean;
  /** Tries to reach the source without reading all of it; resolves with a sentence that says what was found. */
  test(context: ConnectorContext<Config>): Promise<string>;
  /**
   * Yields groups, then users, one at a time: however many there are, memory stays flat. Throws when anything is not whole:
   * nothing is imported then. The message of what `test` and `read` throw is shown to the administrator: one sentence that
   * says what to do.
   */
  read(context: ConnectorContext<Config>): AsyncIterable<ConnectorRecord>;
}
