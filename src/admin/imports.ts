import { Elysia } from 'elysia';
import { type RerunParts, requireArchived, rerun, retry } from '../imports/rerun.ts';
import type { ImportRun, ImportRuns } from '../imports/runs.ts';
import { toId } from '../resource/resource-id.ts';
import type { Operator } from '../security/audit.ts';
import type { Sources } from '../sources/sources.ts';
import { answer } from './answer.ts';
import {
  type ComparisonView,
  comparisonQuery,
  type ImportView,
  type IssueListView,
  importParams,
  importsQuery,
  issuesQuery,
  type RecordListView,
  type ReEnabledView,
  recordsQuery,
  repeatRequest,
} from './import-model.ts';
import { emptyRequest } from './model.ts';
import { describe, shows } from './openapi.ts';

export interface ImportsParts {
  readonly runs: ImportRuns;
  readonly reruns: RerunParts;
  readonly sources: Pick<Sources, 'getGeneral'>;
  readonly operatorOf: (request: Request) => Operator;
}

const listedDefault = 20;
const pageDefault = 100;
const params = importParams;
const oneRun = shows('ImportRun', 'The import.');
const ofRun = { kinds: ['notFound'] } as const;

/** Import runs: what is known of them, and what a person decides about them. */
export function imports(parts: ImportsParts) {
  const { runs } = parts;
  return new Elysia({ name: 'admin.imports' })
    .get(
      '/imports',
      async ({ query: { source, limit = listedDefault } }) => {
        const found = await runs.list({ limit, ...(source === undefined ? {} : { sourceId: toId(source) }) });
        return answer({ imports: found.map(toImportView) });
      },
      {
        query: importsQuery,
        detail: describe({
          id: 'listImports',
          summary: 'List the newest imports',
          query: importsQuery,
          answers: { 200: shows('ImportRunList', 'The imports, newest first.') },
        }),
      },
    )
    .get('/imports/:run', async ({ params: { run } }) => answer(toImportView(await runs.get(toId(run)))), {
      params,
      detail: describe({
        id: 'readImport',
        summary: 'Show an import',
        params,
        answers: { 200: oneRun },
        ...ofRun,
      }),
    })
    .get(
      '/imports/:run/issues',
      async ({ params: { run }, query: { limit = pageDefault } }) => {
        const { id } = await runs.get(toId(run));
        return answer({ issues: await runs.issues(id, limit) } satisfies IssueListView);
      },
      {
        params,
        query: issuesQuery,
        detail: describe({
          id: 'listImportIssues',
          summary: 'List what was found wrong in a document',
          params,
          query: issuesQuery,
          answers: { 200: shows('ImportRunIssues', 'The issues, in the order in which they were found.') },
          ...ofRun,
        }),
      },
    )
    .get(
      '/imports/:run/records',
      async ({ params: { run }, query: { after = 0, limit = pageDefault, action } }) => {
        const records = await runs.records(toId(run), { after, limit, action });
        return answer({
          records: records.map((record) => ({ ...record, changed: [...record.changed] })),
        } satisfies RecordListView);
      },
      {
        params,
        query: recordsQuery,
        detail: describe({
          id: 'listImportRecords',
          summary: 'List what became of the records of a document',
          params,
          query: recordsQuery,
          answers: { 200: shows('ImportRunRecords', 'Records, in the order of the plan.') },
          ...ofRun,
        }),
      },
    )
    .get('/imports/:run/log', async ({ params: { run } }) => answer({ log: await runs.log(toId(run)) }), {
      params,
      detail: describe({
        id: 'readImportLog',
        summary: 'Read the log of an import',
        params,
        answers: { 200: shows('ImportRunLog', 'The log, as text.') },
        ...ofRun,
      }),
    })
    .get(
      '/imports/:run/comparison',
      async ({ params: { run }, query: { earlier, limit = pageDefault } }) =>
        answer(await compared(runs, toId(run), { earlier, limit })),
      {
        params,
        query: comparisonQuery,
        detail: describe({
          id: 'compareImport',
          summary: 'Compare the document of an import with an earlier one',
          params,
          query: comparisonQuery,
          answers: { 200: shows('ImportRunComparison', 'Whom the document adds, removes and changes.') },
          ...ofRun,
        }),
      },
    )
    .use(decisions(parts))
    .use(repetitions(parts));
}

