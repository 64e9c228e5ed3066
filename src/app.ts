import { adminSurfaces } from './admin/admin.ts';
import { consoleSurface } from './admin/console-page.ts';
import type { DocumentStore } from './archive/archive.ts';
import type { Clock } from './clock.ts';
import { DirectoryView } from './directory/directory-view.ts';
import { Groups } from './directory/groups.ts';
import { Users } from './directory/users.ts';
import { Gate } from './http/gate.ts';
import { addressMatcher, type HostOptions, hostRules } from './http/hosts.ts';
import { RequestLimits } from './http/limits.ts';
import { HttpMetrics } from './http/metrics.ts';
import type { Surface } from './http/surface.ts';
import { metricsReaders, systemSurface } from './http/system.ts';
import type { Intake } from './imports/intake.ts';
import type { ImportRuns } from './imports/runs.ts';
import type { Log } from './log.ts';
import type { RequestLog } from './requests/request-log.ts';
import { RequestPages } from './requests/request-pages.ts';
import { SourceActivity } from './scim/activity.ts';
import { scimBase } from './scim/call.ts';
import { observeSources } from './scim/metrics.ts';
import { scimSurface } from './scim/scim.ts';
import { Accounts } from './security/accounts.ts';
import { listAudit } from './security/audit.ts';
import { Invitations } from './security/invitations.ts';
import { PasswordHasher } from './security/password-hash.ts';
import type { SecretBox } from './security/secret-key.ts';
import { Sessions } from './security/sessions.ts';
import type { Configurations } from './settings/configuration.ts';
import type { Source } from './sources/source-store.ts';
import type { Sources } from './sources/sources.ts';
import type { Database } from './storage/database.ts';
import { Heartbeat } from './storage/heartbeat.ts';
import { uploadSurface } from './upload/surface.ts';
import { uploadBase } from './upload/upload.ts';

export interface AppParts {
  readonly database: Database;
  readonly sources: Sources;
  readonly configurations: Configurations;
  readonly secretBox: SecretBox;
  readonly intake: Intake;
  readonly documents: DocumentStore;
  readonly runs: ImportRuns;
  readonly requests: RequestLog;
  readonly clock: Clock;
  readonly log: Log;
  readonly hosts: HostOptions;
  /** Addresses and subnets that may read /metrics besides the machine itself. */
  readonly metricsFrom: readonly string[];
  readonly version: string;
  readonly createRequestId: () => string;
  /** Whether the processor is there, and how often it had to be started again. */
  readonly processor: { readonly isRunning: boolean; readonly restarts: number };
}

/** Builds every service once and hands each surface what it needs. */
export function buildGate(parts: AppParts): Gate {
  const { clock, log, processor } = parts;
  const metrics = new HttpMetrics(parts.version);
  metrics.gauge(
    'rollcall_processor_restarts',
    'Times the processor was started again',
    () => processor.restarts,
  );
  return new Gate({
    surfaces: buildSurfaces(parts, metrics),
    hosts: hostRules(parts.hosts),
    limits: new RequestLimits(clock),
    metrics,
    log,
    publicUrl: parts.hosts.publicUrl,
    createRequestId: parts.createRequestId,
  });
}

/** Every door of the service. Nothing is asked of the services before a request comes. */
export function buildSurfaces(parts: AppParts, metrics: HttpMetrics): Surface[] {
  const { database, sources, configurations, requests, clock, log } = parts;
  const activity = new SourceActivity();
  observeSources(metrics, { database, sources, requests, activity, clock });
  return [
    scimSurface({
      people: new Users(database, new PasswordHasher()),
      groups: new Groups(database),
      sources,
      configurations,
      secretBox: parts.secretBox,
      clock,
      log,
      requests,
      activity,
    }),
    uploadSurface({ intake: parts.intake, runs: parts.runs, sources, log }),
    ...administration(parts),
    systemSurface({
      metrics,
      checks: readiness(parts),
      mayReadMetrics: metricsReaders(addressMatcher(parts.metricsFrom)),
      profileSchema: async () => (await import('./xml/profile-schema.ts')).profileSchemaText,
    }),
  ];
}

/** Passwords of administrators have a hasher of their own: a provider that sets thousands must not keep them out. */
function administration(parts: AppParts): Surface[] {
  const { database, sources, configurations, runs, intake, documents, requests, clock, log } = parts;
  const invitations = new Invitations({ database, clock });
  const sessions = new Sessions({ database, clock });
  const passwords = new PasswordHasher();
  const accounts = new Accounts({ database, clock, passwords, invitations, sessions });
  return [
    ...adminSurfaces({
      accounts,
      invitations,
      sessions,
      sources,
      configurations,
      directory: new DirectoryView({ database, configurations, clock }),
      runs,
      reruns: { database, documents, intake },
      requestLog: new RequestPages(requests),
      listAudit: (query) => listAudit(database.read, query),
      apiUrlSuffix,
      resourceBase: scimBase,
      log,
    }),
    consoleSurface(async () => (await import('./console/console.ts')).consoleFiles),
  ];
}

function apiUrlSuffix({ kind, id }: Source): string {
  return kind === 'scim' ? scimBase : `${uploadBase}/${id}/upload`;
}

function readiness({ database, processor }: AppParts): () => Promise<Record<string, boolean>> {
  const heartbeat = new Heartbeat(database);
  return async () => ({ database: await heartbeat.isWritable(), processor: processor.isRunning });
}
