import { describe, expect, test } from 'bun:test';
import { readSourceSettings, toSourceSettings } from '../../src/sources/source-settings.ts';

describe('readSourceSettings', () => {
  test('reads texts as the values they stand for', () => {
    expect(readSourceSettings('scim', { logBodies: 'true', rateLimit: '25', scope: 'own' })).toEqual({
      logBodies: true,
      rateLimit: 25,
      scope: 'own',
    });
    expect(
      readSourceSettings('general', { guardPercent: '0', defaultCompany: '', defaultCulture: 'nb-NO' }),
    ).toEqual({
      guardPercent: 0,
      defaultCompany: '',
      defaultCulture: 'nb-NO',
    });
  });

  test.each(['1', '24', '100001', '-1', '25.5', '1e2', '', 'many'])(
    'never sets a rate limit of %j',
    (text) => {
      expect(() => readSourceSettings('scim', { rateLimit: text })).toThrow('from 25 to 100000, or 0');
    },
  );

  test.each([
    ['scim', 'onMatch', 'Merge'],
    ['scim', 'logBodies', 'yes'],
    ['general', 'actionDisabledUsers', 'D'],
    ['general', 'guardPercent', '101'],
    ['general', 'defaultCompany', '01'],
    ['general', 'loginType', '3'],
  ] as const)('refuses %s %s=%s and says what it takes', (kind, name, text) => {
    expect(() => readSourceSettings(kind, { [name]: text })).toThrow(`The setting ${name} takes `);
  });

  test.each(['guardPercent', 'nothing', '__proto__', 'constructor', 'toString'])(
    'says which settings there are when asked for %s',
    (name) => {
      const assignments = Object.fromEntries([[name, '1']]);
      expect(() => readSourceSettings('scim', assignments)).toThrow(/has no setting .*onMatch, dialect/);
    },
  );
});

describe('toSourceSettings', () => {
  test('fills in the default of what is not stored, and drops what it does not know', () => {
    expect(toSourceSettings('scim', { onMatch: 'return', old: 1 })).toEqual({
      onMatch: 'return',
      dialect: 'compat',
      logBodies: false,
      scope: 'all',
      rateLimit: 100,
      unknownMembers: 'reject',
      brakeLimit: 0,
      brakeAlarm: 50,
    });
  });
});
