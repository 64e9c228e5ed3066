import { median, quantile } from './measure.ts';
import type { ScaleSide } from './scale-phases.ts';

/** A filter that no index serves, and how others fared meanwhile. */
export interface ScanFigures {
  /** 200, or what the server refused it with. */
  readonly status: number;
  /** Median milliseconds until it was answered. */
  readonly ms: number;
  /** The longest that another GET took meanwhile, over all repetitions; NaN when none came in between. */
  readonly longestGetMs: number;
  readonly getP99Ms: number;
}

const filter = 'title co "x"';
const path = `/Users?filter=${encodeURIComponent(filter)}&count=10`;
const repetitionsMax = 3;

/** Nobody has such a title: every person is looked at, and none is answered. */
export async function measureScan(side: ScaleSide, rounds: number): Promise<ScanFigures> {
  const times: number[] = [];
  const latenciesMs: number[] = [];
  let status = 0;
  for (let i = 0; i < Math.min(rounds, repetitionsMax); i += 1) {
    const startedMs = performance.now();
    let isOver = false;
    const scan = fetch(side.baseUrl + path, { headers: { authorization: `Bearer ${side.token}` } });
    const answered = scan.then(async (answer) => {
      await answer.arrayBuffer();
      times.push(performance.now() - startedMs);
      status = answer.status;
      isOver = true;
    });
    for (let n = 0; !isOver; n += 1) {
      await side.one.send([{ method: 'GET', path: `/Users/${(n % side.people) + 1}` }], { latenciesMs });
    }
    await answered;
  }
  return {
    status,
    ms: median(times),
    longestGetMs: Math.max(...latenciesMs),
    getP99Ms: quantile(latenciesMs, 0.99),
  };
}
