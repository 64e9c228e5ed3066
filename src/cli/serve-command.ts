import type { Command } from 'commander';
import { optionNames } from '../config/options.ts';
import { type Exit, loadFor, withSettings } from './command.ts';

export function registerServe(program: Command, exit: Exit): void {
  const serve = program.command('serve').description('run the service until it is told to stop');
  withSettings(serve, optionNames)
    .option('--verbose', 'show the cause of a failure')
    .action(async (given) => {
      const { config } = await loadFor(given);
      const { serve } = await import('./serve.ts');
      exit.code = await serve(config);
    });
  registerChildren(program, exit);
}

/** Commands that the service starts by itself, for work that must be able to die alone. */
function registerChildren(program: Command, exit: Exit): void {
  const processor = program.command('processor', { hidden: true }).description('import what is queued');
  withSettings(processor, ['data', 'database', 'logLevel']).action(async (given) => {
    const { config } = await loadFor(given, { readsFile: false });
    const { processor } = await import('./processor.ts');
    exit.code = await processor(config);
  });
  program
    .command('inspect', { hidden: true })
    .description('judge one document and print the verdict')
    .argument('<words...>')
    .helpOption(false)
    .allowUnknownOption()
    .action(async (words: string[]) => {
      const { inspectCommand } = await import('../imports/inspect.ts');
      const lines: string[] = [];
      exit.code = await inspectCommand(words, (line) => lines.push(line));
      await Bun.write(Bun.stdout, `${lines.join('\n')}\n`);
    });
  program
    .command('connector-host', { hidden: true })
    .description('run one connector')
    .action(async () => {
      const { connectorHost } = await import('../connectors/host.ts');
      exit.code = await connectorHost();
    });
}
