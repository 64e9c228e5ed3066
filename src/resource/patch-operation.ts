import { DomainError } from '../errors.ts';
import { namesUrn, readMembers } from './envelope.ts';
import { isArray, isObject, type ScimValue } from './value.ts';

/**
 * One operation. `remove` of a whole list with a `value` removes only the listed values: an extension of RFC 7644 that
 * only the repair `remove-by-value-list` lets in. Elsewhere the value of a `remove` says nothing: the path does.
 */
export interface PatchOperation {
  readonly op: 'add' | 'remove' | 'replace';
  readonly path?: string;
  readonly value?: ScimValue;
  /** Where it stands in the client's request; absent when it is where it stands in its list. */
  readonly origin?: OperationOrigin;
}

export interface OperationOrigin {
  /** From 1. */
  readonly number: number;
  readonly of: number;
}

export interface ReadPatchOptions {
  /** Lets `remove` carry a `value` (Entra E6, Ping): the repairs decide what it means. Default: `invalidSyntax`. */
  readonly removeWithValue?: boolean;
}

export const patchOpUrn = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
export const patchOperationsMax = 1000;

/** Reads the envelope of RFC 7644 §3.5.2; keys and op names without case. Throws `invalidSyntax` or `payloadTooLarge`. */
export function readPatchOp(body: unknown, options: ReadPatchOptions = {}): readonly PatchOperation[] {
  if (!isObject(body)) throw refuse('the body must be a JSON object');
  const { schemas, operations } = readMembers(body, ['schemas', 'operations'], refuse);
  if (!namesUrn(schemas, patchOpUrn)) throw refuse(`"schemas" must name ${patchOpUrn}`);
  if (!isArray(operations)) throw refuse('"Operations" must be an array');
  if (operations.length === 0) throw refuse('"Operations" is empty; give at least one operation');
  if (operations.length > patchOperationsMax) {
    const detail = `The PATCH has more than ${patchOperationsMax} operations; send several requests.`;
    throw new DomainError('payloadTooLarge', detail);
  }
  return operations.map((operation, index) => readOperation(operation, index + 1, options));
}

/** The operations with where they stand, for when some of them are done apart from the others. */
export function withOrigins(operations: readonly PatchOperation[]): readonly PatchOperation[] {
  return operations.map((operation, index) => ({
    origin: { number: index + 1, of: operations.length },
    ...operation,
  }));
}

/** Does `work` for one of several operations; what it throws says which of them was meant. */
export function atOperation<T>({ number, of }: OperationOrigin, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (of === 1 || !(error instanceof DomainError) || error.detail.startsWith('Operation ')) throw error;
    const context = error.attribute === undefined ? {} : { attribute: error.attribute };
    throw new DomainError(error.kind, `Operation ${number}: ${error.detail}`, { ...context, cause: error });
  }
}

function readOperation(operation: ScimValue, number: number, options: ReadPatchOptions): PatchOperation {
  if (!isObject(operation)) throw refuse(`operation ${number} must be an object`);
  const { op, path, value } = readMembers(operation, ['op', 'path', 'value'], refuse);
  const name = typeof op === 'string' ? op.toLowerCase() : undefined;
  if (name !== 'add' && name !== 'remove' && name !== 'replace') {
    throw refuse(`the "op" of operation ${number} must be add, remove or replace`);
  }
  if (path !== undefined && path !== null && typeof path !== 'string') {
    throw refuse(`the "path" of operation ${number} must be a text`);
  }
  if (name === 'remove') checkRemove(value, number, options);
  else if (value === undefined) throw refuse(`operation ${number} (${name}) has no "value"`);
  return {
    op: name,
    ...(path ? { path } : {}),
    ...(value === undefined || (name === 'remove' && value === null) ? {} : { value }),
  };
}

/** A server that overlooked the list of values would remove everything (RFC 7644 §3.5.2.2 gives remove no value). */
function checkRemove(value: ScimValue | undefined, number: number, options: ReadPatchOptions): void {
  if (value === undefined || value === null || options.removeWithValue === true) return;
  throw refuse(`operation ${number} (remove) has a "value"; name what to remove in "path", by a filter`);
}

function refuse(problem: string): DomainError {
  return new DomainError('invalidSyntax', `The PATCH cannot be read: ${problem}.`);
}
