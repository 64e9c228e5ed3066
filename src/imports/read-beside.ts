import { Worker } from 'node:worker_threads';
import { XmlError } from '../xml/xml.ts';
import type { ReadingAnswer, ReadingInput } from './reading-thread.ts';
import { type ReadItem, unpackItems } from './record-reader.ts';

/** In an executable the entries of scripts/build.ts lie as they do under src/, in a file system of their own. */
const isCompiled = /[\\/](\$bunfs|~BUN)[\\/]/.test(import.meta.path);
const workerUrl = new URL(
  isCompiled ? './imports/reading-thread.js' : './reading-thread.ts',
  import.meta.url,
);

/** Pieces of the document that the thread has at once: it is not to wait for this one, which may be busy. */
const piecesAhead = 4;
/** Batches that nobody has planned yet; above this, the thread gets no more to read. */
const batchesAhead = 4;

/** What `readRecords` gives, read on a thread of its own, which runs `entry` and ends with the reading. */
export async function* readBeside(
  stream: AsyncIterable<Uint8Array>,
  documentBytesMax: number,
  entry: URL = workerUrl,
): AsyncGenerator<ReadItem[]> {
  const thread = new ReadingThread(entry, documentBytesMax);
  const pieces = stream[Symbol.asyncIterator]();
  try {
    let isAtEnd = false;
    for (;;) {
      while (!isAtEnd && thread.isHungry) isAtEnd = await thread.feed(pieces);
      const answer = await thread.next();
      if (answer.kind === 'end') return;
      if (answer.kind === 'items') yield unpackItems(answer.json);
    }
  } finally {
    thread.end();
    await pieces.return?.();
  }
}

type Told = Extract<ReadingAnswer, { kind: 'items' | 'end' | 'more' }>;

class ReadingThread {
  readonly #worker: Worker;
  readonly #answers: ReadingAnswer[] = [];
  #ahead = 0;
  #failure: Error | undefined;
  #isEnded = false;
  #notice = () => {};

  constructor(entry: URL, documentBytesMax: number) {
    this.#worker = new Worker(entry, { env: {} });
    this.#worker.on('message', (answer: ReadingAnswer) => this.#receive(answer));
    this.#worker.on('error', (cause) => this.#fail(cause));
    this.#worker.on('exit', (code) => this.#fail(new Error(`it ended with ${code}`)));
    this.#send({ kind: 'begin', documentBytesMax });
  }

  get isHungry(): boolean {
    return this.#ahead < piecesAhead && this.#answers.length < batchesAhead;
  }

  /** True at the end of the document. */
  async feed(pieces: AsyncIterator<Uint8Array>): Promise<boolean> {
    const { done, value } = await pieces.next();
    this.#ahead += 1;
    this.#send(done === true ? { kind: 'end' } : { kind: 'bytes', bytes: value });
    return done === true;
  }

  /** What comes next. Throws XmlError for what is wrong with the document. */
  async next(): Promise<Told> {
    while (this.#answers.length === 0 && this.#failure === undefined) {
      await new Promise<void>((resolve) => {
        this.#notice = resolve;
      });
    }
    const answer = this.#answers.shift();
    if (answer === undefined) throw this.#failure;
    if (answer.kind === 'failure') throw new Error(`the document could not be read: ${answer.message}`);
    if (answer.kind !== 'refused') return answer;
    const { reason, message, line, column, path } = answer;
    throw new XmlError(reason, message, { line, column }, path);
  }

  end(): void {
    this.#isEnded = true;
    void this.#worker.terminate();
  }

  #send(input: ReadingInput): void {
    this.#worker.postMessage(input);
  }

  #receive(answer: ReadingAnswer): void {
    if (answer.kind === 'more') this.#ahead -= 1;
    this.#answers.push(answer);
    this.#notice();
  }

  /** The first cause counts: an error is followed by the end. A thread ends by itself only when something is wrong. */
  #fail(cause: unknown): void {
    if (this.#isEnded) return;
    this.#failure ??= new Error('the thread that reads documents has failed', { cause });
    this.#notice();
  }
}
