// Walks the pages of a list: finds the records of each, and where the next one is.
// A page that comes twice, pages without end and records that do not all come are errors, never an end.

import { compileColumn } from '../../src/connectors/column-path.ts';
import type { HttpSource, JsonAnswer } from '../../src/connectors/http-source.ts';
import { DomainError } from '../../src/errors.ts';
import type { Paging } from './http-json-config.ts';

export interface PageList {
  /** Of the first page. */
  readonly url: string;
  readonly records: string;
  readonly paging: Paging;
  /** For sentences: `people`. */
  readonly what: string;
}

export type JsonRecord = Readonly<Record<string, unknown>>;

/** The records of each page in turn. Throws one sentence when the list is not whole. */
export async function* pagesOf(source: HttpSource, list: PageList): AsyncGenerator<readonly JsonRecord[]> {
  const { paging, what } = list;
  const seen = new Set<string>();
  let count = 0;
  let url: string | undefined = firstUrl(list);
  for (let page = 0; url !== undefined; page++) {
    if (page >= paging.pagesMax) throw endless(what, paging.pagesMax);
    const answer = await source.get(url);
    const records = recordsIn(answer, list);
    count += records.length;
    requireNew(seen, records, answer.url, what);
    yield records;
    url = nextUrl({ list, answer, page, count, isEmpty: records.length === 0 });
    if (url !== undefined && isComplete(answer, paging, count)) return;
    if (url === undefined) requireAll(answer, list, count);
  }
}

function firstUrl({ url, paging }: PageList): string {
  const target = URL.parse(url);
  if (target === null) throw new DomainError('invalidValue', `"${url.split('?')[0]}" is not an address.`);
  const { style, parameter, first, sizeParameter, size } = paging;
  if (sizeParameter !== undefined) target.searchParams.set(sizeParameter, String(size));
  if (style === 'page') target.searchParams.set(parameter ?? 'page', String(first));
  if (style === 'offset') target.searchParams.set(parameter ?? 'offset', '0');
  return target.href;
}

function recordsIn({ body, url }: JsonAnswer, { records, what }: PageList): readonly JsonRecord[] {
  const found = valueAt(body, records);
  if (!Array.isArray(found))
    throw new DomainError(
      'invalidValue',
      `The answer of ${url.origin} has no list of ${what} at "${records}". ${namesIn(body)}`,
    );
  const stranger = found.findIndex(
    (each) => typeof each !== 'object' || each === null || Array.isArray(each),
  );
  if (stranger === -1) return found as readonly JsonRecord[];
  throw new DomainError(
    'invalidValue',
    `Number ${stranger + 1} of the list of ${what} at "${records}" is not an object.`,
  );
}

function namesIn(body: unknown): string {
  if (Array.isArray(body)) return 'The body itself is a list: its path is $.';
  if (typeof body !== 'object' || body === null) return 'The body is neither a list nor an object.';
  return `The body has: ${Object.keys(body).slice(0, 20).join(', ').slice(0, 300)}.`;
}

/** `$`, or a path as in the mapping, with or without `$.` before it. */
export function valueAt(body: unknown, path: string): unknown {
  const inner = path.replace(/^\$\.?/, '');
  if (inner === '') return body;
  if (typeof body !== 'object' || body === null) return undefined;
  return compileColumn(inner).find(body as JsonRecord);
}

interface Turn {
  readonly list: PageList;
  readonly answer: JsonAnswer;
  /** From 0. */
  readonly page: number;
  readonly count: number;
  readonly isEmpty: boolean;
}

/** Undefined at the end. A short page is none: servers give less than was asked for when they like. */
function nextUrl({ list, answer, page, count, isEmpty }: Turn): string | undefined {
  const { paging } = list;
  const { style, parameter } = paging;
  if (style === 'none') return undefined;
  if (style === 'link-header') return linked(nextLink(answer.headers.get('link')), answer.url);
  if (style === 'body-link') return linked(textAt(answer.body, paging.next ?? 'next', list), answer.url);
  if (style === 'cursor') {
    const cursor = textAt(answer.body, paging.next ?? 'next', list);
    return cursor === undefined ? undefined : withParameter(firstUrl(list), parameter ?? 'cursor', cursor);
  }
  if (isEmpty) return undefined;
  if (style === 'offset') return withParameter(firstUrl(list), parameter ?? 'offset', String(count));
  return withParameter(firstUrl(list), parameter ?? 'page', String(paging.first + page + 1));
}

function withParameter(url: string, name: string, value: string): string {
  const target = new URL(url);
  target.searchParams.set(name, value);
  return target.href;
}

function linked(link: string | undefined, from: URL): string | undefined {
  if (link === undefined) return undefined;
  const target = URL.parse(link, from);
  if (target === null)
    throw new DomainError('invalidValue', `${from.origin} gives a next link that is no address.`);
  return target.href;
}

/** RFC 8288 §3: `<https://…?page=2>; rel="next"`. */
export function nextLink(header: string | null): string | undefined {
  for (const [, target, parameters = ''] of (header ?? '').matchAll(/<([^>]*)>([^<]*)/g)) {
    const rel = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i.exec(parameters);
    const words = (rel?.[1] ?? rel?.[2] ?? '').toLowerCase().split(/\s+/);
    if (words.includes('next')) return target;
  }
  return undefined;
}

/** A text or number; nothing, null, false and the empty text are the end. */
function textAt(body: unknown, path: string, { what }: PageList): string | undefined {
  const value = valueAt(body, path);
  if (value === undefined || value === null || value === false || value === '') return undefined;
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  throw new DomainError(
    'invalidValue',
    `What stands at "${path}" of a page of ${what} is neither a link nor a cursor.`,
  );
}

/** The same records again are the sign of a server that does not heed the parameter, or of a link to itself. */
function requireNew(seen: Set<string>, records: readonly JsonRecord[], url: URL, what: string): void {
  const mark = records.length === 0 ? url.href : JSON.stringify(records);
  const digest = Bun.hash(mark).toString(36);
  if (seen.has(digest))
    throw new DomainError(
      'invalidValue',
      `${url.origin} gives the same page of ${what} twice. Check style, next and parameter of "paging".`,
    );
  seen.add(digest);
}

/** Pages by number or offset need not be asked until an empty one when the total is known. */
function isComplete({ body }: JsonAnswer, { total, style }: Paging, count: number): boolean {
  if (total === undefined || (style !== 'page' && style !== 'offset')) return false;
  return count >= (numberAt(body, total) ?? Number.POSITIVE_INFINITY);
}

function requireAll({ body, url }: JsonAnswer, { paging, what }: PageList, count: number): void {
  if (paging.total === undefined) return;
  const total = numberAt(body, paging.total);
  if (total === undefined)
    throw new DomainError(
      'invalidValue',
      `The answer of ${url.origin} has no number at "${paging.total}" (paging.total).`,
    );
  if (count < total)
    throw new DomainError('unavailable', `${url.origin} gives ${count} of ${total} ${what}. Check "paging".`);
}

function numberAt(body: unknown, path: string): number | undefined {
  const value = valueAt(body, path);
  const number = typeof value === 'string' || typeof value === 'number' ? Number(value) : Number.NaN;
  return Number.isInteger(number) && value !== '' ? number : undefined;
}

function endless(what: string, pagesMax: number): DomainError {
  return new DomainError(
    'limitExceeded',
    `There are more than ${pagesMax} pages of ${what}. Raise paging.pagesMax or paging.size, if there really are so many.`,
  );
}
