import type { LoggedRequest } from '../requests/request-reader.ts';
import { plain } from './table.ts';

/** Names of the sources by their ids. */
export type SourceNames = ReadonlyMap<number, string>;

/** One request as a person reads it: what it was in one line, and below it what is worth saying. */
export function requestText(request: LoggedRequest, names: SourceNames): string {
  const { time, status, method, path, query, durationMs, requestId, clientAddress } = request;
  const address = query === null ? path : `${path}?${query}`;
  const origin = `${sourceName(request, names)}, ${durationMs} ms, from ${clientAddress}, request ${requestId}`;
  const head = `${time}  ${status}  ${method.padEnd(6)}  ${address}`;
  return [head, `    ${origin}`, ...detailsOf(request).map((line) => `    ${line}`)].map(plain).join('\n');
}

function sourceName({ sourceId }: LoggedRequest, names: SourceNames): string {
  return sourceId === null ? 'nobody known' : (names.get(sourceId) ?? `source ${sourceId}`);
}

function detailsOf(request: LoggedRequest): string[] {
  const { name, touched, path, refusal, repairs, ignored, bulk, body, decoded } = request;
  const isInPath = touched.length === 1 && path.endsWith(`/${touched[0]?.resourceId}`);
  const about = isInPath
    ? []
    : touched.map(({ resourceType, resourceId }) => `${resourceType} ${resourceId}`);
  return [
    ...(name === null ? [] : [`name      ${name}`]),
    ...(about.length === 0 ? [] : [`about     ${listed(about)}`]),
    ...(refusal === null ? [] : [`refused   ${refusal}`]),
    ...(bulk === null
      ? []
      : [`bulk      ${bulk.succeeded} of ${bulk.operations} operations done, ${bulk.failed} failed`]),
    ...(bulk?.failures ?? []).map(
      ({ operation, method = '', path = '', status, refusal }) =>
        `          ${operation}: ${method} ${path} ${status} ${refusal}`,
    ),
    ...repairs.map((repair) => `mended    ${repairText(repair)}`),
    ...ignored.map(({ attribute, reason }) => `left out  ${attribute} (${reasons[reason] ?? reason})`),
    ...indented('body', body),
    ...indented('became', decoded),
  ];
}

const reasons: Readonly<Record<string, string>> = {
  unknown: 'there is no such attribute',
  readOnly: 'it is read-only',
  noValue: 'an element of the list has no value',
  otherValue: 'the company was given twice, with two values',
  password: 'a password is only taken when a user is created',
};

function repairText({ code, attribute, from, to, operation }: LoggedRequest['repairs'][number]): string {
  const where = operation === undefined ? attribute : `operation ${operation}: ${attribute}`;
  return from === undefined || to === undefined
    ? `${where} (${code})`
    : `${where}: ${from} → ${to} (${code})`;
}

const listedMax = 20;

function listed(texts: readonly string[]): string {
  const more = texts.length > listedMax ? ` and ${texts.length - listedMax} more` : '';
  return texts.slice(0, listedMax).join(', ') + more;
}

function indented(label: string, text: string | null): string[] {
  if (text === null) return [];
  const [first = '', ...others] = pretty(text).split('\n');
  return [`${label.padEnd(8)}  ${first}`, ...others.map((line) => `          ${line}`)];
}

/** What was cut is no JSON any more, and is shown as it is. */
function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
