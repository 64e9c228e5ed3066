import { DomainError } from '../errors.ts';

const pathCharactersMax = 2_048;
/** Unreserved characters, sub-delimiters, ":" and "@", and percent-encodings (RFC 3986 §3.3), without ";". */
const segmentForm = /^(?:[A-Za-z0-9\-._~!$&'()*+,=:@]|%[0-9A-Fa-f]{2})*$/;
/** Encodings by which two readers of one path come to different segments: controls, space, "." "/" "\" ";" and non-ASCII. */
const ambiguousEncoding = /%(?:[01][0-9a-f]|20|2e|2f|3b|5c|7f|[89a-f][0-9a-f])/i;

/** The plain form without anything that needs a closer look: what nearly every request has. */
const plainForm = /^(?:\/[A-Za-z0-9\-_~!$&'()*+,=:@][A-Za-z0-9\-._~!$&'()*+,=:@]*)+$/;

export interface Target {
  readonly path: string;
  /** With its leading "?", or ''. */
  readonly query: string;
}

/**
 * Splits the absolute URL that the listener hands over and folds empty segments and the trailing slash, which clients
 * produce by joining texts. Anything else that is not the plain form of a path is refused, so that the router and
 * every check read the same string.
 */
export function canonicalTarget(url: string): Target {
  const authority = url.indexOf('//') + 2;
  const start = url.indexOf('/', authority);
  const afterHost = start === -1 ? '/' : url.slice(start);
  const mark = afterHost.search(/[?#]/);
  const raw = mark === -1 ? afterHost : afterHost.slice(0, mark);
  if (raw.length > pathCharactersMax) throw refused('is too long');
  const path = plainForm.test(raw) ? raw : foldedPath(raw);
  return { path, query: mark === -1 ? '' : queryOf(afterHost.slice(mark)) };
}

function foldedPath(raw: string): string {
  const segments = raw.split('/').filter((segment) => segment !== '');
  for (const segment of segments) checkSegment(segment);
  return `/${segments.join('/')}`;
}

function checkSegment(segment: string): void {
  if (segment === '.' || segment === '..') throw refused('has a dot segment');
  if (!segmentForm.test(segment)) throw refused('has a character that does not belong there');
  if (ambiguousEncoding.test(segment)) throw refused('encodes a character that must not be encoded there');
}

function queryOf(rest: string): string {
  const query = rest.split('#')[0] ?? '';
  return query === '?' ? '' : query;
}

function refused(why: string): DomainError {
  return new DomainError('invalidSyntax', `The path of the request ${why}; send it in its plain form.`);
}
