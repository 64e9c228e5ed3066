import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { canonicalKey } from '../../src/resource/canonical-key.ts';
import { parseDateTime } from '../../src/resource/date-time.ts';
import { foldDocument } from '../../src/resource/folded-document.ts';
import type { ScimObject } from '../../src/resource/value.ts';

const fold = (document: ScimObject, shownName = 'ann') => foldDocument(document, shownName);

describe('foldDocument', () => {
  test('says nothing of what lower case alone folds', () => {
    expect(
      fold({ title: 'Boss of HR', age: 7, emails: [{ value: 'A@X.org', primary: true }] }),
    ).toBeUndefined();
    expect(fold({ title: 'José', nick: 'zoë' })).toBeUndefined();
  });

  test('gives the keys of texts beyond ASCII in their places', () => {
    const document = { title: 'ÉCOLE', name: { givenName: 'Ann', familyName: 'Straße' } };
    expect(fold(document)).toEqual({ title: 'école', name: { familyName: 'strasse' } });
  });

  test('keeps the places of elements in lists', () => {
    expect(fold({ roles: [{ value: 'a' }, { value: 'Ä' }] })).toEqual({ roles: [null, { value: 'ä' }] });
  });

  test.each([' x', 'x ', '\tx', 'x\n', 'x\u000b', '\u00a0x'])('trims %j', (text) => {
    expect(fold({ title: text })).toEqual({ title: 'x' });
  });

  test('gives the instants of dateTimes', () => {
    const since = '2024-02-29T12:00:00+02:00';
    expect(fold({ since })).toEqual({ 'since@': Date.parse(since) });
    expect(fold({ since: '2024-02-30T12:00:00Z' })).toBeUndefined();
  });

  test('gives the key of the name by which the resource is shown', () => {
    expect(fold({ title: 'x' }, 'ÉVA')).toEqual({ '@': 'éva' });
    expect(fold({ title: 'É' }, 'Eva')).toEqual({ title: 'é' });
  });

  test('with the lower case of what it leaves out gives every key and instant', () => {
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string(),
      fc.constantFrom(' a', '2024-01-01T00:00:00Z', '2024-01-01T00:00:00.5+14:00', 'a"', '"', '\\'),
    );
    const lower = (text: string) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
    fc.assert(
      fc.property(texts, texts, (one, two) => {
        const folded = fold({ one, list: [{ two }, { two: one }] }) as
          | { one?: string; 'one@'?: number; list?: ({ two?: string } | null)[] }
          | undefined;
        expect(lower(folded?.one ?? one)).toBe(canonicalKey(one));
        expect(lower(folded?.list?.[0]?.two ?? two)).toBe(canonicalKey(two));
        expect(lower(folded?.list?.[1]?.two ?? one)).toBe(canonicalKey(one));
        expect(folded?.['one@']).toBe(parseDateTime(one) as number);
      }),
      { numRuns: 1000 },
    );
  });
});
