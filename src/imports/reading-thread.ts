// The thread on which large documents are read, so that reading goes on while the plan is made and written.
// It is an entry of its own in scripts/build.ts; read-beside.ts starts it and is the only one it talks to.

import { parentPort } from 'node:worker_threads';
import { XmlError } from '../xml/xml.ts';
import { packItems, readRecords } from './record-reader.ts';

/** Bytes of the document; what comes last is its end. */
export type ReadingInput =
  | { readonly kind: 'begin'; readonly documentBytesMax: number }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'end' };

export type ReadingAnswer =
  /** Some bytes have been taken up. */
  | { readonly kind: 'more' }
  | { readonly kind: 'items'; readonly json: string }
  | { readonly kind: 'end' }
  | ({ readonly kind: 'refused' } & Refusal)
  | { readonly kind: 'failure'; readonly message: string };

interface Refusal {
  readonly reason: XmlError['kind'];
  readonly message: string;
  readonly line: number;
  readonly column: number;
  readonly path: string;
}

const arrived: (Uint8Array | undefined)[] = [];
let notice = () => {};

function receive(input: ReadingInput): void {
  if (input.kind === 'begin') void read(input.documentBytesMax);
  else arrived.push(input.kind === 'end' ? undefined : input.bytes);
  notice();
}

async function read(documentBytesMax: number): Promise<void> {
  try {
    for await (const items of readRecords(incoming(), documentBytesMax)) {
      say({ kind: 'items', json: packItems(items) });
    }
    say({ kind: 'end' });
  } catch (error) {
    say(toAnswer(error));
  }
}

async function* incoming(): AsyncGenerator<Uint8Array> {
  for (;;) {
    while (arrived.length === 0) {
      await new Promise<void>((resolve) => {
        notice = resolve;
      });
    }
    const bytes = arrived.shift();
    if (bytes === undefined) return;
    say({ kind: 'more' });
    yield bytes;
  }
}

function toAnswer(error: unknown): ReadingAnswer {
  if (!(error instanceof XmlError))
    return { kind: 'failure', message: error instanceof Error ? error.message : String(error) };
  const { kind: reason, message, line, column, path } = error;
  return { kind: 'refused', reason, message, line, column, path };
}

function say(answer: ReadingAnswer): void {
  parentPort?.postMessage(answer);
}

parentPort?.on('message', receive);
