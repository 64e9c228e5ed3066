// The shapes of import runs in the admin API.

import { type Static, t } from 'elysia';
import { planActions, runStatuses } from '../imports/imports.ts';

const strict = { additionalProperties: false } as const;
const id = t.String({ pattern: '^[0-9]{1,15}$' });
const limit = t.Optional(t.Integer({ minimum: 1, maximum: 1_000 }));

export const importParams = t.Object({ run: id });
export const importsQuery = t.Object(
  { source: t.Optional(id), limit: t.Optional(t.Integer({ minimum: 1, maximum: 100 })) },
  strict,
);
export const recordsQuery = t.Object(
  {
    /** Only records behind this one: `seq` of the last one of the page before. */
    after: t.Optional(t.Integer({ minimum: 0 })),
    action: t.Optional(t.Union(planActions.map((action) => t.Literal(action)))),
    limit,
  },
  strict,
);
export const issuesQuery = t.Object({ limit }, strict);
export const comparisonQuery = t.Object(
  {
    /** The earlier run; absent for the one that was completed before. */
    earlier: t.Optional(id),
    limit,
  },
  strict,
);

export const repeatRequest = t.Object({ dryRun: t.Optional(t.Boolean()) }, strict);

/** By the names of `rollcall run show`. */
const counts = t.Record(t.String(), t.Integer());
const progress = t.Object({
  phase: t.String(),
  done: t.Integer(),
  total: t.Integer(),
  /** Rows a second; absent while nobody works on it. */
  rate: t.Optional(t.Number()),
  secondsLeft: t.Optional(t.Integer()),
});

export const importView = t.Object({
  id: t.Integer(),
  sourceId: t.Integer(),
  status: t.Union(runStatuses.map((status) => t.Literal(status))),
  origin: t.String(),
  dryRun: t.Boolean(),
  sha256: t.String(),
  bytes: t.Integer(),
  /** Records of the document. */
  users: t.Integer(),
  groups: t.Integer(),
  progress: t.Nullable(progress),
  /** What the plan foresees; null until it is complete. */
  planned: t.Nullable(counts),
  /** Outcomes so far. */
  counts,
  message: t.Nullable(t.String()),
  warnings: t.Array(t.String()),
  retryAt: t.Nullable(t.String()),
  created: t.String(),
  started: t.Nullable(t.String()),
  finished: t.Nullable(t.String()),
});
export const importListView = t.Object({ imports: t.Array(importView) });

export const issueListView = t.Object({
  issues: t.Array(
    t.Object({
      line: t.Nullable(t.Integer()),
      recordId: t.Nullable(t.String()),
      code: t.String(),
      message: t.String(),
    }),
  ),
});

export const recordListView = t.Object({
  records: t.Array(
    t.Object({
      seq: t.Integer(),
      kind: t.String(),
      recordId: t.Nullable(t.String()),
      line: t.Nullable(t.Integer()),
      action: t.String(),
      resourceId: t.Nullable(t.Integer()),
      changed: t.Array(t.String()),
    }),
  ),
});

const comparedPerson = t.Object({
  recordId: t.String(),
  userId: t.Nullable(t.Integer()),
  userName: t.Nullable(t.String()),
  displayName: t.Nullable(t.String()),
  changed: t.Array(t.String()),
});

export const comparisonView = t.Object({
  laterId: t.Integer(),
  earlierId: t.Integer(),
  /** A delta names only some people, so nobody counts as removed. */
  isDelta: t.Boolean(),
  counts,
  /** The first of each. */
  added: t.Array(comparedPerson),
  removed: t.Array(comparedPerson),
  changed: t.Array(comparedPerson),
});

export const reEnabledView = t.Object({ enabled: t.Integer(), left: t.Integer() });

export type ImportView = Static<typeof importView>;
export type IssueListView = Static<typeof issueListView>;
export type RecordListView = Static<typeof recordListView>;
export type ComparisonView = Static<typeof comparisonView>;
export type ReEnabledView = Static<typeof reEnabledView>;
