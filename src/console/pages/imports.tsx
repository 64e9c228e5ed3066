import { Button, NativeSelect } from '@mantine/core';
import type { ImportView } from '../../admin/import-model.ts';
import type { SourceView } from '../../admin/source-model.ts';
import { queryOf, useLook } from '../api.ts';
import { type Column, Link, Loaded, Page, Rows, Section, State, Time } from '../parts.tsx';
import { href, setParams, usePlace } from '../place.ts';
import { countText, runStatus } from '../words.ts';

const liveMs = 2_000;
const listedMax = '100';

/** Names of sources by id, for lists that know only the id. */
export function useSourceNames(): ReadonlyMap<number, string> {
  const { data } = useLook<{ readonly sources: readonly SourceView[] }>('/sources');
  return new Map((data?.sources ?? []).map(({ id, name }) => [id, name]));
}

/** What a run has done; of one that waits, what it will do; of a dry run, what it would do. */
export function numbersOf(run: ImportView): {
  readonly tense: 'done' | 'will' | 'would';
  readonly counts: Readonly<Record<string, number>>;
} {
  const { status, dryRun, planned, counts } = run;
  if (planned === null) return { tense: 'done', counts };
  if (dryRun) return { tense: 'would', counts: planned };
  return status === 'awaiting-approval' ? { tense: 'will', counts: planned } : { tense: 'done', counts };
}

export function RunState({ run }: { readonly run: ImportView }) {
  const [text, tone] = runStatus(run.status);
  return (
    <>
      <State tone={tone}>{run.dryRun ? `${text} (dry run)` : text}</State>
      {run.message === null ? null : <p className="hint">{run.message}</p>}
    </>
  );
}

interface ImportRowsProps {
  readonly imports: readonly ImportView[];
  readonly label: string;
  readonly empty?: string;
}

const emptyText = 'No document has been imported yet. The page of a general source shows how to upload one.';

export function ImportRows({ imports, label, empty = emptyText }: ImportRowsProps) {
  const names = useSourceNames();
  const count = (name: string, key: string): Column<ImportView> => ({
    name,
    isNumber: true,
    of: (run) => {
      const { tense, counts } = numbersOf(run);
      return tense === 'done' ? countText(counts[key]) : `${countText(counts[key])} planned`;
    },
  });
  const columns: readonly Column<ImportView>[] = [
    { name: 'Import', of: ({ id }) => <Link to={href(`imports/${id}`)}>{id}</Link> },
    { name: 'Received', of: ({ created }) => <Time at={created} /> },
    { name: 'Source', of: ({ sourceId }) => names.get(sourceId) ?? `Source ${sourceId}` },
    { name: 'Status', of: (run) => <RunState run={run} /> },
    { name: 'Users', isNumber: true, of: ({ users }) => countText(users) },
    count('Created', 'created'),
    count('Updated', 'updated'),
    count('Disabled', 'disabled'),
    count('Issues', 'issues'),
  ];
  return <Rows label={label} columns={columns} rows={imports} keyOf={({ id }) => id} empty={empty} />;
}

export function ImportsPage() {
  const source = usePlace().params.get('source') ?? '';
  const names = useSourceNames();
  const path = `/imports${queryOf({ limit: listedMax, source })}`;
  const listed = useLook<{ readonly imports: readonly ImportView[] }>(path, { every: liveMs });
  const choices = [...names].map(([id, name]) => ({ value: String(id), label: name }));
  return (
    <Page
      title="Imports"
      actions={
        <Button variant="default" onClick={() => void listed.refetch()}>
          Refresh
        </Button>
      }
    >
      <NativeSelect
        label="Source"
        mb="md"
        data={[{ value: '', label: 'All sources' }, ...choices]}
        value={source}
        onChange={({ currentTarget }) => setParams({ source: currentTarget.value })}
      />
      <Section title="Newest imports">
        <Loaded of={listed}>
          {({ imports }) => <ImportRows imports={imports} label="Newest imports" />}
        </Loaded>
      </Section>
    </Page>
  );
}
