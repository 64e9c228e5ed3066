import { Button, Checkbox, Group, NativeSelect, NumberInput, Select, Stack, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { type FormEvent, useState } from 'react';
import type { GroupListView, GroupView } from '../../admin/people-model.ts';
import type { SourceDetailView } from '../../admin/source-model.ts';
import { ask, queryOf, useChange, useLook } from '../api.ts';
import { Failure, Section } from '../parts.tsx';
import { spaced } from '../words.ts';

type Value = string | number | boolean;
type Values = Readonly<Record<string, Value>>;

interface Known {
  readonly label: string;
  readonly hint?: string;
  readonly choices?: readonly (readonly [value: string, label: string])[];
  /** The group type that a drop-down of groups offers. */
  readonly groups?: 'company' | 'department' | 'location';
}

const absence = [
  ['d', 'Disable only'],
  ['a', 'Disable and Archive'],
  ['x', 'Nothing'],
] as const;

/** By the names of the settings; one that is not here is shown under its own name. */
const known: Readonly<Record<string, Known>> = {
  logBodies: { label: 'Log Request Body in SCIM Service', hint: 'Recommended while a provider is set up.' },
  onMatch: {
    label: 'On match',
    hint: 'When a create finds somebody who is there already.',
    choices: [
      ['merge', 'Merge what was sent'],
      ['return', 'Leave as it is, and answer with it'],
      ['reject', 'Refuse'],
    ],
  },
  dialect: {
    label: 'Dialect',
    hint: 'Compatible mends what known providers get wrong.',
    choices: [
      ['compat', 'Compatible'],
      ['strict', 'Strict'],
    ],
  },
  scope: {
    label: 'Scope',
    hint: 'Own: sees only whom it made or adopted.',
    choices: [
      ['all', 'Everybody'],
      ['own', 'Its own'],
    ],
  },
  rateLimit: { label: 'Requests a second', hint: '25 or more; 0 for no limit.' },
  unknownMembers: {
    label: 'Members who are not there',
    choices: [
      ['reject', 'Refuse'],
      ['pending', 'Keep until they arrive'],
    ],
  },
  brakeLimit: { label: 'Hold after so many ended within an hour', hint: '0 for any number.' },
  brakeAlarm: { label: 'Warn after so many ended within an hour', hint: '0 for never.' },
  actionDisabledUsers: { label: 'Handling of disabled users', choices: absence },
  actionMissingDeletedUsers: { label: 'Handling of missing users', choices: absence },
  syncCompanies: { label: 'Synchronise companies' },
  syncDepartments: { label: 'Synchronise departments' },
  syncLocations: { label: 'Synchronise locations' },
  syncManagers: { label: 'Synchronise managers' },
  syncGroups: { label: 'Synchronise groups' },
  syncAdditionalFields: { label: 'Synchronise additional fields' },
  defaultCompany: { label: 'Default Company', groups: 'company' },
  defaultDepartment: { label: 'Default Department', groups: 'department' },
  defaultLocation: { label: 'Default Location', groups: 'location' },
  loginType: {
    label: 'Login type',
    choices: [
      ['0', 'Local'],
      ['1', 'Windows'],
      ['2', 'SAML'],
    ],
  },
  defaultCulture: { label: 'Default culture', hint: 'A language tag such as en-GB.' },
  newUserPasswordBehaviour: {
    label: 'Password of new users',
    choices: [
      ['file', 'From the file'],
      ['random', 'Random'],
      ['none', 'None'],
    ],
  },
  guardPercent: {
    label: 'Guard: per cent disabled',
    hint: 'A run that would disable more waits for approval.',
  },
  guardMinimum: { label: 'Guard: at least so many people' },
  guardShrinkPercent: { label: 'Guard: per cent fewer than last time' },
  guardErrorPercent: { label: 'Guard: per cent of records in error' },
  allowPlainHttp: { label: 'Accept uploads over plain HTTP' },
};

/** Every setting of the source, saved together. */
export function SettingsForm({ source }: { readonly source: SourceDetailView }) {
  const [values, setValues] = useState<Values>(source.settings);
  const changes = Object.fromEntries(
    Object.entries(values).filter(([name, value]) => value !== source.settings[name]),
  );
  const count = Object.keys(changes).length;
  const save = useChange(() =>
    ask<SourceDetailView>('PATCH', `/sources/${source.id}`, { body: { settings: changes } }),
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate();
  };
  const set = (name: string) => (value: Value) => setValues({ ...values, [name]: value });
  return (
    <Section title={source.kind === 'scim' ? 'Settings' : 'Profile Options'}>
      <form onSubmit={submit}>
        <Stack>
          {save.error === null ? null : <Failure error={save.error} />}
          <div className="form">
            {Object.entries(values).map(([name, value]) => (
              <Setting key={name} name={name} value={value} onChange={set(name)} />
            ))}
          </div>
          <Group>
            <Button type="submit" disabled={count === 0} loading={save.isPending}>
              {count === 0 ? 'Save' : `Save ${count === 1 ? 'one change' : `${count} changes`}`}
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}

interface SettingProps {
  readonly name: string;
  readonly value: Value;
  readonly onChange: (value: Value) => void;
}

function Setting({ name, value, onChange }: SettingProps) {
  const { label, hint, choices, groups } = known[name] ?? { label: spaced(name) };
  const common = { label, description: hint };
  if (typeof value === 'boolean') {
    return (
      <Checkbox
        {...common}
        checked={value}
        onChange={({ currentTarget }) => onChange(currentTarget.checked)}
      />
    );
  }
  if (typeof value === 'number') {
    const toNumber = (next: number | string) => onChange(next === '' ? 0 : Number(next));
    return <NumberInput {...common} min={0} allowDecimal={false} value={value} onChange={toNumber} />;
  }
  if (choices !== undefined) {
    const data = choices.map(([choice, text]) => ({ value: choice, label: text }));
    return (
      <NativeSelect
        {...common}
        data={data}
        value={value}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
    );
  }
  if (groups !== undefined)
    return <GroupSelect label={label} type={groups} value={value} onChange={onChange} />;
  return (
    <TextInput {...common} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)} />
  );
}

interface GroupSelectProps {
  readonly label: string;
  readonly type: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

const choicesMax = 50;
const debounceMs = 250;

/** A drop-down of the groups of one type, which asks the directory as one types: there may be thousands. */
function GroupSelect({ label, type, value, onChange }: GroupSelectProps) {
  const [typed, setTyped] = useState('');
  const [search] = useDebouncedValue(typed, debounceMs);
  const filter = `urn:ietf:params:scim:schemas:extension:platform:2.0:Group:groupType eq "${type}"`;
  const found = useLook<GroupListView>(`/groups${queryOf({ filter, search, count: choicesMax })}`);
  const chosen = useLook<GroupView>(`/groups/${encodeURIComponent(value)}`, { enabled: value !== '' });
  const all = [
    ...(found.data?.groups ?? []),
    ...(value !== '' && chosen.data !== undefined ? [chosen.data] : []),
  ];
  const data = [...new Map(all.map((group) => [String(group.id), group.displayName]))].map(([id, name]) => ({
    value: id,
    label: name,
  }));
  return (
    <Select
      label={label}
      description="Applies where the file does not define it."
      placeholder="None"
      searchable
      clearable
      clearButtonProps={{ 'aria-label': `No ${label.toLowerCase()}` }}
      data={data}
      value={value === '' ? null : value}
      onChange={(next) => onChange(next ?? '')}
      searchValue={typed}
      onSearchChange={setTyped}
      nothingFoundMessage={`No ${type} of that name`}
    />
  );
}
