import { describe, expect, test } from 'bun:test';
import { maskedBody } from '../../src/scim/request-log.ts';

const canary = 'S3cretCanary';
const coreUrn = 'urn:ietf:params:scim:schemas:core:2.0:User';

const hiding: readonly (readonly [string, unknown])[] = [
  ['a key', { password: canary }],
  ['a key with a URN', { [`${coreUrn}:password`]: canary }],
  ['a dotted key', { 'user.password': canary }],
  ['a key with more behind it', { 'password.value': canary }],
  ['a key in capitals with blanks', { ' PassWord ': canary }],
  ['a path', { op: 'replace', path: 'password', value: canary }],
  ['a path with a URN', { op: 'replace', path: `${coreUrn}:password`, value: canary }],
  ['a path with a filter', { op: 'replace', path: 'password[type eq "work"].value', value: canary }],
  ['the filter of a path', { op: 'remove', path: `password[value eq "${canary}"]` }],
  ['a JSON object in a text', { op: 'replace', value: JSON.stringify({ password: canary }) }],
  ['a JSON array in a text', { value: JSON.stringify([{ password: canary }]) }],
  ['JSON in a text in JSON in a text', { value: JSON.stringify(JSON.stringify({ password: canary })) }],
  ['an operation in a text', { value: JSON.stringify({ path: 'password', value: canary }) }],
  ['an escaped name in a text', { value: `{"pass\\u0077ord":"${canary}"}` }],
  ['a text that is almost JSON', { value: `{"password":"${canary}",}` }],
  ['JSON too deep to look through', { value: `${'['.repeat(9_000)}{"password":"${canary}"}` }],
  ['a body that is a text', JSON.stringify({ password: canary })],
];

describe('maskedBody', () => {
  test.each(hiding)('hides a password behind %s', (_, body) => {
    expect(maskedBody({ Operations: [body] })).not.toContain(canary);
    expect(maskedBody(body)).not.toContain(canary);
  });

  test('keeps everything else as it was sent', () => {
    const text = '{ "displayName": "Ann" }';
    const body = { displayName: 'The password is gone', note: text, list: [1, true, null], quoted: '[a]' };
    expect(maskedBody(body)).toBe(JSON.stringify(body));
  });
});
