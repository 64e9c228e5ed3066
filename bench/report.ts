import { attackSection } from './attack-report.ts';
import type { ConnectorsResult } from './connectors.ts';
import type { ImportKind, ImportResult } from './imports.ts';
import type { PeerResult } from './peers.ts';
import { estimates } from './published.ts';
import type { PhaseResult } from './rounds.ts';
import { scaleSections } from './scale-report.ts';
import type { ScimResult } from './scim.ts';
import type { StartResult } from './start-up.ts';
import { figure, number, seconds, table } from './table.ts';
import { type Results, type Target, targetsOf } from './targets.ts';

/** Everything that was measured, as a person reads it. */
export function formatReport(results: Results): string {
  const targets = targetsOf(results);
  const sections = [
    ...(results.scim === undefined ? [] : scimSections(results.scim)),
    ...(results.peers === undefined ? [] : [peerSection(results.peers)]),
    ...(results.scale === undefined ? [] : scaleSections(results.scale)),
    ...(results.import === undefined ? [] : importSections(results.import)),
    ...(results.start === undefined ? [] : [startSection(results.start)]),
    ...(results.connectors === undefined ? [] : [connectorSection(results.connectors)]),
    ...(results.attacks === undefined ? [] : [attackSection(results.attacks)]),
    ...(targets.length === 0 ? [] : [targetSection(targets)]),
  ];
  return sections.join('\n\n');
}

function scimSections({ people, connections, phases, hashing }: ScimResult): string[] {
  const { longestMs, worstMs, p99Ms, plainLongestMs } = hashing;
  const gap =
    `While 8 passwords are hashed, the longest silence of the server: ${longestMs.toFixed(1)} ms (worst ${worstMs.toFixed(1)}, ` +
    `p99 ${p99Ms.toFixed(1)}); while 8 people without are created ${plainLongestMs.toFixed(1)} ms`;
  return [
    `${phaseTable(`SCIM, ${people} people, ${connections} connections`, 'limit', phases)}\n${gap}`,
    publishedTable(phases),
  ];
}

function peerSection({ people, connections, scimmy }: PeerResult): string {
  const title = `SCIMMY on Express, in memory, ${people} people, ${connections} connections`;
  if ('missing' in scimmy) return `${title}: NOT MEASURED: ${scimmy.missing}.`;
  return phaseTable(title, 'SCIMMY', scimmy.phases);
}

function phaseTable(title: string, reference: string, phases: readonly PhaseResult[]): string {
  const head = [
    '',
    `${reference} µs CPU`,
    'ours µs CPU',
    `${reference} ÷ ours`,
    `${reference} req/s`,
    'ours req/s',
    `ours ÷ ${reference}`,
    'cold: ours µs CPU',
    `${reference} ÷ ours`,
  ];
  const rows = phases.map((result) => [
    result.phase,
    number(result.reference.cpuMicros),
    number(result.product.cpuMicros),
    result.cpuRatio.toFixed(2),
    number(result.reference.perSecond),
    number(result.product.perSecond),
    result.rateRatio.toFixed(2),
    number(result.cold.product.cpuMicros),
    result.cold.cpuRatio.toFixed(2),
  ]);
  return table(title, head, rows);
}

function publishedTable(phases: readonly PhaseResult[]): string {
  const rows = estimates(phases).map(({ server, phase, ratio, must, aim }) => [
    `${server}: ${phase}`,
    ratio.toFixed(2),
    `≥ ${must}`,
    `≥ ${aim}`,
    ratio >= must ? 'would be met' : 'WOULD BE MISSED',
  ]);
  const title =
    'Published servers that are NOT MEASURED, for the npm registry has none of them: estimates through the limit';
  return table(title, ['', 'theirs ÷ ours', 'must', 'aim', ''], rows);
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
      measured === undefined ? '' : figure(measured) + suffix,
      `${bound} ${must}${suffix}`,
      `${bound} ${aim}${suffix}`,
      isMet === undefined ? 'NOT MEASURED' : isMet ? 'met' : 'MISSED',
    ];
  });
  const met = targets.filter(({ isMet }) => isMet === true).length;
  const measured = targets.filter(({ isMet }) => isMet !== undefined).length;
  return [
    table('Targets', ['', 'measured', 'must', 'aim', 'must is'], rows),
    `${met} of ${measured} met${measured < targets.length ? `; ${targets.length - measured} not measured` : ''}.`,
  ].join('\n');
}

function connectorSection({ users, results, missing }: ConnectorsResult): string {
  const head = [
    '',
    'limit ms',
    'ours ms',
    'limit ÷ ours',
    'limit ms CPU',
    'ours ms CPU',
    'limit ÷ ours',
    'peak MiB limit',
    'ours',
  ];
  const rows = results.map(({ source, reference, product, ratio, cpuRatio }) => [
    source,
    number(reference.ms),
    number(product.ms),
    ratio.toFixed(2),
    number(reference.cpuMs),
    number(product.cpuMs),
    cpuRatio.toFixed(2),
    number(reference.peakMib),
    number(product.peakMib),
  ]);
  const note = missing === undefined ? '' : `\nPostgreSQL: NOT MEASURED: ${missing}`;
  return `${table(`Connectors, ${users} people to a finished document`, head, rows)}${note}`;
}
