import type { Clock } from '../clock.ts';
import type { HttpMetrics } from '../http/metrics.ts';
import type { RequestLog } from '../requests/request-log.ts';
import type { Sources } from '../sources/sources.ts';
import type { SourceActivity } from './activity.ts';

export interface ScimMetricsParts {
  readonly sources: Sources;
  readonly requests: RequestLog;
  readonly activity: SourceActivity;
  readonly clock: Clock;
}

/** What Prometheus is told of the SCIM sources, by their ids; no label ever names a person or a group. */
export function observeSources(metrics: HttpMetrics, parts: ScimMetricsParts): void {
  const { requests, activity } = parts;
  metrics.series({
    name: 'rollcall_scim_repairs_total',
    help: 'Corrections of what a client got wrong, by source and code',
    type: 'counter',
    labels: ['source', 'code'],
    read: () => activity.repairs().map(([source, code, value]) => ({ labels: { source, code }, value })),
  });
  metrics.series({
    name: 'rollcall_scim_seconds_since_request',
    help: 'Seconds since the last request of each active SCIM source, or since the start when there was none',
    type: 'gauge',
    labels: ['source'],
    read: silenceOf(parts),
  });
  metrics.series({
    name: 'rollcall_request_log_dropped_total',
    help: 'Requests that are missing in the request log because it could not be written',
    type: 'counter',
    labels: [],
    read: () => [{ labels: {}, value: requests.dropped }],
  });
  metrics.series({
    name: 'rollcall_request_log_suppressed_total',
    help: 'Refused requests that were not logged because too many came at once',
    type: 'counter',
    labels: [],
    read: () => [{ labels: {}, value: activity.unlogged }],
  });
}

function silenceOf({ sources, activity, clock }: ScimMetricsParts) {
  const startedMs = clock().getTime();
  return async () => {
    const nowMs = clock().getTime();
    const scim = (await sources.list()).filter(({ kind, active }) => kind === 'scim' && active);
    return scim.map(({ id }) => {
      const value = Math.max(0, (nowMs - (activity.lastRequestMs(id) ?? startedMs)) / 1_000);
      return { labels: { source: id }, value };
    });
  };
}
