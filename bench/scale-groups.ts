import { LoadClient } from './load.ts';
import { median, quantile, withCpu } from './measure.ts';
import type { BenchOptions } from './options.ts';
import type { ScaleSide } from './scale-phases.ts';
import { addOneTo, makeGroup, patch, type Side } from './scim-phases.ts';

/** What a group's size changes; undefined where there are too few people for it. */
export interface GroupFigures {
  /** CPU microseconds to add a member to a group of 10, and to one of 10,000. */
  readonly addOne: { readonly toSmall: number; readonly toLarge: number } | undefined;
  /** A PATCH that adds 50 people to a group of `members`, one after the other. */
  readonly addFifty:
    | { readonly members: number; readonly p50Ms: number; readonly p95Ms: number; readonly cpuMs: number }
    | undefined;
}

const [smallGroup, largeGroup, largestGroup] = [10, 10_000, 100_000];
const additions = 1_000;
const additionsQuick = 100;
const connections = 16;

const fifties = 100;
const membersEach = 50;
const membersPerRequest = 1_000;

/** Makes groups of its own through the service, and leaves the largest there. */
export async function measureGroups(side: ScaleSide, options: BenchOptions): Promise<GroupFigures> {
  const { people: count, pid, baseUrl, token } = side;
  const client = await LoadClient.open({ baseUrl, token }, connections);
  const ids = Math.min(count, largestGroup + fifties * membersEach);
  const people = Array.from({ length: ids }, (_, i) => String(i + 1));
  const none = { passing: [], groups: [], largeGroup: '', isSlow: false };
  const groupSide: Side = { name: 'product', pid, client, people, ...none };
  const addOne = ids > largeGroup + additions ? await measureAddOne(groupSide, options) : undefined;
  const addFifty = await measureFifties(groupSide, side.one);
  client.close();
  return { addOne, addFifty };
}

async function measureAddOne(side: Side, { rounds, quick }: BenchOptions): Promise<GroupFigures['addOne']> {
  const phases = [smallGroup, largeGroup].map((members) => addOneTo(members, additions));
  const samples: [number[], number[]] = [[], []];
  const requests = quick ? additionsQuick : additions;
  for (let round = 0; round < rounds; round += 1) {
    for (const [i, phase] of phases.entries()) {
      const made = await phase.prepare(side, { number: round, requests });
      const bytes = side.client.prepare(made);
      const { cpuMicros } = await withCpu(side.pid, () => side.client.run(bytes));
      samples[i]?.push(cpuMicros / bytes.length);
      await phase.finish?.(side);
    }
  }
  return { toSmall: median(samples[0]), toLarge: median(samples[1]) };
}

/** One PATCH after the other into a group of nearly everybody. */
async function measureFifties(side: Side, one: LoadClient): Promise<GroupFigures['addFifty']> {
  const members = side.people.length - fifties * membersEach;
  if (members < membersPerRequest) return undefined;
  const path = `/Groups/${await makeGroup(side, 'Everybody')}`;
  const add = (from: number, to: number) =>
    patch(
      path,
      'add',
      'members',
      side.people.slice(from, to).map((id) => ({ value: id })),
    );
  for (let from = 0; from < members; from += membersPerRequest) {
    await one.send([add(from, Math.min(from + membersPerRequest, members))]);
  }
  const latenciesMs: number[] = [];
  const { cpuMicros } = await withCpu(side.pid, async () => {
    for (let from = members; from < side.people.length; from += membersEach) {
      await one.send([add(from, from + membersEach)], { latenciesMs });
    }
  });
  const [p50Ms, p95Ms] = [quantile(latenciesMs, 0.5), quantile(latenciesMs, 0.95)];
  return { members, p50Ms, p95Ms, cpuMs: cpuMicros / 1_000 / fifties };
}
