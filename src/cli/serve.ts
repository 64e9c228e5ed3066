// The life of the server process: takes the data folder, opens what it needs, listens, supervises the processor, and
// on SIGTERM lets requests finish before it closes the database. It answers no request itself; app.ts built who does.
// docs/adr/0004-process-model.md tells why there are several processes.

import { existsSync, readFileSync } from 'node:fs';
import { buildGate } from '../app.ts';
import { DocumentStore } from '../archive/archive.ts';
import { InboxFolder } from '../archive/inbox-folder.ts';
import { systemClock } from '../clock.ts';
import { childEnvironment } from '../config/env.ts';
import type { Config } from '../config/options.ts';
import { DomainError } from '../errors.ts';
import { DropFolder } from '../imports/drop-folder.ts';
import { Intake } from '../imports/intake.ts';
import { ImportRuns } from '../imports/runs.ts';
import { createLog, type Log } from '../log.ts';
import type { RetentionLimits } from '../requests/record.ts';
import { RequestLog } from '../requests/request-log.ts';
import { Retention } from '../requests/retention.ts';
import { Invitations, invitationLink } from '../security/invitations.ts';
import type { Configurations } from '../settings/configuration.ts';
import type { InstanceLock } from '../storage/instance-lock.ts';
import { listenUrl, writeServedAddress } from './address.ts';
import { type DataFolder, makeDataFolder } from './data-folder.ts';
import { takeServeLock } from './locks.ts';
import { selfCommand } from './self.ts';
import { openServices, type Services } from './services.ts';
import { exitStorageFailed } from './storage-failed.ts';
import { Supervisor } from './supervisor.ts';
import { version } from './version.ts';

const drainMsMax = 20_000;
/** The largest body that the listener lets through; each surface has its own, smaller bound. */
const requestBytesMax = 4 * 1024 ** 3;

/** Serves until a signal says stop; resolves with the exit status. */
export async function serve(config: Config): Promise<number> {
  const log = createLog({ level: config.logLevel });
  const folder = makeDataFolder(config.data);
  const stop = new StopSignal();
  const lock = await takeFolder(folder);
  const hadKey = existsSync(folder.secretKey);
  const services = await openServices(config, {
    onConnectionError: (error) => log.warn({ err: error }, 'a connection to the database was lost'),
    onFatal: (error) => {
      log.error({ err: error }, 'the storage has failed; the service stops');
      process.exit(exitStorageFailed);
    },
  });
  try {
    if (!hadKey) await warnOfLostKey(services, log);
    await run(config, { services, log, stop });
  } finally {
    await services.close();
    lock.release();
  }
  log.info({}, 'stopped');
  return 0;
}

/** Requests are answered without it, for tokens are recognised by their hash; but none can be shown again. */
async function warnOfLostKey({ sources, folder }: Services, log: Log): Promise<void> {
  if ((await sources.list()).length === 0) return;
  const path = folder.secretKey;
  log.error(
    { path },
    'secret.key was missing and a new one was made; put the former one back to see tokens again',
  );
}

async function takeFolder(folder: DataFolder): Promise<InstanceLock> {
  const lock = await takeServeLock(folder);
  if (lock !== undefined) return lock;
  const detail = `Another rollcall serves the data folder ${folder.path} already, or imports into it; stop it, or wait.`;
  throw new DomainError('unavailable', detail);
}

interface Run {
  readonly services: Services;
  readonly log: Log;
  readonly stop: StopSignal;
}

async function run(config: Config, { services, log, stop }: Run): Promise<void> {
  const { database, sources, configurations, folder } = services;
  const clock = systemClock;
  const requests = new RequestLog({ path: folder.requests, clock, log });
  const retention = new Retention({ requests, limits: () => retentionLimits(configurations), log });
  const supervisor = new Supervisor({
    command: [...selfCommand(), 'processor', '--data', config.data, '--log-level', config.logLevel],
    environment: processorEnvironment(config),
    onStorageFailed: () => process.exit(exitStorageFailed),
    database,
    log,
  });
  const documents = new DocumentStore(config.data);
  const intake = new Intake({
    database,
    documents,
    configurations,
    clock,
    log,
    selfCommand: selfCommand(),
    onQueued: () => supervisor.wake(),
  });
  const inbox = new InboxFolder(folder.inbox);
  const monotonicMs = () => performance.now();
  const dropFolder = new DropFolder({ inbox, database, sources, intake, clock, monotonicMs, log });
  const gate = buildGate({
    database,
    sources,
    configurations,
    clock,
    log,
    intake,
    documents,
    runs: new ImportRuns({ database, documents, configurations, clock }),
    requests,
    secretBox: services.secretBox,
    hosts: config,
    metricsFrom: config.metricsFrom,
    version,
    createRequestId: () => crypto.randomUUID(),
    processor: supervisor,
  });
  const server = listen(config, (request, listener) => gate.handle(request, listener));
  supervisor.start();
  dropFolder.start();
  retention.start();
  await announce(config, services, server.port ?? config.port);
  requests.begin();
  log.info({ port: server.port ?? config.port, host: config.host, version }, 'serving');
  await stop.wait();
  log.info({}, 'stopping');
  supervisor.retire();
  await dropFolder.stop();
  await Promise.race([server.stop(false), Bun.sleep(drainMsMax)]);
  await supervisor.stop();
  await server.stop(true);
  retention.stop();
  requests.close();
}

