import { DomainError } from '../errors.ts';
import { type Lateness, watchDeadline } from './child-deadline.ts';
import { giveWay, modestMemory } from './give-way.ts';
import { type InspectArguments, inspectWords, type Verdict } from './inspect.ts';

/** On a busy machine a child takes seconds to start, and nobody may be told then that a sound document is wrong. */
const deadlineMsMin = 20_000;
const deadlineMsMax = 300_000;
/** A fifth of what a good document is checked at, by a machine that has nothing else to do. */
const bytesPerSecond = 5 * 1024 * 1024;
const memoryMib = 256;
/** 100 problems of at most a few kilobytes each. */
const verdictBytesMax = 4 * 1024 * 1024;

/** Milliseconds for which a child may compute to judge a document: the schema check is quadratic in the number of its errors. */
export function inspectionDeadlineMs(documentBytes: number): number {
  return Math.min(deadlineMsMin + (documentBytes / bytesPerSecond) * 1_000, deadlineMsMax);
}

export interface InspectionOptions {
  readonly selfCommand: readonly string[];
  readonly deadlineMs: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Judges a document in a child process, which can be killed and whose memory goes with it. The child gets
 * nothing of the environment: nothing in there concerns it. Returns undefined when it computed past the deadline; throws
 * `unavailable` when it got no processor for most of ten times as long, and when the child fails.
 */
export async function inspectInChild(
  args: InspectArguments,
  { selfCommand, deadlineMs, signal }: InspectionOptions,
): Promise<Verdict | undefined> {
  signal?.throwIfAborted();
  const child = Bun.spawn([...selfCommand, 'inspect', ...inspectWords(args)], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    env: modestMemory(memoryMib),
  });
  giveWay(child.pid);
  let late: Lateness | undefined;
  const endWatch = watchDeadline(child.pid, deadlineMs, (lateness) => {
    late ??= lateness;
    child.kill('SIGKILL');
  });
  const abandon = () => child.kill('SIGKILL');
  signal?.addEventListener('abort', abandon, { once: true });
  try {
    const [out, err] = await Promise.all([readLimited(child.stdout), readLimited(child.stderr)]);
    const code = await child.exited;
    signal?.throwIfAborted();
    if (late === 'waiting') throw tooBusy();
    if (late === 'computing') return undefined;
    if (code !== 0) throw childFailure(code, err);
    return JSON.parse(out) as Verdict;
  } finally {
    endWatch();
    signal?.removeEventListener('abort', abandon);
    child.kill('SIGKILL');
  }
}

async function readLimited(stream: ReadableStream<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes > verdictBytesMax) break;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function tooBusy(): DomainError {
  const detail = 'The machine is too busy to check the file; send it again later.';
  return new DomainError('unavailable', detail, { retryAfterSeconds: 60 });
}

function childFailure(code: number, err: string): DomainError {
  if (/ENOSPC|EDQUOT/.test(err)) {
    return new DomainError('storageFull', 'The disk is full; free some space and send the document again.');
  }
  const cause = new Error(`the inspecting process ended with ${code}: ${err.slice(0, 2_000)}`);
  return new DomainError('internal', 'The document could not be checked; the log of the service says why.', {
    cause,
  });
}