const decided = { kinds: ['notFound', 'storageFull'] } as const;

function decisions({ runs, operatorOf }: ImportsParts) {
  const decision = (id: string, summary: string) => ({
    params,
    body: emptyRequest,
    detail: describe({ id, summary, params, body: 'EmptyRequest', answers: { 200: oneRun }, ...decided }),
  });
  return new Elysia({ name: 'admin.imports.decisions' })
    .post(
      '/imports/:run/approve',
      async ({ request, params: { run } }) =>
        answer(toImportView(await runs.approve(toId(run), operatorOf(request)))),
      decision('approveImport', 'Let an import go on that waits for approval'),
    )
    .post(
      '/imports/:run/reject',
      async ({ request, params: { run } }) =>
        answer(toImportView(await runs.reject(toId(run), operatorOf(request)))),
      decision('rejectImport', 'End an import that waits for approval'),
    )
    .post(
      '/imports/:run/cancel',
      async ({ request, params: { run } }) =>
        answer(toImportView(await runs.cancel(toId(run), operatorOf(request)))),
      decision('cancelImport', 'End an import that is not over; what it has done stays'),
    )
    .post(
      '/imports/:run/re-enable',
      async ({ params: { run } }) => answer((await runs.reEnable(toId(run))) satisfies ReEnabledView),
      {
        params,
        body: emptyRequest,
        detail: describe({
          id: 'reEnablePeople',
          summary: 'Make everyone active again whom the import disabled, and nobody has touched since',
          params,
          body: 'EmptyRequest',
          answers: { 200: shows('ReEnabled', 'How many are active again, and how many were left.') },
          ...decided,
        }),
      },
    );
}

/** The document of an earlier run, taken in once more. */
function repetitions({ runs, reruns, sources }: ImportsParts) {
  const repetition = (id: string, summary: string) => ({
    params,
    body: repeatRequest,
    detail: describe({
      id,
      summary,
      params,
      body: 'RepeatRequest',
      answers: { 202: shows('ImportRun', 'The new import.') },
      kinds: ['notFound', 'limitExceeded', 'storageFull'],
    }),
  });
  const repeat = async (again: typeof rerun, run: number, dryRun: boolean) => {
    const archived = await requireArchived(reruns.database, run);
    const source = await sources.getGeneral(String(archived.source_id));
    const { importId } = await again(reruns, source, archived, { dryRun });
    return answer(toImportView(await runs.get(importId)), { status: 202 });
  };
  return new Elysia({ name: 'admin.imports.repetitions' })
    .post(
      '/imports/:run/rerun',
      ({ params: { run }, body: { dryRun = false } }) => repeat(rerun, toId(run), dryRun),
      repetition('rerunImport', 'Import the document of an import again, from the archive'),
    )
    .post(
      '/imports/:run/retry',
      ({ params: { run }, body: { dryRun = false } }) => repeat(retry, toId(run), dryRun),
      repetition('retryImport', 'Import those users of an import again about whom it has issues'),
    );
}

async function compared(
  runs: ImportRuns,
  id: number,
  { earlier, limit }: { readonly earlier: string | undefined; readonly limit: number },
): Promise<ComparisonView> {
  const comparison = await runs.compare(id, earlier === undefined ? undefined : toId(earlier));
  const people = async (difference: 'added' | 'removed' | 'changed') =>
    (await runs.compared(comparison, { difference, after: '', limit })).map((person) => ({
      ...person,
      changed: [...person.changed],
    }));
  const { laterId, earlierId, isDelta, counts } = comparison;
  const [added, removed, changed] = [await people('added'), await people('removed'), await people('changed')];
  return { laterId, earlierId, isDelta, counts: { ...counts }, added, removed, changed };
}

export function toImportView(run: ImportRun): ImportView {
  const { progress, planned, message, retryAt, started, finished, warnings, ...facts } = run;
  return {
    ...facts,
    progress: progress === undefined ? null : { ...progress },
    planned: planned === undefined ? null : { ...planned },
    counts: { ...run.counts },
    message: message ?? null,
    warnings: [...warnings],
    retryAt: retryAt ?? null,
    started: started ?? null,
    finished: finished ?? null,
  };
}
