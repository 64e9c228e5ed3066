import type { AttacksResult } from './attacks.ts';
import type { ConnectorsResult } from './connectors.ts';
import type { ImportResult } from './imports.ts';
import type { PeerResult } from './peers.ts';
import type { ScaleResult, SizeResult } from './scale.ts';
import { growthOf } from './scale-report.ts';
import type { ScimResult } from './scim.ts';
import type { StartResult } from './start-up.ts';

export interface Results {
  readonly scim?: ScimResult;
  readonly peers?: PeerResult;
  readonly scale?: ScaleResult;
  readonly import?: ImportResult;
  readonly start?: StartResult;
  readonly connectors?: ConnectorsResult;
  readonly attacks?: AttacksResult;
}

/** A promise about speed, with what was found. */
export interface Target {
  readonly what: string;
  readonly bound: '≥' | '≤';
  readonly must: number;
  readonly aim: number;
  readonly unit: string;
  /** Undefined when this run could not measure it. */
  readonly measured: number | undefined;
  readonly isMet: boolean | undefined;
}

type Bounds = readonly ['≥' | '≤', must: number, aim: number, unit?: string];

/** What was due for each part that ran; what a run did not measure is left out. */
export function targetsOf(results: Results): Target[] {
  return [
    ...(results.scim === undefined ? [] : scimTargets(results.scim)),
    ...(results.scale === undefined ? [] : scaleTargets(results.scale)),
    ...(results.import === undefined ? [] : importTargets(results.import)),
    ...(results.start === undefined ? [] : startTargets(results.start)),
    ...(results.connectors === undefined ? [] : connectorTargets(results.connectors)),
  ];
}

function target(what: string, measured: number | undefined, [bound, must, aim, unit = '']: Bounds): Target[] {
  if (measured === undefined) return [];
  const isMet = bound === '≥' ? measured >= must : measured <= must;
  return [{ what, bound, must, aim, unit, measured, isMet }];
}

/** The same for a promise that is listed in any case, so that nobody takes silence for a target that is met. */
function listed(what: string, measured: number | undefined, bounds: Bounds): Target[] {
  if (measured !== undefined) return target(what, measured, bounds);
  const [bound, must, aim, unit = ''] = bounds;
  return [{ what, bound, must, aim, unit, measured, isMet: undefined }];
}

const read: Bounds = ['≥', 0.4, 0.7];
const write: Bounds = ['≥', 0.4, 1];
const many: Bounds = ['≥', 0.5, 0.9];
const phaseBounds: Readonly<Record<string, Bounds>> = {
  get: read,
  'userName eq': read,
  create: write,
  'PATCH one attribute': write,
  delete: write,
  'page of 100': many,
  'get a group of 1,500': many,
};
const growthBounds: Readonly<Record<string, Bounds>> = {
  get: ['≤', 2, 1.5],
  'userName eq': ['≤', 2, 1.5],
  'externalId eq': ['≤', 2, 1.5],
  'emails.value eq': ['≤', 2, 1.5],
  create: ['≤', 1.5, 1.2],
  'PATCH one attribute': ['≤', 1.5, 1.2],
  'page of 100 anywhere': ['≤', 5, 3],
};

function scimTargets({ phases, hashing }: ScimResult): Target[] {
  const ratios = new Map(phases.map(({ phase, cpuRatio }) => [phase, cpuRatio]));
  return [
    ...Object.entries(phaseBounds).flatMap(([phase, bounds]) =>
      target(`${phase}: limit's CPU ÷ ours`, ratios.get(phase), bounds),
    ),
    ...target('longest silence while 8 passwords are hashed', hashing.longestMs, ['≤', 15, 5, 'ms']),
  ];
}

function scaleTargets({ sizes }: ScaleResult): Target[] {
  const [small, large] = [sizes[0], sizes.at(-1)];
  if (small === undefined || large === undefined) return [];
  const growth = small === large ? [] : growthTargets(small, large);
  return [...growth, ...sizes.flatMap(sizeTargets)];
}

