import { DomainError } from '../errors.ts';
import { differences } from '../imports/comparison-store.ts';
import type { ComparedPerson, RunComparison } from '../imports/run-comparison.ts';
import type { ImportRuns } from '../imports/runs.ts';
import { type Answer, type Call, readNumber } from './command.ts';
import { csvCell } from './run-records.ts';
import { formatTable } from './table.ts';

const shownDefault = 100;
const shownMax = 1_000;
const peopleAtOnce = 1_000;

/** What `run compare` answers. With --csv everybody has been printed already when it does. */
export async function answerComparison(
  runs: ImportRuns,
  ids: { readonly importId: number; readonly otherId: number | undefined },
  call: Call,
): Promise<Answer> {
  const limit = readNumber(call, 'limit', { fallback: shownDefault, max: shownMax });
  const comparison = await runs.compare(ids.importId, ids.otherId);
  const { laterId: importId, earlierId: otherId, isDelta, counts } = comparison;
  const { csv, json } = call.options;
  if (csv === true && json === true) throw new DomainError('invalidValue', 'Give either --csv or --json.');
  if (csv === true) {
    await printCsv(runs, comparison);
    return { value: { importId, otherId, isDelta, counts } };
  }
  const people: Record<string, ComparedPerson[]> = {};
  for (const difference of differences)
    people[difference] = await runs.compared(comparison, { difference, after: '', limit });
  return { value: { importId, otherId, isDelta, counts, ...people }, text: describe(comparison, people) };
}

function describe(
  { laterId, earlierId, isDelta, counts }: RunComparison,
  people: Readonly<Record<string, readonly ComparedPerson[]>>,
): string {
  const removed = isDelta ? 'removed unknown (the file is a delta)' : `${counts.removed} removed`;
  const head = `Import ${laterId} compared with import ${earlierId}: ${counts.added} added, ${removed}, ${counts.changed} changed.`;
  const rows = Object.entries(people).flatMap(([difference, found]) =>
    found.map((person) => [difference, ...cellsOf(person)]),
  );
  const more = counts.added + counts.removed + counts.changed - rows.length;
  const table = formatTable(['', 'RECORD', 'ID', 'USERNAME', 'NAME', 'CHANGED'], rows);
  return [
    head,
    ...(rows.length === 0 ? [] : [table]),
    ...(more > 0 ? [`and ${more} more; --csv prints all of them.`] : []),
  ].join('\n');
}

function cellsOf({ recordId, userId, userName, displayName, changed }: ComparedPerson): string[] {
  const id = userId === null ? '' : String(userId);
  return [recordId, id, userName ?? '', displayName ?? '', changed.join(' ')];
}

async function printCsv(runs: ImportRuns, comparison: RunComparison): Promise<void> {
  const out = Bun.stdout.writer();
  out.write('difference,record,id,username,name,changed\r\n');
  for (const difference of differences) {
    for (let after: string | undefined = ''; after !== undefined; ) {
      const page: ComparedPerson[] = await runs.compared(comparison, {
        difference,
        after,
        limit: peopleAtOnce,
      });
      for (const person of page) out.write(`${[difference, ...cellsOf(person)].map(csvCell).join(',')}\r\n`);
      await out.flush();
      after = page.at(-1)?.recordId;
    }
  }
  await out.end();
}