async function retentionLimits(configurations: Configurations): Promise<RetentionLimits> {
  const { requestLogDays, requestBodyDays, requestLogBytesMax } = (await configurations.current()).settings;
  return { days: requestLogDays, bodyDays: requestBodyDays, bytesMax: requestLogBytesMax };
}

type Answer = (request: Request, listener: Bun.Server<undefined>) => Response | Promise<Response>;

/** Listens, or says in a sentence which setting is in the way. */
function listen(config: Config, fetch: Answer): Bun.Server<undefined> {
  const { host, port } = config;
  const tls = readTls(config);
  try {
    return Bun.serve({
      hostname: host,
      port,
      // Two servers on one port would each get some of the requests, and each answer from its own directory.
      reusePort: false,
      maxRequestBodySize: requestBytesMax,
      development: false,
      ...tls,
      fetch,
    });
  } catch (error) {
    throw new DomainError('unavailable', whyNot(error, config), { cause: error });
  }
}

function whyNot(error: unknown, { host, port }: Config): string {
  const { code = '', message = '' } = error as { code?: string; message?: string };
  if (code === 'EADDRINUSE')
    return `Another program listens on port ${port} already; set port to a free one.`;
  if (code === 'EACCES') return `This user may not listen on port ${port}; set port to one above 1023.`;
  if (/PEM|X.?509|SSL|error:0/i.test(message)) {
    return 'The certificate and key cannot be used: tlsCert and tlsKey must name PEM files that belong together.';
  }
  return `The service cannot listen on ${host}, port ${port} (${code || message}); set host to an address of this machine.`;
}

function readTls({ tlsCert, tlsKey }: Config) {
  if (tlsCert === undefined || tlsKey === undefined) return {};
  return { tls: { cert: readSetting('tlsCert', tlsCert), key: readSetting('tlsKey', tlsKey) } };
}

function readSetting(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as { code?: string };
    throw new DomainError(
      'invalidValue',
      `The file ${path} of the setting ${name} cannot be read (${code}).`,
    );
  }
}

/** Prints the address, and on a new installation the link that makes the first account, to standard output only. */
async function announce(config: Config, { folder, database, clock }: Services, port: number): Promise<void> {
  const listening = listenUrl(config, port);
  writeServedAddress(folder, listening);
  const address = config.publicUrl ?? listening;
  console.log(`Rollcall ${version} serves ${address}`);
  const invitation = await new Invitations({ database, clock }).issueForSetUp();
  if (invitation === undefined) return;
  console.log(`Set up the first administrator within 24 hours: ${invitationLink(address, invitation)}`);
}

/** The database's address may hold a password, so it travels in the environment and not in the list of processes. */
function processorEnvironment({ database }: Config): Record<string, string> {
  return { ...childEnvironment(), ...(database === undefined ? {} : { ROLLCALL_DATABASE: database }) };
}

/** A terminal and a process manager may both pass on one signal: so soon after the first it is the same one. */
const repeatedMs = 1_000;

/** The first SIGTERM or SIGINT asks to stop; the second does not ask. */
class StopSignal {
  readonly #asked: Promise<void>;

  constructor() {
    this.#asked = new Promise((resolve) => {
      let askedMs: number | undefined;
      const onSignal = () => {
        if (askedMs !== undefined && performance.now() - askedMs > repeatedMs) process.exit(1);
        askedMs ??= performance.now();
        resolve();
      };
      process.on('SIGTERM', onSignal);
      process.on('SIGINT', onSignal);
    });
  }

  wait(): Promise<void> {
    return this.#asked;
  }
}
