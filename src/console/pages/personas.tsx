import { Alert, Button, Group, MultiSelect, NativeSelect, Stack, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { type FormEvent, useState } from 'react';
import type { PersonaListView, PersonaView } from '../../admin/configuration-model.ts';
import type { GroupListView } from '../../admin/people-model.ts';
import { ask, queryOf, useChange, useLook } from '../api.ts';
import { Failure, Link, Loaded, Page, Rows, Section } from '../parts.tsx';
import { href } from '../place.ts';

const debounceMs = 250;
const choicesMax = 50;

export function PersonasPage() {
  const listed = useLook<PersonaListView>('/personas');
  return (
    <Page title="Personas">
      <Section title="Personas">
        <Loaded of={listed}>
          {({ personas }) => (
            <Rows
              label="Personas"
              columns={[
                { name: 'ID', of: ({ id }) => id },
                { name: 'Name', of: ({ name }) => name },
                {
                  name: 'Who',
                  of: ({ rule }) => (rule === 'any' ? 'in any of the groups' : 'in all of the groups'),
                },
                {
                  name: 'Groups',
                  of: ({ groupIds }) =>
                    groupIds.map((id) => (
                      <span key={id}>
                        <Link to={href(`groups/${id}`)}>{id}</Link>{' '}
                      </span>
                    )),
                },
              ]}
              rows={personas}
              keyOf={({ id }) => id}
              empty="There are no personas yet. A persona is everybody in any, or in all, of some groups."
            />
          )}
        </Loaded>
      </Section>
      <NewPersona />
    </Page>
  );
}

function NewPersona() {
  const [name, setName] = useState('');
  const [rule, setRule] = useState('any');
  const [groupIds, setGroupIds] = useState<string[]>([]);
  const make = useChange(async () => {
    const body = { name, rule, groupIds: groupIds.map(Number) };
    const made = await ask<PersonaView>('POST', '/personas', { body });
    setName('');
    setGroupIds([]);
    return made;
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    make.mutate();
  };
  return (
    <Section title="Make a persona">
      <form onSubmit={submit}>
        <Stack>
          {make.error === null ? null : <Failure error={make.error} />}
          {make.data === undefined ? null : (
            <Alert color="green" role="status">
              {make.data.name} is there.
            </Alert>
          )}
          <TextInput
            label="Name"
            required
            withAsterisk={false}
            maxLength={200}
            value={name}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
          />
          <NativeSelect
            label="Who"
            data={[
              { value: 'any', label: 'Everybody in any of the groups' },
              { value: 'all', label: 'Everybody in all of the groups' },
            ]}
            value={rule}
            onChange={({ currentTarget }) => setRule(currentTarget.value)}
          />
          <GroupChoice value={groupIds} onChange={setGroupIds} />
          <Group>
            <Button type="submit" loading={make.isPending} disabled={groupIds.length === 0}>
              Make the persona
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}

interface GroupChoiceProps {
  readonly value: string[];
  readonly onChange: (value: string[]) => void;
}

function GroupChoice({ value, onChange }: GroupChoiceProps) {
  const [typed, setTyped] = useState('');
  const [search] = useDebouncedValue(typed, debounceMs);
  const [names, setNames] = useState<ReadonlyMap<string, string>>(new Map());
  const { data } = useLook<GroupListView>(`/groups${queryOf({ search, count: choicesMax })}`);
  const found = new Map((data?.groups ?? []).map(({ id, displayName }) => [String(id), displayName]));
  const choose = (next: string[]) => {
    setNames(new Map([...names, ...found]));
    onChange(next);
  };
  const chosen = new Map(value.map((id) => [id, names.get(id) ?? id]));
  const all = new Map([...found, ...chosen]);
  return (
    <MultiSelect
      label="Groups"
      placeholder="Type the beginning of a name"
      searchable
      searchValue={typed}
      onSearchChange={setTyped}
      data={[...all].map(([id, label]) => ({ value: id, label }))}
      value={value}
      onChange={choose}
      nothingFoundMessage="No group of that name"
    />
  );
}
