// The shapes of the admin API: what is sent is checked against them, and the console's types derive from them.
// They hold no secret that is sent back: tokens and passwords only ever come in.

import { type Static, t } from 'elysia';

const strict = { additionalProperties: false } as const;
const token = t.String({ minLength: 1, maxLength: 200 });
const name = t.String({ minLength: 1, maxLength: 200 });
const password = t.String({ minLength: 1, maxLength: 1_024 });

export const invitationRequest = t.Object({ token }, strict);
export const acceptRequest = t.Object({ token, name, password }, strict);
export const signInRequest = t.Object({ name, password }, strict);
export const emptyRequest = t.Object({}, strict);

export const invitationView = t.Object({ name: t.String(), expires: t.String() });
export const accountView = t.Object({ id: t.Integer(), name: t.String() });
export const meView = t.Object({ id: t.Integer(), name: t.String(), sessionExpires: t.String() });

export type InvitationView = Static<typeof invitationView>;
export type AccountView = Static<typeof accountView>;
export type MeView = Static<typeof meView>;
