import { median, withCpu } from './measure.ts';
import type { BenchOptions } from './options.ts';
import { type Phase, readId, type Side } from './scim-phases.ts';
import { type Costs, hasSettled, warmUpRoundsMax } from './warm-up.ts';

/** Medians over the rounds, for one server. */
export interface Rate {
  readonly cpuMicros: number;
  readonly perSecond: number;
}

export interface Compared {
  readonly reference: Rate;
  readonly product: Rate;
  /** The reference's CPU time divided by ours: 1 is as good as the reference. */
  readonly cpuRatio: number;
  readonly rateRatio: number;
}

export interface PhaseResult extends Compared {
  readonly phase: string;
  /** The very first round, which does not count: of servers that have just started. */
  readonly cold: Compared;
}

/** What each server's turns came to in one round, by phase. */
type Round = Readonly<Record<Side['name'], ReadonlyMap<string, Rate>>>;

/** The machinery of turns: what is prepared, measured and taken away, and the medians of it. */
export class Rounds {
  readonly #part: string;
  readonly #options: BenchOptions;
  readonly #say: (line: string) => void;
  #turns = 0;
  #rounds = 0;

  constructor(part: string, options: BenchOptions, say: (line: string) => void) {
    this.#part = part;
    this.#options = options;
    this.#say = say;
  }

  /** Warms both servers up with rounds like those that count, then runs these. */
  async run(sides: readonly [Side, Side], chosen: readonly Phase[]): Promise<PhaseResult[]> {
    const passed = await this.#warmUp(sides, chosen);
    const counted: Round[] = [];
    for (let i = 1; i <= this.#options.rounds; i += 1) {
      this.#say(`${this.#part}: ${sides[0].people.length} people, round ${i} of ${this.#options.rounds}`);
      counted.push(await this.#round(sides, chosen));
    }
    return chosen.map(({ name }) => ({
      phase: name,
      ...compare(name, counted),
      cold: compare(name, passed.slice(0, 1)),
    }));
  }

  /**
   * Compilers and caches are warm before anything counts: rounds pass until neither server gets cheaper (warm-up.ts),
   * the same number for both, and at most `warmUpRoundsMax`.
   */
  async #warmUp(sides: readonly [Side, Side], chosen: readonly Phase[]): Promise<Round[]> {
    const passed: Round[] = [];
    while (passed.length < (this.#options.quick ? 1 : warmUpRoundsMax)) {
      this.#say(`${this.#part}: warming up, round ${passed.length + 1} of at most ${warmUpRoundsMax}`);
      passed.push(await this.#round(sides, chosen));
      if (sides.every(({ name }) => hasSettled(passed.map((round) => costsOf(round[name]))))) break;
    }
    return passed;
  }

  async #round(sides: readonly [Side, Side], chosen: readonly Phase[]): Promise<Round> {
    const rates = { reference: new Map<string, Rate>(), product: new Map<string, Rate>() };
    this.#rounds += 1;
    const order = this.#rounds % 2 === 1 ? sides : sides.toReversed();
    for (const phase of chosen) {
      for (const side of order) {
        const isShort = this.#options.quick || side.isSlow;
        const requests = isShort ? phase.requestsQuick : phase.requests;
        rates[side.name].set(phase.name, await this.#turn(side, phase, requests));
      }
    }
    return rates;
  }

  async #turn(side: Side, phase: Phase, count: number): Promise<Rate> {
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

function costsOf(rates: ReadonlyMap<string, Rate>): Costs {
  return new Map([...rates].map(([phase, { cpuMicros }]) => [phase, cpuMicros]));
}

function compare(phase: string, rounds: readonly Round[]): Compared {
  const [reference, product] = [rate(phase, rounds, 'reference'), rate(phase, rounds, 'product')];
  const cpuRatio = reference.cpuMicros / product.cpuMicros;
  return { reference, product, cpuRatio, rateRatio: product.perSecond / reference.perSecond };
}

function rate(phase: string, rounds: readonly Round[], side: Side['name']): Rate {
  const rates = rounds.map(
    (round) => round[side].get(phase) ?? { cpuMicros: Number.NaN, perSecond: Number.NaN },
  );
  return {
    cpuMicros: median(rates.map(({ cpuMicros }) => cpuMicros)),
    perSecond: median(rates.map(({ perSecond }) => perSecond)),
  };
}
