import { describe, expect, test } from 'bun:test';
import { applyProfileChange, changedNames, type ProfileChange } from '../../src/imports/profile-change.ts';
import type { ScimObject } from '../../src/resource/value.ts';

const change = (parts: Partial<ProfileChange>): ProfileChange => ({
  set: {},
  clear: [],
  defaults: {},
  ...parts,
});
const work = { type: 'work', value: 'w@example.com', primary: true };
const home = { type: 'home', value: 'h@example.com' };

function apply(before: ScimObject, parts: Partial<ProfileChange>, state?: 'active' | 'inactive') {
  return applyProfileChange(before, change(parts), state);
}

describe('applyProfileChange', () => {
  test('sets what is said and leaves the rest, down to sub-attributes', () => {
    const before = { name: { givenName: 'A', familyName: 'B' }, title: 'T', active: true };
    expect(apply(before, { set: { name: { givenName: 'C' } } })).toEqual({
      ...before,
      name: { givenName: 'C', familyName: 'B' },
    });
  });

  test('clears attributes, sub-attributes, extensions that become empty, and types of lists', () => {
    const before = { title: 'T', name: { givenName: 'A' }, 'urn:x': { bio: 'b' }, emails: [work, home] };
    const clear = [['title'], ['name', 'givenName'], ['urn:x', 'bio'], ['emails', 'home'], ['nickName']];
    expect(apply(before, { clear })).toEqual({ emails: [work] });
  });

  test('replaces in a list only elements of the types that are given', () => {
    const next = { type: 'work', value: 'new@example.com', primary: true };
    expect(apply({ emails: [work, home] }, { set: { emails: [next] } })).toEqual({ emails: [next, home] });
  });

  test('leaves one primary element, the one that is given', () => {
    const before = { emails: [{ ...home, primary: true }] };
    expect(apply(before, { set: { emails: [work] } })).toEqual({ emails: [home, work] });
  });

  test('keeps what else is known of an element with the same value', () => {
    const before = { phoneNumbers: [{ type: 'work', value: '1', display: 'Desk' }] };
    expect(apply(before, { set: { phoneNumbers: [{ type: 'work', value: '1' }] } })).toEqual(before);
  });

  test('merges an address part by part, and takes out single parts', () => {
    const before = { addresses: [{ type: 'work', locality: 'Oslo', region: 'East' }] };
    const next = apply(before, {
      set: { addresses: [{ type: 'work', streetAddress: 'S 1' }] },
      clear: [['addresses', 'work', 'region']],
    });
    expect(next).toEqual({ addresses: [{ type: 'work', locality: 'Oslo', streetAddress: 'S 1' }] });
  });

  test('drops an address of which no part is left', () => {
    const before = { addresses: [{ type: 'home', locality: 'Oslo' }] };
    expect(apply(before, { clear: [['addresses', 'home', 'locality']] })).toEqual({});
  });

  test('gives defaults only where nothing is', () => {
    const defaults = { preferredLanguage: 'en', 'urn:x': { company: 'ACME', location: 'Oslo' } };
    expect(apply({ 'urn:x': { location: 'Cork' } }, { defaults })).toEqual({
      preferredLanguage: 'en',
      'urn:x': { company: 'ACME', location: 'Cork' },
    });
  });

  test('sets names and state when they are said', () => {
    expect(apply({ userName: 'a', active: true }, { userName: 'b', externalId: '7' }, 'inactive')).toEqual({
      userName: 'b',
      externalId: '7',
      active: false,
    });
  });

  test('applied twice changes nothing more', () => {
    const parts = {
      set: { emails: [work], title: 'T' },
      clear: [['emails', 'home']],
      defaults: { locale: 'en' },
    };
    const once = apply({ emails: [home, { ...work, value: 'x@example.com' }] }, parts);
    expect(apply(once, parts)).toEqual(once);
  });
});

describe('changedNames', () => {
  test('names attributes, and those of extensions one by one', () => {
    const before = { title: 'a', 'urn:x': { bio: 'b', pronouns: 'p' }, same: [1] };
    expect(
      changedNames(before, { title: 'c', 'urn:x': { pronouns: 'q' }, same: [1], nickName: 'n' }),
    ).toEqual(['title', 'bio', 'pronouns', 'nickName']);
  });
});
