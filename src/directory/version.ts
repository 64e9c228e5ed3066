import { DomainError } from '../errors.ts';

/**
 * The weak entity tag of a version (RFC 7644 §3.14), as `meta.version` and the header ETag show it. `shownVersion` is
 * the configuration's: a resource shows other things when personas or additional fields change, and is not another.
 */
export function toETag(version: number, shownVersion: number): string {
  return `W/"${version}${tagEnding(shownVersion)}"`;
}

export function tagEnding(shownVersion: number): string {
  return shownVersion === 0 ? '' : `.${shownVersion}`;
}

/** Whether a header If-None-Match names this tag, whole. Weak and strong forms compare alike here. */
export function matchesETag(header: string, tag: string): boolean {
  return opaqueTags(header).some((each) => each === '*' || each === withoutWeakness(tag));
}

function opaqueTags(header: string): string[] {
  return header.split(',').map((tag) => withoutWeakness(tag.trim()));
}

function withoutWeakness(tag: string): string {
  return tag.replace(/^W\//, '');
}

/** What the headers of a change say of versions (RFC 9110 §13.1). */
export interface Preconditions {
  readonly ifMatch?: string | undefined;
  readonly ifNoneMatch?: string | undefined;
}

/**
 * Throws `versionMismatch` when If-Match names other versions than the one there is, or If-None-Match that one or any.
 * Under which configuration the client read the resource does not count: a change that it makes loses nothing by that.
 */
export function requireVersion(version: number, { ifMatch, ifNoneMatch }: Preconditions): void {
  const isNamed = (tag: string) => tag === '*' || tag.replace(/\.\d+"$/, '"') === `"${version}"`;
  if (ifMatch !== undefined && !opaqueTags(ifMatch).some(isNamed)) {
    const detail = 'The resource has changed since you read it; read it again and retry.';
    throw new DomainError('versionMismatch', detail);
  }
  if (ifNoneMatch === undefined || !opaqueTags(ifNoneMatch).some(isNamed)) return;
  const detail =
    'The resource is there in a version that If-None-Match names; leave the header out to change it.';
  throw new DomainError('versionMismatch', detail);
}

/** The later of two RFC 7643 dateTimes in UTC. */
export function laterOf(one: string, other: string): string {
  if (one > other) return one;
  return other;
}
