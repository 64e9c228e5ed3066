// Says in one sentence why a source cannot be reached, from the codes of Bun, Node.js and OpenSSL, and what to do.
// It never repeats what the library said: that may hold an address with its query, or a name and a password.

const untrusted =
  'its certificate is not trusted. Put the certificate of the authority that issued it into the configuration, as "caCertificate"';

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there. Check host and port, and whether the service runs',
  ENOTFOUND: 'the host is not known. Check its spelling',
  ECONNRESET: 'the connection was closed by the other side. Check whether the port expects TLS',
  ETIMEDOUT: 'there was no answer in time. Check the address, the firewall and whether the service runs',
  EHOSTUNREACH: 'there is no way to that host. Check the address and the network',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name. Use the name that the certificate says',
  CERT_HAS_EXPIRED: 'its certificate has expired. It has to be renewed there',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet. Compare the clocks of both machines',
  CERT_REVOKED: 'its certificate was revoked',
  NOT_TLS: 'it does not answer with TLS. Check the port, or whether the address begins with http://',
};

const sameAs: Readonly<Record<string, string>> = {
  ConnectionRefused: 'ECONNREFUSED',
  FailedToOpenSocket: 'ECONNREFUSED',
  ConnectionClosed: 'ECONNRESET',
  EPIPE: 'ECONNRESET',
  Timeout: 'ETIMEDOUT',
  ConnectionTimeout: 'ETIMEDOUT',
  TimeoutError: 'ETIMEDOUT',
  ENETUNREACH: 'EHOSTUNREACH',
  EAI_AGAIN: 'ENOTFOUND',
  EPROTO: 'NOT_TLS',
  ERR_SSL_WRONG_VERSION_NUMBER: 'NOT_TLS',
};

/** `where`: host and port, or an origin. One sentence without a secret. */
export function connectionFault(error: unknown, where: string): string {
  const code = errorCode(error);
  const known = reasons[sameAs[code] ?? code];
  if (known !== undefined) return `${where} cannot be asked: ${known}.`;
  if (isCertificateCode(code)) return `${where} cannot be asked: ${untrusted}.`;
  return `${where} cannot be asked: the connection failed (${code}).`;
}

/** Whether the same request may well be answered a little later. */
export function isPassingFault(error: unknown): boolean {
  return ['ECONNRESET', 'ETIMEDOUT'].includes(sameAs[errorCode(error)] ?? errorCode(error));
}

/** Whether nothing was sent, so that another address of the host may be tried. */
export function isNeverConnected(error: unknown): boolean {
  return ['ECONNREFUSED', 'EHOSTUNREACH'].includes(sameAs[errorCode(error)] ?? errorCode(error));
}

function isCertificateCode(code: string): boolean {
  return /CERT|SIGNATURE|ISSUER|SELF_SIGNED|CHAIN|^ERR_TLS/.test(code);
}

/** A word of the library, never its sentence. */
function errorCode(error: unknown): string {
  const { code, name } = (error ?? {}) as { readonly code?: unknown; readonly name?: unknown };
  for (const each of [code, name]) if (typeof each === 'string' && /^\w{1,60}$/.test(each)) return each;
  return 'unknown';
}
