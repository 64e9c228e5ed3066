import { Button, Group, NumberInput, PasswordInput, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { SettingsView, TriedView } from '../../admin/configuration-model.ts';
import { ask, useChange, useLook } from '../api.ts';
import { Failure, Loaded, Page, Section, Tried } from '../parts.tsx';
import { countText, spaced } from '../words.ts';

type Setting = SettingsView['settings'][number];

export function SettingsPage() {
  const settings = useLook<SettingsView>('/settings');
  return (
    <Page title="Settings">
      <Loaded of={settings}>
        {({ settings: all }) => <SettingsForm key={JSON.stringify(all)} settings={all} />}
      </Loaded>
    </Page>
  );
}

function SettingsForm({ settings }: { readonly settings: readonly Setting[] }) {
  const [values, setValues] = useState(new Map(settings.map(({ name, value }) => [name, value])));
  const changes = settings.filter(({ name, value }) => values.get(name) !== value);
  const save = useChange(() => {
    const body = Object.fromEntries(changes.map(({ name }) => [name, values.get(name)]));
    return ask<SettingsView>('PATCH', '/settings', { body });
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate();
  };
  const set = (name: string, value: string | number) => setValues(new Map(values).set(name, value));
  const regex = String(values.get('passwordStrengthRegex') ?? '');
  return (
    <form onSubmit={submit}>
      <Section title="Password rule">
        <Stack>
          <TextInput
            label="Password strength regex"
            description="PCRE2; a new password must match it. Empty for none."
            value={regex}
            onChange={({ currentTarget }) => set('passwordStrengthRegex', currentTarget.value)}
          />
          <TryPassword regex={regex} />
        </Stack>
      </Section>
      <Section title="Limits and retention">
        <div className="form">
          {settings
            .filter(({ name }) => name !== 'passwordStrengthRegex')
            .map((setting) => (
              <Field
                key={setting.name}
                setting={setting}
                value={values.get(setting.name) ?? ''}
                onChange={(value) => set(setting.name, value)}
              />
            ))}
        </div>
      </Section>
      {save.error === null ? null : <Failure error={save.error} />}
      <Group mt="md">
        <Button type="submit" disabled={changes.length === 0} loading={save.isPending}>
          {changes.length === 0 ? 'Save' : `Save ${changes.map(({ name }) => spaced(name)).join(', ')}`}
        </Button>
      </Group>
    </form>
  );
}

interface FieldProps {
  readonly setting: Setting;
  readonly value: string | number;
  readonly onChange: (value: string | number) => void;
}

function Field({
  setting: { name, type, summary, min, max, default: standard },
  value,
  onChange,
}: FieldProps) {
  const label = spaced(name);
  if (type !== 'number') {
    return (
      <TextInput
        label={label}
        description={summary}
        value={value}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
    );
  }
  return (
    <NumberInput
      label={label}
      description={`${summary}; ${countText(min)} to ${countText(max)}, default ${countText(Number(standard))}`}
      {...(min === undefined || max === undefined ? {} : { min, max })}
      allowDecimal={false}
      value={value}
      onChange={(next) => onChange(next === '' ? standard : Number(next))}
    />
  );
}

/** The password goes to the service to be tried, and is kept nowhere. */
function TryPassword({ regex }: { readonly regex: string }) {
  const [password, setPassword] = useState('');
  const attempt = useChange(() =>
    ask<TriedView>('POST', '/settings/try-password', { body: { regex, password } }),
  );
  return (
    <Stack>
      <Group align="flex-end">
        <PasswordInput
          label="Try a password"
          autoComplete="off"
          visibilityToggleButtonProps={{ 'aria-label': 'Show password', tabIndex: 0 }}
          flex={1}
          value={password}
          onChange={({ currentTarget }) => setPassword(currentTarget.value)}
        />
        <Button variant="default" onClick={() => attempt.mutate()} loading={attempt.isPending}>
          Try
        </Button>
      </Group>
      {attempt.error === null ? null : <Failure error={attempt.error} />}
      {attempt.data === undefined ? null : <Tried of={attempt.data} success="The password meets the rule." />}
    </Stack>
  );
}
