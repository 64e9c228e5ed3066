import type { Command, OptionValues } from 'commander';
import type { Flags, LoadedConfig } from '../config/config.ts';
import { flagOf, type OptionName, optionNames, options } from '../config/options.ts';
import { DomainError } from '../errors.ts';

/** What a command has to say: `value` with --json, `text` otherwise. */
export interface Answer {
  readonly value: unknown;
  /** Absent: the command has printed by itself what there is to say. */
  readonly text?: string;
  /** The sentence for stderr when the answer is a bad one; the exit code is then 1. */
  readonly failure?: string;
}

/** One call of a command, with its configuration. */
export interface Call extends LoadedConfig {
  readonly options: OptionValues;
  readonly args: readonly string[];
}

/** Carries the exit code out of the commander's action. */
export interface Exit {
  code: number;
}

export type Register = (program: Command, exit: Exit) => void;

/** The settings that every command takes which opens the data folder. */
export const storageOptions: readonly OptionName[] = ['data', 'database'];
/** And those that say under which address the service is reached. */
export const addressOptions: readonly OptionName[] = [...storageOptions, 'publicUrl', 'host', 'port'];

/**
 * Adds the flags of these settings, and `--config` unless the command has one of its own. Defaults stay out: the flag
 * wins only when it is given.
 */
export function withSettings(command: Command, names: readonly OptionName[]): Command {
  for (const name of names) {
    const { placeholder, summary, defaultText } = options[name];
    const text = defaultText === undefined ? summary : `${summary} (default: ${defaultText})`;
    command.option(`${flagOf(name)} <${placeholder}>`, text);
  }
  if (hasOwnConfig(command)) return command;
  return command.option('--config <FILE>', 'configuration file (default: rollcall.toml in the data folder)');
}

/** The file of a connector is not that of the program. */
function hasOwnConfig(command: Command): boolean {
  return command.options.some(({ long }) => long === '--config');
}

/** Ends the definition of a command that gives an answer. */
export function answering(
  command: Command,
  exit: Exit,
  { settings = storageOptions, action }: Answering,
): Command {
  const isOwn = hasOwnConfig(command);
  return withSettings(command, settings)
    .option('--json', 'print the answer as one JSON object')
    .option('--verbose', 'show the cause of a failure')
    .action(async () => {
      const given = command.opts();
      const loaded = await loadFor(isOwn ? { ...given, config: undefined } : given);
      const answer = await action({ ...loaded, options: given, args: command.args });
      const said = given.json === true ? JSON.stringify(answer.value) : answer.text;
      if (said !== undefined) await Bun.write(Bun.stdout, `${said}\n`);
      if (answer.failure === undefined) return;
      await Bun.write(Bun.stderr, `rollcall: ${answer.failure}\n`);
      exit.code = 1;
    });
}

export interface Answering {
  readonly settings?: readonly OptionName[];
  readonly action: (call: Call) => Promise<Answer>;
}

/** The configuration under the flags of a command; without `readsFile` under flags and variables alone. */
export async function loadFor(given: OptionValues, { readsFile = true } = {}): Promise<LoadedConfig> {
  const { loadConfig } = await import('../config/config.ts');
  const { readEnvironment } = await import('../config/env.ts');
  const environment = readEnvironment();
  return loadConfig({ flags: flagsOf(given), environment, folder: process.cwd(), readsFile });
}

function flagsOf(given: OptionValues): Flags {
  const entries = ['config', ...optionNames].map((name) => [name, given[name]]);
  return Object.fromEntries(entries.filter(([, value]) => typeof value === 'string'));
}

/** A flag that takes a number from 1 on. */
export function readNumber(
  { options }: Call,
  name: string,
  { fallback, max }: { readonly fallback: number; readonly max: number },
): number {
  const text = options[name] ?? String(fallback);
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= 1 && value <= max) return value;
  throw new DomainError('invalidValue', `--${name} takes a whole number from 1 to ${max}, not "${text}".`);
}

/** Texts of `name=value` as a record. Throws for one without "=". */
export function readAssignments(texts: readonly string[]): Record<string, string> {
  const read: Record<string, string> = {};
  for (const text of texts) {
    const equals = text.indexOf('=');
    if (equals < 1) {
      throw new DomainError('invalidValue', `Write a setting as key=value, not "${text}".`);
    }
    read[text.slice(0, equals)] = text.slice(equals + 1);
  }
  return read;
}
