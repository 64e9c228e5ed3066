import { describe, expect, test } from 'bun:test';
import { canonicalDn } from '../../connectors/ldap/distinguished-name.ts';
import { parseFilter } from '../../connectors/ldap/filter.ts';
import { isAccountActive, toValue } from '../../connectors/ldap/values.ts';
import { NestedGroups } from '../../src/connectors/nested-groups.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

describe('canonicalDn', () => {
  test.each([
    ['CN=Ann,DC=Example,DC=com', 'cn=ann, dc=example , dc = com'],
    ['CN=Lee\\, Ann,DC=x', 'cn=Lee\\2c Ann,dc=x'],
    ['CN="Lee, Ann",DC=x', 'cn=Lee\\, Ann,dc=x'],
    ['CN=J\\C3\\B6rg,DC=x', 'cn=jörg,dc=x'],
    ['CN=A\\+B,DC=x', 'cn=a\\2bb,dc=x'],
    ['OU=x+CN=y,DC=z', 'cn=y+ou=x,dc=z'],
    ['CN=back\\\\slash,DC=x', 'cn=back\\5cslash,dc=x'],
    ['CN=Ann;DC=x', 'cn=ann,dc=x'],
    ['CN=end\\ ,DC=x', 'cn=end\\20,dc=x'],
  ])('is the same for %s and %s', (left, right) => {
    expect(canonicalDn(left)).toBe(canonicalDn(right));
  });

  test.each([
    ['CN=Lee\\, Ann,DC=x', 'CN=Lee,CN=Ann,DC=x'],
    ['CN=a,DC=x', 'CN=a\\,DC\\=x'],
    ['CN=a\\ ,DC=x', 'CN=a,DC=x'],
  ])('differs for %s and %s', (left, right) => {
    expect(canonicalDn(left)).not.toBe(canonicalDn(right));
  });
});

describe('toValue', () => {
  test('gives one text, a list of several, and bytes that are no text', () => {
    expect(toValue({ name: 'cn', values: [bytes('Jörg')] })).toBe('Jörg');
    expect(toValue({ name: 'mail', values: [bytes('a'), bytes('b')] })).toEqual(['a', 'b']);
    expect(toValue({ name: 'jpegPhoto', values: [Uint8Array.of(255, 216)] })).toEqual(
      Uint8Array.of(255, 216),
    );
    expect(toValue({ name: 'cn', values: [] })).toBeUndefined();
  });

  test('reads objectGUID in the byte order of Windows, whatever its case', () => {
    const guid = Uint8Array.from(Buffer.from('00112233445566778899aabbccddeeff', 'hex'));
    expect(toValue({ name: 'OBJECTguid', values: [guid] })).toBe('33221100-5544-7766-8899-aabbccddeeff');
  });

  test('reads objectSid as people write it, and leaves a broken one alone', () => {
    const sid = Uint8Array.from(
      Buffer.from('010500000000000515000000a065cf7e784b9b5fe77c8770091c0100', 'hex'),
    );
    expect(toValue({ name: 'objectSid', values: [sid] })).toBe(
      'S-1-5-21-2127521184-1604012920-1887927527-72713',
    );
    expect(toValue({ name: 'objectSid', values: [sid.subarray(0, 9)] })).toEqual(sid.subarray(0, 9));
  });
});

describe('isAccountActive', () => {
  test.each([
    ['512', true],
    ['514', false],
    ['66050', false],
    ['66048', true],
    ['-2147483646', false],
    ['what', undefined],
  ])('reads userAccountControl %s as %p', (text, active) => {
    expect(isAccountActive({ name: 'userAccountControl', values: [bytes(text)] })).toBe(active as boolean);
  });

  test('says nothing when the attribute may not be read', () => {
    expect(isAccountActive(undefined)).toBeUndefined();
  });
});

describe('parseFilter', () => {
  test.each(['(', 'cn=a)(uid=*', '(&(a=b)', '(=x)', '', '(cn=\\zz)', '(cn=\\ff)'])(
    'refuses %j by name',
    (text) => {
      expect(() => parseFilter(text)).toThrow(`"${text}" is not an LDAP filter`);
    },
  );

  test('takes escaped letters for the letters they are', () => {
    expect(parseFilter('(cn=J\\c3\\b6rg \\28x\\29)').toString()).toBe('(cn=Jörg \\28x\\29)');
  });
});

describe('NestedGroups', () => {
  test('finds groups through groups, through rings and through several ways once', () => {
    const memberships = new NestedGroups();
    const add = (name: string, members: readonly string[]) => {
      const group = memberships.addGroup(name, `id-${name}`);
      for (const member of members) memberships.addMember(group, member);
    };
    add('inner', ['ann', 'outer']);
    add('middle', ['inner']);
    add('outer', ['middle', 'inner', 'bob']);
    add('other', ['bob']);
    expect(memberships.groupsOf(['ann'], false)).toEqual(['id-inner']);
    expect(memberships.groupsOf(['ann'], true)).toEqual(['id-inner', 'id-middle', 'id-outer']);
    expect(memberships.groupsOf(['bob'], true)).toEqual(['id-inner', 'id-middle', 'id-outer', 'id-other']);
    expect(memberships.groupsOf(['eve'], true)).toEqual([]);
  });

  test('refuses groups that lie in too many groups', () => {
    const memberships = new NestedGroups();
    for (let level = 0; level < 70; level++)
      memberships.addMember(
        memberships.addGroup(`g${level}`, `${level}`),
        level === 0 ? 'ann' : `g${level - 1}`,
      );
    expect(() => memberships.groupsOf(['ann'], true)).toThrow('lies in more than 64 groups');
    expect(memberships.groupsOf(['ann'], false)).toEqual(['0']);
  });

  test('keeps a hundred thousand people with ten groups each', () => {
    const memberships = new NestedGroups();
    for (let at = 0; at < 1_000; at++) memberships.addGroup(`g${at}`, `${at}`);
    for (let at = 0; at < 1_000_000; at++) memberships.addMember(at % 1_000, `uid=u${at % 100_000}`);
    expect(memberships.groupsOf(['uid=u7'], true)).toEqual(['7']);
  });
});
