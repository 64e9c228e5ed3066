// The SCIM surface: HTTP in, domain call, SCIM representation out. It holds no rule about people or groups.
// What clients get wrong is mended in repairs/, before anything strict sees it, and said in the request log.
// Renders RFC 7644 §3 (protocol), §4 (discovery) and RFC 7643 §3 to §7 (representation).

import { Elysia } from 'elysia';
import type { Clock } from '../clock.ts';
import type { Groups } from '../directory/groups.ts';
import type { Users } from '../directory/users.ts';
import { DomainError } from '../errors.ts';
import { refusalOf } from '../http/refusal.ts';
import { methodsOf, routesOf } from '../http/routes.ts';
import { admitted, type Surface } from '../http/surface.ts';
import type { Log } from '../log.ts';
import type { RequestLog } from '../requests/request-log.ts';
import type { SecretBox } from '../security/secret-key.ts';
import type { Configurations } from '../settings/configuration.ts';
import type { Sources } from '../sources/sources.ts';
import type { SourceActivity } from './activity.ts';
import { mediaTypeFor, mediaTypeOf } from './answer.ts';
import { AtOnce } from './at-once.ts';
import { bulk } from './bulk/bulk.ts';
import { callOpener, scimBase, traceOf } from './call.ts';
import { Cursors } from './cursors.ts';
import { discovery } from './discovery.ts';
import { toErrorResponse } from './errors.ts';
import { groups } from './groups.ts';
import { listAnswers } from './list-answer.ts';
import { CallLog } from './request-log.ts';
import { search } from './search.ts';
import { users } from './users.ts';
import { groupVerbs, userVerbs } from './verbs.ts';

export interface ScimParts {
  readonly people: Users;
  readonly groups: Groups;
  readonly sources: Sources;
  readonly configurations: Configurations;
  /** Seals cursors. */
  readonly secretBox: SecretBox;
  readonly clock: Clock;
  readonly log: Log;
  readonly requests: RequestLog;
  readonly activity: SourceActivity;
}

const idleTimeoutSeconds = 30;
const bearerForm = /^Bearer +([^\s,]+)$/i;

export function scimSurface(parts: ScimParts): Surface {
  const app = scimApp(parts);
  const callLog = new CallLog(parts);
  const { people, sources, configurations } = parts;
  const atOnce = new AtOnce({ people: people.atOnce, sources, configurations, callLog });
  return {
    name: 'scim',
    base: scimBase,
    // Some clients append /Users to an address that was given without its version (Infisical#6552).
    shortBase: scimBase.slice(0, scimBase.lastIndexOf('/')),
    routes: routesOf(app),
    idleTimeoutSeconds,
    async authenticate(headers) {
      return { kind: 'source', ...(await parts.sources.authenticateScim(tokenOf(headers))) };
    },
    recognise(asked) {
      const token = tokenOf(asked.request.headers);
      return token === undefined ? undefined : atOnce.recognise(asked, token);
    },
    async handle(request) {
      const startedMs = performance.now();
      const response = await app.handle(request);
      callLog.handled(request, response.status, performance.now() - startedMs);
      return response;
    },
    refuse: (error) => toErrorResponse(error, mediaTypeOf(null)),
    noteRefused: (refused) => callLog.refused(refused),
  };
}

function tokenOf(headers: Headers): string | undefined {
  return bearerForm.exec(headers.get('authorization') ?? '')?.[1];
}

function scimApp({ people, groups: directory, configurations, secretBox, clock, log }: ScimParts) {
  const open = callOpener(configurations, clock);
  const lists = listAnswers({ people, groups: directory, cursors: new Cursors(secretBox) });
  const app = new Elysia({ name: 'scim', prefix: scimBase })
    .onError(({ error, request, code }) => {
      const refused = code === 'NOT_FOUND' ? noRoute([]) : refusalOf(error);
      if (refused.kind === 'internal')
        log.error({ requestId: admitted(request).requestId, err: error }, 'request failed');
      traceOf(request).refusal = refused.detail;
      return toErrorResponse(refused, mediaTypeFor(request));
    })
    .use(discovery(open))
    .use(users(people, open, lists.users))
    .use(groups(directory, open, lists.groups))
    .use(search(open, lists))
    .use(bulk({ verbs: { User: userVerbs(people), Group: groupVerbs(directory) }, clock, log }, open))
    .all('/Me', () => {
      throw new DomainError('notImplemented', 'A source is not a person: there is no /Me here.');
    });
  const routes = routesOf(app);
  return app.all('/*', ({ request }) => {
    throw noRoute(methodsOf(routes, admitted(request).path));
  });
}

function noRoute(allow: readonly string[]): DomainError {
  if (allow.length === 0)
    return new DomainError('notFound', 'There is nothing at this path of the SCIM service.');
  return new DomainError('methodNotAllowed', `This path takes ${allow.join(', ')}.`, { allow });
}
