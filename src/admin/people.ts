import { Elysia } from 'elysia';
import type { DirectoryView } from '../directory/directory-view.ts';
import type { Group } from '../directory/group-store.ts';
import type { HistoryPage } from '../directory/history-store.ts';
import type { Page } from '../directory/query.ts';
import type { Link } from '../directory/resource-view.ts';
import { shownName, type User } from '../directory/user.ts';
import { toId } from '../resource/resource-id.ts';
import { isArray, isObject, type ScimObject } from '../resource/value.ts';
import { answer } from './answer.ts';
import { describe, shows } from './openapi.ts';
import {
  browseQuery,
  type GroupListView,
  type GroupRow,
  type GroupView,
  groupParams,
  type HistoryView,
  olderQuery,
  type PersonListView,
  type PersonRow,
  type PersonView,
  personParams,
} from './people-model.ts';

export interface PeopleParts {
  readonly directory: DirectoryView;
  /** Addresses of resources, as the request that asks reached the service. */
  readonly linkOf: (request: Request) => Link;
  /** Says that nobody waits for the answer any more. */
  readonly signalOf: (request: Request) => AbortSignal;
}

const countDefault = 50;
const historyDefault = 50;

/** People and groups, to look at: who they are, to whom they belong, and what has become of them. */
export function people(parts: PeopleParts) {
  return new Elysia({ name: 'admin.people' }).use(users(parts)).use(groups(parts));
}

function users({ directory, linkOf, signalOf }: PeopleParts) {
  const params = personParams;
  return new Elysia({ name: 'admin.users' })
    .get(
      '/users',
      async ({ request, query: { startIndex = 1, count = countDefault, ...asked } }) => {
        const page = await directory.users({ ...asked, startIndex, count, signal: signalOf(request) });
        return answer(toPersonList(page));
      },
      {
        query: browseQuery,
        detail: describe({
          id: 'browseUsers',
          summary: 'Search people',
          query: browseQuery,
          answers: { 200: shows('PersonList', 'The people, those who are archived left out.') },
          kinds: ['invalidFilter', 'tooMany'],
        }),
      },
    )
    .get(
      '/users/:user',
      async ({ request, params: { user } }) => {
        const found = await directory.user(toId(user), linkOf(request));
        const { id, state, doNotSynchronise, ownerSourceId } = found.user;
        return answer({
          ...{ id, state, doNotSynchronise, ownerSourceId, resource: found.resource },
          groups: found.user.groups.map(toMembership),
          managers: found.managers.map((each) => ({ id: each.id, displayName: each.displayName })),
          reports: toPersonList(found.reports),
        } satisfies PersonView);
      },
      {
        params,
        detail: describe({
          id: 'showUser',
          summary: 'Show a person, also an archived one',
          params,
          answers: { 200: shows('Person', 'The person, with managers and reports.') },
          kinds: ['notFound'],
        }),
      },
    )
    .get(
      '/users/:user/history',
      async ({ params: { user }, query: { before, limit = historyDefault } }) =>
        answer(toHistory(await directory.history('User', toId(user), { before, limit }))),
      {
        params,
        query: olderQuery,
        detail: describe({
          id: 'showUserHistory',
          summary: 'Tell every change of a person, by whom, and what it was before and after',
          params,
          query: olderQuery,
          answers: { 200: shows('History', 'The changes, newest first.') },
          kinds: ['notFound'],
        }),
      },
    );
}

function groups({ directory, linkOf, signalOf }: PeopleParts) {
  const params = groupParams;
  return new Elysia({ name: 'admin.groups' })
    .get(
      '/groups',
      async ({ request, query: { startIndex = 1, count = countDefault, ...asked } }) => {
        const page = await directory.groups({ ...asked, startIndex, count, signal: signalOf(request) });
        return answer({ ...totalOf(page), groups: page.resources.map(toGroupRow) } satisfies GroupListView);
      },
      {
        query: browseQuery,
        detail: describe({
          id: 'browseGroups',
          summary: 'Search groups',
          query: browseQuery,
          answers: {
            200: shows('GroupListing', 'The groups; people of one are found by "groups.value eq".'),
          },
          kinds: ['invalidFilter', 'tooMany'],
        }),
      },
    )
    .get(
      '/groups/:group',
      async ({ request, params: { group } }) => {
        const found = await directory.group(toId(group), linkOf(request));
        return answer({ ...toGroupRow(found.group), resource: found.resource } satisfies GroupView);
      },
      {
        params,
        detail: describe({
          id: 'showGroup',
          summary: 'Show a group',
          params,
          answers: { 200: shows('GroupDetail', 'The group, without its members.') },
          kinds: ['notFound'],
        }),
      },
    )
    .get(
      '/groups/:group/history',
      async ({ params: { group }, query: { before, limit = historyDefault } }) =>
        answer(toHistory(await directory.history('Group', toId(group), { before, limit }))),
      {
        params,
        query: olderQuery,
        detail: describe({
          id: 'showGroupHistory',
          summary: 'Tell every change of a group, by whom, and what it was before and after',
          params,
          query: olderQuery,
          answers: { 200: shows('History', 'The changes, newest first.') },
          kinds: ['notFound'],
        }),
      },
    );
}

function totalOf({ totalResults, startIndex }: Page<unknown>) {
  return { totalResults: totalResults ?? null, startIndex };
}

function toPersonList(page: Page<User>): PersonListView {
  return { ...totalOf(page), users: page.resources.map(toPersonRow) };
}

function toPersonRow({ id, state, resource, units }: User): PersonRow {
  const userName = textOf(resource.userName) ?? '';
  return {
    id,
    state,
    userName,
    displayName: shownName(userName, resource),
    email: emailOf(resource),
    jobTitle: textOf(resource.title) ?? null,
    department: units.department ?? null,
  };
}

/** The primary address, else the first. */
function emailOf({ emails }: ScimObject): string | null {
  const all = (isArray(emails) ? emails : []).filter(isObject);
  return textOf((all.find(({ primary }) => primary === true) ?? all[0])?.value) ?? null;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function toMembership({ id, groupType, displayName, isPrimary }: User['groups'][number]) {
  return { id, groupType, displayName, isPrimary };
}

function toGroupRow({ id, groupType, displayName, ownerSourceId }: Group): GroupRow {
  return { id, groupType, displayName, ownerSourceId };
}

function toHistory({ changes, next }: HistoryPage): HistoryView {
  return {
    changes: changes.map((change) => ({
      ...change,
      actor: { ...change.actor },
      before: change.before === null ? null : { ...change.before },
      after: change.after === null ? null : { ...change.after },
    })),
    next: next ?? null,
  };
}
