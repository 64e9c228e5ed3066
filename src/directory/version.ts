import { DomainError } from '../errors.ts';

/** The weak entity tag of a version (RFC 7644 §3.14), as `meta.version` and the header ETag show it. */
export function toETag(version: number): string {
  return `W/"${version}"`;
}

/** Whether a header If-Match or If-None-Match names this version. Weak and strong forms compare alike here. */
export function matchesETag(header: string, version: number): boolean {
  if (header.trim() === '*') return true;
  return header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === `"${version}"`);
}

/** Throws `versionMismatch` when If-Match names other versions than the one there is. */
export function requireVersion(version: number, ifMatch: string | undefined): void {
  if (ifMatch === undefined || matchesETag(ifMatch, version)) return;
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
