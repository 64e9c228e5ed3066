import type { RunStatus } from '../imports/imports.ts';
import type { ImportRun, ImportRuns } from '../imports/runs.ts';
import type { Answer } from './command.ts';
import { describeProgress } from './import-progress.ts';
import { formatFacts, plain } from './table.ts';

const issuesShownMax = 100;

/** What a command says of a run that is settled or awaits approval. */
export async function answerWith(run: ImportRun, runs: ImportRuns): Promise<Answer> {
  const failure = failureOf(run);
  return { ...(await describeRun(run, runs)), ...(failure === undefined ? {} : { failure }) };
}

/** What is known of a run, whatever has become of it. */
export async function describeRun(run: ImportRun, runs: ImportRuns): Promise<Answer> {
  const issues = await runs.issues(run.id, issuesShownMax);
  const { id: importId, ...rest } = run;
  return {
    value: { importId, ...rest, issues },
    text: [formatFacts(factsOf(run)), ...issues.map(issueLine)].join('\n'),
  };
}

function factsOf(run: ImportRun): [string, string][] {
  const isPlan = run.dryRun || run.status === 'awaiting-approval';
  const counts = isPlan ? (run.planned ?? run.counts) : run.counts;
  const shown = Object.entries(counts).filter(([, count]) => count > 0);
  return [
    ['run', String(run.id)],
    ['status', run.dryRun ? `${run.status} (dry run: nothing was changed)` : run.status],
    ...(run.message === undefined ? [] : [['message', run.message] as [string, string]]),
    ...(run.retryAt === undefined ? [] : [['retried at', run.retryAt] as [string, string]]),
    ...(run.progress === undefined ? [] : [['progress', describeProgress(run.progress)] as [string, string]]),
    ['users', String(run.users)],
    ['groups', String(run.groups)],
    ...shown.map(([name, count]): [string, string] => [name, String(count)]),
    ...run.warnings.map((warning): [string, string] => ['warning', warning]),
  ];
}

function issueLine({
  line,
  recordId,
  message,
}: {
  line: number | null;
  recordId: string | null;
  message: string;
}): string {
  const place = line === null ? '' : `line ${line}: `;
  return `${place}${recordId === null ? '' : `${plain(recordId)}: `}${plain(message)}`;
}

const succeeded: readonly RunStatus[] = ['completed', 'completed-with-errors'];

function failureOf({ id, status, message }: ImportRun): string | undefined {
  if (succeeded.includes(status)) return undefined;
  const reason = message === undefined ? '' : ` ${plain(message)}`;
  if (status !== 'awaiting-approval') return `Run ${id} is ${status}.${reason}`;
  return `Run ${id} awaits approval; nothing has been changed.${reason}`;
}
