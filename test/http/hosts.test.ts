import { describe, expect, test } from 'bun:test';
import { hostname } from 'node:os';
import { bareHost, hostRules, isLoopback } from '../../src/http/hosts.ts';

describe('bareHost', () => {
  test.each([
    ['Example.COM', 'example.com'],
    ['example.com:8443', 'example.com'],
    ['[::1]:80', '::1'],
    ['[::1]', '::1'],
    ['localhost:65535', 'localhost'],
    ['::1', '::1'],
    ['127.0.0.1:1', '127.0.0.1'],
    ['under_score', 'under_score'],
  ])('reads %s as %s', (host, name) => {
    expect(bareHost(host)).toBe(name);
  });

  test.each([
    ...[
      '',
      ' ',
      ':80',
      'localhost:',
      'localhost:abc',
      'localhost:80:80',
      'localhost:80/x',
      'localhost/x',
      '[::1]evil',
    ],
    ...[
      '[::1',
      'a@localhost',
      'localhost@evil',
      'localhost,evil',
      'local host',
      'localhost:123456',
      'localhost:65536',
      'localhost:99999',
      'localhost:0',
      '[::1]:65536',
      'évil',
      'a\\b',
    ],
  ])('takes %j for no host at all', (host) => {
    expect(bareHost(host)).toBe('');
  });
});

describe('hostRules', () => {
  const rules = hostRules({
    publicUrl: 'https://Id.Example.com/base',
    allowedHosts: ['Other.example:8443', 'not a host'],
    trustedProxies: ['10.0.0.0/8', '192.0.2.1', '2001:db8::/32'],
  });

  test('allows the configured names and what this machine calls itself', () => {
    for (const name of [
      'id.example.com',
      'other.example',
      'localhost',
      '127.0.0.1',
      '::1',
      hostname().toLowerCase(),
    ])
      expect(rules.allowed).toContain(name);
  });

  test('allows nothing by a host that is none', () => {
    expect(rules.allowed).not.toContain('');
    expect(rules.allowed).not.toContain('evil.example');
  });

  test('trusts the proxies in its list alone, IPv4 written as IPv6 as well', () => {
    for (const address of ['10.1.2.3', '::ffff:10.1.2.3', '192.0.2.1', '2001:db8::7'])
      expect(rules.isTrustedProxy(address)).toBe(true);
    for (const address of ['11.0.0.1', '192.0.2.2', '2001:db9::7', '127.0.0.1', '', 'x'])
      expect(rules.isTrustedProxy(address)).toBe(false);
  });
});

describe('isLoopback', () => {
  test('knows the addresses that only this machine has', () => {
    for (const address of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'])
      expect(isLoopback(address)).toBe(true);
    for (const address of ['10.0.0.1', '128.0.0.1', '::2', '', '::ffff:10.0.0.1'])
      expect(isLoopback(address)).toBe(false);
  });
});
