import type { Operator } from '../security/audit.ts';
import { type Counts, type Issue, isCompleted } from './imports.ts';
import type { ImportOptions } from './options.ts';
import type { DatedEvent } from './run-event-store.ts';
import type { ImportRun } from './runs.ts';

export interface RunLogParts {
  readonly run: ImportRun;
  readonly sourceName: string;
  /** Undefined until the run is planned. */
  readonly options: ImportOptions | undefined;
  readonly events: readonly DatedEvent[];
  /** The first ones. */
  readonly issues: readonly Issue[];
}

type Planned = Extract<DatedEvent, { kind: 'planned' }>;

/** What is known of a run, as lines of text for a person. */
export function formatRunLog(parts: RunLogParts): string {
  const sections = [headOf(parts), optionsOf(parts), eventsOf(parts), warningsOf(parts), issuesOf(parts)];
  const written = sections.filter((lines) => lines.length > 0);
  return `${written.map((lines) => lines.map(oneLine).join('\n')).join('\n\n')}\n`;
}

/** Text of a file or a client must not begin a line of its own. */
function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '\ufffd');
}

function headOf({ run, sourceName, events }: RunLogParts): string[] {
  const queued = events.find((event) => event.kind === 'queued');
  const file = queued?.kind === 'queued' && queued.file !== undefined ? `${queued.file}, ` : '';
  return [
    `Import ${run.id} of the source "${sourceName}" (id ${run.sourceId})${run.dryRun ? ', a dry run' : ''}`,
    `Document: ${file}${run.bytes} bytes, ${run.users} users, ${run.groups} groups, SHA-256 ${run.sha256}`,
    `Status: ${run.status}${reasonOf(run)}`,
  ];
}

function optionsOf({ options, events }: RunLogParts): string[] {
  if (options === undefined) return [];
  const fromFile = new Set(plannedOf(events)?.fromFile);
  // The source has no setting of this name.
  const otherwise = (name: string) => (name === 'mode' ? 'default' : 'source');
  const lines = Object.entries(options).map(
    ([name, value]) =>
      `  ${name} = ${value === '' ? '(none)' : value} (${fromFile.has(name) ? 'file' : otherwise(name)})`,
  );
  return ['Options in force:', ...lines];
}

function plannedOf(events: readonly DatedEvent[]): Planned | undefined {
  return events.findLast((event): event is Planned => event.kind === 'planned');
}

function eventsOf({ run, events }: RunLogParts): string[] {
  const lines = events.flatMap((event, index) =>
    textsOf(event, run, events.slice(0, index)).map((text) => `${event.at}  ${text}`),
  );
  return [...lines, ...endOf(run, events)];
}

/** A run that failed or was cancelled has not ended the phase that it was in. */
function endOf(run: ImportRun, events: readonly DatedEvent[]): string[] {
  const { finished, status } = run;
  if (finished === undefined) return [];
  if (!isCompleted(status)) return [`${finished}  ${status}${reasonOf(run)}`];
  const counts = run.dryRun ? '; nothing was changed' : `: ${describeCounts(run.counts)}`;
  return [...phaseEnd(events, finished, run), `${status}${counts}`].map((text) => `${finished}  ${text}`);
}

/** A run that was rejected keeps the sentence in which the guard asked for a decision. */
function reasonOf({ message, status }: ImportRun): string {
  return message === undefined || status === 'rejected' ? '' : `: ${message}`;
}

function textsOf(event: DatedEvent, run: ImportRun, before: readonly DatedEvent[]): string[] {
  switch (event.kind) {
    case 'queued':
      return [`taken in (${run.origin}), queued`];
    case 'claimed':
      return [before.some(({ kind }) => kind === 'claimed') ? 'taken up again' : 'planning begins'];
    case 'planned':
      return [...phaseEnd(before, event.at, run), ...plannedTexts(event, run)];
    case 'phase':
      return [...phaseEnd(before, event.at, run), `${event.phase}: ${rowsText(event.rows)} to do`];
    case 'interrupted':
      return [`interrupted: ${event.reason} Next attempt at ${event.retryAt}`];
    case 'decided':
      return [`${event.decision} ${byWhom(event.by)}`];
  }
}

