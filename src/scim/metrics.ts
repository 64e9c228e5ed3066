import { type Clock, timestamp } from '../clock.ts';
import { endedWithinHour, isHeld } from '../directory/brake.ts';
import { type BrakeState, listBrakes } from '../directory/brake-store.ts';
import type { HttpMetrics, SeriesValue } from '../http/metrics.ts';
import type { RequestLog } from '../requests/request-log.ts';
import type { ScimSource } from '../sources/source-store.ts';
import type { Sources } from '../sources/sources.ts';
import type { Database } from '../storage/database.ts';
import type { SourceActivity } from './activity.ts';

export interface ScimMetricsParts {
  readonly database: Database;
  readonly sources: Sources;
  readonly requests: RequestLog;
  readonly activity: SourceActivity;
  readonly clock: Clock;
}

/** What Prometheus is told of the SCIM sources, by their ids; no label ever names a person or a group. */
export function observeSources(metrics: HttpMetrics, parts: ScimMetricsParts): void {
  const { requests, activity } = parts;
  observeBrakes(metrics, parts);
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

function observeBrakes(metrics: HttpMetrics, parts: ScimMetricsParts): void {
  const labels = ['source'];
  metrics.series({
    name: 'rollcall_scim_deactivations_total',
    help: 'Users deactivated or archived, groups deleted and memberships cleared by each SCIM source, since it was made',
    type: 'counter',
    labels,
    read: () => brakesOf(parts, ({ brake }) => brake?.total ?? 0),
  });
  metrics.series({
    name: 'rollcall_scim_deactivations_last_hour',
    help: 'The same within the last hour, which is what brakeLimit and brakeAlarm are compared with',
    type: 'gauge',
    labels,
    read: () => brakesOf(parts, ({ brake, now }) => (brake === undefined ? 0 : endedWithinHour(brake, now))),
  });
  metrics.series({
    name: 'rollcall_brake_held',
    help: '1 while deactivations and deletions of the source are held until a Power User releases it',
    type: 'gauge',
    labels,
    read: () =>
      brakesOf(parts, ({ brake, source, now }) => (isHeld(brake, source.settings.brakeLimit, now) ? 1 : 0)),
  });
}

interface Braked {
  readonly source: ScimSource;
  readonly brake: BrakeState | undefined;
  readonly now: string;
}

/** From the database: what other processes count and release is seen here too. */
async function brakesOf(
  { database, sources, clock }: ScimMetricsParts,
  valueFor: (braked: Braked) => number,
): Promise<SeriesValue[]> {
  const brakes = new Map((await listBrakes(database.read)).map((brake) => [brake.sourceId, brake]));
  const scim = (await sources.list()).filter((source) => source.kind === 'scim');
  const now = timestamp(clock);
  return scim.map((source) => {
    const value = valueFor({ source, brake: brakes.get(source.id), now });
    return { labels: { source: source.id }, value };
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
