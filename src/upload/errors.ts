import type { DomainError, ErrorKind } from '../errors.ts';
import { DocumentRefused } from '../imports/document-refused.ts';

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
  sensitive: 400,
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

/** What the scripts that upload files look for in an answer to a file that is not accepted. */
const invalidRequest = 'The request is invalid.';

/** The surface's error body: `Message`, and for a refused document every problem with its place. */
export function toErrorResponse(error: DomainError): Response {
  const headers = new Headers({ 'content-type': 'application/json' });
  if (error.retryAfterSeconds !== undefined) headers.set('retry-after', String(error.retryAfterSeconds));
  if (error.allow !== undefined) headers.set('allow', error.allow.join(', '));
  return new Response(JSON.stringify(bodyOf(error)), { status: statuses[error.kind], headers });
}

function bodyOf(error: DomainError): object {
  if (error instanceof DocumentRefused) {
    const { sentences, problems, total, isTotalPartial } = error;
    const ModelState = { PlatformSyncLogicError: sentences };
    return { Message: invalidRequest, ModelState, errors: problems, total, isTotalPartial };
  }
  if (statuses[error.kind] !== 400) return { Message: error.detail };
  return {
    Message: invalidRequest,
    ModelState: { PlatformSyncLogicError: [error.detail] },
    errors: [],
    total: 0,
    isTotalPartial: false,
  };
}
