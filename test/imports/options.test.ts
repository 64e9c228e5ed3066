import { describe, expect, test } from 'bun:test';
import { effectiveOptions } from '../../src/imports/options.ts';
import { toSourceSettings } from '../../src/sources/source-settings.ts';

const settings = toSourceSettings('general', {});
const read = (file: Readonly<Record<string, string>>, changed = {}) =>
  effectiveOptions(new Map(Object.entries(file)), { ...settings, ...changed });

describe('effectiveOptions', () => {
  test('takes the settings of the source where the file says nothing', () => {
    const changed = {
      syncGroups: false,
      actionDisabledUsers: 'a',
      loginType: '2',
      defaultCulture: 'nb-NO',
    } as const;
    expect(read({}, changed)).toMatchObject({ ...changed, mode: 'full', actionMissingDeletedUsers: 'd' });
  });

  test('lets the file win', () => {
    const file = { syncGroups: 'true', actionDisabledUsers: 'x', mode: 'delta', defaultCompany: '7' };
    expect(read(file, { syncGroups: false, defaultCompany: '9' })).toMatchObject({
      ...file,
      syncGroups: true,
    });
  });

  test.each([
    ['True', true],
    ['1', true],
    ['False', false],
    ['0', false],
  ])('reads %s as %p', (text, value) => {
    expect(read({ syncManagers: text }, { syncManagers: !value }).syncManagers).toBe(value);
  });

  test('never takes a value that it does not know for the dangerous one', () => {
    expect(read({ actionMissingDeletedUsers: 'archive' })).toMatchObject({ actionMissingDeletedUsers: 'd' });
  });
});
