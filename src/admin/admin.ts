// The admin surfaces: the API of the console and of scripts that do what it does. HTTP in, domain call, JSON out.
// They hold no rule about accounts or sources, and never send a token, password or hash back in a body.
// `entry` is open to everybody and small; everything else needs a session.

import { type AnyElysia, Elysia } from 'elysia';
import type { Link } from '../directory/resource-view.ts';
import { DomainError } from '../errors.ts';
import { readBody } from '../http/read-body.ts';
import { refusalOf } from '../http/refusal.ts';
import { methodsOf, routesOf } from '../http/routes.ts';
import { admitted, type RequestFacts, type Surface } from '../http/surface.ts';
import type { Log } from '../log.ts';
import { readJson, scimJsonBounds } from '../resource/json.ts';
import type { Operator } from '../security/audit.ts';
import type { Session, Sessions } from '../security/sessions.ts';
import { type ConfigurationParts, configuration } from './configuration.ts';
import { readSessionToken } from './cookie.ts';
import { refuseCrossSite } from './cross-site.ts';
import { type EntryParts, entry } from './entry.ts';
import { toErrorResponse } from './errors.ts';
import { type ImportsParts, imports } from './imports.ts';
import { type LogsParts, logs } from './logs.ts';
import { type PeopleParts, people } from './people.ts';
import { session } from './session.ts';
import { type SourcesParts, sources } from './sources.ts';

export interface AdminParts
  extends EntryParts,
    Pick<SourcesParts, 'sources' | 'apiUrlSuffix'>,
    Pick<ImportsParts, 'runs' | 'reruns'>,
    Pick<PeopleParts, 'directory'>,
    Pick<ConfigurationParts, 'configurations'>,
    LogsParts {
  readonly sessions: Sessions;
  /** Path under which SCIM clients find resources. */
  readonly resourceBase: string;
}

export const adminBase = '/api/admin/v1';
const idleTimeoutSeconds = 15;
const bodyBytesMax = 64 * 1024;
const jsonBounds = { ...scimJsonBounds, documentBytesMax: bodyBytesMax };

export function adminSurfaces(parts: AdminParts): Surface[] {
  const { sessions, log } = parts;
  return [
    surfaceOf(new Elysia({ name: 'entry' }).use(entry(parts)), {
      name: 'admin.entry',
      base: `${adminBase}/entry`,
      log,
      async authenticate(_headers, facts) {
        requireSecure(facts);
        return { kind: 'public' };
      },
    }),
    surfaceOf(administration(parts), {
      name: 'admin',
      base: adminBase,
      log,
      async authenticate(headers, facts) {
        requireSecure(facts);
        const found = await sessions.authenticate(readSessionToken(headers, facts.origin));
        return { kind: 'administrator', session: found };
      },
    }),
  ];
}

function administration(parts: AdminParts) {
  const baseUrlOf = (request: Request) => admitted(request).baseUrl;
  const linkOf = (request: Request): Link => {
    const base = `${baseUrlOf(request)}${parts.resourceBase}`;
    return (type, id) => `${base}/${type}s/${id}`;
  };
  return new Elysia({ name: 'admin' })
    .use(session(parts.sessions, sessionOf))
    .use(sources({ ...parts, operatorOf, baseUrlOf }))
    .use(imports({ ...parts, operatorOf }))
    .use(people({ ...parts, linkOf, signalOf: (request) => admitted(request).signal }))
    .use(logs(parts))
    .use(configuration({ ...parts, operatorOf }));
}

interface SurfaceOptions extends Pick<Surface, 'name' | 'base' | 'authenticate'> {
  readonly log: Log;
}

function surfaceOf(plugin: AnyElysia, { name, base, authenticate, log }: SurfaceOptions): Surface {
  // `normalize` would drop unknown members in silence, where the shapes refuse them.
  const app = new Elysia({ name, prefix: base, normalize: false })
    .onError(({ error, code, request }) => {
      const refused =
        code === 'NOT_FOUND'
          ? noRoute(methodsOf(routes, admitted(request).path))
          : toDomainError(error, code);
      if (refused.kind === 'internal')
        log.error({ requestId: admitted(request).requestId, err: error }, 'request failed');
      return toErrorResponse(refused);
    })
    .onParse(async ({ request }) => readJson(await readBody(request, bodyBytesMax), jsonBounds))
    .use(plugin);
  const routes = routesOf(app);
  return {
    name,
    base,
    routes,
    idleTimeoutSeconds,
    authenticate,
    async handle(request) {
      refuseCrossSite(request, admitted(request).origin);
      return app.handle(request);
    },
    refuse: (error) => toErrorResponse(error),
  };
}

function sessionOf(request: Request): Session {
  const { principal } = admitted(request);
  if (principal.kind === 'administrator') return principal.session;
  throw new DomainError('unauthenticated', 'There is no session, or it has ended; sign in.');
}

function operatorOf(request: Request): Operator {
  const { clientAddress } = admitted(request);
  return { kind: 'administrator', name: sessionOf(request).account.name, clientAddress };
}

/** A password or session sent in the clear over a network is everybody's. */
function requireSecure({ isSecure }: RequestFacts): void {
  if (isSecure) return;
  throw new DomainError(
    'forbidden',
    'The console works over HTTPS, or over plain HTTP on the machine itself; set up TLS, or a trusted proxy that has it.',
  );
}

function noRoute(allow: readonly string[]): DomainError {
  if (allow.length === 0)
    return new DomainError('notFound', 'There is nothing at this path of the admin API.');
  return new DomainError('methodNotAllowed', `This path takes ${allow.join(', ')}.`, { allow });
}

/** The framework's own errors quote what was sent, so nothing of them is passed on. */
function toDomainError(error: unknown, code: number | string): DomainError {
  if (error instanceof DomainError) return error;
  if (code === 'VALIDATION') {
    const detail = 'The request does not have the members that this path takes, each within its bounds.';
    return new DomainError('invalidValue', detail);
  }
  const cause = code === 'PARSE' && error instanceof Error ? error.cause : undefined;
  if (cause instanceof DomainError) return cause;
  return refusalOf(error);
}
