import {
  Alert,
  Button,
  Checkbox,
  Code,
  Group,
  Modal,
  NativeSelect,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { FieldListView, FieldView, TriedView } from '../../admin/configuration-model.ts';
import { ask, useChange, useLook } from '../api.ts';
import { Failure, Loaded, Page, Rows, Section, Tried } from '../parts.tsx';

const types = ['string', 'boolean', 'integer', 'decimal', 'dateTime'] as const;

export function FieldsPage() {
  const listed = useLook<FieldListView>('/fields');
  const [removed, setRemoved] = useState<FieldView>();
  return (
    <Page title="Additional fields">
      <Section title="Fields">
        <Loaded of={listed}>
          {({ fields }) => (
            <Rows
              label="Additional fields"
              columns={[
                { name: 'ID', of: ({ id }) => <Code>{id}</Code> },
                { name: 'Label', of: ({ label }) => label },
                { name: 'Type', of: ({ type }) => type },
                { name: 'Required', of: ({ required }) => (required ? 'yes' : 'no') },
                { name: 'Pattern', of: ({ pattern }) => (pattern === null ? '–' : <Code>{pattern}</Code>) },
                {
                  name: 'Remove',
                  of: (field) => (
                    <Button size="xs" variant="default" onClick={() => setRemoved(field)}>
                      Remove {field.label}
                    </Button>
                  ),
                },
              ]}
              rows={fields}
              keyOf={({ id }) => id}
              empty="There are no additional fields yet. Make the first below."
            />
          )}
        </Loaded>
      </Section>
      <NewField />
      <Modal
        opened={removed !== undefined}
        onClose={() => setRemoved(undefined)}
        title="Remove a field?"
        lockScroll={false}
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        {removed === undefined ? null : <Remove field={removed} onDone={() => setRemoved(undefined)} />}
      </Modal>
    </Page>
  );
}

function Remove({ field, onDone }: { readonly field: FieldView; readonly onDone: () => void }) {
  const remove = useChange(() => ask<FieldView>('DELETE', `/fields/${encodeURIComponent(field.id)}`));
  return (
    <Stack>
      {remove.error === null ? null : <Failure error={remove.error} />}
      <Text>
        {field.label} leaves the profile of everybody, and sources can no longer send it. What people had of
        it is kept, and comes back with a field of the same label.
      </Text>
      <Group justify="flex-end">
        <Button variant="default" onClick={onDone}>
          Not now
        </Button>
        <Button
          color="red"
          loading={remove.isPending}
          onClick={() => void remove.mutateAsync().then(onDone, () => undefined)}
        >
          Remove
        </Button>
      </Group>
    </Stack>
  );
}

/** The id a label yields, as the service makes it. */
function idOf(label: string): string {
  return label.trim().toLowerCase().replaceAll(/\s+/g, '_');
}

function NewField() {
  const [label, setLabel] = useState('');
  const [type, setType] = useState<string>('string');
  const [pattern, setPattern] = useState('');
  const [required, setRequired] = useState(false);
  const make = useChange(async () => {
    const body = { label, type, required, ...(pattern === '' ? {} : { pattern }) };
    const made = await ask<FieldView>('POST', '/fields', { body });
    setLabel('');
    setPattern('');
    return made;
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    make.mutate();
  };
  return (
    <Section title="Make a field">
      <form onSubmit={submit}>
        <Stack>
          {make.error === null ? null : <Failure error={make.error} />}
          {make.data === undefined ? null : (
            <Alert color="green" role="status">
              {make.data.label} is there; sources know it as {make.data.id}.
            </Alert>
          )}
          <TextInput
            label="Label"
            required
            withAsterisk={false}
            maxLength={200}
            description={label.trim() === '' ? 'Its id follows from it.' : `Its id will be ${idOf(label)}.`}
            value={label}
            onChange={({ currentTarget }) => setLabel(currentTarget.value)}
          />
          <NativeSelect
            label="Type"
            data={[...types]}
            value={type}
            onChange={({ currentTarget }) => setType(currentTarget.value)}
          />
          <TextInput
            label="Pattern"
            description="RE2, which the whole value must match; empty for any value."
            maxLength={1_000}
            value={pattern}
            onChange={({ currentTarget }) => setPattern(currentTarget.value)}
          />
          {pattern === '' ? null : <TryPattern pattern={pattern} />}
          <Checkbox
            label="Required of everybody who has any additional field"
            checked={required}
            onChange={({ currentTarget }) => setRequired(currentTarget.checked)}
          />
          <Group>
            <Button type="submit" loading={make.isPending}>
              Make the field
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}

function TryPattern({ pattern }: { readonly pattern: string }) {
  const [value, setValue] = useState('');
  const attempt = useChange(() =>
    ask<TriedView>('POST', '/fields/try-pattern', { body: { pattern, value } }),
  );
  return (
    <>
      <Group align="flex-end">
        <TextInput
          label="Try a value"
          flex={1}
          value={value}
          onChange={({ currentTarget }) => setValue(currentTarget.value)}
        />
        <Button variant="default" onClick={() => attempt.mutate()} loading={attempt.isPending}>
          Try
        </Button>
      </Group>
      {attempt.error === null ? null : <Failure error={attempt.error} />}
      {attempt.data === undefined ? null : <Tried of={attempt.data} success="The value fits." />}
    </>
  );
}
