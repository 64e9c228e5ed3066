// The envelope of a Bulk request, and of each operation in it.
// Never knows what an operation does: that is for the verbs it stands for.
// Renders RFC 7644 §3.7.

import { DomainError } from '../errors.ts';
import { namesUrn, readMembers } from './envelope.ts';
import { isArray, isObject, type ScimValue } from './value.ts';

export const bulkRequestUrn = 'urn:ietf:params:scim:api:messages:2.0:BulkRequest';
export const bulkResponseUrn = 'urn:ietf:params:scim:api:messages:2.0:BulkResponse';
export const bulkOperationsMax = 1_000;
/** A setting for all bodies may be lower. */
export const bulkBytesMax = 1_048_576;

export interface BulkRequest {
  /** How many failed operations end the request; undefined: it goes on to the end. */
  readonly failOnErrors: number | undefined;
  /** As they were sent: a wrong one is an error of its own, not of the request. */
  readonly operations: readonly ScimValue[];
}

/** Throws `invalidSyntax` or `invalidValue` for what is wrong with the whole, `payloadTooLarge` for too many operations. */
export function readBulkRequest(body: ScimValue): BulkRequest {
  if (!isObject(body)) throw refuse('the body must be a JSON object');
  const { schemas, failonerrors, operations } = readMembers(
    body,
    ['schemas', 'failonerrors', 'operations'],
    refuse,
  );
  if (!namesUrn(schemas, bulkRequestUrn)) throw refuse(`"schemas" must name ${bulkRequestUrn}`);
  if (!isArray(operations)) throw refuse('"Operations" must be an array');
  if (operations.length === 0) throw refuse('"Operations" is empty; give at least one operation');
  if (operations.length > bulkOperationsMax) {
    const detail = `The Bulk has ${operations.length} operations, more than maxOperations (${bulkOperationsMax}); send several requests.`;
    throw new DomainError('payloadTooLarge', detail);
  }
  return { failOnErrors: readFailOnErrors(failonerrors), operations };
}

function readFailOnErrors(value: ScimValue | undefined): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 1) return value;
  throw new DomainError(
    'invalidValue',
    'failOnErrors must be a whole number from 1; leave it out to go on.',
    {
      attribute: 'failOnErrors',
    },
  );
}

const methods = ['POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type BulkMethod = (typeof methods)[number];

export type BulkMembers = Partial<Record<'method' | 'bulkid' | 'version' | 'path' | 'data', ScimValue>>;

/** The members of an operation by their names in lower case. Throws `invalidSyntax`. */
export function readBulkMembers(operation: ScimValue): BulkMembers {
  if (!isObject(operation)) throw refuse('the operation must be an object');
  return readMembers(operation, ['method', 'bulkid', 'version', 'path', 'data'], refuse);
}

export interface BulkOperation {
  readonly method: BulkMethod;
  readonly bulkId: string | undefined;
  /** What a single request says by If-Match. */
  readonly version: string | undefined;
  readonly path: string;
  /** null with DELETE. */
  readonly data: ScimValue;
}

/** Throws `invalidValue` naming the member that is missing or wrong. */
export function toBulkOperation({ method, bulkid, version, path, data }: BulkMembers): BulkOperation {
  const known = methods.find((each) => each === method);
  if (known === undefined) throw wrong('method', 'must be POST, PUT, PATCH or DELETE');
  const bulkId = readText('bulkId', bulkid);
  if (known === 'POST' && bulkId === undefined) {
    throw wrong('bulkId', 'is required with POST; give every new resource one of its own');
  }
  const place = readText('path', path);
  if (place === undefined) throw wrong('path', 'is required, such as "/Users" or "/Users/7"');
  if (known !== 'DELETE' && (data === undefined || data === null)) {
    throw wrong('data', `is required with ${known}; it is the body of the single request`);
  }
  const tag = readText('version', version);
  return {
    method: known,
    bulkId,
    version: tag,
    path: place,
    data: known === 'DELETE' ? null : (data ?? null),
  };
}

function readText(name: string, value: ScimValue | undefined): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'string') return value;
  throw wrong(name, 'must be a text');
}

function wrong(name: string, problem: string): DomainError {
  return new DomainError('invalidValue', `The "${name}" of a Bulk operation ${problem}.`, {
    attribute: name,
  });
}

function refuse(problem: string): DomainError {
  return new DomainError('invalidSyntax', `The Bulk cannot be read: ${problem}.`);
}
