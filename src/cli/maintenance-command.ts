import type { Command } from 'commander';
import { type Answer, answering, type Call, type Exit } from './command.ts';
import { plain } from './table.ts';

export function registerMaintenance(program: Command, exit: Exit): void {
  answering(program.command('doctor').description('look for what is wrong with the data folder'), exit, {
    action: doctor,
  });
  answering(program.command('migrate').description("bring the database's tables to this release"), exit, {
    action: migrate,
  });
  answering(
    program
      .command('backup')
      .description('copy the database to a new file, while the service runs')
      .argument('<FILE>', 'where the copy goes'),
    exit,
    { action: backup },
  );
  answering(
    program
      .command('restore')
      .description('put a backup in the place of the database; the service must not run')
      .argument('<FILE>', 'the backup'),
    exit,
    { action: restoreBackup },
  );
}

async function doctor({ config }: Call): Promise<Answer> {
  const { examine } = await import('./doctor.ts');
  const checks = await examine(config);
  const failures = checks.filter((check) => !check.passed).length;
  const lines = checks.map(
    ({ name, passed, detail }) => `${passed ? 'ok   ' : 'WRONG'}  ${name}: ${plain(detail)}`,
  );
  return {
    value: { passed: failures === 0, checks },
    text: lines.join('\n'),
    ...(failures === 0 ? {} : { failure: `${failures} of ${checks.length} checks found something wrong.` }),
  };
}

async function migrate({ config }: Call): Promise<Answer> {
  const { openForCommand } = await import('./services.ts');
  const applied: string[] = [];
  await using _services = await openForCommand(config, {
    create: true,
    onMigrated: (names) => applied.push(...names),
  });
  const text = applied.length === 0 ? 'The database is up to date.' : `Applied ${applied.join(', ')}.`;
  return { value: { applied }, text };
}

async function backup({ config, args: [target = ''] }: Call): Promise<Answer> {
  const { backUp } = await import('./backup.ts');
  const { file, bytes } = backUp(config, target);
  const hint =
    'Keep a copy of secret.key too, in another place: without it stored tokens cannot be shown again.';
  return { value: { file, bytes }, text: `${file}: ${bytes} bytes, checked. ${hint}` };
}

async function restoreBackup({ config, args: [source = ''] }: Call): Promise<Answer> {
  const { restore } = await import('./backup.ts');
  const { former } = await restore(config, source, new Date());
  const kept = former === undefined ? '' : ` The former database is kept as ${former}.`;
  return { value: { restored: source, former: former ?? null }, text: `Restored from ${source}.${kept}` };
}