function byWhom({ kind, name }: Operator): string {
  const named = name === undefined ? '' : ` ${name}`;
  return kind === 'administrator'
    ? `by the administrator${named}`
    : `on the command line${named && ` by${named}`}`;
}

function plannedTexts({ guard, reason }: Planned, run: ImportRun): string[] {
  const { activeUsers, ending, records, recordsInError, lastUsers } = guard;
  const numbers = [
    `${ending} of ${activeUsers} active users would be disabled or archived (limit: ${guard.guardPercent} %, and at least ${guard.guardMinimum})`,
    `${records} users in the file${lastUsers === undefined ? '' : `, ${lastUsers} in the last full one (limit: ${guard.guardShrinkPercent} % fewer)`}`,
    `${recordsInError} records in error (limit: ${guard.guardErrorPercent} %)`,
  ];
  const verdict =
    reason === undefined ? 'lets it go on' : run.dryRun ? 'would hold it' : 'holds it for approval';
  const plan = `planned: ${run.planned === undefined ? '' : describeCounts(run.planned)}`;
  return [plan, `guard: ${numbers.join('; ')}`, `guard: ${verdict}`];
}

function describeCounts(counts: Counts): string {
  const shown = Object.entries(counts).filter(([, count]) => count > 0);
  return shown.length === 0 ? 'nothing to do' : shown.map(([name, count]) => `${name} ${count}`).join(', ');
}

/** The phase that was at work before, with its rows and its time, now that it is over. */
function phaseEnd(before: readonly DatedEvent[], now: string, run: ImportRun): string[] {
  const start = before.findLastIndex(({ kind }) => kind === 'phase' || kind === 'planned');
  const began = before[start] ?? before.find(({ kind }) => kind === 'claimed');
  if (began === undefined || began.kind === 'planned') return [];
  const rows = began.kind === 'phase' ? began.rows : run.users + run.groups;
  if (rows === 0) return [];
  const seconds = workedSeconds(before.slice(before.indexOf(began)), now);
  const rate = seconds > 0 ? `, ${Math.round(rows / seconds)} a second` : '';
  const name = began.kind === 'phase' ? began.phase : 'plan';
  return [`${name}: done, ${rowsText(rows)} in ${seconds.toFixed(1)} s${rate}`];
}

/** Seconds from the first event until `now`, without the pauses that are known. */
function workedSeconds(events: readonly DatedEvent[], now: string): number {
  let [worked, since] = [0, Date.parse(events[0]?.at ?? now) as number | undefined];
  for (const { kind, at } of events.slice(1)) {
    if (kind === 'interrupted' && since !== undefined) {
      worked += Date.parse(at) - since;
      since = undefined;
    }
    if (kind === 'claimed') since ??= Date.parse(at);
  }
  return (worked + (since === undefined ? 0 : Date.parse(now) - since)) / 1_000;
}

function rowsText(rows: number): string {
  return rows === 1 ? '1 row' : `${rows} rows`;
}

function warningsOf({ run: { warnings } }: RunLogParts): string[] {
  return warnings.length === 0 ? [] : ['Warnings:', ...warnings.map((warning) => `  ${warning}`)];
}

function issuesOf({ run, issues }: RunLogParts): string[] {
  if (issues.length === 0) return [];
  const more = Math.max(run.counts.issues, issues.length) - issues.length;
  const lines = issues.map(
    ({ line, recordId, code, message }) =>
      `  ${line === null ? '' : `line ${line}, `}${recordId ?? ''} [${code}] ${message}`,
  );
  return ['Issues:', ...lines, ...(more > 0 ? [`  and ${more} more`] : [])];
}
