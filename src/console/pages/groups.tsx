import { TextInput } from '@mantine/core';
import type { GroupListView, GroupRow, GroupView, PersonListView } from '../../admin/people-model.ts';
import { queryOf, useLook } from '../api.ts';
import { type Column, Facts, Link, Loaded, Page, Rows, Section } from '../parts.tsx';
import { href, usePlace } from '../place.ts';
import { useSourceNames } from './imports.tsx';
import { History } from './user.tsx';
import { Pager, pageRows, personColumns, useSearch } from './users.tsx';

const columns: readonly Column<GroupRow>[] = [
  { name: 'Name', of: ({ id, displayName }) => <Link to={href(`groups/${id}`)}>{displayName}</Link> },
  { name: 'Type', of: ({ groupType }) => groupType },
  { name: 'ID', of: ({ id }) => id },
];

export function GroupsPage() {
  const [typed, setTyped, search] = useSearch();
  const startIndex = Number(usePlace().params.get('from') ?? 1);
  const listed = useLook<GroupListView>(`/groups${queryOf({ search, startIndex, count: pageRows })}`);
  return (
    <Page title="Groups">
      <TextInput
        label="Search"
        description="The beginning of a name, or an id"
        type="search"
        mb="md"
        value={typed}
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
      />
      <Section title="Groups">
        <Loaded of={listed}>
          {({ groups, totalResults }) => (
            <>
              <Rows
                label="Groups"
                columns={columns}
                rows={groups}
                keyOf={({ id }) => id}
                empty={search === '' ? 'There are no groups yet. Sources bring them.' : 'No group was found.'}
              />
              <Pager startIndex={startIndex} shown={groups.length} total={totalResults} />
            </>
          )}
        </Loaded>
      </Section>
    </Page>
  );
}

export function GroupPage({ id }: { readonly id: string }) {
  const names = useSourceNames();
  const group = useLook<GroupView>(`/groups/${encodeURIComponent(id)}`);
  return (
    <Page title={group.data?.displayName ?? `Group ${id}`}>
      <Loaded of={group}>
        {({ displayName, groupType, ownerSourceId }) => (
          <>
            <Section title="Group">
              <Facts
                rows={[
                  ['ID', id],
                  ['Name', displayName],
                  ['Type', groupType],
                  ['Source', ownerSourceId === null ? 'nobody' : (names.get(ownerSourceId) ?? ownerSourceId)],
                ]}
              />
            </Section>
            <Members id={id} />
            <History path={`/groups/${encodeURIComponent(id)}/history`} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Members({ id }: { readonly id: string }) {
  const startIndex = Number(usePlace().params.get('from') ?? 1);
  const filter = `groups.value eq ${JSON.stringify(id)}`;
  const members = useLook<PersonListView>(`/users${queryOf({ filter, startIndex, count: pageRows })}`);
  return (
    <Section title="Members">
      <Loaded of={members}>
        {({ users, totalResults }) => (
          <>
            <Rows
              label="Members"
              columns={personColumns}
              rows={users}
              keyOf={(user) => user.id}
              empty="Nobody is in it."
            />
            <Pager startIndex={startIndex} shown={users.length} total={totalResults} />
          </>
        )}
      </Loaded>
    </Section>
  );
}
