// The ways in: an invitation redeemed, signing in, and what stands there when neither is possible.

import { Alert, Button, Code, PasswordInput, Stack, Text, TextInput, Title } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import type { AccountView, InvitationView } from '../../admin/model.ts';
import { ask, Refused } from '../api.ts';
import { useHeading } from '../parts.tsx';
import { timeText } from '../words.ts';

const nameLengthMax = 200;
const passwordLengthMin = 12;
const passwordLengthMax = 1_024;

interface NarrowProps {
  readonly title: string;
  readonly children: ReactNode;
}

function Narrow({ title, children }: NarrowProps) {
  const heading = useHeading(title);
  return (
    <main className="narrow">
      <Title order={1} size="h2" mb="md" ref={heading} tabIndex={-1}>
        {title}
      </Title>
      {children}
    </main>
  );
}

interface CredentialsProps {
  readonly path: string;
  readonly more?: Readonly<Record<string, string>>;
  readonly name?: string;
  readonly isNew: boolean;
  readonly action: string;
  readonly onDone: (account: AccountView) => void;
}

/** Name and password. While they are under way they cannot be sent again. */
function Credentials({ path, more = {}, name: suggested = '', isNew, action, onDone }: CredentialsProps) {
  const [name, setName] = useState(suggested);
  const [password, setPassword] = useState('');
  const send = useMutation({
    mutationFn: () => ask<AccountView>('POST', path, { body: { ...more, name, password } }),
    onSuccess: onDone,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!send.isPending) send.mutate();
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        {send.error === null ? null : (
          <Alert color="red" role="alert">
            {send.error.message}
          </Alert>
        )}
        <TextInput
          label="Name"
          required
          withAsterisk={false}
          maxLength={nameLengthMax}
          autoComplete="username"
          autoCapitalize="none"
          spellCheck={false}
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        <PasswordInput
          label="Password"
          description={
            isNew
              ? `At least ${passwordLengthMin} characters. A sentence that only you would say is good.`
              : undefined
          }
          required
          withAsterisk={false}
          minLength={isNew ? passwordLengthMin : 1}
          maxLength={passwordLengthMax}
          autoComplete={isNew ? 'new-password' : 'current-password'}
          visibilityToggleButtonProps={{ 'aria-label': 'Show password', tabIndex: 0 }}
          value={password}
          onChange={({ currentTarget }) => setPassword(currentTarget.value)}
        />
        <Button type="submit" loading={send.isPending}>
          {action}
        </Button>
      </Stack>
    </form>
  );
}

interface SetUpProps {
  readonly token: string;
  readonly onDone: (account: AccountView) => void;
  readonly onLeave: () => void;
}

export function SetUp({ token, onDone, onLeave }: SetUpProps) {
  const invitation = useQuery({
    // The token is no part of the key: keys are kept in memory for longer than the page needs it.
    queryKey: ['invitation'],
    queryFn: () => ask<InvitationView>('POST', '/entry/invitation', { body: { token } }),
    retry: false,
  });
  if (invitation.error !== null) {
    const isOver = invitation.error instanceof Refused && invitation.error.status === 401;
    return (
      <DeadEnd
        title="This link cannot be used"
        message={invitation.error.message}
        advice={isOver ? 'A link works once, for 24 hours. “rollcall admin invite” makes another.' : ''}
        action={isOver ? 'Go to sign-in' : 'Try again'}
        onAction={isOver ? onLeave : () => void invitation.refetch()}
      />
    );
  }
  if (invitation.data === undefined) return null;
  const { name, expires } = invitation.data;
  return (
    <Narrow title="Set up your account">
      <Text mb="md">
        You are invited as {name}. The link is good until {timeText(expires)}.
      </Text>
      <Credentials
        path="/entry/accept"
        more={{ token }}
        name={name}
        isNew
        action="Make the account"
        onDone={onDone}
      />
    </Narrow>
  );
}

interface SignInProps {
  readonly reason: string | undefined;
  readonly onDone: (account: AccountView) => void;
}

export function SignIn({ reason, onDone }: SignInProps) {
  return (
    <Narrow title="Sign in">
      {reason === undefined ? null : (
        <Alert mb="md" role="status">
          {reason}
        </Alert>
      )}
      <Credentials path="/entry/sign-in" isNew={false} action="Sign in" onDone={onDone} />
      <Text mt="lg" className="hint" size="sm">
        No account yet, or the password is lost? Whoever runs the machine can make a one-time link with{' '}
        <Code>rollcall admin invite --name NAME</Code>.
      </Text>
    </Narrow>
  );
}

interface DeadEndProps {
  readonly title: string;
  readonly message: string;
  readonly advice?: string;
  readonly action: string;
  readonly onAction: () => void;
}

export function DeadEnd({ title, message, advice = '', action, onAction }: DeadEndProps) {
  return (
    <Narrow title={title}>
      <Alert color="red" role="alert" mb="md">
        {message}
      </Alert>
      {advice === '' ? null : (
        <Text mb="md" className="hint">
          {advice}
        </Text>
      )}
      <Button onClick={onAction}>{action}</Button>
    </Narrow>
  );
}
