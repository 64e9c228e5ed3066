import { Button, Group, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useEffect, useState } from 'react';
import type { PersonListView, PersonRow } from '../../admin/people-model.ts';
import { queryOf, useLook } from '../api.ts';
import { type Column, Link, Loaded, Page, Rows, Section, State } from '../parts.tsx';
import { href, setParams, usePlace } from '../place.ts';
import { countText, stateTone } from '../words.ts';

export const pageRows = 50;
const debounceMs = 250;

export const personColumns: readonly Column<PersonRow>[] = [
  { name: 'Name', of: ({ id, displayName }) => <Link to={href(`users/${id}`)}>{displayName}</Link> },
  { name: 'Username', of: ({ userName }) => userName },
  { name: 'E-mail', of: ({ email }) => email ?? '–' },
  { name: 'Title', of: ({ jobTitle }) => jobTitle ?? '–' },
  { name: 'Department', of: ({ department }) => department ?? '–' },
  { name: 'State', of: ({ state }) => <State tone={stateTone(state)}>{state}</State> },
];

/** A search in the address that follows what is typed, a moment later. */
export function useSearch(): readonly [typed: string, setTyped: (text: string) => void, search: string] {
  const search = usePlace().params.get('search') ?? '';
  const [typed, setTyped] = useState(search);
  const [settled] = useDebouncedValue(typed, debounceMs);
  useEffect(() => setParams({ search: settled, from: undefined }), [settled]);
  return [typed, setTyped, search];
}

interface PagerProps {
  readonly startIndex: number;
  readonly shown: number;
  readonly total: number | null;
}

/** Where in the list the page is, with the ways to its neighbours. */
export function Pager({ startIndex, shown, total }: PagerProps) {
  if (total === null || total === 0) return null;
  const last = startIndex + shown - 1;
  return (
    <Group mt="md">
      <Text size="sm">
        {countText(startIndex)} to {countText(last)} of {countText(total)}
      </Text>
      <Button
        variant="default"
        size="xs"
        disabled={startIndex <= 1}
        onClick={() => setParams({ from: Math.max(1, startIndex - pageRows) })}
      >
        Back
      </Button>
      <Button
        variant="default"
        size="xs"
        disabled={last >= total}
        onClick={() => setParams({ from: last + 1 })}
      >
        Next
      </Button>
    </Group>
  );
}

export function UsersPage() {
  const { params } = usePlace();
  const [typed, setTyped, search] = useSearch();
  const filter = params.get('filter') ?? '';
  const [typedFilter, setTypedFilter] = useState(filter);
  const startIndex = Number(params.get('from') ?? 1);
  const path = `/users${queryOf({ search, filter, startIndex, count: pageRows })}`;
  const listed = useLook<PersonListView>(path);
  return (
    <Page title="Users">
      <Group mb="md" align="flex-end">
        <TextInput
          label="Search"
          description="The beginning of a username, display name, family name or e-mail, given and family name, or an id"
          type="search"
          value={typed}
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
          miw="18rem"
          flex={1}
        />
        <form
          onSubmit={(event) => {
            event.preventDefault();
            setParams({ filter: typedFilter, from: undefined });
          }}
        >
          <TextInput
            label="SCIM filter"
            description={'For example: active eq false and title co "clerk"; Enter applies it'}
            value={typedFilter}
            onChange={({ currentTarget }) => setTypedFilter(currentTarget.value)}
            miw="18rem"
          />
        </form>
      </Group>
      <Section title="People">
        <Loaded of={listed}>
          {({ users, totalResults }) => (
            <>
              <Rows
                label="People"
                columns={personColumns}
                rows={users}
                keyOf={({ id }) => id}
                empty={
                  search === '' && filter === ''
                    ? 'Nobody is here yet. A source brings people: an identity provider by SCIM, or an HR system by files.'
                    : 'Nobody was found.'
                }
              />
              <Pager startIndex={startIndex} shown={users.length} total={totalResults} />
            </>
          )}
        </Loaded>
      </Section>
    </Page>
  );
}
