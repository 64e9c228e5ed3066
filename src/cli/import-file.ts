import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { DocumentStore } from '../archive/archive.ts';
import { DomainError } from '../errors.ts';
import { Intake, type Receipt } from '../imports/intake.ts';
import { Processor } from '../imports/processor.ts';
import { type RerunParts, requireArchived, type rerun, type retry } from '../imports/rerun.ts';
import { type ImportRun, ImportRuns } from '../imports/runs.ts';
import { createLog, type Log } from '../log.ts';
import { PasswordHasher } from '../security/password-hash.ts';
import type { GeneralSource } from '../sources/source-store.ts';
import type { InstanceLock } from '../storage/instance-lock.ts';
import type { Answer, Call } from './command.ts';
import { answerWith } from './import-answer.ts';
import { ImportProgress } from './import-progress.ts';
import { isServed, takeServeLock } from './locks.ts';
import { selfCommand } from './self.ts';
import { openForCommand, type Services } from './services.ts';
import { whoCommands } from './who-commands.ts';

const serverCheckMs = 2_000;

/** The path, if it is that of a file that can be read. */
export async function requireFile(path: string): Promise<string> {
  try {
    if ((await stat(path)).isFile()) return path;
  } catch (error) {
    const { code } = error as { code?: string };
    const reason = code === 'ENOENT' ? 'there is none' : code;
    throw new DomainError('notFound', `The file ${path} cannot be read: ${reason}.`, { cause: error });
  }
  throw new DomainError('invalidValue', `${path} is not a file.`);
}

/** Takes the file in as an upload would, and waits until its run is settled or awaits approval. */
export async function importDocument(call: Call): Promise<Answer> {
  const file = await requireFile(call.args[0] ?? '');
  await using services = await openForCommand(call.config);
  const source = await services.sources.getGeneral(call.options.source);
  const work = new ImportWork(call, services);
  const receipt = await work.accept(source, file);
  if (receipt.status === 'unchanged') {
    const text = `The file is the one that run ${receipt.importId} has imported; --force imports it again.`;
    return { value: receipt, text };
  }
  // Awaited here: the services are closed as soon as this function has its value.
  return await answerWith(await work.finish(receipt.importId), work.runs);
}

/** Takes the document of an earlier run in once more, whole or what went wrong in it, and waits for its run. */
export async function importAgain(
  call: Call,
  importId: number,
  which: typeof rerun | typeof retry,
): Promise<Answer> {
  await using services = await openForCommand(call.config);
  const run = await requireArchived(services.database, importId);
  const source = await services.sources.getGeneral(String(run.source_id));
  const work = new ImportWork(call, services);
  const receipt = await which(work.parts, source, run, {
    dryRun: call.options.dryRun === true,
  });
  return await answerWith(await work.finish(receipt.importId), work.runs);
}

/** The parts of an import, as this process runs it: alone, or beside a server that does the work. */
export class ImportWork {
  readonly runs: ImportRuns;
  readonly #call: Call;
  readonly #services: Services;
  readonly #documents: DocumentStore;
  readonly #log: Log;

  constructor(call: Call, services: Services) {
    const { config, isSet, options } = call;
    this.#call = call;
    this.#services = services;
    this.#documents = new DocumentStore(config.data);
    this.#log = createLog({
      level: options.verbose === true ? 'debug' : isSet.has('logLevel') ? config.logLevel : 'error',
    });
    this.runs = new ImportRuns({ ...services, documents: this.#documents });
  }

  /** What takes documents in. */
  get parts(): RerunParts {
    const { database } = this.#services;
    const documents = this.#documents;
    const parts = { ...this.#services, documents, log: this.#log, selfCommand: selfCommand() };
    return { database, documents, intake: new Intake(parts) };
  }

  accept(source: GeneralSource, file: string): Promise<Receipt> {
    const { force, dryRun } = this.#call.options;
    return this.parts.intake.accept({
      source,
      stream: createReadStream(file),
      origin: 'cli',
      file: basename(file),
      force: force === true,
      dryRun: dryRun === true,
    });
  }

  /** A server on this folder does the work by itself; without one, or once it has gone, it is done here. */
  async finish(runId: number): Promise<ImportRun> {
    if (this.#services.database.dialect !== 'sqlite') return this.#process(runId, undefined);
    for (;;) {
      const lock = await takeServeLock(this.#services.folder);
      if (lock !== undefined) return this.#process(runId, lock);
      const run = await this.#followServer(runId);
      if (run !== undefined) return run;
    }
  }

  /** Undefined when the server stopped before the run was settled. */
  async #followServer(runId: number): Promise<ImportRun | undefined> {
    const gone = new AbortController();
    const timer = setInterval(() => {
      if (!isServed(this.#services.folder)) gone.abort();
    }, serverCheckMs);
    try {
      return await this.#follow(runId, { signal: gone.signal });
    } catch (error) {
      if (gone.signal.aborted) return undefined;
      throw error;
    } finally {
      clearInterval(timer);
    }
  }

  async #process(runId: number, lock: InstanceLock | undefined): Promise<ImportRun> {
    const processor = new Processor({
      ...this.#services,
      documents: this.#documents,
      hasher: new PasswordHasher(),
      log: this.#log,
      owner: `${process.pid}-${crypto.randomUUID()}`,
      isAlone: lock !== undefined,
    });
    processor.start();
    try {
      return await this.#follow(runId, { wake: () => processor.wake() });
    } finally {
      await processor.stop();
      lock?.release();
    }
  }

  async #follow(runId: number, { wake, signal }: Following): Promise<ImportRun> {
    using progress = new ImportProgress(process.stderr);
    const options = {
      onProgress: (run: ImportRun) => progress.show(run),
      ...(signal === undefined ? {} : { signal }),
    };
    const run = await this.runs.wait(runId, options);
    if (run.status !== 'awaiting-approval' || this.#call.options.approve !== true) return run;
    await this.runs.approve(runId, whoCommands());
    wake?.();
    return this.runs.wait(runId, options);
  }
}

interface Following {
  /** Tells the processor that an approved run can go on. */
  readonly wake?: () => void;
  readonly signal?: AbortSignal;
}
