// Addresses that nothing in an organisation's network should be asked at: link-local and metadata services, and what is no
// single host. Loopback and private ranges are not among them: sources on the premises live there.

import { BlockList, isIP } from 'node:net';

const refused = new BlockList();
const subnets: readonly (readonly [address: string, prefix: number, family: 'ipv4' | 'ipv6'])[] = [
  ['0.0.0.0', 8, 'ipv4'], // "this network" (RFC 1122 §3.2.1.3); Linux connects it to itself
  ['169.254.0.0', 16, 'ipv4'], // link-local (RFC 3927) and the metadata services of most clouds
  ['100.100.100.200', 32, 'ipv4'], // metadata of Alibaba Cloud
  ['168.63.129.16', 32, 'ipv4'], // the host's services of Azure
  ['192.0.0.192', 32, 'ipv4'], // metadata of Oracle Cloud
  ['224.0.0.0', 4, 'ipv4'], // multicast
  ['240.0.0.0', 4, 'ipv4'], // reserved, broadcast
  ['::', 128, 'ipv6'],
  ['fe80::', 10, 'ipv6'], // link-local
  ['fd00:ec2::', 32, 'ipv6'], // metadata of AWS
  ['fd20:ce::', 32, 'ipv6'], // metadata of Google Cloud
  ['ff00::', 8, 'ipv6'], // multicast
];
for (const [address, prefix, family] of subnets) refused.addSubnet(address, prefix, family);

/** Whether nothing may connect to the address, whichever way it is written. What is no address is refused as well. */
export function isRefusedAddress(address: string): boolean {
  const plain = address.replace(/%.*$/, '');
  const family = isIP(plain);
  if (family === 0) return true;
  if (family === 4) return refused.check(plain, 'ipv4');
  const words = toWords(plain);
  if (words === undefined) return true;
  const inner = embeddedAddress(words);
  if (inner !== undefined && refused.check(inner, 'ipv4')) return plain !== '::1';
  return refused.check(plain, 'ipv6');
}

/**
 * The IPv4 address within an IPv6 address that a stack or a gateway unwraps: mapped and compatible (RFC 4291 §2.5.5),
 * NAT64 (RFC 6052), 6to4 (RFC 3056), Teredo (RFC 4380, where it is inverted).
 */
function embeddedAddress(words: readonly number[]): string | undefined {
  const [a, b, c, , e, f] = words;
  const startsWithZeros = words.slice(0, 5).every((word) => word === 0);
  if (startsWithZeros && (f === 0 || f === 0xffff)) return dotted(words[6], words[7]);
  if (a === 0x64 && b === 0xff9b) return dotted(words[6], words[7]);
  if (a === 0x2002) return dotted(b, c);
  if (a === 0x2001 && b === 0) return dotted((words[6] ?? 0) ^ 0xffff, (words[7] ?? 0) ^ 0xffff);
  // ISATAP (RFC 5214 §6.1) hides it behind 0:5efe.
  return f === 0x5efe && (e === 0 || e === 0x200) ? dotted(words[6], words[7]) : undefined;
}

/** The eight words of an IPv6 address; undefined for one that only one of our two readers takes. */
function toWords(address: string): readonly number[] | undefined {
  const canonical = URL.parse(`http://[${address}]/`)?.hostname.slice(1, -1);
  if (canonical === undefined) return undefined;
  const [head = '', tail] = canonical.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length;
  return [...before, ...Array<string>(zeros).fill('0'), ...after].map((word) => Number.parseInt(word, 16));
}

function dotted(high = 0, low = 0): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}
