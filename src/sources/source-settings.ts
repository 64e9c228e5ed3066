// What can be set for one source, by kind, with type, bounds and default: the words of the command line, the admin
// API and the console are these. Options inside an XML file win over those of a general source.

import { DomainError } from '../errors.ts';
import { toId } from '../resource/resource-id.ts';

export interface ScimSettings {
  /** What a POST does that matches an existing resource. `reject` is RFC 7644 §3.3. */
  readonly onMatch: 'merge' | 'return' | 'reject';
  /** `compat` repairs what known clients get wrong; `strict` repairs nothing. */
  readonly dialect: 'compat' | 'strict';
  readonly logBodies: boolean;
  /** `own`: sees only what it created or adopted. */
  readonly scope: 'all' | 'own';
  /** Requests a second, with bursts of twice as many; 0 for no limit. */
  readonly rateLimit: number;
  /** A member or manager that is not there: refused, or kept until it arrives. */
  readonly unknownMembers: 'reject' | 'pending';
  /** How many users, groups and memberships the source may end within an hour before it is held; 0 for any number. */
  readonly brakeLimit: number;
  /** After how many within an hour the log warns; 0 for never. */
  readonly brakeAlarm: number;
}

/** What happens to a user: d disable, a disable and archive, x nothing. */
export type AbsenceAction = 'd' | 'a' | 'x';

export interface GeneralSettings {
  readonly actionDisabledUsers: AbsenceAction;
  readonly actionMissingDeletedUsers: AbsenceAction;
  readonly syncCompanies: boolean;
  readonly syncDepartments: boolean;
  readonly syncLocations: boolean;
  readonly syncManagers: boolean;
  readonly syncGroups: boolean;
  readonly syncAdditionalFields: boolean;
  /** Ids of groups; empty for none. */
  readonly defaultCompany: string;
  readonly defaultDepartment: string;
  readonly defaultLocation: string;
  /** 0 local, 1 Windows, 2 SAML. */
  readonly loginType: '0' | '1' | '2';
  readonly defaultCulture: string;
  readonly newUserPasswordBehaviour: 'file' | 'random' | 'none';
  /** The guard holds a run that would disable at least max(guardMinimum, guardPercent of the active users). */
  readonly guardPercent: number;
  readonly guardMinimum: number;
  /** The guard holds a full file with this many per cent fewer users than the last good one. */
  readonly guardShrinkPercent: number;
  /** The guard holds a file with more than this many per cent of records in error. */
  readonly guardErrorPercent: number;
  /** Accepts uploads over plain HTTP from other machines. */
  readonly allowPlainHttp: boolean;
}

export type SourceKind = 'scim' | 'general';
export type SettingsOf<K extends SourceKind> = K extends 'scim' ? ScimSettings : GeneralSettings;

type Value = string | number | boolean;

interface Definition {
  readonly default: Value;
  /** What the value may be, in words, for an error. */
  readonly takes: string;
  readonly read: (text: string) => Value | undefined;
}

const oneOf = (first: string, ...rest: string[]): Definition => ({
  default: first,
  takes: `one of ${[first, ...rest].join(', ')}`,
  read: (text) => [first, ...rest].find((value) => value === text),
});

const truth = (value: boolean): Definition => ({
  default: value,
  takes: 'true or false',
  read: (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
});

const whole = (value: number, max: number): Definition => ({
  default: value,
  takes: `a whole number from 0 to ${max}`,
  read: (text) => (/^\d{1,9}$/.test(text) && Number(text) <= max ? Number(text) : undefined),
});

const groupId: Definition = {
  default: '',
  takes: "a group's id, or nothing",
  read: (text) => (text === '' || toId(text) > 0 ? text : undefined),
};

const languageTag: Definition = {
  default: '',
  takes: 'a language tag such as en-GB, or nothing',
  read: (text) => (/^(|[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*)$/.test(text) ? text : undefined),
};

const definitions: { readonly [K in SourceKind]: { readonly [S in keyof SettingsOf<K>]: Definition } } = {
  scim: {
    onMatch: oneOf('merge', 'return', 'reject'),
    dialect: oneOf('compat', 'strict'),
    logBodies: truth(false),
    scope: oneOf('all', 'own'),
    rateLimit: {
      ...whole(100, 100_000),
      takes: 'requests a second from 25 to 100000, or 0 for no limit',
      read: readRate,
    },
    unknownMembers: oneOf('reject', 'pending'),
    brakeLimit: whole(0, 1_000_000),
    brakeAlarm: whole(50, 1_000_000),
  },
  general: {
    actionDisabledUsers: oneOf('d', 'a', 'x'),
    actionMissingDeletedUsers: oneOf('d', 'a', 'x'),
    syncCompanies: truth(true),
    syncDepartments: truth(true),
    syncLocations: truth(true),
    syncManagers: truth(true),
    syncGroups: truth(true),
    syncAdditionalFields: truth(true),
    defaultCompany: groupId,
    defaultDepartment: groupId,
    defaultLocation: groupId,
    loginType: oneOf('0', '1', '2'),
    defaultCulture: languageTag,
    newUserPasswordBehaviour: oneOf('file', 'random', 'none'),
    guardPercent: whole(15, 100),
    guardMinimum: whole(10, 1_000_000),
    guardShrinkPercent: whole(30, 100),
    guardErrorPercent: whole(10, 100),
    allowPlainHttp: truth(false),
  },
};

/** A limit below what an IdP sends in peace (25 a second) would only make it retry. */
function readRate(text: string): number | undefined {
  const rate = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
  return rate === 0 || (rate >= 25 && rate <= 100_000) ? rate : undefined;
}

/** Stored settings with the default of each that is absent. */
export function toSourceSettings<K extends SourceKind>(
  kind: K,
  stored: Readonly<Record<string, Value>>,
): SettingsOf<K> {
  const entries = Object.entries<Definition>(definitions[kind]).map(([name, { default: value }]) => [
    name,
    stored[name] ?? value,
  ]);
  return Object.fromEntries(entries) as SettingsOf<K>;
}

/** Checks `name=value` texts, as the command line takes them, against the settings of the kind. */
export function readSourceSettings(
  kind: SourceKind,
  assignments: Readonly<Record<string, string>>,
): Record<string, Value> {
  const known = new Map(Object.entries<Definition>(definitions[kind]));
  const read: Record<string, Value> = {};
  for (const [name, text] of Object.entries(assignments)) {
    const definition = known.get(name);
    if (definition === undefined) throw unknownSetting(kind, name, [...known.keys()]);
    const value = definition.read(text);
    if (value === undefined) {
      throw new DomainError('invalidValue', `The setting ${name} takes ${definition.takes}, not "${text}".`);
    }
    read[name] = value;
  }
  return read;
}

function unknownSetting(kind: SourceKind, name: string, known: readonly string[]): DomainError {
  const kindName = kind === 'scim' ? 'SCIM' : 'general';
  return new DomainError(
    'invalidValue',
    `A ${kindName} source has no setting "${name}"; it has: ${known.join(', ')}.`,
  );
}
