import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { parseDateTime } from '../../src/resource/date-time.ts';

describe('parseDateTime', () => {
  test.each([
    ['2008-01-23T04:56:22Z', '2008-01-23T04:56:22.000Z'],
    ['2008-01-23T04:56:22', '2008-01-23T04:56:22.000Z'],
    ['2008-01-23T04:56:22.5+02:00', '2008-01-23T02:56:22.500Z'],
    ['2008-01-23T04:56:22.123456-05:30', '2008-01-23T10:26:22.123Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
    ['0099-12-31T23:59:59Z', '0099-12-31T23:59:59.000Z'],
  ])('reads %p', (text, instant) => {
    expect(new Date(parseDateTime(text) ?? Number.NaN).toISOString()).toBe(instant);
  });

  test.each([
    '2008-01-23',
    '2008-01-23 04:56:22Z',
    '2023-02-29T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2008-13-01T00:00:00Z',
    '2008-00-01T00:00:00Z',
    '2008-04-31T00:00:00Z',
    '2008-01-23T24:00:00Z',
    '2008-01-23T04:60:22Z',
    '2008-01-23T04:56:60Z',
    '2008-01-23T04:56:22+14:01',
    '2008-01-23T04:56:22+02:60',
    '2008-01-23T04:56:22z',
    '0000-01-01T00:00:00Z',
    '20080123T045622Z',
    'yesterday',
    '',
  ])('refuses %p', (text) => {
    expect(parseDateTime(text)).toBeUndefined();
  });

  test('reads back what toISOString writes', () => {
    const years = { min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true };
    fc.assert(fc.property(fc.date(years), (date) => parseDateTime(date.toISOString()) === date.getTime()));
  });
});
