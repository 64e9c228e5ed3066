import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

export type TokenKind = 'scim' | 'upload' | 'invite' | 'session';

const secretBytes = 32;
const tokenForm = /^rollcall_[a-z]+_[\w-]{43}[0-9a-z]{7}$/;

/**
 * A bearer token: `rollcall_<kind>_` + 256 random bits + a checksum. The prefix lets secret scanners find a leaked
 * one; the checksum lets the service refuse a mistyped one without asking the database.
 */
export function createToken(kind: TokenKind, random: (bytes: number) => Buffer = randomBytes): string {
  const body = `rollcall_${kind}_${random(secretBytes).toString('base64url')}`;
  return body + checksum(body);
}

export function isTokenWellFormed(token: string): boolean {
  return tokenForm.test(token) && checksum(token.slice(0, -7)) === token.slice(-7);
}

function checksum(body: string): string {
  return crc32(body).toString(36).padStart(7, '0');
}
