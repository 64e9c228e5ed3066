import type { AbsenceAction, GeneralSettings } from '../sources/source-settings.ts';
import { toBoolean } from '../xml/records.ts';

/** The switches of one run: what the file says, else what the source is set to. */
export interface ImportOptions {
  /** In a `delta` nobody is missing. */
  readonly mode: 'full' | 'delta';
  readonly actionDisabledUsers: AbsenceAction;
  readonly actionMissingDeletedUsers: AbsenceAction;
  readonly syncCompanies: boolean;
  readonly syncDepartments: boolean;
  readonly syncLocations: boolean;
  readonly syncManagers: boolean;
  readonly syncGroups: boolean;
  readonly syncAdditionalFields: boolean;
  /** Platform ids of groups; empty for none. */
  readonly defaultCompany: string;
  readonly defaultDepartment: string;
  readonly defaultLocation: string;
  readonly loginType: '0' | '1' | '2';
  readonly defaultCulture: string;
  readonly newUserPasswordBehaviour: 'file' | 'random' | 'none';
}

/** Names of the options that the file itself gives; the others are those of the source. */
export function optionsOfFile(file: ReadonlyMap<string, string>, options: ImportOptions): string[] {
  return Object.keys(options).filter((name) => file.has(name));
}

/**
 * Options inside the file win over the source's settings. Their values were checked when the document was taken in;
 * one that is unknown all the same counts as absent.
 */
export function effectiveOptions(
  file: ReadonlyMap<string, string>,
  settings: GeneralSettings,
): ImportOptions {
  const choice = <V extends string>(name: string, values: readonly V[], otherwise: V): V =>
    values.find((value) => value === file.get(name)) ?? otherwise;
  const truth = (name: keyof GeneralSettings & `sync${string}`): boolean =>
    toBoolean(file.get(name) ?? '') ?? settings[name];
  return {
    mode: choice('mode', ['full', 'delta'], 'full'),
    actionDisabledUsers: choice('actionDisabledUsers', ['d', 'a', 'x'], settings.actionDisabledUsers),
    actionMissingDeletedUsers: choice(
      'actionMissingDeletedUsers',
      ['d', 'a', 'x'],
      settings.actionMissingDeletedUsers,
    ),
    syncCompanies: truth('syncCompanies'),
    syncDepartments: truth('syncDepartments'),
    syncLocations: truth('syncLocations'),
    syncManagers: truth('syncManagers'),
    syncGroups: truth('syncGroups'),
    syncAdditionalFields: truth('syncAdditionalFields'),
    defaultCompany: file.get('defaultCompany') ?? settings.defaultCompany,
    defaultDepartment: file.get('defaultDepartment') ?? settings.defaultDepartment,
    defaultLocation: file.get('defaultLocation') ?? settings.defaultLocation,
    loginType: choice('loginType', ['0', '1', '2'], settings.loginType),
    defaultCulture: file.get('defaultCulture') ?? settings.defaultCulture,
    newUserPasswordBehaviour: choice(
      'newUserPasswordBehaviour',
      ['file', 'random', 'none'],
      settings.newUserPasswordBehaviour,
    ),
  };
}