function growthTargets(small: SizeResult, large: SizeResult): Target[] {
  return Object.entries(growthBounds).flatMap(([phase, bounds]) => {
    const what = `${phase}: CPU at ${large.people} people ÷ at ${small.people}`;
    return target(what, growthOf(small, large, phase)?.factor, bounds);
  });
}

/** The promise is about a group of 100,000; one a little smaller leaves people to add. */
const largeGroupMembersMin = 90_000;

function sizeTargets({ people, groups: { addOne, addFifty }, memoryAfter }: SizeResult): Target[] {
  const among = `among ${people} people`;
  const isLarge = addFifty !== undefined && addFifty.members >= largeGroupMembersMin;
  return [
    ...target(
      `add 1 member ${among}: CPU at 10,000 members ÷ at 10`,
      addOne && addOne.toLarge / addOne.toSmall,
      ['≤', 1.5, 1.2],
    ),
    ...target(
      `50 members into a group of ${addFifty?.members} ${among}: p95`,
      isLarge ? addFifty.p95Ms : undefined,
      ['≤', 15, 5, 'ms'],
    ),
    ...target(
      `memory of all processes after load ${among}`,
      people === manyUsers ? memoryAfter.residentMib : undefined,
      ['≤', 320, 200, 'MiB'],
    ),
  ];
}

export const manyUsers = 100_000;
export const mostUsers = 1_000_000;

function importTargets({
  users,
  steps,
  limit,
  product,
  peakMib,
  peakMibOfMany,
  memoryAfter,
  latencies,
}: ImportResult): Target[] {
  const { validation, xmllint } = steps;
  const { importing } = latencies;
  return [
    ...target("first import: limit's time ÷ ours", limit.first / product.first, ['≥', 0.4, 1]),
    ...target("unchanged re-import: limit's time ÷ ours", limit.unchanged / product.unchanged, [
      '≥',
      0.5,
      0.75,
    ]),
    ...target('identical file ÷ unchanged', product.identical / product.unchanged, ['≤', 0.1, 0.05]),
    ...listed('XSD step ÷ native xmllint --stream', xmllint && validation / xmllint, ['≤', 2.5, 1.7]),
    ...listed(
      `peak memory of all processes, import of ${mostUsers}`,
      users >= mostUsers ? peakMib.together : undefined,
      ['≤', 512, 300, 'MiB'],
    ),
    ...listed(
      `the same ÷ that of ${manyUsers}`,
      peakMibOfMany && (peakMib.together ?? Number.NaN) / peakMibOfMany,
      ['≤', 1.35, 1.15],
    ),
    ...target('while importing: GET p99', importing.get.p99Ms, ['≤', 2, 0.5, 'ms']),
    ...target('while importing: PATCH p99', importing.patch.p99Ms, ['≤', 50, 10, 'ms']),
    ...target(
      `memory of all processes after importing ${users} people`,
      users >= manyUsers ? memoryAfter.residentMib : undefined,
      ['≤', 320, 200, 'MiB'],
    ),
  ];
}

function startTargets({ floorMs, existingFolderMs, newFolderMs, idle }: StartResult): Target[] {
  return [
    ...target('first answer, existing data folder ÷ floor', existingFolderMs / floorMs, ['≤', 4, 2]),
    ...target('first answer, new data folder ÷ floor', newFolderMs / floorMs, ['≤', 8, 4]),
    ...target('idle memory of all processes', idle.residentMib, ['≤', 160, 100, 'MiB']),
  ];
}

const connector: Bounds = ['≥', 0.6, 0.8];
const connectorMemory: Bounds = ['≤', 512, 256, 'MiB'];

function connectorTargets({ results }: ConnectorsResult): Target[] {
  return results.flatMap(({ source, ratio, product }) => [
    ...target(`connector ${source}, reading and writing ÷ ours`, ratio, connector),
    ...target(`connector ${source}, peak memory`, product.peakMib, connectorMemory),
  ]);
}
