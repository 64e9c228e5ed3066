import type { Command } from 'commander';
import { commit, version } from './version.ts';

export function registerVersion(program: Command): void {
  program
    .command('version')
    .description('print the release')
    .option('--json', 'print it as one JSON object')
    .action(async ({ json }: { json?: boolean }) => {
      const value = { version, commit, bun: Bun.version };
      const text = `rollcall ${version} (commit ${commit}, Bun ${Bun.version})`;
      await Bun.write(Bun.stdout, `${json === true ? JSON.stringify(value) : text}\n`);
    });
}
