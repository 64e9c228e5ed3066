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
  /** False for a process that its parent tells everything: it must not fail over what the parent has settled. */
  readonly readsFile?: boolean;
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
  const file = sources.readsFile === false ? undefined : findFile(sources);
  const isSet = new Set<OptionName>();
  const entries = optionNames.map((name) => {
    const givens = [fromFlag(name, sources), fromVariable(name, sources), fromFile(name, file)].filter(
      (given) => given !== undefined,
    );
    if (givens.length > 0) isSet.add(name);
    // A wrong value that another one wins over is still wrong: it would come into force on the day the other goes.
    const [first = defaultValue(name, sources.folder)] = givens.map((given) => readGiven(name, given));
    return [name, first];
  });
  const config = Object.fromEntries(entries) as Config;
  checkTls(config);
  return { config, isSet };
}

function findFile(sources: ConfigSources): ConfigFile | undefined {
  const { folder } = sources;
  const named = fromFlag('config', sources) ?? fromVariable('config', sources);
  const data = fromFlag('data', sources) ?? fromVariable('data', sources);
  return readConfigFile(
    named && resolve(folder, named.text),
    data === undefined ? defaultValue('data', folder) : readGiven('data', data),
  );
}

function fromFlag(name: OptionName | 'config', { flags, folder }: ConfigSources): Given | undefined {
  const text = flags[name];
  return text === undefined ? undefined : { text, origin: `the flag ${flagOf(name)}`, folder };
}

function fromVariable(
  name: OptionName | 'config',
  { environment, folder }: ConfigSources,
): Given | undefined {
  const text = environment[variableOf(name)];
  // A variable that is empty is how container files say that it is not set.
  if (text === undefined || text === '') return undefined;
  return { text, origin: `the variable ${variableOf(name)}`, folder };
}

function fromFile(name: OptionName, file: ConfigFile | undefined): Given | undefined {
  const text = file?.values.get(name);
  if (file === undefined || text === undefined) return undefined;
  return { text, origin: `the file ${file.path}`, folder: file.folder };
}

function defaultValue<N extends OptionName>(name: N, folder: string): Config[N] {
  const option: Option<Config[N]> = options[name];
  return name === 'data' ? (resolve(folder, options.data.default) as Config[N]) : option.default;
}

function readGiven<N extends OptionName>(name: N, given: Given): Config[N] {
  const option: Option<Config[N]> = options[name];
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
