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

/**
 * Throws `versionMismatch` when If-Match names other versions than the one there is. Under which configuration the
 * client read the resource does not count: a change that it makes loses nothing by that.
 */
export function requireVersion(version: number, ifMatch: string | undefined): void {
  if (ifMatch === undefined) return;
  const isNamed = (tag: string) => tag === '*' || tag.replace(/\.\d+"$/, '"') === `"${version}"`;
  if (opaqueTags(ifMatch).some(isNamed)) return;
  throw new DomainError(
    'versionMismatch',
    'The resource has changed since you read it; read it again and retry.',
  );
}

/** The later of two RFC 7643 dateTimes in UTC. */
export function laterOf(one: string, other: string): string {
  if (one > other) return one;
  return other;
}
