// What a connector is handed, for a test that runs a kind by itself: the real mapping, fetch and resolver, and a log to read.

import { checkConfig } from '../../src/connectors/config-check.ts';
import type {
  Connector,
  ConnectorContext,
  ConnectorRecord,
  Json,
  Mapping,
} from '../../src/connectors/contract.ts';
import { createFetch } from '../../src/connectors/guarded-fetch.ts';
import { compileMapping } from '../../src/connectors/mapping.ts';
import { createResolveHost, systemResolve } from '../../src/connectors/resolve-host.ts';

export interface ContextOptions {
  readonly mode?: 'full' | 'delta';
  readonly checkpoint?: Json;
  readonly signal?: AbortSignal;
  /** Addresses by host name, in place of the name server; others are asked for as usual. */
  readonly hosts?: Readonly<Record<string, string>>;
  readonly now?: () => Date;
}

export interface TestContext<Config> extends ConnectorContext<Config> {
  readonly lines: readonly string[];
  readonly checkpoints: readonly Json[];
}

/** The context of a run with `config`, to which the defaults of its schema are added. */
export async function connectorContext<Config>(
  connector: Connector<Config>,
  config: unknown,
  options: ContextOptions = {},
): Promise<TestContext<Config>> {
  const { mode = 'full', checkpoint, signal = new AbortController().signal, hosts = {}, now } = options;
  const complete = checkConfig(connector.configSchema, config) as Config;
  const { mapping } = complete as { readonly mapping?: Mapping };
  const resolve = async (host: string) => (hosts[host] === undefined ? systemResolve(host) : [hosts[host]]);
  const lines: string[] = [];
  const checkpoints: Json[] = [];
  const log = (message: string) => void lines.push(message);
  return {
    config: complete,
    source: { name: 'HR', id: 1 },
    mode,
    checkpoint,
    setCheckpoint: (value) => void checkpoints.push(value),
    log: { debug: log, info: log, warn: log },
    fetch: createFetch({ allow: [], resolve, signal }),
    resolveHost: createResolveHost({ allow: [], resolve }),
    signal,
    now: now ?? (() => new Date()),
    mapped: await compileMapping(
      mapping,
      connector.defaultMappingFor?.(complete) ?? connector.defaultMapping,
    ),
    lines,
    checkpoints,
  };
}

/** Everything that a run yields, for sources small enough. */
export async function readAll<Config>(
  connector: Connector<Config>,
  config: unknown,
  options?: ContextOptions,
): Promise<readonly ConnectorRecord[]> {
  return Array.fromAsync(connector.read(await connectorContext(connector, config, options)));
}
