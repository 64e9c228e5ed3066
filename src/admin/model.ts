// The shapes of the admin API: what is sent is checked against them, and the console's types derive from them.
// They hold no secret that is sent back: tokens and passwords only ever come in.

import { type Static, t } from 'elysia';
import { runStatuses } from '../imports/imports.ts';

const strict = { additionalProperties: false } as const;
const token = t.String({ minLength: 1, maxLength: 200 });
const name = t.String({ minLength: 1, maxLength: 200 });
const password = t.String({ minLength: 1, maxLength: 1_024 });

export const invitationRequest = t.Object({ token }, strict);
export const acceptRequest = t.Object({ token, name, password }, strict);
export const signInRequest = t.Object({ name, password }, strict);
export const emptyRequest = t.Object({}, strict);
export const listQuery = t.Object({ limit: t.Optional(t.Integer({ minimum: 1, maximum: 100 })) }, strict);

export const invitationView = t.Object({ name: t.String(), expires: t.String() });
export const accountView = t.Object({ id: t.Integer(), name: t.String() });
export const meView = t.Object({ id: t.Integer(), name: t.String(), sessionExpires: t.String() });

export const sourceView = t.Object({
  id: t.Integer(),
  name: t.String(),
  kind: t.Union([t.Literal('scim'), t.Literal('general')]),
  active: t.Boolean(),
  /** Path of the source's endpoint, as the column of the source table shows it. */
  apiUrlSuffix: t.String(),
});

export const importView = t.Object({
  id: t.Integer(),
  sourceId: t.Integer(),
  status: t.Union(runStatuses.map((status) => t.Literal(status))),
  dryRun: t.Boolean(),
  /** Records of the document. */
  users: t.Integer(),
  groups: t.Integer(),
  /** Outcomes so far, by name. */
  counts: t.Record(t.String(), t.Integer()),
  message: t.Nullable(t.String()),
  created: t.String(),
  finished: t.Nullable(t.String()),
});

export type InvitationView = Static<typeof invitationView>;
export type AccountView = Static<typeof accountView>;
export type MeView = Static<typeof meView>;
export type SourceView = Static<typeof sourceView>;
export type ImportView = Static<typeof importView>;
