import { DomainError } from '../errors.ts';

const safeMethods = new Set(['GET', 'HEAD']);
const ownSites = new Set(['same-origin', 'none']);
const jsonForm = /^application\/json(?:\s*;\s*charset="?utf-8"?)?\s*$/i;

/**
 * Refuses a change that another site could have had the browser send: a form cannot send JSON, a script of another
 * origin may not add the header, and the browser says where a request comes from (Fetch Metadata §2.3, Origin).
 * Throws `unsupportedMediaType` or `forbidden`.
 */
export function refuseCrossSite({ method, headers }: Request, origin: string): void {
  if (safeMethods.has(method)) return;
  if (!jsonForm.test(headers.get('content-type') ?? '')) {
    throw new DomainError('unsupportedMediaType', 'Send the body as application/json in UTF-8.');
  }
  if (headers.get('x-rollcall') !== '1') throw refused('Send the header "X-Rollcall: 1" with every change.');
  const site = headers.get('sec-fetch-site');
  const from = headers.get('origin');
  if ((site === null || ownSites.has(site)) && (from === null || from === origin)) return;
  throw refused(
    'The request comes from another site. Behind a proxy, let it pass the Host header on and set publicUrl.',
  );
}

function refused(detail: string): DomainError {
  return new DomainError('forbidden', detail);
}
