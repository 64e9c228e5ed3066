// The shapes of people and groups, of their history, of the request log and of the audit log in the admin API.

import { type Static, t } from 'elysia';

const strict = { additionalProperties: false } as const;
const id = t.String({ pattern: '^[0-9]{1,15}$' });
const before = t.Optional(t.Integer({ minimum: 1 }));
const limit = t.Optional(t.Integer({ minimum: 1, maximum: 200 }));

export const personParams = t.Object({ user: id });
export const groupParams = t.Object({ group: id });
export const browseQuery = t.Object(
  {
    /** Those of whom a name, an email address or the id begins with this. */
    search: t.Optional(t.String({ maxLength: 200 })),
    /** A SCIM filter. */
    filter: t.Optional(t.String({ maxLength: 4_096 })),
    startIndex: t.Optional(t.Integer({ minimum: 1 })),
    count: t.Optional(t.Integer({ minimum: 0, maximum: 200 })),
  },
  strict,
);
/** `before`: only what is older than this number, `next` of the page before. */
export const olderQuery = t.Object({ before, limit }, strict);
export const requestsQuery = t.Object(
  {
    source: t.Optional(id),
    /** First digit of the status: 2, 4 or 5. */
    status: t.Optional(t.Union([t.Literal('2'), t.Literal('4'), t.Literal('5')])),
    hasRepairs: t.Optional(t.BooleanString()),
    before,
    /** Only what is newer than this number: what a page that is open has not seen. */
    after: t.Optional(t.Integer({ minimum: 0 })),
    limit,
  },
  strict,
);

/** A resource as SCIM shows it, RFC 7643. */
const resource = t.Record(t.String(), t.Unknown());

export const personRow = t.Object({
  id: t.Integer(),
  state: t.String(),
  userName: t.String(),
  displayName: t.String(),
  email: t.Nullable(t.String()),
  jobTitle: t.Nullable(t.String()),
  department: t.Nullable(t.String()),
});
export const personListView = t.Object({
  totalResults: t.Nullable(t.Integer()),
  startIndex: t.Integer(),
  users: t.Array(personRow),
});

const manager = t.Object({ id: t.Integer(), displayName: t.String() });
export const personView = t.Object({
  id: t.Integer(),
  state: t.String(),
  doNotSynchronise: t.Boolean(),
  /** Of the source that may end the person; null for nobody. */
  ownerSourceId: t.Nullable(t.Integer()),
  resource,
  groups: t.Array(
    t.Object({ id: t.Integer(), groupType: t.String(), displayName: t.String(), isPrimary: t.Boolean() }),
  ),
  /** The manager, their manager and so on, at most 20. */
  managers: t.Array(manager),
  reports: personListView,
});

export const groupRow = t.Object({
  id: t.Integer(),
  groupType: t.String(),
  displayName: t.String(),
  ownerSourceId: t.Nullable(t.Integer()),
});
export const groupListView = t.Object({
  totalResults: t.Nullable(t.Integer()),
  startIndex: t.Integer(),
  groups: t.Array(groupRow),
});
export const groupView = t.Object({
  id: t.Integer(),
  groupType: t.String(),
  displayName: t.String(),
  ownerSourceId: t.Nullable(t.Integer()),
  resource,
});

const actor = t.Object({
  kind: t.String(),
  id: t.Nullable(t.Integer()),
  name: t.Nullable(t.String()),
});
export const historyView = t.Object({
  changes: t.Array(
    t.Object({
      seq: t.Integer(),
      time: t.String(),
      actor,
      requestId: t.Nullable(t.String()),
      importId: t.Nullable(t.Integer()),
      action: t.String(),
      before: t.Nullable(resource),
      after: t.Nullable(resource),
    }),
  ),
  next: t.Nullable(t.Integer()),
});

const repair = t.Object({
  code: t.String(),
  attribute: t.String(),
  from: t.Optional(t.String()),
  to: t.Optional(t.String()),
  operation: t.Optional(t.Integer()),
});
export const requestView = t.Object({
  id: t.Integer(),
  time: t.String(),
  durationMs: t.Number(),
  sourceId: t.Nullable(t.Integer()),
  method: t.String(),
  path: t.String(),
  query: t.Nullable(t.String()),
  status: t.Integer(),
  clientAddress: t.String(),
  requestId: t.String(),
  refusal: t.Nullable(t.String()),
  repairs: t.Array(repair),
  /** Only of a source that logs bodies, and masked. */
  body: t.Nullable(t.String()),
});
export const requestListView = t.Object({
  /** Newest first; with `after` oldest first. */
  requests: t.Array(requestView),
  next: t.Nullable(t.Integer()),
});

export const auditView = t.Object({
  entries: t.Array(
    t.Object({
      seq: t.Integer(),
      time: t.String(),
      action: t.String(),
      by: t.Object({
        kind: t.String(),
        name: t.Optional(t.String()),
        clientAddress: t.Optional(t.String()),
      }),
      subject: t.Object({ id: t.String(), name: t.String() }),
      before: t.Optional(resource),
      after: t.Optional(resource),
    }),
  ),
  next: t.Nullable(t.Integer()),
});

export type PersonRow = Static<typeof personRow>;
export type PersonListView = Static<typeof personListView>;
export type PersonView = Static<typeof personView>;
export type GroupRow = Static<typeof groupRow>;
export type GroupListView = Static<typeof groupListView>;
export type GroupView = Static<typeof groupView>;
export type HistoryView = Static<typeof historyView>;
export type RequestView = Static<typeof requestView>;
export type RequestListView = Static<typeof requestListView>;
export type AuditView = Static<typeof auditView>;
