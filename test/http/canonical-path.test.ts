import { describe, expect, test } from 'bun:test';
import { DomainError } from '../../src/errors.ts';
import { canonicalTarget } from '../../src/http/canonical-path.ts';

const at = (rest: string) => canonicalTarget(`http://host${rest}`);

describe('canonicalTarget', () => {
  test.each([
    ['', '/', ''],
    ['/', '/', ''],
    ['/a/b', '/a/b', ''],
    ['/a/b/', '/a/b', ''],
    ['//a///b//', '/a/b', ''],
    ['/a?b=c/../d', '/a', '?b=c/../d'],
    ['/a?', '/a', ''],
    ['/a/?x#y', '/a', '?x'],
    ['/a#?x', '/a', ''],
    ["/a-._~!$&'()*+,=:@/%41", "/a-._~!$&'()*+,=:@/%41", ''],
    ['?x=1', '/', ''],
  ])('reads %j as path %j with query %j', (rest, path, query) => {
    expect(at(rest)).toEqual({ path, query });
  });

  test.each(['/a/../b', '/a/.', '/./a', '/..'])('refuses dot segments: %s', (rest) => {
    expect(() => at(rest)).toThrow(DomainError);
  });

  test.each([
    '/%2e%2e/a',
    '/%2E/a',
    '/a%2fb',
    '/a%5Cb',
    '/a%00',
    '/a%0d%0a',
    '/a%3bx',
    '/a%7F',
    '/%c3%a9',
    '/a%20b',
  ])('refuses encodings that readers take for different paths: %s', (rest) => {
    expect(() => at(rest)).toThrow('must not be encoded');
  });

  test.each(['/a;x', '/a\\b', '/a b', '/a%', '/a%zz', '/é', '/a|b', '/a"b', '/a<b'])('refuses %s', (rest) => {
    expect(() => at(rest)).toThrow('does not belong there');
  });

  test('refuses a path of more than 2,048 characters', () => {
    expect(at(`/${'a'.repeat(2_047)}`).path).toHaveLength(2_048);
    expect(() => at(`/${'a'.repeat(2_048)}`)).toThrow('too long');
  });
});
