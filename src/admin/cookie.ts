/**
 * The session cookie. On HTTPS its name begins with `__Host-`, by which the browser itself takes it from this host
 * alone (RFC 6265bis §4.1.3.2); that needs `Secure`, which plain HTTP on the machine itself cannot have.
 */
function nameFor(origin: string): string {
  return isHttps(origin) ? '__Host-rollcall' : 'rollcall';
}

export function readSessionToken(headers: Headers, origin: string): string | undefined {
  const start = `${nameFor(origin)}=`;
  const pairs = (headers.get('cookie') ?? '').split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(start))?.slice(start.length);
}

/** Set-Cookie for a new session. It has no end of its own: the service knows when the session ends. */
export function sessionCookie(token: string, origin: string): string {
  return `${nameFor(origin)}=${token}; Path=/; HttpOnly; SameSite=Strict${isHttps(origin) ? '; Secure' : ''}`;
}

export function noSessionCookie(origin: string): string {
  return `${sessionCookie('', origin)}; Max-Age=0`;
}

function isHttps(origin: string): boolean {
  return origin.startsWith('https:');
}
