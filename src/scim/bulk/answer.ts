import { DomainError } from '../../errors.ts';
import { bulkResponseUrn } from '../../resource/bulk-request.ts';
import { tagOf } from '../answer.ts';
import type { BulkSummary, ScimCall } from '../call.ts';
import { type ErrorBody, statusOf, toErrorBody } from '../errors.ts';
import type { Prepared } from './prepare.ts';
import type { Outcome } from './run.ts';

const failuresMax = 20;

interface OperationAnswer {
  readonly location?: string;
  readonly method?: string;
  readonly bulkId?: string;
  readonly version?: string;
  readonly status: string;
  readonly response?: ErrorBody;
}

/** An operation with what came of it. */
export interface Answered {
  readonly operation: Prepared;
  readonly outcome: Outcome;
}

/** RFC 7644 §3.7.3: the operations that were done, in the order of the request, whatever the order of the work. */
export function bulkResponse(call: ScimCall, answered: readonly Answered[]) {
  return { schemas: [bulkResponseUrn], Operations: answered.map((each) => operationAnswer(call, each)) };
}

/** A body stands only in the answer to what failed: whoever wants to see a resource finds it at its location. */
function operationAnswer(call: ScimCall, { operation, outcome }: Answered): OperationAnswer {
  const { method, bulkId } = operation;
  const location = locationOf(call, operation, outcome);
  const about = {
    ...(location === undefined ? {} : { location }),
    ...(method === undefined ? {} : { method }),
    ...(bulkId === undefined ? {} : { bulkId }),
  };
  if (outcome instanceof DomainError) {
    const response = toErrorBody(outcome);
    return { ...about, status: response.status, response };
  }
  const version = outcome.version === undefined ? {} : { version: tagOf(call, outcome.version) };
  return { ...about, ...version, status: String(outcome.status) };
}

/** Required except for a POST that failed; what a path only names by a bulkId that came to nothing has none. */
function locationOf(call: ScimCall, { change }: Prepared, outcome: Outcome): string | undefined {
  if (change instanceof DomainError) return undefined;
  const { type, id, bulkId } = change.target;
  if (!(outcome instanceof DomainError)) return call.link(type, outcome.id);
  if (id === undefined || bulkId !== undefined) return undefined;
  // Half a surrogate pair has no escape: the answer to all the other operations must not fail for it.
  return `${call.base}/${type}s/${encodeURIComponent(id.toWellFormed())}`;
}

/** For the request log: what was mended and left out in which operation, and what failed. */
export function noteInTrace(call: ScimCall, operations: readonly Prepared[], answered: readonly Answered[]) {
  const { trace } = call;
  for (const { number, trace: own } of operations) {
    for (const repair of own.repairs) trace.repairs.push({ ...repair, operation: number });
    for (const ignored of own.ignored) trace.ignored.push({ ...ignored, operation: number });
    trace.touched.push(...own.touched);
    trace.decoded.push(...own.decoded);
  }
  trace.bulk = summaryOf(operations, answered);
}

function summaryOf(operations: readonly Prepared[], answered: readonly Answered[]): BulkSummary {
  const failures = answered.flatMap(({ operation, outcome }) =>
    outcome instanceof DomainError ? [failureOf(operation, outcome)] : [],
  );
  return {
    operations: operations.length,
    succeeded: answered.length - failures.length,
    failed: failures.length,
    failures: failures.slice(0, failuresMax),
  };
}

function failureOf({ number, method, path }: Prepared, { kind, detail }: DomainError) {
  return {
    operation: number,
    method: method?.slice(0, 20),
    path: path?.slice(0, 200),
    status: statusOf(kind),
    refusal: detail,
  };
}
