import { Elysia } from 'elysia';
import { DomainError } from '../errors.ts';
import { admitted } from '../http/surface.ts';
import type { Log } from '../log.ts';
import type { Accounts, SignedIn } from '../security/accounts.ts';
import type { Invitations } from '../security/invitations.ts';
import { answer } from './answer.ts';
import { readSessionToken, sessionCookie } from './cookie.ts';
import {
  type AccountView,
  acceptRequest,
  type InvitationView,
  invitationRequest,
  signInRequest,
} from './model.ts';
import { entryOperations } from './openapi.ts';

export interface EntryParts {
  readonly accounts: Accounts;
  readonly invitations: Invitations;
  readonly log: Log;
}

/** The ways in: what may be asked without a session. Invitations come in a body, because addresses are logged. */
export function entry({ accounts, invitations, log }: EntryParts) {
  return new Elysia({ name: 'admin.entry' })
    .post(
      '/invitation',
      async ({ body }) => {
        const { name, expires } = await invitations.get(body.token);
        return answer({ name, expires } satisfies InvitationView);
      },
      { body: invitationRequest, detail: entryOperations.invitation },
    )
    .post(
      '/accept',
      async ({ request, body: { token, name, password } }) => {
        const replaced = tokenOf(request);
        const signedIn = await accounts.acceptInvitation(token, { name, password, replaced });
        note(log, request, signedIn, 'administrator account made');
        return welcome(request, signedIn, 201);
      },
      { body: acceptRequest, detail: entryOperations.accept },
    )
    .post(
      '/sign-in',
      async ({ request, body: { name, password } }) => {
        const { clientAddress } = admitted(request);
        const signedIn = await accounts
          .signIn({ name, password, replaced: tokenOf(request), clientAddress })
          .catch((error) => noteRefusal(log, request, error));
        note(log, request, signedIn, 'administrator signed in');
        return welcome(request, signedIn, 200);
      },
      { body: signInRequest, detail: entryOperations.signIn },
    );
}

function tokenOf(request: Request): string | undefined {
  return readSessionToken(request.headers, admitted(request).origin);
}

function welcome(request: Request, { account, token }: SignedIn, status: number): Response {
  const { id, name } = account;
  const cookie = sessionCookie(token, admitted(request).origin);
  return answer({ id, name } satisfies AccountView, { status, cookie });
}

function note(log: Log, request: Request, { account }: SignedIn, message: string): void {
  const { requestId, clientAddress } = admitted(request);
  log.info({ requestId, clientAddress, accountId: account.id }, message);
}

/** Without the name that was typed: now and then it is a password. */
function noteRefusal(log: Log, request: Request, error: unknown): never {
  const { requestId, clientAddress } = admitted(request);
  if (error instanceof DomainError)
    log.warn({ requestId, clientAddress, reason: error.kind }, 'sign-in refused');
  throw error;
}
