import { LoadClient, type LoadRequest } from './load.ts';
import { quantile } from './measure.ts';
import { openSide } from './scim.ts';
import { growPeople, patch, type Side } from './scim-phases.ts';
import type { Server } from './server.ts';

export interface Quantiles {
  readonly requests: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

export interface Latencies {
  readonly get: Quantiles;
  readonly patch: Quantiles;
}

const people = 200;
const idleMs = 3_000;
/** Between an answer and the next request: a probe must not be the load. */
const getPauseMs = 4;
const patchPauseMs = 15;

/** Latencies of single SCIM requests, first with nothing else to do, then while `work` is under way. */
export async function probeWhile(
  server: Server,
  token: string,
  work: () => Promise<unknown>,
): Promise<{ readonly idle: Latencies; readonly importing: Latencies }> {
  const side = await openSide('product', server, token);
  await growPeople(side, people);
  side.client.close();
  const address = { baseUrl: server.origin, token };
  const clients = [await LoadClient.open(address, 1), await LoadClient.open(address, 1)] as const;
  await probe(side, clients, Bun.sleep(idleMs / 3));
  const idle = await probe(side, clients, Bun.sleep(idleMs));
  const importing = await probe(side, clients, work());
  for (const client of clients) client.close();
  return { idle, importing };
}

async function probe(
  { people: ids }: Side,
  [reader, writer]: readonly [LoadClient, LoadClient],
  until: Promise<unknown>,
): Promise<Latencies> {
  let isOver = false;
  const over = until.finally(() => {
    isOver = true;
  });
  const id = (i: number) => ids[i % ids.length];
  const repeat = async (client: LoadClient, pauseMs: number, make: (i: number) => LoadRequest) => {
    const latenciesMs: number[] = [];
    for (let i = 0; !isOver; i += 1) {
      await client.send([make(i)], { latenciesMs });
      await Bun.sleep(pauseMs);
    }
    return toQuantiles(latenciesMs);
  };
  const [get, patched] = await Promise.all([
    repeat(reader, getPauseMs, (i) => ({ method: 'GET', path: `/Users/${id(i)}` })),
    repeat(writer, patchPauseMs, (i) =>
      patch(`/Users/${id(i)}`, 'replace', 'title', `Probe ${performance.now()}.${i}`),
    ),
    over,
  ]);
  return { get, patch: patched };
}

function toQuantiles(ms: readonly number[]): Quantiles {
  return { requests: ms.length, p50Ms: quantile(ms, 0.5), p99Ms: quantile(ms, 0.99), maxMs: Math.max(...ms) };
}
