import { join } from 'node:path';
import { LoadClient } from './load.ts';
import { median, withCpu } from './measure.ts';
import type { BenchContext, BenchOptions } from './options.ts';
import { measureHashingGap } from './scim-passwords.ts';
import { growPeople, makeLargeGroup, type Phase, phases, readId, type Side } from './scim-phases.ts';
import {
  createSource,
  freePort,
  referenceCommand,
  type Server,
  startProduct,
  startServer,
} from './server.ts';

/** Medians over the rounds, for one server. */
export interface Rate {
  readonly cpuMicros: number;
  readonly perSecond: number;
}

export interface PhaseResult {
  readonly phase: string;
  readonly limit: Rate;
  readonly product: Rate;
  /** The limit's CPU time divided by ours: 1 is as good as the limit. */
  readonly cpuRatio: number;
  readonly rateRatio: number;
}

export interface ScimResult {
  readonly people: number;
  readonly connections: number;
  readonly phases: readonly PhaseResult[];
  /** The longest that a GET took while eight people with passwords were created. */
  readonly gapWhileHashingMs: number;
}

const people = 2_000;
const connections = 16;
/** Both servers take turns, phase by phase, the first place changing with the round. */
export async function measureScim(context: BenchContext): Promise<ScimResult> {
  const { options, say } = context;
  const [limit, product] = await Promise.all([startLimit(context), startRollcall(context)]);
  try {
    const sides = [
      await openSide('limit', limit),
      await openSide('product', product, product.token),
    ] as const;
    for (const side of sides) {
      await growPeople(side, people);
      await makeLargeGroup(side);
    }
    const rounds = new Rounds(options, say);
    await rounds.warmUp(sides);
    const results = await rounds.run(sides, phases);
    const gapWhileHashingMs = await measureHashingGap(product);
    for (const side of sides) side.client.close();
    return { people, connections, phases: results, gapWhileHashingMs };
  } finally {
    await Promise.all([limit.stop(), product.stop()]);
  }
}

async function startLimit({ folder }: BenchContext): Promise<Server> {
  const port = await freePort();
  const command = referenceCommand('scim-server.ts', join(folder, 'limit.db'), String(port));
  return startServer({ command, port, log: join(folder, 'limit.log') });
}

async function startRollcall({
  executable,
  folder,
}: BenchContext): Promise<Server & { readonly token: string }> {
  const home = join(folder, 'product');
  const server = await startProduct(executable, home);
  const { token } = createSource(executable, home, {
    kind: 'scim',
    name: 'bench',
    settings: ['rateLimit=0'],
  });
  return { ...server, origin: `${server.origin}/api/v2/scim/v2`, token };
}

export async function openSide(name: Side['name'], { pid, origin }: Server, token?: string): Promise<Side> {
  const address = { baseUrl: origin, ...(token === undefined ? {} : { token }) };
  const client = await LoadClient.open(address, connections);
  return { name, pid, client, people: [], passing: [], groups: [], largeGroup: '' };
}

interface Sample {
  readonly cpuMicros: number;
  readonly perSecond: number;
}

/** The machinery of turns: what is prepared, measured and taken away, and the medians of it. */
export class Rounds {
  readonly #options: BenchOptions;
  readonly #say: (line: string) => void;
  #turns = 0;

  constructor(options: BenchOptions, say: (line: string) => void) {
    this.#options = options;
    this.#say = say;
  }

  /** Compilers and caches are warm before anything counts. */
  async warmUp(sides: readonly Side[]): Promise<void> {
    this.#say('scim: warming up');
    for (const phase of phases) {
      for (const side of sides) await this.#turn(side, phase, phase.requestsQuick);
    }
  }

  async run(sides: readonly [Side, Side], chosen: readonly Phase[]): Promise<PhaseResult[]> {
    const samples = new Map<string, Sample[]>();
    for (let round = 0; round < this.#options.rounds; round += 1) {
      this.#say(`scim: ${sides[0].people.length} people, round ${round + 1} of ${this.#options.rounds}`);
      const order = round % 2 === 0 ? sides : sides.toReversed();
      for (const phase of chosen) {
        for (const side of order) {
          const requests = this.#options.quick ? phase.requestsQuick : phase.requests;
          const sample = await this.#turn(side, phase, requests);
          const key = `${side.name} ${phase.name}`;
          samples.set(key, [...(samples.get(key) ?? []), sample]);
        }
      }
    }
    return chosen.map(({ name }) =>
      compare(name, samples.get(`limit ${name}`) ?? [], samples.get(`product ${name}`) ?? []),
    );
  }

  async #turn(side: Side, phase: Phase, count: number): Promise<Sample> {
    this.#turns += 1;
    const made = await phase.prepare(side, { number: this.#turns, requests: count });
    const requests = side.client.prepare(made);
    const onCreated = phase.onCreated;
    const options = onCreated && { onAnswer: ({ body }: { body: string }) => onCreated(side, readId(body)) };
    const { cpuMicros, ms } = await withCpu(side.pid, () => side.client.run(requests, options));
    await phase.finish?.(side);
    return { cpuMicros: cpuMicros / requests.length, perSecond: (requests.length / ms) * 1_000 };
  }
}

function compare(
  phase: string,
  limitSamples: readonly Sample[],
  productSamples: readonly Sample[],
): PhaseResult {
  const [limit, product] = [rate(limitSamples), rate(productSamples)];
  const cpuRatio = limit.cpuMicros / product.cpuMicros;
  return { phase, limit, product, cpuRatio, rateRatio: product.perSecond / limit.perSecond };
}

function rate(samples: readonly Sample[]): Rate {
  return {
    cpuMicros: median(samples.map(({ cpuMicros }) => cpuMicros)),
    perSecond: median(samples.map(({ perSecond }) => perSecond)),
  };
}
