import { join } from 'node:path';
import { connectorEnvironment } from '../config/env.ts';
import type { LogLine } from '../connectors/connector-log.ts';
import type { ConnectorKind, PreviewRecord } from '../connectors/connectors.ts';
import { languages, writeNewConnector } from '../connectors/new-connector.ts';
import { ConnectorRegistry } from '../connectors/registry.ts';
import {
  beginning,
  type ConnectorCall,
  importFromConnector,
  previewConnector,
  testConnector,
} from '../connectors/runner.ts';
import { DomainError } from '../errors.ts';
import { DocumentRefused } from '../imports/intake.ts';
import { hostList } from '../settings/settings.ts';
import type { Answer, Call } from './command.ts';
import { readConnectorConfig } from './connector-config.ts';
import { requireDataFolder } from './data-folder.ts';
import { answerWith } from './import-answer.ts';
import { ImportWork } from './import-file.ts';
import { selfCommand } from './self.ts';
import { openForCommand, type Services } from './services.ts';
import { formatTable, plain } from './table.ts';

function processParts({ config }: Call) {
  return {
    selfCommand: selfCommand(),
    environment: connectorEnvironment(),
    workFolder: join(config.data, 'connector-runs'),
  };
}

function registryOf(call: Call): ConnectorRegistry {
  return new ConnectorRegistry(call.config.data, processParts(call));
}

/** Every kind, and what is wrong with the folders that hold none. */
export async function listConnectors(call: Call): Promise<Answer> {
  const { kinds, broken } = await registryOf(call).list();
  const value = {
    connectors: kinds.map(({ form, ...kind }) => ({
      ...kind,
      form: form.form,
      ...(form.form === 'shipped' ? {} : { folder: form.folder }),
    })),
    broken,
  };
  const rows = kinds.map(({ kind, form, canDelta, summary }) => [
    kind,
    form.form,
    canDelta ? 'yes' : 'no',
    summary,
  ]);
  const table =
    rows.length === 0
      ? 'There are no connectors; "rollcall connector new" makes one.'
      : formatTable(['KIND', 'FORM', 'DELTA', 'SUMMARY'], rows);
  const faults = broken.map(
    ({ name, problem }) => `Not usable: connectors/${plain(name)}: ${plain(problem)}`,
  );
  return { value, text: [table, ...faults].join('\n') };
}

/** Writes a connector to begin with. */
export async function createConnector({ config, args, options }: Call): Promise<Answer> {
  const language = languages.find((each) => each === options.language);
  if (language === undefined) {
    const detail = `A connector is written in ${languages.join(' or ')}, not in "${options.language}".`;
    throw new DomainError('invalidValue', detail);
  }
  const { path } = requireDataFolder(config.data);
  const written = await writeNewConnector(path, args[0] ?? '', language);
  const text = `${written.folder} holds ${written.files.join(', ')}; README.md says how to go on.`;
  return { value: written, text };
}

/** A run of the command line: what it is about, and the log as it came. */
class CommandRun implements Disposable {
  readonly log: LogLine[] = [];
  #lastError: LogLine | undefined;
  readonly #cancel = new AbortController();
  readonly #onSignal = () => this.#cancel.abort(new DomainError('unavailable', 'The run was cancelled.'));

  constructor(
    readonly call: Call,
    readonly services: Services,
    readonly kind: ConnectorKind,
  ) {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, this.#onSignal);
  }

  async connectorCall(source: ConnectorCall['source']): Promise<ConnectorCall> {
    const { settings } = await this.services.configurations.current();
    return {
      kind: this.kind,
      config: await readConnectorConfig(this.kind, this.call.options.config),
      source,
      mode: 'full',
      checkpoint: null,
      limits: {
        milliseconds: settings.connectorSecondsMax * 1_000,
        memoryBytes: settings.connectorMemoryBytesMax,
      },
      allowedHosts: hostList(settings.connectorAllowedHosts),
      onLine: (line) => this.#take(line),
      signal: this.#cancel.signal,
    };
  }

