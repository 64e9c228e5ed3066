import { BlockList, isIP } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';

export interface HostRules {
  /** Names under which the service may be addressed, lower case, without port. */
  readonly allowed: ReadonlySet<string>;
  readonly trustedProxies: BlockList;
}

export interface HostOptions {
  readonly publicUrl: string | undefined;
  readonly allowedHosts: readonly string[];
  readonly trustedProxies: readonly string[];
}

/**
 * A foreign Host would end in the links we send out. Allowed are the configured names and, so that a first
 * installation works, what this machine calls itself: loopback, its name, the addresses of its interfaces.
 */
export function hostRules({ publicUrl, allowedHosts, trustedProxies }: HostOptions): HostRules {
  const addresses = Object.values(networkInterfaces()).flatMap((list) =>
    (list ?? []).map((entry) => entry.address),
  );
  const names = ['localhost', '127.0.0.1', '::1', hostname(), ...addresses, ...allowedHosts];
  if (publicUrl !== undefined) names.push(new URL(publicUrl).hostname);
  return { allowed: new Set(names.map(bareHost)), trustedProxies: proxies(trustedProxies) };
}

function proxies(entries: readonly string[]): BlockList {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = '', prefix] = entry.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return list;
}

/** The name of a Host header without its port and without the brackets of an IPv6 address. */
export function bareHost(host: string): string {
  const lower = host.trim().toLowerCase();
  if (lower.startsWith('[')) return lower.slice(1, lower.indexOf(']'));
  return isIP(lower) === 6 ? lower : (lower.split(':')[0] ?? '');
}

export function isLoopback(address: string): boolean {
  return address === '::1' || address.startsWith('127.') || address.startsWith('::ffff:127.');
}

export function isTrustedProxy(rules: HostRules, address: string): boolean {
  const plain = address.replace(/^::ffff:/, '');
  const family = isIP(plain);
  return family !== 0 && rules.trustedProxies.check(plain, family === 6 ? 'ipv6' : 'ipv4');
}
