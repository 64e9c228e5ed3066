import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { ImportView } from '../../admin/import-model.ts';
import type { SourceView } from '../../admin/source-model.ts';
import { useLook } from '../api.ts';
import { Loaded, Page, Section } from '../parts.tsx';
import { ImportRows } from './imports.tsx';
import { SourceRows } from './sources.tsx';

const liveMs = 5_000;

/** What waits for a decision comes first. */
export function HomePage() {
  const client = useQueryClient();
  const [said, setSaid] = useState('');
  const sources = useLook<{ readonly sources: readonly SourceView[] }>('/sources');
  const imports = useLook<{ readonly imports: readonly ImportView[] }>('/imports?limit=20', {
    every: liveMs,
  });
  const waiting = (imports.data?.imports ?? []).filter(({ status }) => status === 'awaiting-approval');
  const refresh = async () => {
    setSaid('');
    await client.refetchQueries();
    setSaid('Refreshed.');
  };
  return (
    <Page
      title="Home"
      actions={
        <Button variant="default" onClick={() => void refresh()}>
          Refresh
        </Button>
      }
    >
      {waiting.length === 0 ? null : (
        <Section title="Waiting for you">
          <ImportRows imports={waiting} label="Imports that wait for approval" />
        </Section>
      )}
      <Section title="Profile sources">
        <Loaded of={sources}>{(listed) => <SourceRows sources={listed.sources} />}</Loaded>
      </Section>
      <Section title="Newest imports">
        <Loaded of={imports}>
          {(listed) => <ImportRows imports={listed.imports} label="Newest imports" />}
        </Loaded>
      </Section>
      <output className="unseen">{said}</output>
    </Page>
  );
}
