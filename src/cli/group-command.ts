import type { Command } from 'commander';
import type { Exit } from './command.ts';
import { registerHistory } from './history.ts';

export function registerGroup(program: Command, exit: Exit): void {
  registerHistory(program.command('group').description('groups in the directory'), exit, 'Group');
}
