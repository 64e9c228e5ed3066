// The shapes of profile sources in the admin API.

import { type Static, t } from 'elysia';

const strict = { additionalProperties: false } as const;
const kind = t.Union([t.Literal('scim'), t.Literal('general')]);
const name = t.String({ minLength: 1, maxLength: 200 });
/** By the names of `rollcall source set`; which there are depends on the kind. */
const settings = t.Record(
  t.String({ maxLength: 100 }),
  t.Union([t.String({ maxLength: 1_000 }), t.Number(), t.Boolean()]),
);

export const newSourceRequest = t.Object({ kind, name, settings: t.Optional(settings) }, strict);
export const changeSourceRequest = t.Object(
  { name: t.Optional(name), active: t.Optional(t.Boolean()), settings: t.Optional(settings) },
  strict,
);
export const newTokenRequest = t.Object(
  {
    /** Days for which the former tokens stay in force. */
    overlapDays: t.Integer({ minimum: 0, maximum: 365 }),
  },
  strict,
);
export const sourceParams = t.Object({ source: t.String({ pattern: '^[0-9]{1,15}$' }) });

const sourceFacts = {
  id: t.Integer(),
  name: t.String(),
  kind,
  active: t.Boolean(),
  created: t.String(),
  /** Path of the source's endpoint, as the column of the source table shows it. */
  apiUrlSuffix: t.String(),
  /** The whole address, as the outside system is told it. */
  url: t.String(),
};

export const sourceView = t.Object(sourceFacts);
export const tokenView = t.Object({
  id: t.Integer(),
  created: t.String(),
  /** Null for a token without an end. */
  expires: t.Nullable(t.String()),
});
export const sourceDetailView = t.Object({
  ...sourceFacts,
  settings: t.Record(t.String(), t.Union([t.String(), t.Number(), t.Boolean()])),
  /** Those in force, newest first; never what they say. */
  tokens: t.Array(tokenView),
});
/** The only answers that hold a token. */
export const shownTokenView = t.Object({ token: t.String() });
export const createdSourceView = t.Object({ source: sourceDetailView, token: t.String() });

export type NewSourceRequest = Static<typeof newSourceRequest>;
export type ChangeSourceRequest = Static<typeof changeSourceRequest>;
export type SourceView = Static<typeof sourceView>;
export type SourceDetailView = Static<typeof sourceDetailView>;
export type CreatedSourceView = Static<typeof createdSourceView>;
export type ShownTokenView = Static<typeof shownTokenView>;
