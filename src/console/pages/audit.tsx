import { Button } from '@mantine/core';
import type { AuditView } from '../../admin/people-model.ts';
import { queryOf, useLook } from '../api.ts';
import { Loaded, Page, Rows, Section, Time } from '../parts.tsx';
import { setParams, usePlace } from '../place.ts';

type Entry = AuditView['entries'][number];

const pageRows = 50;

/** Who has changed how the service works, and what it was before. */
export function AuditPage() {
  const before = usePlace().params.get('before') ?? '';
  const listed = useLook<AuditView>(`/audit${queryOf({ before, limit: pageRows })}`);
  return (
    <Page title="Audit log">
      <Section title="Entries">
        <Loaded of={listed}>
          {({ entries, next }) => (
            <>
              <Rows
                label="Audit log"
                columns={[
                  { name: 'Time', of: ({ time }) => <Time at={time} /> },
                  { name: 'Who', of: whoOf },
                  { name: 'What', of: ({ action }) => action },
                  { name: 'Of', of: ({ subject }) => subject.name },
                  { name: 'Changed', of: (entry) => <Differences entry={entry} /> },
                ]}
                rows={entries}
                keyOf={({ seq }) => seq}
                empty="Nothing has been changed yet."
              />
              {before === '' ? null : (
                <Button mt="md" mr="sm" variant="default" onClick={() => setParams({ before: undefined })}>
                  Newest
                </Button>
              )}
              {next === null ? null : (
                <Button mt="md" variant="default" onClick={() => setParams({ before: next })}>
                  Older
                </Button>
              )}
            </>
          )}
        </Loaded>
      </Section>
    </Page>
  );
}

function whoOf({ by: { kind, name, clientAddress } }: Entry): string {
  const who = name ?? 'somebody';
  return kind === 'command'
    ? `${who}, at the command line`
    : `${who}, from ${clientAddress ?? 'the console'}`;
}

function Differences({ entry: { before, after } }: { readonly entry: Entry }) {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  return (
    <>
      {names.map((name) => (
        <p key={name}>
          <strong>{name}</strong>: {before === undefined ? '' : `${JSON.stringify(before[name] ?? null)} → `}
          {after === undefined ? 'removed' : JSON.stringify(after[name] ?? null)}
        </p>
      ))}
    </>
  );
}
