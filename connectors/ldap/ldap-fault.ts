// Says in one sentence why a directory does not answer as asked, from result codes (RFC 4511 appendix A) and what to do.
// Of the server's own words only the number is read that Active Directory hides in them.

import { connectionFault } from '../../src/connectors/connection-fault.ts';
import { DomainError } from '../../src/errors.ts';

interface Place {
  readonly host: string;
  readonly port: number;
}

interface Refusal {
  readonly code: number;
  readonly text: string;
  /** `to search DC=example,DC=com`. */
  readonly what: string;
}

const meanings: Readonly<Record<number, string>> = {
  1: 'it reports an error of its own. With Active Directory that is usually a search without signing in: give bindDn and password',
  3: 'its time limit was reached. Raise timeLimitSeconds, or narrow the filter',
  4: 'its size limit was reached. Let it answer in pages (pageSize), or have the limit of the bind account raised',
  7: 'it does not know this way of signing in',
  8: 'it wants an encrypted connection. Set encryption to starttls or ldaps',
  10: 'it refers to other servers, which are not followed, so the answer would not be whole. Use a base DN that this server holds, with Active Directory the port of the global catalogue (3268 or 3269), or set ignoreReferrals to leave those parts out',
  11: 'an administrative limit was reached. Use a smaller pageSize, or have the limit of the bind account raised',
  12: 'it cannot answer in pages. Set pageSize to 0',
  13: 'it wants an encrypted connection. Set encryption to starttls or ldaps',
  32: 'there is no such entry, or the bind account may not see it. Check the base DN',
  34: 'this is not a distinguished name. Check bindDn and the base DNs',
  48: 'it does not let one sign in in this way. Check bindDn and password',
  49: 'the name or the password is wrong. Check bindDn and password',
  50: 'the bind account may not do that. Give it the right to read',
  51: 'it is busy. Try again later',
  52: 'it is not available at the moment. Try again later',
  53: 'it is not willing. With OpenLDAP this is often a limit of its own, with Active Directory a missing encryption',
};

/** The numbers behind `data` in what Active Directory says with code 49. */
const accountStates: Readonly<Record<string, string>> = {
  '525': 'there is no account of that name. Check bindDn',
  '530': 'the account may not sign in at this time',
  '531': 'the account may not sign in from this machine',
  '532': 'the password of the account has expired',
  '533': 'the account is disabled',
  '701': 'the account has expired',
  '773': 'the password of the account has to be changed first',
  '775': 'the account is locked',
};

/** What an answer with a result code other than 0 means. */
export function resultFault({ code, text, what }: Refusal): DomainError {
  const state = code === 49 ? accountStates[/\bdata (\w{3,4})\b/.exec(text)?.[1] ?? ''] : undefined;
  const meaning = state ?? meanings[code] ?? `it answers with the result code ${code}`;
  const kind = code === 49 ? 'unauthenticated' : 'unavailable';
  return new DomainError(kind, `The directory refuses ${what}: ${meaning}.`);
}

/** What a connection that broke means. */
export function connectionLost({ host, port }: Place, error: unknown): unknown {
  if (error instanceof DomainError) return error;
  if ((error as { code?: unknown } | undefined)?.code === 'EBADFRAME')
    return badAnswer({ host, port }, 'what is not LDAP', error);
  return new DomainError('unavailable', connectionFault(error, `${host}:${port}`), { cause: error });
}

export function badAnswer({ host, port }: Place, what: string, cause?: unknown): DomainError {
  return new DomainError('unavailable', `${host}:${port} answers ${what}. Check host, port and encryption.`, {
    cause,
  });
}
