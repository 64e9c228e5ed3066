import type { Command } from 'commander';
import { commit, version } from './version.ts';

const text = `rollcall ${version} (commit ${commit}, Bun ${Bun.version})`;

/** The command and, as people expect it, the flag. */
export function registerVersion(program: Command): void {
  program
    .version(text, '--version', 'print the release')
    .command('version')
    .description('print the release')
    .option('--json', 'print it as one JSON object')
    .action(async ({ json }: { json?: boolean }) => {
      const value = { version, commit, bun: Bun.version };
      await Bun.write(Bun.stdout, `${json === true ? JSON.stringify(value) : text}\n`);
    });
}
