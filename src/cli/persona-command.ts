import type { Command } from 'commander';
import { DomainError } from '../errors.ts';
import { toId } from '../resource/resource-id.ts';
import type { Persona } from '../settings/configuration.ts';
import { type Answer, answering, type Call, type Exit } from './command.ts';
import { formatFacts, formatTable } from './table.ts';
import { whoCommands } from './who-commands.ts';

export function registerPersona(program: Command, exit: Exit): void {
  const group = program.command('persona').description('personas: people by the groups they are in');
  answering(
    group
      .command('create')
      .description('make a persona of the members of groups')
      .requiredOption('--name <NAME>', 'name, unique among the personas')
      .option('--any <GROUP_ID...>', 'members of any of these groups')
      .option('--all <GROUP_ID...>', 'members of all of these groups'),
    exit,
    { action: create },
  );
  answering(group.command('list').description('list the personas'), exit, { action: list });
}

async function create({ config, options: { name, any, all } }: Call): Promise<Answer> {
  if ((any === undefined) === (all === undefined)) {
    throw new DomainError(
      'invalidValue',
      'A persona takes either --any or --all, with the ids of its groups.',
    );
  }
  const groupIds = [...(any ?? all)].map(readGroupId);
  const { openForCommand } = await import('./services.ts');
  await using services = await openForCommand(config);
  const rule = any === undefined ? 'all' : 'any';
  const persona = await services.configurations.createPersona({ name, rule, groupIds }, whoCommands());
  return { value: persona, text: formatFacts(Object.entries(shown(persona))) };
}

function readGroupId(text: string): number {
  const id = toId(text);
  if (id > 0) return id;
  throw new DomainError('invalidValue', `The id of a group is a number, not "${text}".`);
}

async function list({ config }: Call): Promise<Answer> {
  const { openForCommand } = await import('./services.ts');
  await using services = await openForCommand(config);
  const { personas } = await services.configurations.current();
  const rows = personas.map((persona) => Object.values(shown(persona)));
  return {
    value: { personas },
    text: rows.length === 0 ? 'There are no personas.' : formatTable(['ID', 'NAME', 'RULE', 'GROUPS'], rows),
  };
}

function shown({ id, name, rule, groupIds }: Persona) {
  return { id: String(id), name, rule, groups: groupIds.join(', ') };
}
