import type { Command } from 'commander';
import { DomainError } from '../errors.ts';
import { planActions } from '../imports/imports.ts';
import type { ImportRun, ImportRuns } from '../imports/runs.ts';
import { toId } from '../resource/resource-id.ts';
import { type Answer, answering, type Call, type Exit } from './command.ts';
import type { Services } from './services.ts';
import { formatTable } from './table.ts';
import { whoCommands } from './who-commands.ts';

export function registerRun(program: Command, exit: Exit): void {
  const group = program.command('run').description('import runs, and what a person decides about them');
  answering(
    group
      .command('list')
      .description('list the newest runs')
      .option('--source <NAME>', 'only those of this source, by its name or id'),
    exit,
    { action: list },
  );
  answering(ofRun(group, 'show', 'show one run with what was found wrong'), exit, { action: show });
  answering(ofRun(group, 'log', 'print the log of one run'), exit, { action: printLog });
  answering(withRecordOptions(ofRun(group, 'records', "show what became of each of a run's records")), exit, {
    action: records,
  });
  answering(
    ofRun(group, 'compare', 'show whom a run added, removed and changed since an earlier one')
      .argument('[OTHER]', 'the earlier run (default: the last one that was completed before)')
      .option('--limit <NUMBER>', `at most so many of each (default: 100, at most 1000)`)
      .option('--csv', 'all of them, as comma-separated values'),
    exit,
    { action: compare },
  );
  answering(ofRun(group, 'approve', 'let a run go on that waits for approval'), exit, { action: approve });
  answering(ofRun(group, 'reject', 'end a run that waits for approval'), exit, { action: reject });
  answering(ofRun(group, 'cancel', 'end a run that is not over; what it has done stays'), exit, {
    action: cancel,
  });
  answering(
    withImportOptions(ofRun(group, 'rerun', 'import the document of a run again, from the archive')),
    exit,
    { action: rerun },
  );
  answering(
    withImportOptions(ofRun(group, 'retry', 'import those users of a run again that went wrong')),
    exit,
    { action: retry },
  );
  answering(
    ofRun(group, 're-enable', 'make everyone active again whom the run disabled, and nobody since'),
    exit,
    { action: reEnable },
  );
}

function withImportOptions(command: Command): Command {
  return command
    .option('--dry-run', 'plan the import and change nothing')
    .option('--approve', 'apply it even if the guard would hold it');
}

function withRecordOptions(command: Command): Command {
  return command
    .option('--action <ACTION>', `only records with this outcome: ${planActions.join(', ')}`)
    .option('--after <SEQ>', 'go on after this record')
    .option('--limit <NUMBER>', `at most so many (default: 100, at most 1000)`)
    .option('--csv', 'all of them, as comma-separated values');
}

function ofRun(group: Command, command: string, description: string): Command {
  return group.command(command).description(description).argument('<ID>', "the run's id");
}

/** Opens what the command needs, and closes it once `work` has its answer. */
async function withRuns(
  { config }: Call,
  work: (runs: ImportRuns, services: Services) => Promise<Answer>,
): Promise<Answer> {
  const { openForCommand } = await import('./services.ts');
  const { ImportRuns } = await import('../imports/runs.ts');
  const { DocumentStore } = await import('../archive/archive.ts');
  await using services = await openForCommand(config);
  const runs = new ImportRuns({ ...services, documents: new DocumentStore(config.data) });
  return await work(runs, services);
}

function list(call: Call): Promise<Answer> {
  return withRuns(call, async (runs, { sources }) => {
    const { source: nameOrId } = call.options;
    const only = nameOrId === undefined ? {} : { sourceId: (await sources.get(nameOrId)).id };
    const found = await runs.list(only);
    const names = new Map((await sources.list()).map(({ id, name }) => [id, name]));
    const rows = found.map((run) => [
      String(run.id),
      names.get(run.sourceId) ?? String(run.sourceId),
      run.dryRun ? `${run.status} (dry run)` : run.status,
      String(run.users),
      run.created,
      run.message ?? '',
    ]);
    const headings = ['ID', 'SOURCE', 'STATUS', 'USERS', 'CREATED', 'MESSAGE'];
    return {
      value: { runs: found.map(({ id: importId, ...run }) => ({ importId, ...run })) },
      text: rows.length === 0 ? 'There are no runs.' : formatTable(headings, rows),
    };
  });
}

