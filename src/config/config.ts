// Configuration owns what is set from outside the database: flags, then ROLLCALL_*, then rollcall.toml, then defaults.
// It never opens anything but that one file, and never repeats a secret in an error.
// Every wrong setting ends in one sentence that names the setting and where it came from.

import { resolve } from 'node:path';
import { DomainError } from '../errors.ts';
import { type ConfigFile, readConfigFile } from './file.ts';
import {
  type Config,
  flagOf,
  type Option,
  type OptionName,
  optionNames,
  options,
  variableOf,
} from './options.ts';

/** Flags by the name of their option, and `config`, the file. */
export type Flags = Readonly<Partial<Record<OptionName | 'config', string>>>;

export interface ConfigSources {
  readonly flags: Flags;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Absolute path of the folder that relative paths of flags and variables start from. */
  readonly folder: string;
}

export interface LoadedConfig {
  readonly config: Config;
  /** Settings that someone has set, wherever. */
  readonly isSet: ReadonlySet<OptionName>;
}

/** Where a text comes from: `the flag --port`. */
interface Given {
  readonly text: string;
  readonly origin: string;
  readonly folder: string;
}

/** Throws DomainError `invalidValue` with the sentence to show. */
export function loadConfig(sources: ConfigSources): LoadedConfig {
  const { folder } = sources;
  const named = fromFlagOrVariable('config', sources);
  const data = effectiveValue('data', fromFlagOrVariable('data', sources), folder);
  const file = readConfigFile(named && resolve(folder, named.text), data);
  const isSet = new Set<OptionName>();
  const entries = optionNames.map((name) => {
    const given = fromFlagOrVariable(name, sources) ?? fromFile(name, file);
    if (given !== undefined) isSet.add(name);
    return [name, effectiveValue(name, given, folder)];
  });
  const config = Object.fromEntries(entries) as Config;
  checkTls(config);
  return { config, isSet };
}

function fromFlagOrVariable(
  name: OptionName | 'config',
  { flags, environment, folder }: ConfigSources,
): Given | undefined {
  const flag = flags[name];
  if (flag !== undefined) return { text: flag, origin: `the flag ${flagOf(name)}`, folder };
  const variable = environment[variableOf(name)];
  // A variable that is empty is how container files say that it is not set.
  if (variable === undefined || variable === '') return undefined;
  return { text: variable, origin: `the variable ${variableOf(name)}`, folder };
}

function fromFile(name: OptionName, file: ConfigFile | undefined): Given | undefined {
  const text = file?.values.get(name);
  if (file === undefined || text === undefined) return undefined;
  return { text, origin: `the file ${file.path}`, folder: file.folder };
}

function effectiveValue<N extends OptionName>(name: N, given: Given | undefined, folder: string): Config[N] {
  const option: Option<Config[N]> = options[name];
  if (given === undefined) {
    return name === 'data' ? (resolve(folder, options.data.default) as Config[N]) : option.default;
  }
  const value = option.read(given.text, given.folder);
  if (value !== undefined) return value;
  const found = option.isSecret === true ? 'what was given' : `"${given.text}"`;
  throw new DomainError(
    'invalidValue',
    `The setting ${name} takes ${option.takes}, not ${found} (from ${given.origin}).`,
  );
}

function checkTls({ tlsCert, tlsKey }: Config): void {
  if ((tlsCert === undefined) === (tlsKey === undefined)) return;
  const [there, missing] = tlsCert === undefined ? ['tlsKey', 'tlsCert'] : ['tlsCert', 'tlsKey'];
  throw new DomainError('invalidValue', `The setting ${there} needs the setting ${missing} as well.`);
}
