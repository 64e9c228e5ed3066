import type { ScaleResult, SizeResult } from './scale.ts';
import { scalePhases } from './scale-phases.ts';
import { number, table } from './table.ts';

/** What each size costs, and what it costs more than the smallest. */
export function scaleSections(result: ScaleResult): string[] {
  return [costTable(result), sizeTable(result)];
}

/**
 * CPU of a request at `large` people divided by that at `small`; undefined when one of them has none. `perLog` divides it
 * by how much deeper an index is: 1 or less is no faster than its logarithm.
 */
export function growthOf(
  small: Pick<SizeResult, 'people' | 'cpuMicros'>,
  large: Pick<SizeResult, 'people' | 'cpuMicros'>,
  phase: string,
): { readonly factor: number; readonly perLog: number } | undefined {
  const [from, to] = [small.cpuMicros[phase], large.cpuMicros[phase]];
  if (typeof from !== 'number' || typeof to !== 'number') return undefined;
  const factor = to / from;
  return { factor, perLog: factor / (Math.log(large.people) / Math.log(small.people)) };
}

function coldOf({ people, coldMicros }: SizeResult): Pick<SizeResult, 'people' | 'cpuMicros'> {
  return { people, cpuMicros: coldMicros };
}

function costTable({ sizes, connections }: ScaleResult): string {
  const [small, ...larger] = sizes;
  if (small === undefined) return '';
  const large = larger.at(-1);
  const head = [
    '',
    ...sizes.map(({ people }) => `${number(people)} µs CPU`),
    ...larger.map(({ people }) => `× at ${number(people)}`),
    ...(large === undefined ? [] : ['÷ growth of log', 'cold: × at most people']),
  ];
  const rows = scalePhases.map(({ name }) => [
    name,
    ...sizes.map(({ cpuMicros }) => cost(cpuMicros[name])),
    ...larger.map((size) => growthOf(small, size, name)?.factor.toFixed(2) ?? '–'),
    ...(large === undefined
      ? []
      : [
          growthOf(small, large, name)?.perLog.toFixed(2) ?? '–',
          growthOf(coldOf(small), coldOf(large), name)?.factor.toFixed(2) ?? '–',
        ]),
  ]);
  return table(`Scale, by people in the directory, ${connections} connections`, head, rows);
}

function cost(value: number | string | undefined): string {
  if (value === undefined) return '–';
  return typeof value === 'number' ? number(value) : value;
}

function sizeTable({ sizes }: ScaleResult): string {
  const head = ['', ...sizes.map(({ people }) => number(people))];
  const row = (name: string, tell: (size: SizeResult) => string | undefined) => [
    name,
    ...sizes.map((size) => tell(size) ?? '–'),
  ];
  const rows = [
    row('filled in, s', ({ fillSeconds }) => fillSeconds?.toFixed(1) ?? 'kept'),
    row('data folder when filled, MiB', ({ folderMib }) => number(folderMib)),
    row('start to first answer, ms', ({ startMs }) => startMs.toFixed(0)),
    row('resident at start, MiB', ({ memoryAtStart }) => number(memoryAtStart.residentMib)),
    row('resident after load, MiB', ({ memoryAfter }) => number(memoryAfter.residentMib)),
    row('the same, shared pages once, MiB', ({ memoryAfter }) => number(memoryAfter.proportionalMib)),
    row('write-ahead log after load, MiB', ({ walMib }) => number(walMib)),
    row('title co "x" answers', ({ scan }) => String(scan.status)),
    row('title co "x", ms', ({ scan }) => scan.ms.toFixed(1)),
    row('  longest GET meanwhile, ms', ({ scan }) => scan.longestGetMs.toFixed(1)),
    row('  p99 of GETs meanwhile, ms', ({ scan }) => scan.getP99Ms.toFixed(1)),
    row('add 1 member to 10, µs CPU', ({ groups }) => groups.addOne && number(groups.addOne.toSmall)),
    row('add 1 member to 10,000, µs CPU', ({ groups }) => groups.addOne && number(groups.addOne.toLarge)),
    row('50 members into a group of', ({ groups }) => groups.addFifty && number(groups.addFifty.members)),
    row('  p50, ms', ({ groups }) => groups.addFifty?.p50Ms.toFixed(1)),
    row('  p95, ms', ({ groups }) => groups.addFifty?.p95Ms.toFixed(1)),
    row('  CPU, ms', ({ groups }) => groups.addFifty?.cpuMs.toFixed(1)),
  ];
  return table('Scale, one at a time', head, rows);
}
