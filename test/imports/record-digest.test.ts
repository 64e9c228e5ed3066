import { describe, expect, test } from 'bun:test';
import { effectiveOptions } from '../../src/imports/options.ts';
import { contentDigest, digestContext, recordDigest } from '../../src/imports/record-digest.ts';
import { buildResourceType } from '../../src/resource/schema.ts';
import type { Configuration } from '../../src/settings/configuration.ts';
import { toSourceSettings } from '../../src/sources/source-settings.ts';
import type { UserRecord } from '../../src/xml/records.ts';

const record: UserRecord = {
  line: 5,
  id: 'a',
  username: 'anna',
  leaves: { firstname: { value: 'Anna', applyBlank: false } },
  phones: [],
  ims: [],
  addresses: [],
  additionalfields: [],
};
const references = { units: { company: 'ACME' }, groups: ['security group:VPN'] };
const plain = recordDigest('context', contentDigest(record), references);

describe('recordDigest', () => {
  test('has 128 bits and does not depend on the line or the password', () => {
    expect(plain).toMatch(/^[0-9a-f]{32}$/);
    const password = { value: 'secret', applyBlank: false };
    const same = { ...record, line: 9, leaves: { ...record.leaves, password } };
    expect(recordDigest('context', contentDigest(same), references)).toBe(plain);
  });

  const changes: readonly (readonly [string, Partial<UserRecord>, object])[] = [
    ['a value', { leaves: { firstname: { value: 'Ann', applyBlank: false } } }, {}],
    ['applyBlank', { leaves: { firstname: { value: 'Anna', applyBlank: true } } }, {}],
    ['the username', { username: 'ann' }, {}],
    ['a phone', { phones: [{ type: 'work', value: '1', applyBlank: false }] }, {}],
    ['the name behind a reference', {}, { units: { company: 'Other' } }],
    ['a membership', {}, { groups: [] }],
    ['no word on memberships', {}, { groups: undefined }],
  ];
  test.each(changes)('changes with %s', (_what, parts, other) => {
    const content = contentDigest({ ...record, ...parts });
    expect(recordDigest('context', content, { ...references, ...other })).not.toBe(plain);
  });

  test('changes with the context', () => {
    expect(recordDigest('other', contentDigest(record), references)).not.toBe(plain);
  });
});

describe('digestContext', () => {
  const settings = toSourceSettings('general', {});
  const options = effectiveOptions(new Map(), settings);
  const configuration = {
    userType: buildResourceType('User'),
    fieldPatterns: new Map(),
  } as unknown as Configuration;

  test('depends on the options that concern records, and on no others', () => {
    const context = digestContext(options, configuration, {});
    expect(
      digestContext({ ...options, mode: 'delta', actionMissingDeletedUsers: 'a' }, configuration, {}),
    ).toBe(context);
    expect(digestContext({ ...options, syncManagers: false }, configuration, {})).not.toBe(context);
    expect(digestContext(options, configuration, { company: 'ACME' })).not.toBe(context);
  });
});
