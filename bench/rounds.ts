import { median, withCpu } from './measure.ts';
import type { BenchOptions } from './options.ts';
import { type Phase, phases, readId, type Side } from './scim-phases.ts';

/** Medians over the rounds, for one server. */
export interface Rate {
  readonly cpuMicros: number;
  readonly perSecond: number;
}

export interface PhaseResult {
  readonly phase: string;
  readonly reference: Rate;
  readonly product: Rate;
  /** The reference's CPU time divided by ours: 1 is as good as the reference. */
  readonly cpuRatio: number;
  readonly rateRatio: number;
}

interface Sample {
  readonly cpuMicros: number;
  readonly perSecond: number;
}

/** The machinery of turns: what is prepared, measured and taken away, and the medians of it. */
export class Rounds {
  readonly #part: string;
  readonly #options: BenchOptions;
  readonly #say: (line: string) => void;
  #turns = 0;

  constructor(part: string, options: BenchOptions, say: (line: string) => void) {
    this.#part = part;
    this.#options = options;
    this.#say = say;
  }

  /** Compilers and caches are warm before anything counts. */
  async warmUp(sides: readonly Side[]): Promise<void> {
    this.#say(`${this.#part}: warming up`);
    for (const phase of phases) {
      for (const side of sides) await this.#turn(side, phase, phase.requestsQuick);
    }
  }

  async run(sides: readonly [Side, Side], chosen: readonly Phase[]): Promise<PhaseResult[]> {
    const samples = new Map<string, Sample[]>();
    for (let round = 0; round < this.#options.rounds; round += 1) {
      this.#say(
        `${this.#part}: ${sides[0].people.length} people, round ${round + 1} of ${this.#options.rounds}`,
      );
      const order = round % 2 === 0 ? sides : sides.toReversed();
      for (const phase of chosen) {
        for (const side of order) {
          const isShort = this.#options.quick || side.isSlow;
          const requests = isShort ? phase.requestsQuick : phase.requests;
          const sample = await this.#turn(side, phase, requests);
          const key = `${side.name} ${phase.name}`;
          samples.set(key, [...(samples.get(key) ?? []), sample]);
        }
      }
    }
    return chosen.map(({ name }) =>
      compare(name, samples.get(`reference ${name}`) ?? [], samples.get(`product ${name}`) ?? []),
    );
  }

  async #turn(side: Side, phase: Phase, count: number): Promise<Sample> {
    this.#turns += 1;
    const made = await phase.prepare(side, { number: this.#turns, requests: count });
    const requests = side.client.prepare(made);
    const onCreated = phase.onCreated;
    const options = onCreated && { onAnswer: ({ body }: { body: string }) => onCreated(side, readId(body)) };
    const send = (from: number, to: number) => side.client.run(requests.slice(from, to), options);
    const all = requests.length;
    const { cpuMicros, ms, value } = await withCpu(side.pid, () =>
      side.isSlow ? sendInTime(all, send) : send(0, all).then(() => all),
    );
    await phase.finish?.(side);
    return { cpuMicros: cpuMicros / value, perSecond: (value / ms) * 1_000 };
  }
}

const turnMsMax = 1_500;
const firstBatch = 4;

/**
 * Has `send` send up to `most` requests, in batches of which each is twice as large, until the time is over: some pages
 * take half a second. `send` gets the range of a batch. Resolves with how many there were.
 */
export async function sendInTime(
  most: number,
  send: (from: number, to: number) => Promise<void>,
): Promise<number> {
  const startedMs = performance.now();
  let sent = 0;
  for (let size = firstBatch; sent < most && performance.now() - startedMs < turnMsMax; size *= 2) {
    const to = Math.min(sent + size, most);
    await send(sent, to);
    sent = to;
  }
  return sent;
}

function compare(
  phase: string,
  referenceSamples: readonly Sample[],
  productSamples: readonly Sample[],
): PhaseResult {
  const [reference, product] = [rate(referenceSamples), rate(productSamples)];
  const cpuRatio = reference.cpuMicros / product.cpuMicros;
  return { phase, reference, product, cpuRatio, rateRatio: product.perSecond / reference.perSecond };
}

function rate(samples: readonly Sample[]): Rate {
  return {
    cpuMicros: median(samples.map(({ cpuMicros }) => cpuMicros)),
    perSecond: median(samples.map(({ perSecond }) => perSecond)),
  };
}
