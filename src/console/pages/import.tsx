import { Alert, Button, Group, Modal, NativeSelect, Progress, Stack, Tabs, Text, Title } from '@mantine/core';
import { useState } from 'react';
import type {
  ComparisonView,
  ImportView,
  IssueListView,
  RecordListView,
  ReEnabledView,
} from '../../admin/import-model.ts';
import { ask, queryOf, useChange, useLook } from '../api.ts';
import { type Column, Facts, Failure, Link, Loaded, Page, Rows, Section, Time } from '../parts.tsx';
import { go, href, setParams, usePlace } from '../place.ts';
import { bytesText, countText, spaced } from '../words.ts';
import { numbersOf, RunState, useSourceNames } from './imports.tsx';

const liveMs = 1_000;
const moving = new Set(['queued', 'planning', 'applying']);
const pageRows = 100;

export function ImportPage({ id }: { readonly id: string }) {
  const path = `/imports/${encodeURIComponent(id)}`;
  const [isLive, setLive] = useState(true);
  const run = useLook<ImportView>(path, { every: isLive ? liveMs : false });
  const isMoving = run.data === undefined || moving.has(run.data.status);
  if (isLive !== isMoving) setLive(isMoving);
  return (
    <Page title={`Import ${id}`} actions={run.data === undefined ? undefined : <Decisions run={run.data} />}>
      <Loaded of={run}>
        {(shown) => (
          <>
            <Summary run={shown} />
            <Details run={shown} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Summary({ run }: { readonly run: ImportView }) {
  const names = useSourceNames();
  const { progress } = run;
  const { tense, counts } = numbersOf(run);
  return (
    <Section title="State">
      <Stack>
        <div>
          <RunState run={run} />
        </div>
        {progress === null ? null : <RunProgress progress={progress} />}
        {run.warnings.map((warning) => (
          <Alert key={warning} color="yellow">
            {warning}
          </Alert>
        ))}
        <Facts
          rows={[
            [
              'Source',
              <Link key="source" to={href(`sources/${run.sourceId}`)}>
                {names.get(run.sourceId) ?? run.sourceId}
              </Link>,
            ],
            ['Came by', run.origin],
            ['Received', <Time key="created" at={run.created} />],
            ['Begun', <Time key="started" at={run.started} />],
            ['Over', <Time key="finished" at={run.finished} />],
            [
              'Document',
              `${bytesText(run.bytes)}, ${countText(run.users)} users, ${countText(run.groups)} groups`,
            ],
          ]}
        />
        <Title order={3} size="h5">
          {tenses[tense]}
        </Title>
        <Facts
          rows={Object.entries(counts).map(([name, count]) => [spaced(name), countText(count)] as const)}
        />
      </Stack>
    </Section>
  );
}

const tenses = { done: 'What it has done', will: 'What it will do', would: 'What it would do' } as const;

function RunProgress({ progress }: { readonly progress: NonNullable<ImportView['progress']> }) {
  const { phase, done, total, secondsLeft } = progress;
  const percent = total === 0 ? 0 : Math.min(100, Math.round((done / total) * 100));
  const left = secondsLeft === undefined ? '' : `, about ${countText(secondsLeft)} s left in this phase`;
  return (
    <div>
      <Text size="sm">
        Phase {phase}: {countText(done)} of {countText(total)}
        {left}
      </Text>
      <Progress.Root size="lg">
        <Progress.Section value={percent} aria-label={`Progress of the phase ${phase}`} />
      </Progress.Root>
    </div>
  );
}

type Decision = 'approve' | 'reject' | 'cancel' | 're-enable' | 'rerun' | 'retry';

interface Choice {
  readonly decision: Decision;
  readonly label: string;
  readonly color?: string;
  /** What it will do, with the numbers. */
  readonly consequence: string;
}

function choicesOf(run: ImportView): Choice[] {
  const ended = (run.planned?.disabled ?? 0) + (run.planned?.archived ?? 0);
  if (run.status === 'awaiting-approval') {
    const plan = run.planned ?? {};
    const numbers = `create ${countText(plan.created)}, update ${countText(plan.updated)}, disable ${countText(plan.disabled)} and archive ${countText(plan.archived)} people`;
    return [
      { decision: 'approve', label: 'Approve', consequence: `This will ${numbers}.` },
      {
        decision: 'reject',
        label: 'Reject',
        color: 'red',
        consequence: `Nothing of it will be done: ${countText(ended)} people stay as they are.`,
      },
    ];
  }
  if (moving.has(run.status)) {
    return [
      {
        decision: 'cancel',
        label: 'Cancel',
        color: 'red',
        consequence: 'What has been done so far stays; the rest is not done.',
      },
    ];
  }
  const disabled = run.counts.disabled ?? 0;
  const issues = run.counts.issues ?? 0;
  return [
    ...(disabled === 0 || run.dryRun
      ? []
      : [
          {
            decision: 're-enable',
            label: 'Enable again',
            consequence: `The ${countText(disabled)} people whom it disabled become active again, but for those whom somebody has touched since.`,
          } as const,
        ]),
    ...(issues === 0
      ? []
      : [
          {
            decision: 'retry',
            label: 'Retry what failed',
            consequence: 'Those users of the document about whom there are issues are imported again.',
          } as const,
        ]),
    {
      decision: 'rerun',
      label: 'Run again',
      consequence:
        'The archived document is imported again, as if it came in now. Passwords are not in the archive.',
    },
  ];
}

function Decisions({ run }: { readonly run: ImportView }) {
  const [choice, setChoice] = useState<Choice>();
  return (
    <>
      {choicesOf(run).map((each) => (
        <Button
          key={each.decision}
          variant={each.decision === 'approve' ? 'filled' : 'default'}
          color={each.color ?? 'blue'}
          onClick={() => setChoice(each)}
        >
          {each.label}
        </Button>
      ))}
      <Modal
        opened={choice !== undefined}
        onClose={() => setChoice(undefined)}
        title={choice === undefined ? '' : `${choice.label}?`}
        lockScroll={false}
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        {choice === undefined ? null : (
          <Confirm run={run} choice={choice} onDone={() => setChoice(undefined)} />
        )}
      </Modal>
    </>
  );
}

interface ConfirmProps {
  readonly run: ImportView;
  readonly choice: Choice;
  readonly onDone: () => void;
}

function Confirm({ run, choice: { decision, label, color, consequence }, onDone }: ConfirmProps) {
  const decide = useChange(() => ask<ImportView | ReEnabledView>('POST', `/imports/${run.id}/${decision}`));
  const act = async () => {
    const answer = await decide.mutateAsync();
    onDone();
    if (decision === 'rerun' || decision === 'retry') go(`imports/${(answer as ImportView).id}`);
  };
  return (
    <Stack>
      {decide.error === null ? null : <Failure error={decide.error} />}
      <Text>{consequence}</Text>
      <Group justify="flex-end">
        <Button variant="default" onClick={onDone}>
          Not now
        </Button>
        <Button
          color={color ?? 'blue'}
          loading={decide.isPending}
          onClick={() => void act().catch(() => undefined)}
        >
          {label}
        </Button>
      </Group>
    </Stack>
  );
}

function Details({ run }: { readonly run: ImportView }) {
  // Whoever decides wants to know who is hit.
  const first = run.status === 'awaiting-approval' ? 'comparison' : 'issues';
  const tab = usePlace().params.get('tab') ?? first;
  return (
    <Tabs value={tab} onChange={(next) => setParams({ tab: next ?? undefined })} keepMounted={false}>
      <Tabs.List mb="md">
        <Tabs.Tab value="issues">Issues</Tabs.Tab>
        <Tabs.Tab value="records">Records</Tabs.Tab>
        <Tabs.Tab value="comparison">Comparison</Tabs.Tab>
        <Tabs.Tab value="log">Log</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="issues">
        <Issues run={run} />
      </Tabs.Panel>
      <Tabs.Panel value="records">
        <Records run={run} />
      </Tabs.Panel>
      <Tabs.Panel value="comparison">
        <Comparison run={run} />
      </Tabs.Panel>
      <Tabs.Panel value="log">
        <RunLog run={run} />
      </Tabs.Panel>
    </Tabs>
  );
}

type IssueRow = IssueListView['issues'][number];

const issueColumns: readonly Column<IssueRow>[] = [
  { name: 'Line', isNumber: true, of: ({ line }) => line ?? '–' },
  { name: 'Record', of: ({ recordId }) => recordId ?? '–' },
  { name: 'Code', of: ({ code }) => code },
  { name: 'What is wrong', of: ({ message }) => message },
];

function Issues({ run }: { readonly run: ImportView }) {
  const issues = useLook<IssueListView>(`/imports/${run.id}/issues?limit=1000`);
  return (
    <Loaded of={issues}>
      {(found) => (
        <Rows
          label="Issues"
          columns={issueColumns}
          rows={found.issues}
          keyOf={({ line, code, recordId, message }) => `${line} ${code} ${recordId} ${message}`}
          empty="Nothing was found wrong."
        />
      )}
    </Loaded>
  );
}

type RecordRow = RecordListView['records'][number];

const recordColumns: readonly Column<RecordRow>[] = [
  { name: 'Record', of: ({ recordId }) => recordId ?? '–' },
  { name: 'Line', isNumber: true, of: ({ line }) => line ?? '–' },
  { name: 'Outcome', of: ({ action }) => action },
  {
    name: 'Who',
    of: ({ kind, resourceId }) => {
      if (resourceId === null) return '–';
      return <Link to={href(`${kind === 'group' ? 'groups' : 'users'}/${resourceId}`)}>{resourceId}</Link>;
    },
  },
  { name: 'Changed', of: ({ changed }) => changed.join(', ') },
];

const actions = [
  'create',
  'update',
  'reactivate',
  'disable',
  'archive',
  'unchanged',
  'skip',
  'issue',
  'failed',
];

function Records({ run }: { readonly run: ImportView }) {
  const action = usePlace().params.get('action') ?? '';
  const [starts, setStarts] = useState<readonly number[]>([0]);
  const after = starts.at(-1) ?? 0;
  const path = `/imports/${run.id}/records${queryOf({ action, after, limit: pageRows })}`;
  const records = useLook<RecordListView>(path);
  const choose = (next: string) => {
    setStarts([0]);
    setParams({ action: next });
  };
  return (
    <Stack>
      <NativeSelect
        label="Outcome"
        data={[{ value: '', label: 'All' }, ...actions]}
        value={action}
        onChange={({ currentTarget }) => choose(currentTarget.value)}
      />
      <Loaded of={records}>
        {(found) => (
          <>
            <Rows
              label="Records"
              columns={recordColumns}
              rows={found.records}
              keyOf={({ seq }) => seq}
              empty="There are no such records; they are kept as long as the document is in the archive."
            />
            <Group>
              <Button
                variant="default"
                disabled={starts.length === 1}
                onClick={() => setStarts(starts.slice(0, -1))}
              >
                Back
              </Button>
              <Button
                variant="default"
                disabled={found.records.length < pageRows}
                onClick={() => setStarts([...starts, found.records.at(-1)?.seq ?? 0])}
              >
                Next
              </Button>
            </Group>
          </>
        )}
      </Loaded>
    </Stack>
  );
}

type PersonRow = ComparisonView['added'][number];

const personColumns: readonly Column<PersonRow>[] = [
  { name: 'Record', of: ({ recordId }) => recordId },
  {
    name: 'Person',
    of: ({ userId, userName, displayName }) =>
      userId === null ? '–' : <Link to={href(`users/${userId}`)}>{displayName ?? userName ?? userId}</Link>,
  },
  { name: 'Changed', of: ({ changed }) => changed.join(', ') },
];

function Comparison({ run }: { readonly run: ImportView }) {
  const comparison = useLook<ComparisonView>(`/imports/${run.id}/comparison`);
  return (
    <Loaded of={comparison}>
      {(found) => (
        <Stack>
          <Text>
            Compared with <Link to={href(`imports/${found.earlierId}`)}>import {found.earlierId}</Link>.
          </Text>
          {(['added', 'removed', 'changed'] as const).map((difference) => (
            <Section key={difference} title={`${spaced(difference)}: ${countText(found.counts[difference])}`}>
              <Rows
                label={spaced(difference)}
                columns={personColumns}
                rows={found[difference]}
                keyOf={({ recordId }) => recordId}
                empty="Nobody."
              />
            </Section>
          ))}
        </Stack>
      )}
    </Loaded>
  );
}

function RunLog({ run }: { readonly run: ImportView }) {
  const log = useLook<{ readonly log: string }>(`/imports/${run.id}/log`);
  return <Loaded of={log}>{({ log: text }) => <pre className="text">{text}</pre>}</Loaded>;
}
