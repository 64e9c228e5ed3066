import { Worker } from 'node:worker_threads';
import { DomainError } from '../errors.ts';
import { PatternError } from './pattern-error.ts';
import type { Pcre2Result } from './pcre2.ts';
import type { Pcre2Answer, Pcre2Job } from './pcre2-worker.ts';

/**
 * How long compiling and matching may take. The limits of pcre2-module.ts count steps, and one step over a class of
 * hundreds of characters takes so long that 100,000 of them took a minute.
 */
const deadlineMsDefault = 500;
const waitingMax = 256;

/** In an executable the entries of scripts/build.ts lie as they do under src/, in a file system of their own. */
const isCompiled = /[\\/](\$bunfs|~BUN)[\\/]/.test(import.meta.path);
const workerUrl = new URL(isCompiled ? './pattern/pcre2-worker.js' : './pcre2-worker.ts', import.meta.url);

interface Running {
  readonly worker: Worker;
  /** Resolved when the engine is loaded. */
  readonly ready: Promise<void>;
}

/** Runs PCRE2 patterns one after another on a thread of their own, each until its deadline. */
export class Pcre2Runner {
  readonly #deadlineMs: number;
  #running: Running | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor({ deadlineMs = deadlineMsDefault }: { readonly deadlineMs?: number } = {}) {
    this.#deadlineMs = deadlineMs;
  }

  /** Looks for the pattern anywhere in `text`, of at most 1,024 bytes. Throws PatternError, or DomainError when busy. */
  async test(pattern: string, text: string): Promise<Pcre2Result> {
    const answer = await this.#inTurn({ pattern, text });
    if (answer === undefined) {
      return { outcome: 'limit', message: `the match took longer than ${this.#deadlineMs} ms` };
    }
    if (answer.kind !== 'result') throw new Error(`a match was answered with "${answer.kind}"`);
    return answer.result;
  }

  /** Throws PatternError, with PCRE2's message and the offset, for a pattern that does not compile. */
  async check(pattern: string): Promise<void> {
    if ((await this.#inTurn({ pattern })) !== undefined) return;
    throw new PatternError(`compiling it took longer than ${this.#deadlineMs} ms`, 0);
  }

  #inTurn(job: Pcre2Job): Promise<Pcre2Answer | undefined> {
    if (this.#waiting >= waitingMax) {
      const detail = 'Too many passwords are being checked at once; send the request again.';
      throw new DomainError('unavailable', detail, { retryAfterSeconds: 1 });
    }
    this.#waiting += 1;
    const mine = this.#last.then(() => this.#run(job)).finally(() => (this.#waiting -= 1));
    this.#last = mine.catch(() => undefined);
    return mine;
  }

  /** undefined when the deadline passed. */
  async #run(job: Pcre2Job): Promise<Pcre2Answer | undefined> {
    this.#running ??= start();
    const { worker, ready } = this.#running;
    // A command must not end before its answer, nor wait for a thread that has nothing to do.
    worker.ref();
    try {
      await ready;
      const answer = await ask(worker, job, this.#deadlineMs);
      if (answer === undefined) this.#end();
      return checked(answer);
    } catch (error) {
      if (!(error instanceof PatternError)) this.#end();
      throw error;
    } finally {
      worker.unref();
    }
  }

  #end(): void {
    this.#running?.worker.terminate();
    this.#running = undefined;
  }
}

function start(): Running {
  const worker = new Worker(workerUrl, { env: {} });
  const ready = next(worker).then(() => undefined);
  return { worker, ready };
}

async function ask(worker: Worker, job: Pcre2Job, deadlineMs: number): Promise<Pcre2Answer | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, deadlineMs, undefined);
  });
  const answered = next(worker);
  worker.postMessage(job);
  try {
    return await Promise.race([answered, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The next thing that the thread says. */
function next(worker: Worker): Promise<Pcre2Answer> {
  return new Promise((resolve, reject) => {
    worker.removeAllListeners();
    worker.once('message', resolve);
    worker.once('error', (cause) => reject(new Error('the thread of the pattern engine failed', { cause })));
  });
}

function checked(answer: Pcre2Answer | undefined): Pcre2Answer | undefined {
  if (answer?.kind === 'pattern-error') throw new PatternError(answer.message, answer.offset);
  if (answer?.kind === 'failure') throw new Error(`the pattern engine failed: ${answer.message}`);
  return answer;
}
