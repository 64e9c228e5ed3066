// Settings owns the switches that hold for the whole installation, by name, with their type, bounds and default.
// It never applies them: each part reads the ones it needs from the configuration that it is handed.
// Settings of one source live with the source, in sources/.

import { DomainError } from '../errors.ts';
import { standardUserTypes } from '../resource/schema.ts';
import { furtherUserTypes } from './user-types.ts';

interface NumberSetting {
  readonly type: 'number';
  readonly default: number;
  readonly min: number;
  readonly max: number;
  readonly summary: string;
}

interface TextSetting {
  readonly type: 'text';
  readonly default: string;
  readonly lengthMax: number;
  readonly summary: string;
  /** The form in which a value is stored; throws `invalidValue` for one that cannot be. */
  readonly check?: (text: string) => string;
}

const number = (value: number, min: number, max: number, summary: string): NumberSetting => ({
  type: 'number',
  default: value,
  min,
  max,
  summary,
});

export const settingDefinitions = {
  passwordStrengthRegex: {
    type: 'text',
    default: '',
    lengthMax: 4_096,
    summary: 'Regular expression (PCRE2) that a new password must match; empty for none',
  },
  userTypes: {
    type: 'text',
    default: '',
    lengthMax: 4_096,
    summary: `User types besides ${standardUserTypes.join(', ')}, with commas between them`,
    check: (text) => furtherUserTypes(text).join(', '),
  },
  countDefault: number(100, 1, 1_000, 'Resources in a page when the client names no count'),
  countMax: number(1_000, 1, 10_000, 'Most resources in a page'),
  filterRowsMax: number(
    2_000_000,
    1_000,
    1_000_000_000,
    'Resources that one query may look at when no index leads to what it asks for',
  ),
  scimBodyBytesMax: number(2 * 1024 * 1024, 1024, 64 * 1024 * 1024, 'Largest SCIM request body, bytes'),
  documentBytesMax: number(
    256 * 1024 * 1024,
    1024,
    4 * 1024 ** 3,
    'Largest XML document after decompression, bytes',
  ),
  connectorSecondsMax: number(3_600, 1, 604_800, 'Seconds that one run of a connector may take'),
  connectorMemoryBytesMax: number(
    1024 ** 3,
    128 * 1024 ** 2,
    1024 ** 4,
    'Memory that the processes of one connector may use, bytes',
  ),
  connectorAllowedHosts: {
    type: 'text',
    default: '',
    lengthMax: 4_096,
    summary:
      'Hosts that connectors may ask even if they are link-local or a metadata service, with commas between them',
    check: (text) => hostList(text).join(', '),
  },
  archiveRunsKept: number(30, 1, 10_000, 'Archived documents kept for each source'),
  requestLogDays: number(30, 1, 3_650, 'Days for which SCIM requests are kept in the request log'),
  requestBodyDays: number(7, 1, 3_650, 'Days for which logged request bodies are kept'),
  requestLogBytesMax: number(
    1024 ** 3,
    1024 ** 2,
    1024 ** 4,
    'Largest request log, bytes; the oldest requests go first',
  ),
} as const satisfies Record<string, NumberSetting | TextSetting>;

/** The hosts of `connectorAllowedHosts`. Throws `invalidValue` for what is none. */
export function hostList(text: string): readonly string[] {
  const hosts = text
    .split(',')
    .map((host) => host.trim())
    .filter((host) => host !== '');
  const wrong = hosts.find((host) => !/^[\w.:[\]-]{1,253}$/.test(host));
  if (wrong === undefined) return hosts;
  const detail = 'The setting connectorAllowedHosts takes names and addresses of hosts, without ports.';
  throw new DomainError('invalidValue', detail);
}

export type SettingName = keyof typeof settingDefinitions;

export type Settings = {
  readonly [K in SettingName]: (typeof settingDefinitions)[K]['type'] extends 'number' ? number : string;
};

export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(settingDefinitions, name);
}

/** The name as given, or an error that lists the names there are. */
export function requireSettingName(name: string): SettingName {
  if (isSettingName(name)) return name;
  const known = Object.keys(settingDefinitions).join(', ');
  throw new DomainError('invalidValue', `There is no setting "${name}"; the settings are: ${known}.`);
}

/** Checks a value given as text and returns the form in which it is stored. */
export function checkSetting(name: SettingName, text: string): string {
  const definition: NumberSetting | TextSetting = settingDefinitions[name];
  if (definition.type === 'text') return checkText(name, text, definition);
  const value = /^\d{1,12}$/.test(text.trim()) ? Number(text) : Number.NaN;
  if (value >= definition.min && value <= definition.max) return String(value);
  const range = `a whole number from ${definition.min} to ${definition.max}`;
  throw new DomainError('invalidValue', `The setting ${name} takes ${range}, not "${text}".`);
}

function checkText(name: SettingName, text: string, definition: TextSetting): string {
  if (text.length <= definition.lengthMax) return definition.check?.(text) ?? text;
  throw new DomainError(
    'invalidValue',
    `The setting ${name} takes at most ${definition.lengthMax} characters.`,
  );
}

/** The settings in force: what is stored, and the default for everything else. */
export function toSettings(stored: ReadonlyMap<string, string>): Settings {
  const entries = Object.entries(settingDefinitions).map(([name, definition]) => {
    const text = stored.get(name);
    if (text === undefined) return [name, definition.default];
    return [name, definition.type === 'number' ? Number(text) : text];
  });
  return Object.fromEntries(entries) as Settings;
}
