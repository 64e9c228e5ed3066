import type { DomainError, ErrorKind } from '../errors.ts';

interface ScimError {
  readonly status: number;
  /** Only the keywords of RFC 7644 §3.12 and RFC 9865 §2.3. */
  readonly scimType?: string;
}

/** Every kind of refusal in SCIM's terms; the compiler sees to it that none is missing. */
const scimErrors: Readonly<Record<ErrorKind, ScimError>> = {
  invalidFilter: { status: 400, scimType: 'invalidFilter' },
  tooMany: { status: 400, scimType: 'tooMany' },
  uniqueness: { status: 409, scimType: 'uniqueness' },
  mutability: { status: 400, scimType: 'mutability' },
  invalidSyntax: { status: 400, scimType: 'invalidSyntax' },
  invalidPath: { status: 400, scimType: 'invalidPath' },
  noTarget: { status: 400, scimType: 'noTarget' },
  invalidValue: { status: 400, scimType: 'invalidValue' },
  sensitive: { status: 403, scimType: 'sensitive' },
  invalidCursor: { status: 400, scimType: 'invalidCursor' },
  expiredCursor: { status: 400, scimType: 'expiredCursor' },
  invalidCount: { status: 400, scimType: 'invalidCount' },
  notFound: { status: 404 },
  methodNotAllowed: { status: 405 },
  notImplemented: { status: 501 },
  conflict: { status: 409 },
  versionMismatch: { status: 412 },
  unauthenticated: { status: 401 },
  forbidden: { status: 403 },
  misdirected: { status: 421 },
  payloadTooLarge: { status: 413 },
  unsupportedMediaType: { status: 415 },
  limitExceeded: { status: 429 },
  unavailable: { status: 503 },
  storageFull: { status: 507 },
  internal: { status: 500 },
};

const errorUrn = 'urn:ietf:params:scim:api:messages:2.0:Error';

export interface ErrorBody {
  readonly schemas: readonly string[];
  readonly status: string;
  readonly scimType?: string;
  readonly detail: string;
}

export function statusOf(kind: ErrorKind): number {
  return scimErrors[kind].status;
}

/** The error body of RFC 7644 §3.12. */
export function toErrorBody(error: DomainError): ErrorBody {
  const { status, scimType } = scimErrors[error.kind];
  return {
    schemas: [errorUrn],
    status: String(status),
    ...(scimType ? { scimType } : {}),
    detail: error.detail,
  };
}

/** RFC 6750 §3: an error only where a token was sent. */
function challengeOf({ isTokenRefused }: DomainError): string {
  return isTokenRefused ? 'Bearer error="invalid_token"' : 'Bearer';
}

/** The error body, with the headers that go with the kind. */
export function toErrorResponse(error: DomainError, mediaType = 'application/scim+json'): Response {
  const { status } = scimErrors[error.kind];
  const headers = new Headers({ 'content-type': mediaType });
  if (error.kind === 'unauthenticated') headers.set('www-authenticate', challengeOf(error));
  if (error.retryAfterSeconds !== undefined) headers.set('retry-after', String(error.retryAfterSeconds));
  if (error.allow !== undefined) headers.set('allow', error.allow.join(', '));
  return new Response(JSON.stringify(toErrorBody(error)), { status, headers });
}
