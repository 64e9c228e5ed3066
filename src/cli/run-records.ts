import { DomainError } from '../errors.ts';
import { type PlanAction, planActions } from '../imports/imports.ts';
import type { RunRecord } from '../imports/run-records.ts';
import type { ImportRuns } from '../imports/runs.ts';
import type { Answer, Call } from './command.ts';
import { formatTable, plain } from './table.ts';

const shownDefault = 100;
const shownMax = 1_000;
const recordsAtOnce = 1_000;

/** What `run records` answers. With --csv the records have been printed already when it does. */
export async function answerRecords(runs: ImportRuns, importId: number, { options }: Call): Promise<Answer> {
  const action = actionOf(options.action);
  if (options.csv === true && options.json === true)
    throw new DomainError('invalidValue', 'Give either --csv or --json.');
  if (options.csv === true) return printCsv(runs, importId, action);
  const [after, limit] = [numberOf(options.after, 0), numberOf(options.limit, shownDefault)];
  const records = await runs.records(importId, { after, limit: Math.min(limit, shownMax), action });
  return { value: { importId, records }, text: describe(importId, records) };
}

function describe(importId: number, records: readonly RunRecord[]): string {
  if (records.length === 0) return `Import ${importId} has no such records, or they are not kept any more.`;
  const headings = ['SEQ', 'LINE', 'KIND', 'RECORD', 'OUTCOME', 'ID', 'CHANGED'];
  return formatTable(headings, records.map(cellsOf));
}

function cellsOf({ seq, line, kind, recordId, action, resourceId, changed }: RunRecord): string[] {
  const number = (value: number | null) => (value === null ? '' : String(value));
  return [number(seq), number(line), kind, recordId ?? '', action, number(resourceId), changed.join(' ')];
}

async function printCsv(runs: ImportRuns, importId: number, action: PlanAction | undefined): Promise<Answer> {
  const out = Bun.stdout.writer();
  out.write('seq,line,kind,record,outcome,id,changed\r\n');
  let [after, count] = [0, 0];
  for (;;) {
    const records = await runs.records(importId, { after, limit: recordsAtOnce, action });
    const last = records.at(-1);
    if (last === undefined) break;
    for (const record of records) out.write(`${cellsOf(record).map(csvCell).join(',')}\r\n`);
    await out.flush();
    after = last.seq;
    count += records.length;
  }
  await out.end();
  return { value: { importId, records: count } };
}

/** RFC 4180. What a spreadsheet would take for a formula gets an apostrophe in front. */
export function csvCell(text: string): string {
  const shown = plain(/^[=+\-@]/.test(text) ? `'${text}` : text);
  return /[",\r\n]/.test(shown) ? `"${shown.replaceAll('"', '""')}"` : shown;
}

function actionOf(text: string | undefined): PlanAction | undefined {
  const action = planActions.find((known) => known === text);
  if (text === undefined || action !== undefined) return action;
  throw new DomainError('invalidValue', `--action takes one of ${planActions.join(', ')}, not "${text}".`);
}

function numberOf(text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new DomainError('invalidValue', `--after and --limit take a whole number, not "${text}".`);
}
