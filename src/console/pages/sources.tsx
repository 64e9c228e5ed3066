import { Alert, Button, Code, Group, Modal, NativeSelect, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { CreatedSourceView, SourceView } from '../../admin/source-model.ts';
import { ask, useChange, useLook } from '../api.ts';
import { type Column, Failure, Link, Loaded, Page, Rows, Section, State } from '../parts.tsx';
import { go, href } from '../place.ts';
import { TokenBox } from './token.tsx';

export const kindNames = { scim: 'SCIM', general: 'General' } as const;
const nameLengthMax = 200;

const columns: readonly Column<SourceView>[] = [
  { name: 'ID', of: ({ id }) => id },
  { name: 'Name', of: ({ id, name }) => <Link to={href(`sources/${id}`)}>{name}</Link> },
  { name: 'Kind', of: ({ kind }) => kindNames[kind] },
  { name: 'Api Url Suffix', of: ({ apiUrlSuffix }) => <Code>{apiUrlSuffix}</Code> },
  {
    name: 'State',
    of: ({ active }) => <State tone={active ? 'green' : 'gray'}>{active ? 'Active' : 'Not active'}</State>,
  },
];

export function SourceRows({ sources }: { readonly sources: readonly SourceView[] }) {
  return (
    <Rows
      label="Profile sources"
      columns={columns}
      rows={sources}
      keyOf={({ id }) => id}
      empty={
        <>
          There is no source yet. <Link to={href('sources')}>Profile sources</Link> makes the first: SCIM for
          an identity provider, general for files of an HR system.
        </>
      }
    />
  );
}

export function SourcesPage() {
  const listed = useLook<{ readonly sources: readonly SourceView[] }>('/sources');
  const [isMaking, setMaking] = useState(false);
  return (
    <Page
      title="Manage profile sources"
      actions={<Button onClick={() => setMaking(true)}>Create a source</Button>}
    >
      <Section title="Profile sources">
        <Loaded of={listed}>{({ sources }) => <SourceRows sources={sources} />}</Loaded>
      </Section>
      <Modal
        opened={isMaking}
        onClose={() => setMaking(false)}
        title="Create a source"
        lockScroll={false}
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        <NewSource />
      </Modal>
    </Page>
  );
}

function NewSource() {
  const [kind, setKind] = useState('scim');
  const [name, setName] = useState('');
  const create = useChange(() => ask<CreatedSourceView>('POST', '/sources', { body: { kind, name } }));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!create.isPending) create.mutate();
  };
  if (create.data !== undefined) return <Made created={create.data} />;
  return (
    <form onSubmit={submit}>
      <Stack>
        {create.error === null ? null : <Failure error={create.error} />}
        <NativeSelect
          label="Kind"
          description="SCIM for an identity provider that pushes people; Other Source for files of profile data."
          data={[
            { value: 'scim', label: 'SCIM' },
            { value: 'general', label: 'Other Source' },
          ]}
          value={kind}
          onChange={({ currentTarget }) => setKind(currentTarget.value)}
        />
        <TextInput
          label="Name"
          required
          withAsterisk={false}
          maxLength={nameLengthMax}
          description={
            kind === 'general'
              ? 'Files name the source by it, in “domain”.'
              : 'As you call the outside system.'
          }
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        <Group justify="flex-end">
          <Button type="submit" loading={create.isPending}>
            Create
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function Made({ created: { source, token } }: { readonly created: CreatedSourceView }) {
  return (
    <Stack>
      <Alert color="green" role="status">
        {source.name} is active. Give the outside system these two; the token can be viewed again.
      </Alert>
      <TokenBox label={source.kind === 'scim' ? 'Base URL' : 'Upload address'} value={source.url} />
      <TokenBox
        label={source.kind === 'scim' ? 'Key (bearer token)' : 'Authorisation Token (X-ApiKey)'}
        value={token}
      />
      <Group justify="flex-end">
        <Button onClick={() => go(`sources/${source.id}`)}>Go to the source</Button>
      </Group>
    </Stack>
  );
}
