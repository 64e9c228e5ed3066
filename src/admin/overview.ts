import { Elysia } from 'elysia';
import type { ImportRun, ImportRuns } from '../imports/runs.ts';
import type { Source } from '../sources/source-store.ts';
import type { Sources } from '../sources/sources.ts';
import { answer } from './answer.ts';
import { type ImportView, listQuery, type SourceView } from './model.ts';
import { overviewOperations } from './openapi.ts';

const importsShown = 20;

/** Path of a source's endpoint on this service, as the outside system is told it. */
export type ApiUrlSuffix = (source: Source) => string;

/** What the first page shows: the sources, without their tokens, and the newest imports. */
export function overview({ sources, runs, apiUrlSuffix }: OverviewParts) {
  return new Elysia({ name: 'admin.overview' })
    .get(
      '/sources',
      async () => {
        const views = (await sources.list()).map((source) => toSourceView(source, apiUrlSuffix(source)));
        return answer({ sources: views });
      },
      { detail: overviewOperations.sources },
    )
    .get(
      '/imports',
      async ({ query: { limit = importsShown } }) => {
        return answer({ imports: (await runs.list({ limit })).map(toImportView) });
      },
      { query: listQuery, detail: overviewOperations.imports },
    );
}

export interface OverviewParts {
  readonly sources: Pick<Sources, 'list'>;
  readonly runs: Pick<ImportRuns, 'list'>;
  readonly apiUrlSuffix: ApiUrlSuffix;
}

function toSourceView({ id, name, kind, active }: Source, apiUrlSuffix: string): SourceView {
  return { id, name, kind, active, apiUrlSuffix };
}

function toImportView(run: ImportRun): ImportView {
  const { id, sourceId, status, dryRun, users, groups, counts, message, created, finished } = run;
  const times = { created, finished: finished ?? null };
  return { id, sourceId, status, dryRun, users, groups, counts, message: message ?? null, ...times };
}
