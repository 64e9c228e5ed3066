import type { ImportKind, ImportResult } from './imports.ts';
import { scaleSections } from './scale-report.ts';
import type { ScimResult } from './scim.ts';
import type { StartResult } from './start-up.ts';
import { figure, number, seconds, table } from './table.ts';
import { type Results, type Target, targetsOf } from './targets.ts';

/** Everything that was measured, as a person reads it. */
export function formatReport(results: Results): string {
  const sections = [
    ...(results.scim === undefined ? [] : [scimSection(results.scim)]),
    ...(results.scale === undefined ? [] : scaleSections(results.scale)),
    ...(results.import === undefined ? [] : importSections(results.import)),
    ...(results.start === undefined ? [] : [startSection(results.start)]),
    targetSection(targetsOf(results)),
  ];
  return sections.join('\n\n');
}

function scimSection({ people, connections, phases }: ScimResult): string {
  const head = [
    '',
    'limit µs CPU',
    'ours µs CPU',
    'limit ÷ ours',
    'limit req/s',
    'ours req/s',
    'ours ÷ limit',
  ];
  const rows = phases.map(({ phase, limit, product, cpuRatio, rateRatio }) => [
    phase,
    number(limit.cpuMicros),
    number(product.cpuMicros),
    cpuRatio.toFixed(2),
    number(limit.perSecond),
    number(product.perSecond),
    rateRatio.toFixed(2),
  ]);
  return table(`SCIM, ${people} people, ${connections} connections`, head, rows);
}

function importSections(result: ImportResult): string[] {
  const { users, fileMib, steps, limit, product, accepted, peakMib, limitPeakMib } = result;
  const kinds: readonly ImportKind[] = ['first', 'unchanged', 'changed', 'identical'];
  const rows = kinds.map((kind) => [
    kind === 'changed' ? '1 % changed' : kind,
    seconds(limit[kind]),
    seconds(product[kind]),
    (limit[kind] / product[kind]).toFixed(2),
    seconds(accepted[kind]),
  ]);
  const head = ['', 'limit s', 'ours s', 'limit ÷ ours', 'of it until accepted s'];
  const native =
    steps.xmllint === undefined ? 'xmllint is not installed' : `xmllint --stream ${seconds(steps.xmllint)} s`;
  const alone = `Alone: saxes ${seconds(steps.saxes)} s, validation ${seconds(steps.validation)} s, bulk upsert ${seconds(steps.upsert)} s, ${native}`;
  const peaks = Object.entries(peakMib).map(([role, mib]) => `${role} ${number(mib)}`);
  const memory = `Peak memory, MiB: ${peaks.join(', ')}; limit ${number(limitPeakMib)}`;
  return [
    [table(`Import, ${users} people, ${number(fileMib)} MiB`, head, rows), alone, memory].join('\n'),
    latencyTable(result),
  ];
}

function latencyTable({ latencies: { idle, importing } }: ImportResult): string {
  const row = (name: string, { requests, p50Ms, p99Ms, maxMs }: typeof idle.get) => [
    name,
    number(requests),
    p50Ms.toFixed(2),
    p99Ms.toFixed(2),
    maxMs.toFixed(1),
  ];
  return table(
    'SCIM meanwhile, milliseconds',
    ['', 'requests', 'p50', 'p99', 'max'],
    [
      row('GET, idle', idle.get),
      row('GET, importing', importing.get),
      row('PATCH, idle', idle.patch),
      row('PATCH, importing', importing.patch),
    ],
  );
}

function startSection({ floorMs, existingFolderMs, newFolderMs, idle }: StartResult): string {
  const rows = [
    ['floor (the same libraries, nothing of the product)', floorMs.toFixed(1), '1.0'],
    ['existing data folder', existingFolderMs.toFixed(1), (existingFolderMs / floorMs).toFixed(1)],
    ['new data folder', newFolderMs.toFixed(1), (newFolderMs / floorMs).toFixed(1)],
  ];
  const memory = `Idle: ${number(idle.residentMib)} MiB resident, ${number(idle.proportionalMib)} with shared pages counted once`;
  return [table('From start to first answer', ['', 'ms', '÷ floor'], rows), memory].join('\n');
}

function targetSection(targets: readonly Target[]): string {
  const rows = targets.map(({ what, bound, must, aim, unit, measured, isMet }) => {
    const suffix = unit === '' ? '' : ` ${unit}`;
    return [
      what,
      figure(measured) + suffix,
      `${bound} ${must}${suffix}`,
      `${bound} ${aim}${suffix}`,
      isMet ? 'met' : 'MISSED',
    ];
  });
  const met = targets.filter(({ isMet }) => isMet).length;
  return [
    table('Targets', ['', 'measured', 'must', 'aim', 'must is'], rows),
    `${met} of ${targets.length} met. Ratios to published servers are not measured: the npm registry has none of them.`,
  ].join('\n');
}
