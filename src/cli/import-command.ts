import type { Command } from 'commander';
import type { DocumentProblem } from '../xml/validate.ts';
import { type Answer, answering, type Call, type Exit } from './command.ts';
import { formatFacts, plain } from './table.ts';

export function registerImport(program: Command, exit: Exit): void {
  answering(
    program
      .command('validate')
      .description('check a profile file as an upload would')
      .argument('<FILE>', 'the XML file'),
    exit,
    { settings: [], action: validate },
  );
  answering(
    program
      .command('import')
      .description('import a profile file and wait for the result')
      .argument('<FILE>', 'the XML file')
      .requiredOption('--source <NAME>', 'name or id of a general source')
      .option('--dry-run', 'plan the import and change nothing')
      .option('--approve', 'apply it even if the guard would hold it')
      .option('--force', 'import the file even if it is the one imported last'),
    exit,
    { action: importFile },
  );
}

async function validate({ args: [file = ''] }: Call): Promise<Answer> {
  const { inspectDocument } = await import('../imports/inspect.ts');
  const { requireFile } = await import('./import-file.ts');
  const verdict = await inspectDocument({ file: await requireFile(file) });
  if (!verdict.valid) {
    return { value: verdict, text: problemLines(verdict.errors), failure: invalidSentence(file, verdict) };
  }
  const { domain, ldapid, users, groups, options, warnings } = verdict;
  const facts = { domain, ldapid, users, groups, ...options };
  const lines = formatFacts(Object.entries(facts).map(([name, value]) => [name, String(value)]));
  const notes = warnings.map((warning) => `Note: ${plain(warning)}`);
  return { value: verdict, text: ['The file is valid.', lines, ...notes].join('\n') };
}

async function importFile(call: Call): Promise<Answer> {
  const { importDocument } = await import('./import-file.ts');
  const { DocumentRefused } = await import('../imports/intake.ts');
  try {
    return await importDocument(call);
  } catch (error) {
    if (!(error instanceof DocumentRefused)) throw error;
    const { problems, total, isTotalPartial } = error;
    return {
      value: { status: 'refused', errors: problems, total, isTotalPartial },
      text: problemLines(problems),
      failure: invalidSentence(call.args[0] ?? '', error),
    };
  }
}

function problemLines(problems: readonly DocumentProblem[]): string {
  return problems
    .map(
      ({ line, column, path, message }) =>
        `${line}:${column} ${path === '' ? '' : `${plain(path)} `}${plain(message)}`,
    )
    .join('\n');
}

function invalidSentence(
  file: string,
  { total, isTotalPartial }: { readonly total: number; readonly isTotalPartial: boolean },
): string {
  const count = `${isTotalPartial ? 'at least ' : ''}${total === 1 ? 'one error' : `${total} errors`}`;
  return `The file ${plain(file)} is not valid: ${count}.`;
}
