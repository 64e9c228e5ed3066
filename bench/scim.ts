import { join } from 'node:path';
import { LoadClient } from './load.ts';
import { median, quantile, withCpu } from './measure.ts';
import type { BenchContext, BenchOptions } from './options.ts';
import { measureHashingGap } from './scim-passwords.ts';
import {
  addOneTo,
  groupMembers,
  growPeople,
  makeLargeGroup,
  type Phase,
  patch,
  phases,
  readId,
  type Side,
} from './scim-phases.ts';
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
  /** CPU time of the product at `people` divided by that in the small directory, by phase. */
  readonly growth:
    | {
        readonly people: number;
        readonly phases: readonly PhaseResult[];
        readonly ratios: Readonly<Record<string, number>>;
      }
    | undefined;
  /** CPU time to add a member to a group of 10,000, divided by the same for a group of 10. */
  readonly groupGrowth: number | undefined;
  readonly largeGroup: { readonly members: number; readonly p95Ms: number } | undefined;
  /** The longest that a GET took while eight people with passwords were created. */
  readonly gapWhileHashingMs: number;
}

const peopleBefore = 2_000;
const connections = 16;
/** Phases whose cost should not depend on how many people there are. */
const growing = new Set([
  'create',
  'get',
  'userName eq',
  'PATCH one attribute',
  'page of 100',
  `add 1 member to ${groupMembers.toLocaleString('en')}`,
  'delete',
]);

/** Both servers take turns, phase by phase, the first place changing with the round. */
export async function measureScim(context: BenchContext): Promise<ScimResult> {
  const { options, say } = context;
  const [limit, product] = await Promise.all([startLimit(context), startRollcall(context)]);
  try {
    const sides = [
      await openSide('limit', limit),
      await openSide('product', product, product.token),
    ] as const;
    await fill(sides, peopleBefore);
    for (const side of sides) await makeLargeGroup(side);
    const rounds = new Rounds(options, say);
    await rounds.warmUp(sides);
    const small = await rounds.run(sides, phases);
    const grown = await measureGrowth(context, { sides, rounds, small });
    const gapWhileHashingMs = await measureHashingGap(product);
    for (const side of sides) side.client.close();
    return { people: peopleBefore, connections, phases: small, ...grown, gapWhileHashingMs };
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

async function fill(sides: readonly Side[], people: number): Promise<void> {
  for (const side of sides) await growPeople(side, people);
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

interface Before {
  readonly sides: readonly [Side, Side];
  readonly rounds: Rounds;
  readonly small: readonly PhaseResult[];
}

/** What changes with the number of people, when more of them were asked for. */
async function measureGrowth(
  { options, say }: BenchContext,
  { sides, rounds, small }: Before,
): Promise<Pick<ScimResult, 'growth' | 'groupGrowth' | 'largeGroup'>> {
  const people = options.users ?? 0;
  if (people <= peopleBefore) return { growth: undefined, groupGrowth: undefined, largeGroup: undefined };
  say(`scim: growing to ${people} people`);
  await fill(sides, people);
  const grown = await rounds.run(
    sides,
    phases.filter(({ name }) => growing.has(name)),
  );
  const ratios = grown.map(({ phase, product }) => {
    const before = small.find((each) => each.phase === phase);
    return [phase, product.cpuMicros / (before?.product.cpuMicros ?? Number.NaN)] as const;
  });
  const growth = { people, phases: grown, ratios: Object.fromEntries(ratios) };
  const [, product] = sides;
  return {
    growth,
    groupGrowth: await measureGroupGrowth({ sides, rounds }),
    largeGroup: await measureLargeGroup(product),
  };
}

/** Needs people to add besides the 10,000 that are in the group. */
const peopleForGroupGrowth = 11_000;

async function measureGroupGrowth({
  sides,
  rounds,
}: Pick<Before, 'sides' | 'rounds'>): Promise<number | undefined> {
  if (sides[1].people.length < peopleForGroupGrowth) return undefined;
  const [small, large] = await rounds.run(sides, [addOneTo(10, 1_000), addOneTo(10_000, 1_000)]);
  return (large?.product.cpuMicros ?? Number.NaN) / (small?.product.cpuMicros ?? Number.NaN);
}

const operations = 100;
const membersEach = 50;
const membersPerRequest = 1_000;

/** One PATCH after the other, each with 50 people, into a group with nearly everybody. */
async function measureLargeGroup(side: Side): Promise<ScimResult['largeGroup']> {
  const members = side.people.length - operations * membersEach;
  if (members < membersPerRequest) return undefined;
  const value = (from: number, to: number) => side.people.slice(from, to).map((id) => ({ value: id }));
  const path = `/Groups/${side.largeGroup}`;
  for (let from = 0; from < members; from += membersPerRequest) {
    await side.client.send([
      patch(path, 'add', 'members', value(from, Math.min(from + membersPerRequest, members))),
    ]);
  }
  const latenciesMs: number[] = [];
  for (let from = members; from < side.people.length; from += membersEach) {
    await side.client.send([patch(path, 'add', 'members', value(from, from + membersEach))], { latenciesMs });
  }
  return { members, p95Ms: quantile(latenciesMs, 0.95) };
}
