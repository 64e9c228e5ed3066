// What a shipped kind is handed in its own tests: its configuration checked and completed as the host does it, its mapping
// compiled, addresses unguarded, and the lines of its log kept.

import { Value } from '@sinclair/typebox/value';
import type {
  Connector,
  ConnectorContext,
  ConnectorRecord,
  Group,
  Mapping,
  User,
} from '../../src/connectors/contract.ts';
import { type CompiledMapping, compileMapping } from '../../src/connectors/mapping.ts';

export interface KindRun<Config> {
  readonly context: ConnectorContext<Config>;
  readonly mapped: CompiledMapping;
  readonly log: readonly string[];
  readonly abort: AbortController;
}

export interface KindRunOptions {
  readonly now?: Date;
  readonly fetch?: ConnectorContext['fetch'];
}

/** Throws when the configuration does not fit the schema of the kind. */
export async function openKind<Config extends { readonly mapping?: Mapping | undefined }>(
  connector: Connector<Config>,
  given: object,
  { now = new Date(), fetch = globalThis.fetch }: KindRunOptions = {},
): Promise<KindRun<Config>> {
  const schema = connector.configSchema as unknown as Parameters<typeof Value.Default>[0];
  const config = Value.Default(schema, structuredClone(given)) as Config;
  const [fault] = Value.Errors(schema, config);
  if (fault !== undefined) throw new Error(`${fault.path}: ${fault.message}`);
  const log: string[] = [];
  const abort = new AbortController();
  const defaults = connector.defaultMappingFor?.(config) ?? connector.defaultMapping;
  const mapped = await compileMapping(config.mapping, defaults);
  const line = (level: string) => (message: string) => void log.push(`${level}: ${message}`);
  const context: ConnectorContext<Config> = {
    config,
    source: { name: 'Staff', id: 7 },
    mode: 'full',
    checkpoint: undefined,
    setCheckpoint: () => {},
    log: { debug: line('debug'), info: line('info'), warn: line('warn') },
    fetch,
    resolveHost: async (host) => host,
    signal: abort.signal,
    now: () => now,
    mapped,
  };
  return { context, mapped, log, abort };
}

export interface ReadResult {
  readonly groups: readonly Group[];
  readonly users: readonly User[];
  readonly log: readonly string[];
}

/** Everything that a kind yields for a configuration. */
export async function readAll<Config extends { readonly mapping?: Mapping | undefined }>(
  connector: Connector<Config>,
  config: object,
  options: KindRunOptions = {},
): Promise<ReadResult> {
  const { context, log } = await openKind(connector, config, options);
  const records: ConnectorRecord[] = [];
  for await (const record of connector.read(context)) records.push(record);
  return {
    groups: records.filter((record) => record.kind === 'group'),
    users: records.filter((record) => record.kind === 'user'),
    log,
  };
}

/** The sentence that `work` is refused with. */
export async function refusalOf(work: () => unknown): Promise<string> {
  try {
    await work();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  throw new Error('Nothing was refused.');
}
