import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse, TomlError } from 'smol-toml';
import { DomainError } from '../errors.ts';
import { type OptionName, optionNames, options } from './options.ts';

/** What a rollcall.toml says: each value as the text that a flag would have. */
export interface ConfigFile {
  readonly path: string;
  /** Relative paths in the file start here. */
  readonly folder: string;
  readonly values: ReadonlyMap<OptionName, string>;
}

const fileBytesMax = 1024 * 1024;

/** Reads the file that was named, else rollcall.toml in the data folder if there is one. */
export function readConfigFile(named: string | undefined, dataFolder: string): ConfigFile | undefined {
  const path = named ?? join(dataFolder, 'rollcall.toml');
  const text = readText(path, named !== undefined);
  if (text === undefined) return undefined;
  const values = new Map<OptionName, string>();
  for (const [key, value] of Object.entries(parseToml(path, text))) {
    const name = requireName(path, key);
    if (name === 'data' && named === undefined)
      throw wrong(path, 'The setting data cannot be set by a file in the data folder');
    values.set(name, toText(path, name, value));
  }
  return { path, folder: dirname(path), values };
}

function readText(path: string, isNamed: boolean): string | undefined {
  try {
    const bytes = readFileSync(path);
    if (bytes.length > fileBytesMax) throw wrong(path, `The file is longer than ${fileBytesMax} bytes`);
    return bytes.toString('utf8');
  } catch (error) {
    if (error instanceof DomainError) throw error;
    const { code } = error as { code?: string };
    if (!isNamed && (code === 'ENOENT' || code === 'ENOTDIR')) return undefined;
    throw new DomainError('invalidValue', `The file ${path} cannot be read (${code}).`, { cause: error });
  }
}

function parseToml(path: string, text: string): Readonly<Record<string, unknown>> {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    // The rest of its message quotes the line, which may hold a password.
    const reason = (error.message.split('\n')[0] ?? '').replace('Invalid TOML document: ', '');
    throw wrong(path, `Line ${error.line}, column ${error.column} is not TOML: ${reason}`);
  }
}

function requireName(path: string, key: string): OptionName {
  const name = optionNames.find((known) => known === key);
  if (name !== undefined) return name;
  throw wrong(path, `There is no setting "${key}"; the settings are ${optionNames.join(', ')}`);
}

function toText(path: string, name: OptionName, value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  if (Array.isArray(options[name].default) && Array.isArray(value)) {
    if (value.every((item) => typeof item === 'string')) return value.join(',');
  }
  throw wrong(path, `The setting ${name} takes ${options[name].takes}`);
}

function wrong(path: string, what: string): DomainError {
  return new DomainError('invalidValue', `${what} (from the file ${path}).`);
}
