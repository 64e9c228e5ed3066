import type { Command } from 'commander';
import { type Answer, answering, type Call, type Exit, readNumber } from './command.ts';

export function registerConnector(program: Command, exit: Exit): void {
  const group = program
    .command('connector')
    .description('connectors: what asks a source for its people, and brings them in');
  answering(group.command('list').description('list the kinds of connectors'), exit, { action: list });
  answering(withConfig(ofKind(group, 'test', 'try to reach the source of a connector')), exit, {
    action: test,
  });
  answering(
    withConfig(ofKind(group, 'run', 'run a connector, import what it yields, and wait for the result'))
      .requiredOption('--source <NAME>', 'name or id of a general source')
      .option('--preview <N>', 'show the first N records and import nothing')
      .option('--dry-run', 'plan the import and change nothing')
      .option('--full', 'read everybody, even if there is a checkpoint')
      .option('--approve', 'apply it even if the guard would hold it')
      .option('--force', 'import the document even if it is the one imported last'),
    exit,
    { action: run },
  );
  answering(
    group
      .command('new')
      .description('write a working connector with its test into the data folder')
      .argument('<NAME>', 'its kind: small letters, digits and hyphens')
      .option('--language <LANGUAGE>', 'ts or python', 'ts'),
    exit,
    { action: create },
  );
}

function ofKind(group: Command, command: string, description: string): Command {
  return group
    .command(command)
    .description(description)
    .argument('<KIND>', 'one of "rollcall connector list"');
}

function withConfig(command: Command): Command {
  return command.requiredOption(
    '--config <FILE>',
    'configuration of the connector (JSON); - for standard input',
  );
}

async function list(call: Call): Promise<Answer> {
  const { listConnectors } = await import('./connector-work.ts');
  return listConnectors(call);
}

async function test(call: Call): Promise<Answer> {
  const { testByCommand } = await import('./connector-work.ts');
  return testByCommand(call);
}

async function create(call: Call): Promise<Answer> {
  const { createConnector } = await import('./connector-work.ts');
  return createConnector(call);
}

async function run(call: Call): Promise<Answer> {
  const { previewByCommand, runByCommand } = await import('./connector-work.ts');
  if (call.options.preview === undefined) return runByCommand(call);
  const { previewMax } = await import('../connectors/connectors.ts');
  return previewByCommand(call, readNumber(call, 'preview', { fallback: 1, max: previewMax }));
}
