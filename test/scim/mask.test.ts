import { describe, expect, test } from 'bun:test';
import { maskedJson, maskedQuery, maskedText } from '../../src/scim/mask.ts';

const canary = 'S3cretCanary';
const coreUrn = 'urn:ietf:params:scim:schemas:core:2.0:User';

function base64(value: unknown): string {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64');
}

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
  ['a path in an array', { op: 'replace', path: ['password'], value: canary }],
  ['a path in an object', { op: 'replace', path: { attr: 'password' }, value: canary }],
  ['a path, under another name than value', { op: 'replace', path: 'password', values: [canary] }],
  ['a path, with two values', { op: 'replace', path: 'password', value: canary, newValue: canary }],
  ['an operation that calls its path name', { op: 'replace', name: 'password', value: canary }],
  ['a name beside a value', { op: 'add', value: [{ name: 'password', value: canary }] }],
  ['a name beside something else', { key: 'userPassword', data: canary }],
  ['the name that LDAP has for it', { userPassword: canary }],
  ['a list of them', { passwords: [canary, { value: canary }] }],
  ['a short name', { pwd: canary, passwd: canary, clientSecret: canary, Passwort: canary }],
  ['a key with a filter', { [`password[value eq "${canary}"]`]: true }],
  ['a sort key', { sortBy: `password[${canary}` }],
  ['an attribute to return', { attributes: ['userName', `password[${canary}]`] }],
  ['a path without quotes', { path: `password eq ${canary}`, method: 'DELETE' }],
  ['a path of a Bulk', { path: `/Users/password/${canary}`, method: 'DELETE' }],
  ['a text in which it is compared', { note: `password eq ${canary}` }],
  ['base64', { value: base64({ password: canary }) }],
  [
    'base64 without padding, for URLs',
    { value: base64({ password: canary }).replace(/=+$/, '').replace(/\//g, '_') },
  ],
  ['base64 in lines', { value: base64({ password: canary }).replace(/.{10}/g, '$&\r\n') }],
  ['base64 of base64', { value: base64(base64({ password: canary })) }],
  ['base64 with an escaped name', { value: base64(`{"pass\\u0077ord":"${canary}"}`) }],
  ['base64 in a data URL', { value: `data:application/json;base64,${base64({ password: canary })}` }],
  ['base64 in JSON in a text', { value: JSON.stringify({ data: base64({ password: canary }) }) }],
  ['base64 of a form', { value: base64(`userName=ann&password=${canary}`) }],
  [
    'base64 of UTF-16',
    { value: Buffer.from(JSON.stringify({ password: canary }), 'utf16le').toString('base64') },
  ],
  ['base64 of much', { value: base64({ before: 'x'.repeat(300_000), password: canary }) }],
  ['a body that is a text', JSON.stringify({ password: canary })],
];

/** What somebody reads who takes base64 apart, twice. */
function unpacked(text: string): string {
  const once = (packed: string) =>
    packed
      .replaceAll('\\r\\n', '')
      .replace(/[\w+/-]{16,}/g, (found) => Buffer.from(found, 'base64').toString('latin1'));
  return `${once(text)} ${once(once(text))}`;
}

describe('maskedJson', () => {
  test.each(hiding)('hides a password behind %s', (_, body) => {
    for (const shown of [maskedJson({ Operations: [body] }, 9_999_999), maskedJson(body, 9_999_999)]) {
      expect(shown).not.toContain(canary);
      expect(unpacked(shown ?? '')).not.toContain(canary);
    }
  });

  test('keeps everything else as it was sent', () => {
    const text = '{ "displayName": "Ann" }';
    const body = { displayName: 'The password is gone', note: text, list: [1, true, null], quoted: '[a]' };
    expect(maskedJson(body, 1_000)).toBe(JSON.stringify(body));
  });

  test('keeps base64 in which nothing is a secret', () => {
    const photo = Buffer.from(Uint8Array.from({ length: 40_000 }, (_, i) => (i * 7) % 256)).toString(
      'base64',
    );
    const body = {
      photos: [{ value: photo }],
      note: base64({ displayName: 'Ann', forcePasswordReset: true }),
      id: 'QWxhZGRpbjpvcGVuIHNlc2FtZQ==',
      location: '/Users/2819c223-7f76-453a-919d-413861904646',
    };
    expect(maskedJson(body, 999_999)).toBe(JSON.stringify(body));
  });

  test('keeps what only sounds like a secret', () => {
    const urn = 'urn:ietf:params:scim:schemas:extension:platform:2.0:User';
    const body = {
      userName: 'secret.agent@example.com',
      title: 'Secretary',
      secretary: 'Bob',
      [urn]: { forcePasswordReset: 'True' },
      Operations: [
        { op: 'replace', path: `${urn}:forcePasswordReset`, value: 'True' },
        { op: 'add', path: 'members', value: [{ value: '7', display: 'Ann' }] },
      ],
      method: 'POST',
      data: { displayName: 'Password Admins' },
    };
    expect(maskedJson(body, 10_000)).toBe(JSON.stringify(body));
  });

  test('still says which attribute it was', () => {
    expect(maskedJson({ op: 'replace', path: 'password', value: canary }, 1_000)).toBe(
      '{"op":"replace","path":"password","value":"********"}',
    );
  });

  test('says by an ellipsis that the text goes on', () => {
    expect(maskedJson('abcdef', 4)).toBe('"abc…');
    expect(maskedJson('ab', 4)).toBe('"ab"');
  });

  test('shows of a long body a beginning of what it would show of the whole, and nothing of a secret at the cut', () => {
    const token = `rollcall_scim_${'a'.repeat(43)}0123456`;
    for (let length = 0; length < 120; length += 1) {
      const body = {
        note: `${'x'.repeat(length)}Bearer ${token}`,
        rest: 'y'.repeat(9_000),
        password: canary,
      };
      const whole = JSON.stringify({ ...body, password: '********' }).replace(
        token,
        'rollcall_scim_********',
      );
      const shown = maskedJson(body, 80) ?? '';
      expect(shown.endsWith('…')).toBe(true);
      expect(whole.slice(0, 80).startsWith(shown.slice(0, -1))).toBe(true);
      expect(shown.length).toBeGreaterThan(20);
    }
  });

  test('looks no further than it shows', () => {
    let seen = 0;
    const members = Array.from({ length: 100_000 }, () => ({
      get value() {
        seen += 1;
        return 'x'.repeat(20);
      },
    }));
    expect(maskedJson({ members }, 1_000)).toHaveLength(1_001);
    expect(seen).toBeLessThan(1_000);
    expect(maskedJson({ list: Array(9).fill('z'.repeat(200_000)) }, 10)).toBe('{"list":["…');
  });

  test('hides a text that is too long to be looked through when it may name a secret', () => {
    const long = ' '.repeat(200_000);
    for (const name of ['password', 'pass\\u0077ord']) {
      expect(maskedJson({ value: `${long}{"${name}":"${canary}"}` }, 999_999)).not.toContain(canary);
    }
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
    ['a name of another system', `filter=userPassword%20eq%20${canary}`],
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
