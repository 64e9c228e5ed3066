import { describe, expect, test } from 'bun:test';
import { isRefusedAddress } from '../../src/connectors/refused-address.ts';
import { canonicalHost, createResolveHost } from '../../src/connectors/resolve-host.ts';

describe('isRefusedAddress', () => {
  test.each([
    ...['169.254.169.254', '169.254.0.1', '0.0.0.0', '0.1.2.3', '100.100.100.200', '168.63.129.16'],
    ...['192.0.0.192', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255'],
    ...[
      '::',
      'fe80::1',
      'fe80::1%eth0',
      'febf::1',
      'ff02::1',
      'fd00:ec2::254',
      'FD00:EC2:0::254',
      'fd20:ce::254',
    ],
    ...['::ffff:169.254.169.254', '::ffff:a9fe:a9fe', '0:0:0:0:0:ffff:a9fe:a9fe', '::169.254.169.254'],
    ...['64:ff9b::a9fe:a9fe', '2002:a9fe:a9fe::1', '2001:0:1:2:3:4:5601:5601', 'fe81::5efe:1.2.3.4'],
    ...['2001:db8::5efe:a9fe:a9fe', '2001:db8::200:5efe:169.254.169.254', '::ffff:0.0.0.0'],
    ...['', 'localhost', '127.0.0.1:80', '[::1]', '169.254.169.254.', '1.2.3'],
  ])('refuses %s', (address) => {
    expect(isRefusedAddress(address)).toBe(true);
  });

  test.each([
    ...['127.0.0.1', '127.255.0.1', '10.0.0.1', '192.168.1.1', '172.16.0.1', '8.8.8.8', '100.100.100.201'],
    ...[
      '169.253.255.255',
      '169.255.0.0',
      '223.255.255.255',
      '::1',
      'fc00::1',
      'fd00:ec3::254',
      '2001:db8::1',
    ],
    ...['::ffff:127.0.0.1', '::ffff:10.0.0.1', '64:ff9b::808:808', '2002:808:808::1', 'fe00::1'],
  ])('permits %s', (address) => {
    expect(isRefusedAddress(address)).toBe(false);
  });
});

describe('canonicalHost', () => {
  test.each([
    ['LDAP.Example.com.', 'ldap.example.com'],
    ['2852039166', '169.254.169.254'],
    ['0xa9fea9fe', '169.254.169.254'],
    ['0251.0376.0251.0376', '169.254.169.254'],
    ['169.254.43518', '169.254.169.254'],
    ['::FFFF:169.254.169.254', '::ffff:a9fe:a9fe'],
    ['[::1]', '::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['ⓐ.test', 'a.test'],
  ])('reads %s as %s', (host, canonical) => {
    expect(canonicalHost(host)).toBe(canonical);
  });

  test.each(['', ' ', 'a b', 'a/b', 'a@b', 'a#b', 'a?b', 'a\\b', 'a:389', '[::1', 'a\nb', '1.2.3.4.5.256'])(
    'refuses %j',
    (host) => {
      expect(() => canonicalHost(host)).toThrow('is not the name or address of a host');
    },
  );
});

describe('resolveHost', () => {
  const answering = (addresses: readonly string[], allow: readonly string[] = []) =>
    createResolveHost({ allow, resolve: async () => addresses });

  test('gives IPv4 before IPv6', async () => {
    expect(await answering(['::1', '127.0.0.1'])('both.test')).toBe('127.0.0.1');
  });

  test('refuses a name whose address is a metadata service, and says how to allow it', async () => {
    await expect(answering(['169.254.169.254'])('metadata.test')).rejects.toThrow('connectorAllowedHosts');
  });

  test('leaves refused addresses out when there are others', async () => {
    expect(await answering(['169.254.169.254', 'fe80::1', '10.1.1.1'])('mixed.test')).toBe('10.1.1.1');
  });

  test('does not ask the name server for an address, however it is written', async () => {
    const resolve = createResolveHost({
      allow: [],
      resolve: () => Promise.reject(new Error('was asked')),
    });
    expect(await resolve('127.1')).toBe('127.0.0.1');
    await expect(resolve('2852039166')).rejects.toThrow('may not ask');
  });

  test('lets an administrator allow a name or an address', async () => {
    expect(await answering(['169.254.1.1'], ['Printer.TEST'])('printer.test')).toBe('169.254.1.1');
    expect(await answering(['169.254.1.1'], ['169.254.1.1'])('printer.test')).toBe('169.254.1.1');
    await expect(answering(['169.254.1.2'], ['169.254.1.1'])('printer.test')).rejects.toThrow('may not ask');
  });

  test('says that a name is unknown', async () => {
    const resolve = createResolveHost({ allow: [], resolve: () => Promise.reject(new Error('ENOTFOUND')) });
    await expect(resolve('nowhere.test')).rejects.toThrow('The host nowhere.test is not known');
    await expect(answering([])('empty.test')).rejects.toThrow('The host empty.test is not known');
  });
});
