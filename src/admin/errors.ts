import type { DomainError, ErrorKind } from '../errors.ts';
import { answer } from './answer.ts';

/** Every kind of refusal as a status; the compiler sees to it that none is missing. */
const statuses: Readonly<Record<ErrorKind, number>> = {
  invalidFilter: 400,
  tooMany: 400,
  uniqueness: 409,
  mutability: 400,
  invalidSyntax: 400,
  invalidPath: 400,
  noTarget: 400,
  invalidValue: 400,
  sensitive: 403,
  invalidCursor: 400,
  expiredCursor: 400,
  invalidCount: 400,
  notFound: 404,
  methodNotAllowed: 405,
  notImplemented: 501,
  conflict: 409,
  versionMismatch: 412,
  unauthenticated: 401,
  forbidden: 403,
  misdirected: 421,
  payloadTooLarge: 413,
  unsupportedMediaType: 415,
  limitExceeded: 429,
  unavailable: 503,
  storageFull: 507,
  internal: 500,
};

/** `{ "message": … }`, with the headers that go with the kind. */
export function toErrorResponse(error: DomainError): Response {
  const response = answer({ message: error.detail }, { status: statuses[error.kind] });
  // RFC 9110 §15.5.2 asks for a challenge; this one makes no browser ask for a password by itself.
  if (error.kind === 'unauthenticated') response.headers.set('www-authenticate', 'Session realm="Rollcall"');
  if (error.retryAfterSeconds !== undefined)
    response.headers.set('retry-after', String(error.retryAfterSeconds));
  if (error.allow !== undefined) response.headers.set('allow', error.allow.join(', '));
  return response;
}