  /** With --json the log is a part of the answer; otherwise it goes to standard error as it comes. */
  #take(line: LogLine): void {
    this.log.push(line);
    if (this.call.options.json === true) return;
    this.#print();
    if (line.level === 'error') this.#lastError = line;
    else process.stderr.write(`${line.level}: ${line.text}\n`);
  }

  /** The last error is the failure of the command as a rule, and is not told twice. */
  #print(failure = ''): void {
    const text = this.#lastError?.text;
    this.#lastError = undefined;
    if (text !== undefined && !failure.includes(text)) process.stderr.write(`error: ${text}\n`);
  }

  /** Resolves with the answer of `work`, or with a failure that still has its log. */
  async answer(work: () => Promise<Answer>): Promise<Answer> {
    try {
      const answer = await work();
      this.#print();
      return answer;
    } catch (error) {
      this.#print(error instanceof DomainError ? error.detail : '');
      if (!(error instanceof DomainError) || this.call.options.json !== true) throw error;
      const { problems: errors, total } = error instanceof DocumentRefused ? error : {};
      const value = { status: 'failed', message: error.detail, errors, total, log: this.log };
      return { value, failure: error.detail };
    }
  }

  /** There is nothing left to cancel: a signal ends the command again, and its import goes on when it can. */
  letGo(): void {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, this.#onSignal);
  }

  [Symbol.dispose](): void {
    this.letGo();
  }
}

async function openRun(call: Call): Promise<{ services: Services; kind: ConnectorKind }> {
  const services = await openForCommand(call.config);
  try {
    return { services, kind: await registryOf(call).get(call.args[0] ?? '') };
  } catch (error) {
    await services.close();
    throw error;
  }
}

/** Tries a configuration without importing anything. */
export async function testByCommand(call: Call): Promise<Answer> {
  const { services, kind } = await openRun(call);
  await using _services = services;
  using run = new CommandRun(call, services, kind);
  const asked = await run.connectorCall({ name: 'test', id: 0 });
  // Awaited here: the services are closed as soon as this function has its value.
  return await run.answer(async () => {
    const message = await testConnector(processParts(call), asked);
    return { value: { kind: kind.kind, status: 'ok', message, log: run.log }, text: plain(message) };
  });
}

/** Shows what would be imported of the first records. */
export async function previewByCommand(call: Call, count: number): Promise<Answer> {
  const { services, kind } = await openRun(call);
  await using _services = services;
  using run = new CommandRun(call, services, kind);
  const { name, id } = await services.sources.getGeneral(call.options.source);
  const asked = await run.connectorCall({ name, id });
  return await run.answer(async () => {
    const records = await previewConnector(processParts(call), asked, count);
    return { value: { kind: kind.kind, records, log: run.log }, text: records.map(previewText).join('\n\n') };
  });
}

function previewText({ source, record, xml }: PreviewRecord): string {
  const steps = [['source', source] as const, ['mapped', record] as const].filter(
    ([, value]) => value !== null,
  );
  const lines = steps.map(([name, value]) => `${name}: ${plain(JSON.stringify(value))}`);
  return [...lines, ...xml.trimEnd().split('\n').map(plain)].join('\n');
}

/** Runs the connector and imports its document, as `rollcall import` does with a file. */
export async function runByCommand(call: Call): Promise<Answer> {
  const { services, kind } = await openRun(call);
  await using _services = services;
  using run = new CommandRun(call, services, kind);
  const source = await services.sources.getGeneral(call.options.source);
  const asked = await run.connectorCall({ name: source.name, id: source.id });
  return await run.answer(async () => {
    const work = new ImportWork(call, services);
    const { force, dryRun } = call.options;
    const request = { source, force: force === true, dryRun: dryRun === true };
    const { database, clock } = services;
    const parts = { ...processParts(call), database, clock, intake: work.parts.intake };
    const from = call.options.full === true ? {} : await beginning(database.read, source.id, asked);
    const toRead = { ...asked, ...from };
    const { mode } = toRead;
    const { receipt } = await importFromConnector(parts, toRead, request);
    run.letGo();
    if (receipt === undefined) {
      return { value: { status: 'empty', mode, log: run.log }, text: 'Nothing has changed in the source.' };
    }
    if (receipt.status === 'unchanged') {
      const text = `The document is the one that run ${receipt.importId} has imported; --force imports it again.`;
      return { value: { ...receipt, mode, log: run.log }, text };
    }
    const answer = await answerWith(await work.finish(receipt.importId), work.runs);
    return { ...answer, value: { ...(answer.value as object), mode, log: run.log } };
  });
}
