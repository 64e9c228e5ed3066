// How cost grows with the directory: the executable serves directories of several sizes at once, which take turns phase by
// phase. Nothing is compared with a reference here: each size is compared with the smallest.

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { LoadClient, type LoadRequest } from './load.ts';
import { type Memory, median, memoryOf, withCpu } from './measure.ts';
import type { BenchContext } from './options.ts';
import { sendInTime } from './rounds.ts';
import { type FilledFolder, filledFolder } from './scale-fill.ts';
import { type GroupFigures, measureGroups } from './scale-groups.ts';
import { type ScalePhase, type ScaleSide, scalePhases } from './scale-phases.ts';
import { measureScan, type ScanFigures } from './scale-scan.ts';
import { type Server, startProduct } from './server.ts';
import { type Costs, hasSettled, warmUpRoundsMax } from './warm-up.ts';

export interface SizeResult {
  readonly people: number;
  readonly folderMib: number;
  /** Undefined for a directory that was kept from an earlier run. */
  readonly fillSeconds: number | undefined;
  readonly startMs: number;
  readonly memoryAtStart: Memory;
  /** When all phases have run. */
  readonly memoryAfter: Memory;
  readonly walMib: number;
  /** Median CPU microseconds of a request by phase, or why there are none. */
  readonly cpuMicros: Readonly<Record<string, number | string>>;
  /** The same of the very first round, which does not count: of a server that has just started. */
  readonly coldMicros: Readonly<Record<string, number | string>>;
  readonly scan: ScanFigures;
  readonly groups: GroupFigures;
}

export interface ScaleResult {
  readonly connections: number;
  readonly sizes: readonly SizeResult[];
}

export const scaleSizesDefault = [1_000, 100_000, 1_000_000];
const sizesQuick = [1_000, 5_000];
const connections = 16;
const quickShare = 0.1;

interface Stage {
  readonly filled: FilledFolder;
  readonly server: Server;
  readonly side: ScaleSide;
  readonly memoryAtStart: Memory;
}

export async function measureScale(context: BenchContext): Promise<ScaleResult> {
  const { options } = context;
  const sizes = options.sizes ?? (options.quick ? sizesQuick : scaleSizesDefault);
  const stages: Stage[] = [];
  try {
    for (const people of sizes.toSorted((a, b) => a - b)) stages.push(await openStage(context, people));
    const turns = new Turns(
      context,
      stages.map(({ side }) => side),
    );
    const costs = await turns.run();
    const results: SizeResult[] = [];
    for (const [i, stage] of stages.entries())
      results.push(await finishStage(context, stage, costs[i] ?? { cpuMicros: {}, coldMicros: {} }));
    return { connections, sizes: results };
  } finally {
    for (const { side, server } of stages) {
      for (const client of [side.many, side.one]) client.close();
      await server.stop();
    }
  }
}

async function openStage({ executable, folder, options, say }: BenchContext, people: number): Promise<Stage> {
  const home = join(folder, String(people));
  const filled = await filledFolder({ executable, home, people, keep: options.keep, say });
  const server = await startProduct(executable, home);
  const baseUrl = `${server.origin}/api/v2/scim/v2`;
  const { token, teams } = filled;
  const address = { baseUrl, token };
  const [many, one] = [await LoadClient.open(address, connections), await LoadClient.open(address, 1)];
  const side: ScaleSide = { people, teams, pid: server.pid, baseUrl, token, many, one, cursor: '' };
  return { filled, server, side, memoryAtStart: memoryOf(server.pid) };
}

/** What is measured at one size at a time: long single requests, and groups. */
async function finishStage(
  { options, say }: BenchContext,
  { filled, server, side, memoryAtStart }: Stage,
  costs: Pick<SizeResult, 'cpuMicros' | 'coldMicros'>,
): Promise<SizeResult> {
  say(`scale: long requests and groups among ${side.people} people`);
  const scan = await measureScan(side, options.rounds);
  const groups = await measureGroups(side, options);
  return {
    people: side.people,
    folderMib: filled.mib,
    fillSeconds: filled.fillSeconds,
    startMs: server.startMs,
    memoryAtStart,
    memoryAfter: memoryOf(server.pid),
    walMib: statSync(join(filled.home, 'data', 'rollcall.db-wal')).size / 1024 ** 2,
    ...costs,
    scan,
    groups,
  };
}

/** What each side's turns came to, in the order of the sides. */
type Round = readonly Costs[];

