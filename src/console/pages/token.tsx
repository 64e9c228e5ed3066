import { Button, CopyButton, Group, TextInput } from '@mantine/core';

/** A value to take along: shown whole, and copied by a button. */
export function TokenBox({ label, value }: { readonly label: string; readonly value: string }) {
  return (
    <Group align="flex-end" gap="xs" wrap="nowrap">
      <TextInput
        label={label}
        value={value}
        readOnly
        flex={1}
        onFocus={({ currentTarget }) => currentTarget.select()}
      />
      <CopyButton value={value}>
        {({ copied, copy }) => (
          <Button variant="default" onClick={copy} aria-label={`Copy ${label}`}>
            {copied ? 'Copied' : 'Copy'}
          </Button>
        )}
      </CopyButton>
    </Group>
  );
}
