/** The variables that begin with `ROLLCALL_`. This file alone reads the environment. */
export function readEnvironment(): Readonly<Record<string, string>> {
  return pick((name) => name.startsWith('ROLLCALL_'));
}

/** What a child of ours needs to start, and nothing more: no secret of this process reaches it by its environment. */
export function childEnvironment(): Readonly<Record<string, string>> {
  const names = new Set(['HOME', 'LANG', 'PATH', 'SYSTEMROOT', 'TEMP', 'TMP', 'TMPDIR', 'TZ']);
  return pick((name) => names.has(name.toUpperCase()));
}

/**
 * What a connector's process may know of this machine: where programs and certificate authorities are, and the time
 * zone. No proxy, whose address may hold a password, and nothing else.
 */
export function connectorEnvironment(): Readonly<Record<string, string>> {
  const names = new Set(['NODE_EXTRA_CA_CERTS', 'PATH', 'SSL_CERT_DIR', 'SSL_CERT_FILE', 'SYSTEMROOT', 'TZ']);
  const defaults = process.platform === 'win32' ? {} : { PATH: '/usr/local/bin:/usr/bin:/bin' };
  return { LANG: 'C.UTF-8', ...defaults, ...pick((name) => names.has(name.toUpperCase())) };
}

/** The value of one variable that a configuration names. */
export function readVariable(name: string): string | undefined {
  return process.env[name];
}

function pick(isWanted: (name: string) => boolean): Record<string, string> {
  const entries = Object.entries(process.env).filter(([name]) => isWanted(name));
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined));
}
