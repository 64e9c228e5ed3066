// The real gate in front of surfaces, on a free port of the loopback address.

import { Gate } from '../../src/http/gate.ts';
import { hostRules } from '../../src/http/hosts.ts';
import { RequestLimits } from '../../src/http/limits.ts';
import { HttpMetrics } from '../../src/http/metrics.ts';
import type { Surface } from '../../src/http/surface.ts';
import { systemSurface } from '../../src/http/system.ts';
import type { ImportHouse } from '../imports/support.ts';

export function serveSurfaces(surfaces: readonly Surface[], { log, clock }: ImportHouse) {
  const metrics = new HttpMetrics('0.0.0-test');
  const system = systemSurface({
    metrics,
    checks: async () => ({ database: true }),
    mayReadMetrics: () => true,
    profileSchema: async () => '<schema/>',
  });
  const gate = new Gate({
    surfaces: [system, ...surfaces],
    hosts: hostRules({ publicUrl: undefined, allowedHosts: [], trustedProxies: [] }),
    limits: new RequestLimits(clock),
    metrics,
    log,
    publicUrl: undefined,
    createRequestId: () => crypto.randomUUID(),
  });
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    development: false,
    maxRequestBodySize: 4 * 1024 ** 3,
    fetch: (request, listener) => gate.handle(request, listener),
  });
  return { port: server.port ?? 0, stop: () => server.stop(true) };
}
