import { DomainError } from '../errors.ts';
import { routesOf } from '../http/routes.ts';
import { admitted, type Surface } from '../http/surface.ts';
import type { Intake } from '../imports/intake.ts';
import type { ImportRuns } from '../imports/runs.ts';
import type { Log } from '../log.ts';
import type { GeneralSource } from '../sources/source-store.ts';
import type { Sources } from '../sources/sources.ts';
import { toErrorResponse } from './errors.ts';
import { upload, uploadBase } from './upload.ts';

export interface UploadParts {
  readonly intake: Intake;
  readonly runs: ImportRuns;
  readonly sources: Sources;
  readonly log: Log;
}

/** Seconds between two pieces of a body: an upload is long, and a script's network may stall. */
const idleTimeoutSeconds = 60;

/** The door of HR scripts: the source's id is in the path, its key in X-ApiKey, and neither is looked at without the other. */
export function uploadSurface({ intake, runs, sources, log }: UploadParts): Surface {
  const app = upload({
    intake,
    runs,
    sourceOf,
    requestIdOf: (request) => admitted(request).requestId,
    isSecure: (request) => admitted(request).isSecure,
    signalOf: (request) => admitted(request).signal,
    log,
  });
  return {
    name: 'upload',
    base: uploadBase,
    routes: routesOf(app),
    idleTimeoutSeconds,
    async authenticate(headers, { path }) {
      const sourceId = path.slice(uploadBase.length + 1).split('/')[0] ?? '';
      const key = headers.get('x-apikey') ?? undefined;
      return { kind: 'source', ...(await sources.authenticateUpload(sourceId, key)) };
    },
    handle: async (request) => app.handle(request),
    refuse: (error) => toErrorResponse(error),
  };
}

function sourceOf(request: Request): GeneralSource {
  const { principal } = admitted(request);
  if (principal.kind === 'source' && principal.source.kind === 'general') return principal.source;
  throw new DomainError('unauthenticated', "Send the source's Authorisation Token in the header X-ApiKey.");
}
