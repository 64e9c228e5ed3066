import { describe, expect, test } from 'bun:test';
import { maskedJson, maskedQuery, maskedText } from '../../src/scim/mask.ts';

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

describe('maskedJson', () => {
  test.each(hiding)('hides a password behind %s', (_, body) => {
    expect(maskedJson({ Operations: [body] }, 9_999_999)).not.toContain(canary);
    expect(maskedJson(body, 9_999_999)).not.toContain(canary);
  });

  test('keeps everything else as it was sent', () => {
    const text = '{ "displayName": "Ann" }';
    const body = { displayName: 'The password is gone', note: text, list: [1, true, null], quoted: '[a]' };
    expect(maskedJson(body, 1_000)).toBe(JSON.stringify(body));
  });

  test('says by an ellipsis that the text goes on', () => {
    expect(maskedJson('abcdef', 4)).toBe('"abc…');
    expect(maskedJson('ab', 4)).toBe('"ab"');
  });

  test('hides a token of ours wherever it stands', () => {
    const token = `rollcall_scim_${'a'.repeat(43)}0123456`;
    expect(maskedJson({ note: `Bearer ${token}` }, 1_000)).toBe('{"note":"Bearer rollcall_scim_********"}');
  });
});

describe('maskedQuery', () => {
  test.each([
    ['a parameter', `password=${canary}`],
    ['a filter', `filter=password%20eq%20%22${canary}%22`],
    ['a filter in escapes', `filter=p%61ssword+eq+%22${canary}%22`],
    ['a filter in escapes of escapes', `filter=p%2561ssword%2520eq%2520%22${canary}%22`],
    ['escapes of which one is broken', `filter=p%61ssword%20eq%20%22${canary}%22&x=%zz`],
    ['a URN', `filter=${coreUrn}:password%20sw%20%22${canary}%22`],
  ])('hides a password in %s', (_, query) => {
    expect(maskedQuery(query, 1_000)).toBe('********');
  });

  test('shows every other query as a person reads it', () => {
    expect(maskedQuery('filter=userName+eq+%22ann%40example.com%22&count=1', 1_000)).toBe(
      'filter=userName eq "ann@example.com"&count=1',
    );
  });
});

describe('maskedText', () => {
  test('hides a path with a password in its filter and shows the bare name', () => {
    expect(maskedText(`password[value eq "${canary}"]`, 100)).toBe('********');
    expect(maskedText('password', 100)).toBe('password');
  });
});
