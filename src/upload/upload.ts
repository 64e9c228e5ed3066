// The upload surface: a document's bytes to intake, and what is known of a run back. It holds no rule about documents.
// It never reads a body before the gate has authenticated the source, and never holds one in memory.
// It renders no RFC: its answers are those of openapi.ts, its refusals the table of errors.ts.

import { Elysia } from 'elysia';
import { DomainError } from '../errors.ts';
import { refusalOf } from '../http/refusal.ts';
import { methodsOf, routesOf } from '../http/routes.ts';
import type { Intake, Receipt } from '../imports/intake.ts';
import type { ImportRun, ImportRuns } from '../imports/runs.ts';
import type { Log } from '../log.ts';
import { toId } from '../resource/resource-id.ts';
import type { GeneralSource } from '../sources/source-store.ts';
import { documentOf } from './body.ts';
import { toErrorResponse } from './errors.ts';
import { importOperation, logOperation, uploadOperation } from './openapi.ts';

export const uploadBase = '/api/platformsync';

export interface UploadAppParts {
  readonly intake: Intake;
  readonly runs: ImportRuns;
  /** The source that the request was authenticated as. */
  readonly sourceOf: (request: Request) => GeneralSource;
  readonly requestIdOf: (request: Request) => string;
  /** Whether nobody can have listened in on the request. */
  readonly isSecure: (request: Request) => boolean;
  /** Says that nobody waits for the answer any more. */
  readonly signalOf: (request: Request) => AbortSignal;
  readonly log: Log;
}

const issuesShown = 20;
const raw = { parse: 'none' } as const;

/** POST :sourceId/upload, GET :sourceId/imports/:id and its log. */
export function upload({ intake, runs, sourceOf, requestIdOf, isSecure, signalOf, log }: UploadAppParts) {
  const app = new Elysia({ name: 'upload', prefix: uploadBase })
    .onError(({ error, code }) => {
      const refused = code === 'NOT_FOUND' ? noRoute([]) : refusalOf(error);
      if (refused.kind === 'internal') log.error({ err: error }, 'upload failed');
      return toErrorResponse(refused);
    })
    .post(
      '/:sourceId/upload',
      async ({ request }) => {
        const source = sourceOf(request);
        if (!source.settings.allowPlainHttp && !isSecure(request)) throw notSecure();
        const force = new URL(request.url).searchParams.get('force') === 'true';
        const signal = signalOf(request);
        const read = { bytes: 0 };
        const stream = counted(documentOf(request, signal), read);
        try {
          return accepted(await intake.accept({ source, stream, origin: 'upload', force, signal }));
        } catch (error) {
          if (!signal.aborted) throw error;
          const facts = { requestId: requestIdOf(request), sourceId: source.id, bytes: read.bytes };
          log.info(facts, 'the client dropped its upload');
          throw dropped(error);
        }
      },
      { ...raw, detail: uploadOperation },
    )
    .get(
      '/:sourceId/imports/:id',
      async ({ request, params }) => {
        const run = await runs.get(toId(params.id), sourceOf(request).id);
        return Response.json({ ...shown(run), issues: await runs.issues(run.id, issuesShown) });
      },
      { detail: importOperation },
    )
    .get(
      '/:sourceId/imports/:id/log',
      async ({ request, params }) => {
        const log = await runs.log(toId(params.id), sourceOf(request).id);
        return new Response(log, { headers: { 'content-type': 'text/plain; charset=utf-8' } });
      },
      { detail: logOperation },
    );
  const routes = routesOf(app);
  return app.all('/*', ({ request }) => {
    throw noRoute(methodsOf(routes, new URL(request.url).pathname));
  });
}

async function* counted(
  stream: AsyncIterable<Uint8Array>,
  read: { bytes: number },
): AsyncGenerator<Uint8Array> {
  for await (const chunk of stream) {
    read.bytes += chunk.length;
    yield chunk;
  }
}

/** For nobody: the connection is gone. */
function dropped(cause: unknown): DomainError {
  return new DomainError('invalidValue', 'The upload broke off before its end; send the file again.', {
    cause,
  });
}

function accepted(receipt: Receipt): Response {
  const status = receipt.status === 'unchanged' ? 200 : 202;
  const location = `${uploadBase}/${receipt.sourceId}/imports/${receipt.importId}`;
  return Response.json(receipt, { status, headers: { location } });
}

function shown({ id, ...run }: ImportRun): object {
  return { importId: id, ...run };
}

function notSecure(): DomainError {
  return new DomainError(
    'forbidden',
    'Upload files over HTTPS: the key and the personal data in the file can be read on the way. The setting allowPlainHttp of the source lifts this rule.',
  );
}

function noRoute(allow: readonly string[]): DomainError {
  if (allow.length === 0)
    return new DomainError('notFound', 'There is nothing at this path of the upload service.');
  return new DomainError('methodNotAllowed', `This path takes ${allow.join(', ')}.`, { allow });
}
