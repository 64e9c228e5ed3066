import { DomainError } from '../errors.ts';
import { toStorageError } from '../storage/constraints.ts';

/** What a client is told of any failure: a refusal as it stands, trouble of the storage as such, else no detail. */
export function refusalOf(error: unknown): DomainError {
  if (error instanceof Error && error.name === 'AbortError') {
    return new DomainError('invalidSyntax', 'The connection ended before the request did; send it again.');
  }
  const known = toStorageError(error);
  if (known instanceof DomainError) return known;
  const detail = 'The request could not be answered; the log of the service says why.';
  return new DomainError('internal', detail, { cause: error });
}
