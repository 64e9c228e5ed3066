import type { Command } from 'commander';
import { baseUrl } from './address.ts';
import { type Answer, addressOptions, answering, type Call, type Exit } from './command.ts';
import { plain } from './table.ts';
import { whoCommands } from './who-commands.ts';

export function registerAdmin(program: Command, exit: Exit): void {
  const group = program.command('admin').description('administrators of the console');
  answering(
    group
      .command('invite')
      .description('print a link by which one person becomes an administrator, once, within 24 hours')
      .requiredOption('--name <NAME>', 'who is invited'),
    exit,
    { settings: addressOptions, action: invite },
  );
}

async function invite(call: Call): Promise<Answer> {
  const { openForCommand } = await import('./services.ts');
  const { Invitations, invitationLink } = await import('../security/invitations.ts');
  await using services = await openForCommand(call.config, { create: true });
  const invitation = await new Invitations(services).issue(call.options.name, whoCommands());
  const { id, name, expires } = invitation;
  const link = invitationLink(baseUrl(call), invitation);
  const text = `${link}\nFor ${plain(name)}; it works once, until ${expires}.`;
  return { value: { id, name, link, expires }, text };
}
