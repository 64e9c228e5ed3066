import { BlockList, isIP } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';

/** Whether an address is one that a list of addresses and subnets names. */
export type AddressMatcher = (address: string) => boolean;

export interface HostRules {
  /** Names under which the service may be addressed, lower case, without port. */
  readonly allowed: ReadonlySet<string>;
  readonly isTrustedProxy: AddressMatcher;
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
  return {
    allowed: new Set(names.map(bareHost).filter((name) => name !== '')),
    isTrustedProxy: addressMatcher(trustedProxies),
  };
}

/** `entries`: addresses, and subnets as CIDR. An IPv4 address that a listener on both families saw counts as IPv4. */
export function addressMatcher(entries: readonly string[]): AddressMatcher {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = '', prefix] = entry.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  if (entries.length === 0) return () => false;
  return remembered((address) => {
    const plain = address.replace(/^::ffff:/, '');
    const family = isIP(plain);
    return family !== 0 && list.check(plain, family === 6 ? 'ipv6' : 'ipv4');
  });
}

const answersMax = 1_000;

/** The same matcher, for peers that send one request after another. */
function remembered(matches: AddressMatcher): AddressMatcher {
  const answers = new Map<string, boolean>();
  return (address) => {
    const known = answers.get(address);
    if (known !== undefined) return known;
    if (answers.size >= answersMax) answers.clear();
    const answer = matches(address);
    answers.set(address, answer);
    return answer;
  };
}

/** A name or an address, and perhaps a port (RFC 9110 §7.2). Whatever else a Host held would stand in the links we send. */
const hostForm = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::(\d{1,5}))?$/;
const portMax = 65_535;

/** The name of a Host header without its port and without the brackets of an IPv6 address; '' when it has another form. */
export function bareHost(host: string): string {
  const lower = host.trim().toLowerCase();
  if (isIP(lower) === 6) return lower;
  const [, address, name, port = '1'] = hostForm.exec(lower) ?? [];
  if (Number(port) < 1 || Number(port) > portMax) return '';
  return address ?? name ?? '';
}

export function isLoopback(address: string): boolean {
  return address === '::1' || address.startsWith('127.') || address.startsWith('::ffff:127.');
}
