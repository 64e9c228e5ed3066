import { type Address, LoadClient } from './load.ts';
import { median, quantile } from './measure.ts';
import { createUser } from './scim-phases.ts';

/** How long the server's loop leaves others waiting while eight passwords are hashed at once. */
export interface HashingGap {
  /** Milliseconds between two answers, the longest of a repetition: the median of the repetitions, and the worst. */
  readonly longestMs: number;
  readonly worstMs: number;
  readonly p99Ms: number;
  /** The same median while as many people without passwords are created: what client, machine and disk add. */
  readonly plainLongestMs: number;
}

const passwords = 8;
const repetitions = 15;
/** Requests under way at once. With more than one the server always has the next before it. */
const askers = 4;
const warmUpRequests = 500;
const slice = 4;

/**
 * The server answers as many small requests as it can, and the client notes the time from one answer to the next: a loop
 * that stands still answers nobody. Hashing belongs to other threads; a server that did it on its own would be silent for
 * all eight.
 */
export async function measureHashingGap({
  origin,
  token,
}: {
  readonly origin: string;
  readonly token: string;
}): Promise<HashingGap> {
  const address: Address = { baseUrl: origin, token };
  const writer = await LoadClient.open(address, passwords);
  const reader = await LoadClient.open({ baseUrl: new URL(origin).origin }, askers);
  const create = (repetition: number, kind: 'secret' | 'plain') =>
    writer.prepare(
      Array.from({ length: passwords }, (_, i) => {
        const n = repetition * passwords + i;
        const more = kind === 'secret' ? { password: `Correct-Horse-${n}` } : {};
        return createUser(`${kind}.${n}@example.com`, n, more);
      }),
    );
  await writer.run(create(0, 'secret'));
  await reader.send(Array.from({ length: warmUpRequests }, () => health));
  const plain: number[][] = [];
  const hashing: number[][] = [];
  for (let i = 1; i <= repetitions; i += 1) {
    plain.push(await gapsUntil(reader, writer.run(create(i, 'plain'))));
    hashing.push(await gapsUntil(reader, writer.run(create(i, 'secret'))));
  }
  for (const client of [writer, reader]) client.close();
  const longest = hashing.map((gaps) => Math.max(...gaps));
  return {
    longestMs: median(longest),
    worstMs: Math.max(...longest),
    p99Ms: quantile(hashing.flat(), 0.99),
    plainLongestMs: median(plain.map((gaps) => Math.max(...gaps))),
  };
}

const health = { method: 'GET', path: '/healthz' } as const;

async function gapsUntil(reader: LoadClient, until: Promise<unknown>): Promise<number[]> {
  let isOver = false;
  const over = until.finally(() => {
    isOver = true;
  });
  const gapsMs: number[] = [];
  const requests = reader.prepare(Array.from({ length: askers * slice }, () => health));
  let lastMs = performance.now();
  const onAnswer = () => {
    const nowMs = performance.now();
    gapsMs.push(nowMs - lastMs);
    lastMs = nowMs;
  };
  while (!isOver) await reader.run(requests, { onAnswer });
  await over;
  return gapsMs;
}
