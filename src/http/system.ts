import { Elysia } from 'elysia';
import { DomainError, type ErrorKind } from '../errors.ts';
import { isLoopback } from './hosts.ts';
import type { HttpMetrics } from './metrics.ts';
import { refusalOf } from './refusal.ts';
import { routesOf } from './routes.ts';
import { admitted, basePath, type Surface } from './surface.ts';
import { systemOperations } from './system-operations.ts';

export interface SystemParts {
  readonly metrics: HttpMetrics;
  /** Name of each check with its outcome: what has to hold for the service to do its work. */
  readonly checks: () => Promise<Readonly<Record<string, boolean>>>;
  /** Whether this address may read the metrics. */
  readonly mayReadMetrics: (address: string) => boolean;
  readonly profileSchema: () => Promise<string>;
}

const idleTimeoutSeconds = 15;

/** What belongs to no door: health, metrics, the published XML schema, and the answer to everything unknown. */
export function systemSurface(parts: SystemParts): Surface {
  const app = systemApp(parts);
  return {
    name: 'system',
    base: '',
    routes: routesOf(app),
    idleTimeoutSeconds,
    authenticate: async () => ({ kind: 'public' }),
    handle: async (request) => app.handle(request),
    refuse: toResponse,
  };
}

function systemApp({ metrics, checks, mayReadMetrics, profileSchema }: SystemParts) {
  const operations = systemOperations(toResponse);
  return new Elysia({ name: 'system' })
    .onError(({ error, code }) => toResponse(code === 'NOT_FOUND' ? notHere() : refusalOf(error)))
    .get(
      '/',
      ({ request }) => {
        const location = `${basePath(admitted(request))}/console/`;
        return new Response(null, { status: 302, headers: { location } });
      },
      { detail: operations.root },
    )
    .get('/healthz', () => Response.json({ status: 'ok' }), { detail: operations.health })
    .get(
      '/readyz',
      async () => {
        const results = await checks();
        const isReady = Object.values(results).every((passed) => passed);
        const named = Object.entries(results).map(([name, passed]) => ({ name, passed }));
        return Response.json(
          { status: isReady ? 'ok' : 'unavailable', checks: named },
          { status: isReady ? 200 : 503 },
        );
      },
      { detail: operations.readiness },
    )
    .get(
      '/metrics',
      async ({ request }) => {
        if (!mayReadMetrics(admitted(request).clientAddress)) throw notHere();
        return new Response(await metrics.text(), { headers: { 'content-type': metrics.contentType } });
      },
      { detail: operations.metrics },
    )
    .get(
      '/schemas/profile-sync.xsd',
      async () => {
        return new Response(await profileSchema(), { headers: { 'content-type': 'application/xml' } });
      },
      { detail: operations.profileSchema },
    )
    .all('/*', () => {
      throw notHere();
    });
}

function notHere(): DomainError {
  return new DomainError('notFound', 'There is nothing at this path.');
}

const statuses: Partial<Record<ErrorKind, number>> = {
  notFound: 404,
  misdirected: 421,
  invalidSyntax: 400,
  unavailable: 503,
  limitExceeded: 429,
};

function toResponse(error: DomainError): Response {
  return Response.json({ message: error.detail }, { status: statuses[error.kind] ?? 500 });
}

/** Metrics are for whoever runs the machine, and for the addresses named in the configuration. */
export function metricsReaders(allowed: (address: string) => boolean): (address: string) => boolean {
  return (address) => isLoopback(address) || allowed(address);
}
