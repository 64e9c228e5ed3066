// A Bulk: many single requests in one, which may refer to what the others create.
// It never does anything that a single request could not: its operations are done by the same verbs.
// Renders RFC 7644 §3.7; what it promises beyond that is told in docs/adr/0009.

import { Elysia } from 'elysia';
import type { Clock } from '../../clock.ts';
import { DomainError } from '../../errors.ts';
import { admitted } from '../../http/surface.ts';
import type { Log } from '../../log.ts';
import {
  type BulkRequest,
  bulkBytesMax,
  bulkOperationsMax,
  readBulkRequest,
} from '../../resource/bulk-request.ts';
import { scimJsonBounds } from '../../resource/json.ts';
import { json } from '../answer.ts';
import { readScimBody } from '../body.ts';
import type { OpenCall, ScimCall } from '../call.ts';
import { bulkOperation } from '../operations.ts';
import { mendBulkEnvelope } from '../repairs/bulk.ts';
import type { AllVerbs } from '../verbs.ts';
import { type Answered, bulkResponse, noteInTrace } from './answer.ts';
import { type Prepared, prepare } from './prepare.ts';
import { runBulk } from './run.ts';
import { BulkTurns } from './turns.ts';

export interface BulkParts {
  readonly verbs: AllVerbs;
  readonly clock: Clock;
  readonly log: Log;
}

/** As much as fits into the bytes; each operation has the bounds of a single request besides. */
const valuesMax = 200_000;
/** The Bulk itself, its operation and that one's data stand around what a single request would have. */
const levelsAround = 3;
/** Operations read in one go: reading takes no time but that of the thread which others need too. */
const readAtOnce = 50;

/** /Bulk (RFC 7644 §3.7). */
export function bulk(parts: BulkParts, open: OpenCall) {
  const turns = new BulkTurns();
  return new Elysia({ name: 'scim.bulk' }).post(
    '/Bulk',
    async ({ request }) => {
      const call = await open(request);
      // One request so far, which may have to wait for longer than others.
      admitted(request).standFor(1);
      const leave = await turns.enter(call.source.id);
      try {
        return json(request, await answerTo(request, call, parts));
      } finally {
        leave();
      }
    },
    { parse: 'none', detail: bulkOperation },
  );
}

/** What one Bulk may hold, as it is announced (RFC 7643 §5). */
export function bulkLimits({ context }: ScimCall) {
  const { scimBodyBytesMax } = context.configuration.settings;
  return {
    maxOperations: bulkOperationsMax,
    maxPayloadSize: Math.min(bulkBytesMax, scimBodyBytesMax),
  };
}

async function answerTo(request: Request, call: ScimCall, parts: BulkParts) {
  const { failOnErrors, operations } = await readRequest(request, call);
  admitted(request).standFor(operations.length);
  const prepared = await prepareAll(call, parts.verbs, operations);
  const outcomes = await runBulk(prepared, { call, failOnErrors, ...parts });
  const answered = prepared.flatMap((operation, index): Answered[] => {
    const outcome = outcomes[index];
    return outcome === undefined ? [] : [{ operation, outcome }];
  });
  noteInTrace(call, prepared, answered);
  logDefects(call, parts.log, answered);
  return bulkResponse(call, answered);
}

async function readRequest(request: Request, call: ScimCall): Promise<BulkRequest> {
  const bounds = {
    ...scimJsonBounds,
    documentBytesMax: bulkLimits(call).maxPayloadSize,
    depthMax: scimJsonBounds.depthMax + levelsAround,
    valuesMax,
  };
  const body = await readScimBody(request, call, bounds);
  return readBulkRequest(call.isCompat ? mendBulkEnvelope(body, call.trace.repairs) : body);
}

async function prepareAll(
  call: ScimCall,
  verbs: AllVerbs,
  operations: BulkRequest['operations'],
): Promise<Prepared[]> {
  const prepared: Prepared[] = [];
  for (const [index, operation] of operations.entries()) {
    prepared.push(prepare(call, verbs, { operation, number: index + 1 }));
    if (index % readAtOnce === readAtOnce - 1) await new Promise<void>((resolve) => setImmediate(resolve));
  }
  return prepared;
}

/** A refusal without a reason is our own failure: the log has to know it, since the answer does not tell. */
function logDefects({ context }: ScimCall, log: Log, answered: readonly Answered[]): void {
  for (const { operation, outcome } of answered) {
    if (!(outcome instanceof DomainError) || outcome.kind !== 'internal') continue;
    const { requestId } = context;
    log.error({ requestId, operation: operation.number, err: outcome.cause ?? outcome }, 'operation failed');
  }
}
