import { Elysia } from 'elysia';
import { admitted } from '../http/surface.ts';
import type { Session, Sessions } from '../security/sessions.ts';
import { answer } from './answer.ts';
import { noSessionCookie } from './cookie.ts';
import { emptyRequest, type MeView } from './model.ts';
import { sessionOperations } from './openapi.ts';

/** Who is signed in, and the ways out. */
export function session(sessions: Sessions, sessionOf: (request: Request) => Session) {
  return new Elysia({ name: 'admin.session' })
    .get(
      '/me',
      ({ request }) => {
        const { account, expires } = sessionOf(request);
        return answer({ id: account.id, name: account.name, sessionExpires: expires } satisfies MeView);
      },
      { detail: sessionOperations.me },
    )
    .post(
      '/session/sign-out',
      async ({ request }) => {
        await sessions.end(sessionOf(request));
        return farewell(request);
      },
      { body: emptyRequest, detail: sessionOperations.signOut },
    )
    .post(
      '/session/sign-out/everywhere',
      async ({ request }) => {
        await sessions.endAll(sessionOf(request));
        return farewell(request);
      },
      { body: emptyRequest, detail: sessionOperations.signOutEverywhere },
    );
}

function farewell(request: Request): Response {
  return answer(undefined, { status: 204, cookie: noSessionCookie(admitted(request).origin) });
}
