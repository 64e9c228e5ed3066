// The one error that the domain throws, and the closed list of its kinds.
// It never knows a status code: each surface maps kinds to its own answers in one table.
// Kinds are the scimType keywords of RFC 7644 §3.12 and RFC 9865 §2.3 where there is one.

/** Keywords of RFC 7644 §3.12 and RFC 9865 §2.3 that the product uses, then its own. */
export const errorKinds = [
  'invalidFilter',
  'tooMany',
  'uniqueness',
  'mutability',
  'invalidSyntax',
  'invalidPath',
  'noTarget',
  'invalidValue',
  'sensitive',
  'invalidCursor',
  'expiredCursor',
  'invalidCount',
  'notFound',
  'methodNotAllowed',
  'notImplemented',
  'conflict',
  'versionMismatch',
  'unauthenticated',
  'forbidden',
  'misdirected',
  'payloadTooLarge',
  'unsupportedMediaType',
  'limitExceeded',
  'unavailable',
  'storageFull',
  'internal',
] as const;

export type ErrorKind = (typeof errorKinds)[number];

export interface ErrorContext {
  /** The attribute at fault, in the notation of RFC 7644 §3.10. */
  readonly attribute?: string;
  /** For the log only: never shown to a client. */
  readonly cause?: unknown;
  /** Seconds after which the client may try again. */
  readonly retryAfterSeconds?: number;
  /** With `unauthenticated`: a token was sent, and is not in force. The detail does not say so, the log does. */
  readonly isTokenRefused?: boolean;
  /** With `methodNotAllowed`: the methods that the path has. */
  readonly allow?: readonly string[];
}

/** An operation that was refused. `detail` is a sentence that is safe to show to the client. */
export class DomainError extends Error {
  readonly kind: ErrorKind;
  readonly detail: string;
  readonly attribute: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly isTokenRefused: boolean;
  readonly allow: readonly string[] | undefined;

  constructor(kind: ErrorKind, detail: string, context: ErrorContext = {}) {
    super(detail, { cause: context.cause });
    this.name = 'DomainError';
    this.kind = kind;
    this.detail = detail;
    this.attribute = context.attribute;
    this.retryAfterSeconds = context.retryAfterSeconds;
    this.isTokenRefused = context.isTokenRefused ?? false;
    this.allow = context.allow;
  }

  /** The detail, with what only the log is told. */
  get logDetail(): string {
    return this.isTokenRefused ? `${this.detail} (A token was sent that is not in force.)` : this.detail;
  }
}
