// The command line: which commands there are, and how a failure of any of them is told.
// It holds no rule: a command reads its arguments, asks the domain, and shows the answer.
// Each group of commands has a file; what a command needs is loaded only when that command runs.

import { Command, CommanderError } from 'commander';
import { registerAdmin } from './admin-command.ts';
import { registerConnector } from './connector-command.ts';
import { failureText } from './failure.ts';
import { registerField } from './field-command.ts';
import { registerGroup } from './group-command.ts';
import { registerImport } from './import-command.ts';
import { registerLog } from './log-command.ts';
import { registerMaintenance } from './maintenance-command.ts';
import { registerPersona } from './persona-command.ts';
import { registerRun } from './run-command.ts';
import { registerSchema } from './schema-command.ts';
import { registerServe } from './serve-command.ts';
import { registerSettings } from './settings-command.ts';
import { registerSource } from './source-command.ts';
import { registerUser } from './user-command.ts';
import { registerVersion } from './version-command.ts';

const groups = [
  registerServe,
  registerSource,
  registerSettings,
  registerField,
  registerPersona,
  registerAdmin,
  registerImport,
  registerRun,
  registerConnector,
  registerUser,
  registerGroup,
  registerLog,
  registerSchema,
  registerMaintenance,
  registerVersion,
];

/** Exit codes of the program. */
const failed = 1;
const misused = 2;

/** Runs one command line and resolves with the exit code, once everything is written. */
export async function run(argv: readonly string[]): Promise<number> {
  const exit = { code: 0 };
  const program = new Command('rollcall')
    .description('Identity provisioning service: SCIM 2.0 and XML profile imports into one directory.')
    .exitOverride()
    // The sentence is written below, once, as for every other failure.
    .configureOutput({ outputError: () => undefined });
  for (const register of groups) register(program, exit);
  try {
    await program.parseAsync(helpLast(argv), { from: 'user' });
    return exit.code;
  } catch (error) {
    if (error instanceof CommanderError) return misuse(error);
    await Bun.write(Bun.stderr, `${await failureText(error, { isVerbose: await isVerbose(argv) })}\n`);
    return failed;
  }
}

/** Commander's own help command knows no commands within a group. */
function helpLast([first, ...words]: readonly string[]): string[] {
  if (first === 'help') return [...words, '--help'];
  return first === undefined ? words : [first, ...words];
}

async function misuse({ code, exitCode, message }: CommanderError): Promise<number> {
  if (exitCode === 0) return 0;
  // Help for a group that was named without a command has been written already.
  if (code === 'commander.help') return misused;
  const [first = '', ...hints] = message.replace(/^error: /, '').split('\n');
  const sentence = first.charAt(0).toUpperCase() + first.slice(1);
  await Bun.write(
    Bun.stderr,
    `rollcall: ${[`${sentence.replace(/\.$/, '')}.`, ...hints].join(' ').trim()}\n`,
  );
  return misused;
}

async function isVerbose(argv: readonly string[]): Promise<boolean> {
  const { readEnvironment } = await import('../config/env.ts');
  return argv.includes('--verbose') || readEnvironment().ROLLCALL_LOG_LEVEL === 'debug';
}