function show(call: Call): Promise<Answer> {
  return withRuns(call, async (runs) => describe(runs, await runs.get(idOf(call))));
}

function printLog(call: Call): Promise<Answer> {
  return withRuns(call, async (runs) => {
    const importId = idOf(call);
    const log = await runs.log(importId);
    return { value: { importId, log }, text: log.trimEnd() };
  });
}

function records(call: Call): Promise<Answer> {
  return withRuns(call, async (runs) => {
    const { answerRecords } = await import('./run-records.ts');
    return answerRecords(runs, idOf(call), call);
  });
}

function compare(call: Call): Promise<Answer> {
  return withRuns(call, async (runs) => {
    const { answerComparison } = await import('./run-comparison.ts');
    const other = call.args[1];
    const otherId = other === undefined ? undefined : readId(other);
    return answerComparison(runs, { importId: idOf(call), otherId }, call);
  });
}

function approve(call: Call): Promise<Answer> {
  return withRuns(call, async (runs, { database, folder }) => {
    const { isServed } = await import('./locks.ts');
    const approved = await runs.approve(idOf(call), whoCommands());
    const { value } = await describe(runs, approved);
    // Who works on a database of its own cannot be told from the folder.
    const isWaiting = database.dialect === 'sqlite' && !isServed(folder);
    const next = isWaiting ? 'it goes on once the service runs' : 'the service goes on with it';
    return { value, text: `Run ${approved.id} is approved; ${next}.` };
  });
}

function reject(call: Call): Promise<Answer> {
  return withRuns(call, async (runs) => {
    const rejected = await runs.reject(idOf(call), whoCommands());
    const { value } = await describe(runs, rejected);
    return { value, text: `Run ${rejected.id} is rejected; nothing has been changed.` };
  });
}

function cancel(call: Call): Promise<Answer> {
  return withRuns(call, async (runs) => {
    const cancelled = await runs.cancel(idOf(call), whoCommands());
    const { value } = await describe(runs, cancelled);
    const stays = cancelled.message === undefined ? 'nothing has been changed' : 'what it has done stays';
    return { value, text: `Run ${cancelled.id} is cancelled; ${stays}.` };
  });
}

async function rerun(call: Call): Promise<Answer> {
  const { importAgain } = await import('./import-file.ts');
  return importAgain(call, idOf(call), (await import('../imports/rerun.ts')).rerun);
}

async function retry(call: Call): Promise<Answer> {
  const { importAgain } = await import('./import-file.ts');
  return importAgain(call, idOf(call), (await import('../imports/rerun.ts')).retry);
}

function reEnable(call: Call): Promise<Answer> {
  return withRuns(call, async (runs) => {
    const importId = idOf(call);
    const done = await runs.reEnable(importId);
    const people = done.enabled === 1 ? '1 person is' : `${done.enabled} people are`;
    const left =
      done.left === 0 ? '' : ` As they were: ${done.left} (active already, archived, or disabled otherwise).`;
    return { value: { importId, ...done }, text: `${people} active again.${left}` };
  });
}

async function describe(runs: ImportRuns, run: ImportRun): Promise<Answer> {
  const { describeRun } = await import('./import-answer.ts');
  return describeRun(run, runs);
}

function idOf({ args: [text = ''] }: Call): number {
  return readId(text);
}

function readId(text: string): number {
  const id = toId(text);
  if (id > 0) return id;
  throw new DomainError('invalidValue', `The id of a run is a number, not "${text}".`);
}
