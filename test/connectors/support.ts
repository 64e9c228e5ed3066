// A place where connectors run: an import house, a data folder for connectors of the test, and the real host process.

import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkConfig } from '../../src/connectors/config-check.ts';
import type { LogLine } from '../../src/connectors/connector-log.ts';
import type { Config, PreviewRecord } from '../../src/connectors/connectors.ts';
import { ConnectorRegistry } from '../../src/connectors/registry.ts';
import {
  type ConnectorCall,
  importFromConnector,
  previewConnector,
  type TakenIn,
  testConnector,
} from '../../src/connectors/runner.ts';
import type { IntakeRequest, Receipt } from '../../src/imports/intake.ts';
import type { ImportRun } from '../../src/imports/runs.ts';
import { type HouseOptions, type ImportHouse, openImportHouse } from '../imports/support.ts';

const main = join(import.meta.dir, '..', '..', 'src', 'main.ts');
export const minute = 60_000;

export type CallOptions = Partial<Omit<ConnectorCall, 'kind' | 'config' | 'source' | 'onLine'>>;

export class ConnectorHouse implements AsyncDisposable {
  readonly registry: ConnectorRegistry;
  /** The log of all runs. */
  readonly log: LogLine[] = [];
  /** Everything that a person could have read: log, answers, previews, failures. */
  readonly said: string[] = [];

  constructor(readonly imports: ImportHouse) {
    this.registry = new ConnectorRegistry(imports.folder, this.parts);
  }

  get parts() {
    return {
      selfCommand: [process.execPath, main],
      environment: { PATH: process.env.PATH ?? '/usr/bin:/bin' },
      workFolder: join(this.imports.folder, 'connector-runs'),
    };
  }

  /** Puts a file into a connector's folder and returns its path. */
  async add(name: string, file: string, text: string): Promise<string> {
    const folder = join(this.imports.folder, 'connectors', name);
    mkdirSync(folder, { recursive: true });
    await Bun.write(join(folder, file), text);
    return join(folder, file);
  }

  async call(kind: string, config: Config, options: CallOptions = {}): Promise<ConnectorCall> {
    const found = await this.registry.get(kind);
    const { name, id } = this.imports.source;
    return {
      kind: found,
      config: checkConfig(found.configSchema, config),
      source: { name, id },
      mode: 'full',
      checkpoint: null,
      limits: { milliseconds: 2 * minute, memoryBytes: 1024 ** 3 },
      allowedHosts: [],
      ...options,
      onLine: (line) => {
        this.log.push(line);
        this.said.push(line.text);
      },
    };
  }

  async test(kind: string, config: Config, options?: CallOptions): Promise<string> {
    const answer = await testConnector(this.parts, await this.call(kind, config, options));
    this.said.push(answer);
    return answer;
  }

  async preview(kind: string, config: Config, count: number): Promise<PreviewRecord[]> {
    const records = await previewConnector(this.parts, await this.call(kind, config), count);
    this.said.push(JSON.stringify(records));
    return records;
  }

  /** Runs the connector; its document is taken in and waits for a processor. */
  async takeIn(kind: string, config: Config, options?: CallOptions): Promise<TakenIn> {
    const { source, intake, database, clock } = this.imports;
    return importFromConnector(
      { ...this.parts, intake, database, clock },
      await this.call(kind, config, options),
      { source },
    );
  }

  /** Runs the connector for its document alone: whether that can be imported is another question. */
  async countUsers(kind: string, config: Config): Promise<{ users: number; memoryBytesPeak: number }> {
    let users = 0;
    const accept = async ({ stream, source }: IntakeRequest): Promise<Receipt> => {
      let end = '';
      for await (const chunk of stream) {
        const text = end + Buffer.from(chunk).toString('latin1');
        users += text.split('<user ').length - 1;
        end = /<[a-z]{0,4}$/.exec(text)?.[0] ?? '';
      }
      const counts = { users, groups: 0, bytes: 0 };
      return {
        ...counts,
        importId: 0,
        sourceId: source.id,
        status: 'queued',
        sha256: '',
        willBeProcessed: false,
        warnings: [],
      };
    };
    const { source, database, clock } = this.imports;
    const call = await this.call(kind, config);
    const { memoryBytesPeak } = await importFromConnector(
      { ...this.parts, database, clock, intake: { accept } },
      call,
      {
        source,
      },
    );
    return { users, memoryBytesPeak };
  }

  /** Runs the connector and imports its document. */
  async import(kind: string, config: Config, options?: CallOptions): Promise<ImportRun> {
    const { receipt } = await this.takeIn(kind, config, options);
    if (receipt === undefined) throw new Error('nothing was taken in');
    await this.imports.processor().drain();
    return this.imports.runs.get(receipt.importId);
  }

  /** The sentence with which something fails. */
  async failure(work: Promise<unknown>): Promise<string> {
    try {
      await work;
    } catch (error) {
      const { message } = error as Error;
      this.said.push(message);
      return message;
    }
    throw new Error('it went well');
  }

  /** What runs have left: folders, documents, and processes that have one of those folders as their home. */
  leftovers(): string[] {
    const { workFolder } = this.parts;
    const folders = existsSync(workFolder) ? readdirSync(workFolder) : [];
    return [...folders, ...this.imports.files('drop'), ...processesBelow(workFolder)];
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.imports[Symbol.asyncDispose]();
  }
}

export async function openConnectorHouse(options?: HouseOptions): Promise<ConnectorHouse> {
  return new ConnectorHouse(await openImportHouse(options));
}

function processesBelow(folder: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => readEntry(`/proc/${pid}/environ`).includes(`HOME=${folder}/`))
    .filter((pid) => !/^State:\s+Z/m.test(readEntry(`/proc/${pid}/status`)))
    .map((pid) => `process ${readEntry(`/proc/${pid}/cmdline`).replaceAll('\0', ' ')}`);
}

function readEntry(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
