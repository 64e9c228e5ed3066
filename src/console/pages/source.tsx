import {
  Alert,
  Button,
  Checkbox,
  Code,
  Group,
  Modal,
  NumberInput,
  Stack,
  Switch,
  Text,
  TextInput,
} from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { ImportView } from '../../admin/import-model.ts';
import type { ShownTokenView, SourceDetailView } from '../../admin/source-model.ts';
import { ask, useChange, useLook } from '../api.ts';
import { type Column, Facts, Failure, Link, Loaded, Page, Rows, Section, State, Time } from '../parts.tsx';
import { href } from '../place.ts';
import { ImportRows } from './imports.tsx';
import { RequestRows } from './requests.tsx';
import { SettingsForm } from './source-settings.tsx';
import { kindNames } from './sources.tsx';
import { TokenBox } from './token.tsx';

const liveMs = 3_000;
const overlapDaysMax = 365;

export function SourcePage({ id }: { readonly id: string }) {
  const source = useLook<SourceDetailView>(`/sources/${encodeURIComponent(id)}`);
  return (
    <Page title={source.data?.name ?? `Source ${id}`}>
      <Loaded of={source}>
        {(shown) => (
          <>
            <Section
              title="Source"
              actions={
                <State tone={shown.active ? 'green' : 'gray'}>{shown.active ? 'Active' : 'Not active'}</State>
              }
            >
              <Facts
                rows={[
                  ['ID', shown.id],
                  ['Kind', kindNames[shown.kind]],
                  ['Api Url Suffix', <Code key="suffix">{shown.apiUrlSuffix}</Code>],
                  ['Created', <Time key="created" at={shown.created} />],
                ]}
              />
            </Section>
            <Identity key={`identity ${shown.name} ${shown.active}`} source={shown} />
            <Tokens source={shown} />
            <SettingsForm key={JSON.stringify(shown.settings)} source={shown} />
            {shown.kind === 'scim' ? <Requests id={shown.id} /> : <Imports source={shown} />}
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Identity({ source }: { readonly source: SourceDetailView }) {
  const [name, setName] = useState(source.name);
  const [active, setActive] = useState(source.active);
  const save = useChange(() =>
    ask<SourceDetailView>('PATCH', `/sources/${source.id}`, { body: { name, active } }),
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate();
  };
  const isChanged = name !== source.name || active !== source.active;
  return (
    <Section title="Name and state">
      <form onSubmit={submit}>
        <Stack>
          {save.error === null ? null : <Failure error={save.error} />}
          <TextInput
            label="Name"
            required
            withAsterisk={false}
            maxLength={200}
            value={name}
            description={
              source.kind === 'general'
                ? 'Files must name the source so, in “domain”, from then on.'
                : undefined
            }
            onChange={({ currentTarget }) => setName(currentTarget.value)}
          />
          <Switch
            label="Active"
            description="A source that is not active is refused."
            checked={active}
            onChange={({ currentTarget }) => setActive(currentTarget.checked)}
          />
          <Group>
            <Button type="submit" disabled={!isChanged} loading={save.isPending}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}

type TokenRow = SourceDetailView['tokens'][number];

const tokenColumns: readonly Column<TokenRow>[] = [
  { name: 'Token', of: ({ id }) => id },
  { name: 'Created', of: ({ created }) => <Time at={created} /> },
  { name: 'Ends', of: ({ expires }) => (expires === null ? 'never' : <Time at={expires} />) },
];

function Tokens({ source }: { readonly source: SourceDetailView }) {
  const label = source.kind === 'scim' ? 'Key' : 'Authorisation Token';
  const [isRotating, setRotating] = useState(false);
  const view = useChange(() => ask<ShownTokenView>('POST', `/sources/${source.id}/tokens/reveal`));
  return (
    <Section title={label}>
      <Stack>
        {view.error === null ? null : <Failure error={view.error} />}
        <TokenBox label={source.kind === 'scim' ? 'Base URL' : 'Upload address'} value={source.url} />
        {view.data === undefined ? null : <TokenBox label={label} value={view.data.token} />}
        <Group>
          <Button variant="default" onClick={() => view.mutate()} loading={view.isPending}>
            View {label.toLowerCase()}
          </Button>
          <Button variant="default" onClick={() => setRotating(true)}>
            Generate key
          </Button>
        </Group>
        <Rows
          label="Tokens in force"
          columns={tokenColumns}
          rows={source.tokens}
          keyOf={({ id }) => id}
          empty="No token is in force: nobody can send anything. Generate one."
        />
        {source.kind === 'general' && view.data !== undefined ? (
          <CurlLine url={source.url} token={view.data.token} />
        ) : null}
      </Stack>
      <Modal
        opened={isRotating}
        onClose={() => setRotating(false)}
        title="Generate another key"
        lockScroll={false}
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        <Rotate source={source} />
      </Modal>
    </Section>
  );
}

function CurlLine({ url, token }: { readonly url: string; readonly token: string }) {
  const line = `curl --fail-with-body -H 'X-ApiKey: ${token}' -H 'Content-Type: application/xml' --data-binary @people.xml '${url}'`;
  return <TokenBox label="Upload by curl" value={line} />;
}

function Rotate({ source }: { readonly source: SourceDetailView }) {
  const [days, setDays] = useState<number | string>(7);
  const rotate = useChange(() =>
    ask<ShownTokenView>('POST', `/sources/${source.id}/tokens`, { body: { overlapDays: Number(days) } }),
  );
  if (rotate.data !== undefined) {
    return (
      <Stack>
        <Alert color="green" role="status">
          Give this key to the outside system. The former ones end in {Number(days)} days.
        </Alert>
        <TokenBox label="New key" value={rotate.data.token} />
      </Stack>
    );
  }
  return (
    <Stack>
      {rotate.error === null ? null : <Failure error={rotate.error} />}
      <Text>
        {source.tokens.length} of its tokens are in force now. They stay in force for the overlap, so that the
        outside system can be changed in peace.
      </Text>
      <NumberInput
        label="Overlap, days"
        description="0 ends the former keys at once."
        min={0}
        max={overlapDaysMax}
        allowDecimal={false}
        value={days}
        onChange={setDays}
      />
      <Group justify="flex-end">
        <Button onClick={() => rotate.mutate()} loading={rotate.isPending} disabled={days === ''}>
          Generate
        </Button>
      </Group>
    </Stack>
  );
}

function Requests({ id }: { readonly id: number }) {
  const [isLive, setLive] = useState(true);
  return (
    <Section
      title="Request log"
      actions={
        <Group>
          <Checkbox
            label="Live"
            checked={isLive}
            onChange={({ currentTarget }) => setLive(currentTarget.checked)}
          />
          <Link to={href('requests', { source: id })}>All requests</Link>
        </Group>
      }
    >
      <RequestRows source={String(id)} limit={20} every={isLive ? liveMs : false} />
    </Section>
  );
}

function Imports({ source }: { readonly source: SourceDetailView }) {
  const path = `/imports?source=${source.id}&limit=20`;
  const listed = useLook<{ readonly imports: readonly ImportView[] }>(path, { every: liveMs });
  return (
    <Section title="Imports">
      <Loaded of={listed}>
        {({ imports }) => (
          <ImportRows
            imports={imports}
            label="Imports"
            empty="No document of this source has been imported yet. View the token above for a line that uploads one."
          />
        )}
      </Loaded>
    </Section>
  );
}
