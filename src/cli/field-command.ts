import type { Command } from 'commander';
import { DomainError } from '../errors.ts';
import type { AdditionalFieldType } from '../resource/additional-fields.ts';
import type { AdditionalField } from '../settings/configuration.ts';
import { type Answer, answering, type Call, type Exit } from './command.ts';
import { formatFacts, formatTable } from './table.ts';
import { whoCommands } from './who-commands.ts';

const types: readonly AdditionalFieldType[] = ['string', 'boolean', 'integer', 'decimal', 'dateTime'];

export function registerField(program: Command, exit: Exit): void {
  const group = program.command('field').description('additional profile fields');
  answering(
    group
      .command('create')
      .description('add a field to every profile')
      .requiredOption('--label <LABEL>', 'what people call it; the id follows from it')
      .option('--type <TYPE>', types.join(', '), 'string')
      .option('--pattern <RE2>', 'regular expression that a value must match as a whole')
      .option('--required', 'whoever has any additional field must have this one'),
    exit,
    { action: create },
  );
  answering(
    group
      .command('remove')
      .description('take a field out of every profile; a field of the same label brings the values back')
      .argument('<ID>', 'id of the field'),
    exit,
    { action: remove },
  );
  answering(group.command('list').description('list the fields'), exit, { action: list });
}

async function create({
  config,
  options: { label, type: typeName, pattern, required },
}: Call): Promise<Answer> {
  const type = types.find((known) => known === typeName);
  if (type === undefined) {
    throw new DomainError(
      'invalidValue',
      `The type of a field is one of ${types.join(', ')}, not "${typeName}".`,
    );
  }
  const { openForCommand } = await import('./services.ts');
  await using services = await openForCommand(config, { create: true });
  const field = await services.configurations.createField(label, type, pattern ?? null, {
    required: required === true,
    by: whoCommands(),
  });
  return { value: field, text: formatFacts(Object.entries(shown(field))) };
}

async function remove({ config, args: [id = ''] }: Call): Promise<Answer> {
  const { openForCommand } = await import('./services.ts');
  await using services = await openForCommand(config);
  const field = await services.configurations.removeField(id, whoCommands());
  return { value: field, text: `The additional field ${field.id} is removed.` };
}

async function list({ config }: Call): Promise<Answer> {
  const { openForCommand } = await import('./services.ts');
  await using services = await openForCommand(config);
  const fields = await services.configurations.listFields();
  const rows = fields.map((field) => Object.values(shown(field)));
  return {
    value: { fields },
    text:
      rows.length === 0
        ? 'There are no additional fields.'
        : formatTable(['ID', 'LABEL', 'TYPE', 'REQUIRED', 'PATTERN'], rows),
  };
}

function shown({ id, label, type, pattern, required }: AdditionalField) {
  return { id, label, type, required: required ? 'yes' : 'no', pattern: pattern ?? '' };
}
