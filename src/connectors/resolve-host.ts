// Finds the address behind the host of a source, once, and refuses the ones that nothing should be asked at.
// It never trusts a name: what counts is the address, and callers connect to the address that was looked at.

import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { DomainError } from '../errors.ts';
import { isRefusedAddress } from './refused-address.ts';

/** All addresses of a host name, as the system resolves it. */
export type Resolve = (host: string) => Promise<readonly string[]>;

export interface AddressRules {
  /** Hosts and addresses that may be asked whatever they are: the setting `connectorAllowedHosts`. */
  readonly allow: readonly string[];
  readonly resolve: Resolve;
}

/** As the operating system resolves names, hosts file included. */
export async function systemResolve(host: string): Promise<readonly string[]> {
  const found = await lookup(host, { all: true, verbatim: true });
  return found.map(({ address }) => address);
}

/**
 * Every address of the host that may be connected to, IPv4 first, because many networks name IPv6 addresses that they do not
 * route. Throws `forbidden` when none may be, `unavailable` when the name is unknown.
 */
export async function permittedAddresses(host: string, rules: AddressRules): Promise<readonly string[]> {
  const name = canonicalHost(host);
  const addresses = isIP(name) === 0 ? await resolved(name, rules.resolve) : [name];
  const allowed = new Set(rules.allow.map(canonicalHost));
  const permitted = addresses.filter(
    (address) => allowed.has(name) || allowed.has(address) || !isRefusedAddress(address),
  );
  if (permitted.length > 0) return permitted.toSorted((a, b) => isIP(a) - isIP(b));
  throw new DomainError(
    'forbidden',
    `The address of ${name} is one that connectors may not ask (link-local, metadata service, multicast). If the source really is there, an administrator can add it to the setting connectorAllowedHosts.`,
  );
}

/** `resolveHost` of the connector context: the one address to connect to. */
export function createResolveHost(rules: AddressRules): (host: string) => Promise<string> {
  return async (host) => {
    const [address] = await permittedAddresses(host, rules);
    if (address === undefined) throw new DomainError('unavailable', `${host} has no address.`);
    return address;
  };
}

/**
 * Small letters, no brackets, no dot at the end; 2852039166, 0251.0376.0251.0376 and 0xa9fea9fe are the IPv4 addresses that
 * resolvers take them for. Throws `invalidValue` for what is not a host.
 */
export function canonicalHost(host: string): string {
  const isBareAddress = isIP(host.replace(/%.*$/, '')) === 6;
  const text = isBareAddress ? `[${host.replace(/%.*$/, '')}]` : host;
  const url = /^[^\s/?#@\\]+$/.test(text) ? URL.parse(`http://${text}/`) : null;
  if (url === null || url.hostname === '' || url.port !== '' || url.pathname !== '/')
    throw new DomainError('invalidValue', `"${host}" is not the name or address of a host.`);
  return url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}

async function resolved(name: string, resolve: Resolve): Promise<readonly string[]> {
  let addresses: readonly string[];
  try {
    addresses = await resolve(name);
  } catch (cause) {
    throw unknownHost(name, cause);
  }
  if (addresses.length === 0) throw unknownHost(name);
  return addresses;
}

function unknownHost(name: string, cause?: unknown): DomainError {
  return new DomainError(
    'unavailable',
    `The host ${name} is not known: check its spelling and the name server of this machine.`,
    { cause },
  );
}