class Turns {
  readonly #sides: readonly ScaleSide[];
  readonly #context: BenchContext;
  readonly #refusals = new Map<string, string>();
  #sent = 0;
  #rounds = 0;

  constructor(context: BenchContext, sides: readonly ScaleSide[]) {
    this.#context = context;
    this.#sides = sides;
  }

  /** The costs of each side, in their order. */
  async run(): Promise<Pick<SizeResult, 'cpuMicros' | 'coldMicros'>[]> {
    const { options, say } = this.#context;
    for (const side of this.#sides) await this.#findRefusals(side);
    const passed = await this.#warmUp();
    const counted: Round[] = [];
    for (let i = 1; i <= options.rounds; i += 1) {
      say(`scale: round ${i} of ${options.rounds}`);
      counted.push(await this.#round());
    }
    return this.#sides.map((side) => ({
      cpuMicros: this.#costs(side, counted),
      coldMicros: this.#costs(side, passed.slice(0, 1)),
    }));
  }

  /** What the server refuses is reported and left out. */
  async #findRefusals(side: ScaleSide): Promise<void> {
    for (const phase of scalePhases) {
      const refusal = await refusalOf(side, phase, phase.make(side, this.#sent++));
      if (refusal !== undefined) this.#refusals.set(keyOf(side, phase), refusal);
    }
  }

  /** Rounds like those that count, the same number for every size, until none gets cheaper (warm-up.ts). */
  async #warmUp(): Promise<Round[]> {
    const { options, say } = this.#context;
    const passed: Round[] = [];
    while (passed.length < (options.quick ? 1 : warmUpRoundsMax)) {
      say(`scale: warming up, round ${passed.length + 1} of at most ${warmUpRoundsMax}`);
      passed.push(await this.#round());
      if (this.#sides.every((_side, i) => hasSettled(passed.map((round) => round[i] ?? new Map())))) break;
    }
    return passed;
  }

  async #round(): Promise<Round> {
    const sides = this.#sides;
    const costs = new Map(sides.map((side) => [side, new Map<string, number>()]));
    this.#rounds += 1;
    const order = this.#rounds % 2 === 1 ? sides : sides.toReversed();
    for (const phase of scalePhases) {
      for (const side of order) {
        const cpuMicros = await this.#turn(side, phase);
        if (cpuMicros !== undefined) costs.get(side)?.set(phase.name, cpuMicros);
      }
    }
    return [...costs.values()];
  }

  async #turn(side: ScaleSide, phase: ScalePhase): Promise<number | undefined> {
    if (this.#refusals.has(keyOf(side, phase))) return undefined;
    const most = this.#context.options.quick ? Math.ceil(phase.requests * quickShare) : phase.requests;
    const { cpuMicros, value } = await withCpu(side.pid, () => this.#send(side, phase, most));
    return cpuMicros / value;
  }

  /** Up to `most` requests, as many as there is time for; resolves with how many there were. */
  #send(side: ScaleSide, phase: ScalePhase, most: number): Promise<number> {
    const { onAnswer } = phase;
    if (onAnswer === undefined) {
      return sendInTime(most, (from, to) =>
        side.many.send(Array.from({ length: to - from }, () => phase.make(side, this.#sent++))),
      );
    }
    return sendInTime(most, async (from, to) => {
      for (let i = from; i < to; i += 1) {
        const request = phase.make(side, this.#sent++);
        await side.one.send([request], { onAnswer: ({ body }) => onAnswer(side, body) });
      }
    });
  }

  #costs(side: ScaleSide, rounds: readonly Round[]): SizeResult['cpuMicros'] {
    const index = this.#sides.indexOf(side);
    const cost = (phase: ScalePhase) =>
      this.#refusals.get(keyOf(side, phase)) ??
      median(rounds.map((round) => round[index]?.get(phase.name) ?? Number.NaN));
    return Object.fromEntries(scalePhases.map((phase) => [phase.name, cost(phase)]));
  }
}

function keyOf({ people }: ScaleSide, { name }: ScalePhase): string {
  return `${people} ${name}`;
}

/** Why the server does not do what the phase asks: a status, or `ignored`; undefined when it does. */
async function refusalOf(
  { baseUrl, token }: ScaleSide,
  { probe }: ScalePhase,
  { method, path, body }: LoadRequest,
): Promise<string | undefined> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' };
  const answer = await fetch(baseUrl + (probe?.path ?? path), { method, headers, body: body ?? null });
  const text = await answer.text();
  if (!answer.ok) return String(answer.status);
  return probe === undefined || probe.isDone(text) ? undefined : 'ignored';
}
