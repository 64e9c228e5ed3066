import type { Command } from 'commander';
import { type SettingName, settingDefinitions } from '../settings/settings.ts';
import { type Answer, answering, type Call, type Exit } from './command.ts';
import { formatTable } from './table.ts';
import { whoCommands } from './who-commands.ts';

export function registerSettings(program: Command, exit: Exit): void {
  const group = program.command('settings').description('settings of the whole installation');
  answering(
    group
      .command('get')
      .description('print one setting, or all of them')
      .argument('[KEY]', 'name of the setting'),
    exit,
    { action: get },
  );
  answering(
    group
      .command('set')
      .description('change a setting')
      .argument('<KEY>', 'name of the setting')
      .argument('<VALUE>', 'its new value')
      .option('--force', 'store a regular expression that does not compile all the same'),
    exit,
    { action: set },
  );
}

async function get({ config, args: [key] }: Call): Promise<Answer> {
  const { openForCommand } = await import('./services.ts');
  await using services = await openForCommand(config);
  if (key !== undefined) {
    const value = await services.configurations.getSetting(key);
    return { value: { key, value }, text: String(value) };
  }
  const { settings } = await services.configurations.current();
  const rows = Object.entries(settings).map(([name, value]) => [
    name,
    String(value),
    settingDefinitions[name as SettingName].summary,
  ]);
  return { value: settings, text: formatTable(['KEY', 'VALUE', 'MEANING'], rows) };
}

async function set({ config, options, args: [key = '', text = ''] }: Call): Promise<Answer> {
  const { openForCommand } = await import('./services.ts');
  await using services = await openForCommand(config, { create: true });
  const how = { force: options.force === true, by: whoCommands() };
  const name = await services.configurations.setSetting(key, text, how);
  const value = await services.configurations.getSetting(name);
  return { value: { key: name, value }, text: `${name} is now ${value === '' ? 'empty' : value}` };
}
