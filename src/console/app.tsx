import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useCallback, useEffect, useState } from 'react';
import type { AccountView } from '../admin/model.ts';
import { ask, Refused } from './api.ts';
import { AuditPage } from './pages/audit.tsx';
import { DeadEnd, SetUp, SignIn } from './pages/entry.tsx';
import { FieldsPage } from './pages/fields.tsx';
import { GroupPage, GroupsPage } from './pages/groups.tsx';
import { HomePage } from './pages/home.tsx';
import { ImportPage } from './pages/import.tsx';
import { ImportsPage } from './pages/imports.tsx';
import { PersonasPage } from './pages/personas.tsx';
import { RequestsPage } from './pages/requests.tsx';
import { SettingsPage } from './pages/settings.tsx';
import { SourcePage } from './pages/source.tsx';
import { SourcesPage } from './pages/sources.tsx';
import { UserPage } from './pages/user.tsx';
import { UsersPage } from './pages/users.tsx';
import { Empty, Link, Page } from './parts.tsx';
import { href, type Place, takeInvitation, usePlace } from './place.ts';

type Visitor =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'unreachable'; readonly message: string }
  | { readonly kind: 'invited'; readonly token: string }
  | { readonly kind: 'stranger'; readonly reason?: string }
  | { readonly kind: 'account'; readonly account: AccountView };

/** Who looks at the page decides what it is: a way in, or the console. `invitation` is the token that it was opened with. */
export function App({ invitation }: { readonly invitation: string | undefined }) {
  const [visitor, setVisitor] = useState<Visitor>(
    invitation === undefined ? { kind: 'unknown' } : { kind: 'invited', token: invitation },
  );
  const client = useQueryClient();
  const welcome = useCallback(
    (account: AccountView) => {
      client.clear();
      setVisitor({ kind: 'account', account });
    },
    [client],
  );
  const leave = useCallback(
    (reason?: string) => {
      client.clear();
      setVisitor(reason === undefined ? { kind: 'stranger' } : { kind: 'stranger', reason });
    },
    [client],
  );
  const arrive = useCallback(async () => {
    try {
      welcome(await ask<AccountView>('GET', '/me'));
    } catch (error) {
      if (error instanceof Refused && error.status === 401) return leave();
      setVisitor({ kind: 'unreachable', message: (error as Error).message });
    }
  }, [welcome, leave]);

  useEffect(() => {
    if (visitor.kind === 'unknown') void arrive();
  }, [visitor.kind, arrive]);
  useEffect(() => {
    const onInvited = () => {
      const token = takeInvitation();
      if (token !== undefined) setVisitor({ kind: 'invited', token });
    };
    addEventListener('hashchange', onInvited);
    return () => removeEventListener('hashchange', onInvited);
  }, []);
  const isIn = visitor.kind === 'account';
  useEffect(() => {
    if (!isIn) return undefined;
    return watchSession(client, () => leave('Your session has ended; sign in again.'));
  }, [isIn, client, leave]);

  if (visitor.kind === 'unknown') return null;
  if (visitor.kind === 'invited')
    return <SetUp token={visitor.token} onDone={welcome} onLeave={() => void arrive()} />;
  if (visitor.kind === 'stranger') return <SignIn reason={visitor.reason} onDone={welcome} />;
  if (visitor.kind === 'unreachable') {
    const again = () => void arrive();
    return (
      <DeadEnd
        title="The console cannot be shown"
        message={visitor.message}
        action="Try again"
        onAction={again}
      />
    );
  }
  return <Console account={visitor.account} onLeave={leave} />;
}

/** Whatever is asked may find that the session is over. */
function watchSession(client: ReturnType<typeof useQueryClient>, onEnd: () => void): () => void {
  const isEnd = (error: unknown) => error instanceof Refused && error.status === 401;
  const queries = client.getQueryCache().subscribe((event) => {
    if (event.type === 'updated' && isEnd(event.query.state.error)) onEnd();
  });
  const changes = client.getMutationCache().subscribe((event) => {
    if (event.type === 'updated' && isEnd(event.mutation.state.error)) onEnd();
  });
  return () => {
    queries();
    changes();
  };
}

const pages: Readonly<
  Record<string, readonly [name: string, list: () => ReactNode, one?: (id: string) => ReactNode]>
> = {
  '': ['Home', () => <HomePage />],
  sources: ['Profile sources', () => <SourcesPage />, (id) => <SourcePage key={id} id={id} />],
  imports: ['Imports', () => <ImportsPage />, (id) => <ImportPage key={id} id={id} />],
  users: ['Users', () => <UsersPage />, (id) => <UserPage key={id} id={id} />],
  groups: ['Groups', () => <GroupsPage />, (id) => <GroupPage key={id} id={id} />],
  requests: ['Request log', () => <RequestsPage />],
  fields: ['Additional fields', () => <FieldsPage />],
  personas: ['Personas', () => <PersonasPage />],
  settings: ['Settings', () => <SettingsPage />],
  audit: ['Audit log', () => <AuditPage />],
};

function pageAt({ path: [section = '', id] }: Place): ReactNode {
  const known = pages[section];
  if (known === undefined) return <Nowhere />;
  const [, list, one] = known;
  if (id === undefined) return list();
  return one === undefined ? <Nowhere /> : one(id);
}

function Nowhere() {
  return (
    <Page title="There is no such page">
      <Empty>
        <Link to={href('')}>Home</Link> shows what there is.
      </Empty>
    </Page>
  );
}

interface ConsoleProps {
  readonly account: AccountView;
  readonly onLeave: (reason?: string) => void;
}

function Console({ account, onLeave }: ConsoleProps) {
  const place = usePlace();
  const [isOpen, setOpen] = useState(false);
  const [failure, setFailure] = useState<string>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: a menu closes once it has led somewhere
  useEffect(() => setOpen(false), [place.path.join('/')]);
  const signOut = async (path: string) => {
    try {
      await ask('POST', path);
    } catch (error) {
      if (!(error instanceof Refused && error.status === 401)) return setFailure((error as Error).message);
    }
    location.hash = '';
    onLeave('You are signed out.');
  };
  if (failure !== undefined) {
    const back = () => setFailure(undefined);
    return <DeadEnd title="You are still signed in" message={failure} action="Go back" onAction={back} />;
  }
  return (
    <div className="frame">
      <button type="button" className="skip" onClick={() => document.querySelector('h1')?.focus()}>
        Skip to the content
      </button>
      <header className="bar">
        <span className="brand">Rollcall</span>
        <Button
          className="menu-button"
          variant="default"
          size="xs"
          aria-expanded={isOpen}
          aria-controls="menu"
          onClick={() => setOpen(!isOpen)}
        >
          Menu
        </Button>
        <span>
          Signed in as <strong>{account.name}</strong>
        </span>
        <Button variant="default" size="xs" onClick={() => void signOut('/session/sign-out')}>
          Sign out
        </Button>
        <Button variant="subtle" size="xs" onClick={() => void signOut('/session/sign-out/everywhere')}>
          Sign out everywhere
        </Button>
      </header>
      <nav id="menu" className="menu" aria-label="Pages" data-open={isOpen}>
        <ul>
          {Object.entries(pages).map(([path, [name]]) => (
            <li key={path}>
              <a href={href(path)} aria-current={(place.path[0] ?? '') === path ? 'page' : undefined}>
                {name}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      {pageAt(place)}
    </div>
  );
}
