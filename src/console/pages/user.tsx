import { Button, Tabs } from '@mantine/core';
import { useState } from 'react';
import type { HistoryView, PersonView } from '../../admin/people-model.ts';
import { queryOf, useLook } from '../api.ts';
import { Empty, Facts, Link, Loaded, Page, Rows, Section, State, Time } from '../parts.tsx';
import { href, setParams, usePlace } from '../place.ts';
import { countText, stateTone } from '../words.ts';
import { useSourceNames } from './imports.tsx';
import { personColumns } from './users.tsx';

export function UserPage({ id }: { readonly id: string }) {
  const person = useLook<PersonView>(`/users/${encodeURIComponent(id)}`);
  const tab = usePlace().params.get('tab') ?? 'profile';
  return (
    <Page title={person.data === undefined ? `User ${id}` : nameOf(person.data)}>
      <Loaded of={person}>
        {(shown) => (
          <Tabs value={tab} onChange={(next) => setParams({ tab: next ?? undefined })} keepMounted={false}>
            <Tabs.List mb="md">
              <Tabs.Tab value="profile">Profile</Tabs.Tab>
              <Tabs.Tab value="organisation">Organisation</Tabs.Tab>
              <Tabs.Tab value="history">History</Tabs.Tab>
            </Tabs.List>
            <Tabs.Panel value="profile">
              <Profile person={shown} />
            </Tabs.Panel>
            <Tabs.Panel value="organisation">
              <Organisation person={shown} />
            </Tabs.Panel>
            <Tabs.Panel value="history">
              <History path={`/users/${shown.id}/history`} />
            </Tabs.Panel>
          </Tabs>
        )}
      </Loaded>
    </Page>
  );
}

function nameOf({ resource, id }: PersonView): string {
  const { displayName, userName, name } = resource as {
    readonly displayName?: string;
    readonly userName?: string;
    readonly name?: { readonly givenName?: string; readonly familyName?: string };
  };
  const full = [name?.givenName, name?.familyName].filter(Boolean).join(' ');
  return displayName || full || userName || `User ${id}`;
}

function Profile({ person }: { readonly person: PersonView }) {
  const names = useSourceNames();
  const { id, state, ownerSourceId, doNotSynchronise, groups, resource } = person;
  return (
    <>
      <Section title="Person" actions={<State tone={stateTone(state)}>{state}</State>}>
        <Facts
          rows={[
            ['ID', id],
            [
              'Source',
              ownerSourceId === null ? (
                'nobody'
              ) : (
                <Link key="source" to={href(`sources/${ownerSourceId}`)}>
                  {names.get(ownerSourceId) ?? ownerSourceId}
                </Link>
              ),
            ],
            ['Do not synchronise', doNotSynchronise ? 'yes' : 'no'],
            ...attributesOf(resource),
          ]}
        />
      </Section>
      <Section title="Memberships">
        <Rows
          label="Memberships"
          columns={[
            {
              name: 'Group',
              of: (group) => <Link to={href(`groups/${group.id}`)}>{group.displayName}</Link>,
            },
            { name: 'Type', of: ({ groupType }) => groupType },
            { name: 'Primary', of: ({ isPrimary }) => (isPrimary ? 'yes' : '') },
          ]}
          rows={groups}
          keyOf={(group) => group.id}
          empty="The person is in no group."
        />
      </Section>
    </>
  );
}

const shownElsewhere = new Set(['schemas', 'id', 'groups', 'meta']);

/** Every attribute that SCIM shows, by its path; of an extension by the end of its URN. */
function attributesOf(resource: Readonly<Record<string, unknown>>): (readonly [string, string])[] {
  return Object.entries(resource)
    .filter(([name]) => !shownElsewhere.has(name))
    .flatMap(([name, value]) => {
      if (!name.startsWith('urn:')) return flat(name, value);
      const extension = name.split(':').at(-3) ?? name;
      return Object.entries(value as object).flatMap(([inner, each]) => flat(`${extension}: ${inner}`, each));
    });
}

function flat(name: string, value: unknown): (readonly [string, string])[] {
  if (Array.isArray(value))
    return value.flatMap((each, index) => flat(nameOfElement(name, each, index), each));
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).filter(([inner]) => inner !== 'type' && inner !== '$ref');
    return members.flatMap(([inner, each]) => flat(inner === 'value' ? name : `${name} ${inner}`, each));
  }
  return [[name, String(value)]];
}

function nameOfElement(name: string, value: unknown, index: number): string {
  const type =
    typeof value === 'object' && value !== null ? (value as { readonly type?: unknown }).type : undefined;
  return `${name} ${typeof type === 'string' ? type : index + 1}`;
}

/** Those above, from the top down, the person, and those below. */
function Organisation({ person }: { readonly person: PersonView }) {
  const { managers, reports } = person;
  return (
    <>
      <Section title="Managers">
        {managers.length === 0 ? (
          <Empty>Nobody is above this person.</Empty>
        ) : (
          <ol>
            {managers.toReversed().map(({ id, displayName }) => (
              <li key={id}>
                <Link to={href(`users/${id}`, { tab: 'organisation' })}>{displayName}</Link>
              </li>
            ))}
          </ol>
        )}
      </Section>
      <Section title={`Reports: ${countText(reports.totalResults ?? reports.users.length)}`}>
        <Rows
          label="Reports"
          columns={personColumns}
          rows={reports.users}
          keyOf={({ id }) => id}
          empty="Nobody reports to this person."
        />
      </Section>
    </>
  );
}

type Change = HistoryView['changes'][number];

/** Every change with its origin, newest first. */
export function History({ path }: { readonly path: string }) {
  const [before, setBefore] = useState<number>();
  const history = useLook<HistoryView>(`${path}${queryOf({ before })}`);
  return (
    <Section title="History">
      <Loaded of={history}>
        {({ changes, next }) => (
          <>
            <Rows
              label="History"
              columns={[
                { name: 'Time', of: ({ time }) => <Time at={time} /> },
                { name: 'What', of: ({ action }) => action },
                { name: 'By', of: (change) => <Origin change={change} /> },
                { name: 'Changed', of: (change) => <Differences change={change} /> },
              ]}
              rows={changes}
              keyOf={({ seq }) => seq}
              empty="Nothing has happened."
            />
            {before === undefined ? null : (
              <Button mt="md" mr="sm" variant="default" onClick={() => setBefore(undefined)}>
                Newest
              </Button>
            )}
            {next === null ? null : (
              <Button mt="md" variant="default" onClick={() => setBefore(next)}>
                Older
              </Button>
            )}
          </>
        )}
      </Loaded>
    </Section>
  );
}

function Origin({ change: { actor, importId, requestId } }: { readonly change: Change }) {
  const who = actor.kind === 'system' ? 'the system' : `${actor.kind} ${actor.name ?? actor.id ?? ''}`;
  if (importId !== null) {
    return (
      <>
        {who}, <Link to={href(`imports/${importId}`)}>import {importId}</Link>
      </>
    );
  }
  return (
    <>
      {who}
      {requestId === null ? '' : `, request ${requestId}`}
    </>
  );
}

function Differences({ change: { before, after } }: { readonly change: Change }) {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const text = (value: unknown) => (value === undefined ? 'nothing' : JSON.stringify(value));
  const lines = names.filter((name) => text(before?.[name]) !== text(after?.[name]));
  return (
    <>
      {lines.map((name) => (
        <p key={name}>
          <strong>{name}</strong>: {before === null ? '' : `${text(before[name])} → `}
          {text(after?.[name])}
        </p>
      ))}
    </>
  );
}
