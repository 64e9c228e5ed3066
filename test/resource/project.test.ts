import { describe, expect, test } from 'bun:test';
import { buildProjection, readAttributeNames } from '../../src/resource/project.ts';
import {
  additionalFieldsUrn,
  coreUserUrn,
  enterpriseUserUrn,
  platformUserUrn,
} from '../../src/resource/schema.ts';
import { ann, groupType, userType } from './fixtures.ts';

const always = { schemas: ann.schemas ?? null, id: '17' };
const only = (...attributes: string[]) => buildProjection(userType, { attributes }).apply(ann);
const without = (...excludedAttributes: string[]) =>
  buildProjection(userType, { excludedAttributes }).apply(ann);

describe('buildProjection', () => {
  test('shows everything but what is never returned by default', () => {
    const projection = buildProjection(userType);
    expect(projection.isDefault).toBe(true);
    expect(projection.apply({ ...ann, password: 'x', nosuch: 1 })).toEqual(ann);
  });

  test('shows what attributes names, and always schemas and id', () => {
    expect(only('userName')).toEqual({ ...always, userName: 'ann@example.org' });
    expect(only('USERNAME', 'name.givenName')).toEqual({
      ...always,
      userName: 'ann@example.org',
      name: { givenName: 'Ann' },
    });
    expect(only('emails.value')).toEqual({
      ...always,
      emails: [{ value: 'ann@example.org' }, { value: 'ann@home.example' }],
    });
    expect(only(`${coreUserUrn}:displayName`)).toEqual({ ...always, displayName: 'Ann Ångström' });
    expect(only(`${enterpriseUserUrn}:manager.value`)).toEqual({
      ...always,
      [enterpriseUserUrn]: { manager: { value: '3' } },
    });
    expect(only(additionalFieldsUrn.toUpperCase())).toEqual({
      ...always,
      [additionalFieldsUrn]: { shoe_size: 39 },
    });
    expect(only('department')).toEqual({ ...always, [enterpriseUserUrn]: { department: 'Research' } });
    expect(only('name.givenName', 'name')).toEqual(only('name'));
    expect(only('name', 'name.givenName')).toEqual(only('name'));
    expect(only('title')).toEqual(always);
    expect(only('emails.display')).toEqual(always);
  });

  test('shows all core attributes for the URN of the core schema', () => {
    expect(Object.keys(only(coreUserUrn))).not.toContain(platformUserUrn);
    expect(only(coreUserUrn)).toMatchObject({ name: { givenName: 'Ann' }, active: true });
  });

  test('leaves out what excludedAttributes names, but never schemas and id', () => {
    const { emails: _emails, displayName: _displayName, [enterpriseUserUrn]: _enterprise, ...rest } = ann;
    expect(without('emails', 'DisplayName', enterpriseUserUrn, 'id', 'schemas')).toEqual(rest);
    expect(without('emails.type').emails).toEqual([
      { value: 'ann@example.org', primary: true },
      { value: 'ann@home.example' },
    ]);
  });

  test('takes the excluded out of the named', () => {
    const projection = buildProjection(userType, {
      attributes: ['name', 'title'],
      excludedAttributes: ['name.givenName'],
    });
    expect(projection.apply(ann)).toEqual({ ...always, name: { familyName: 'Ångström' } });
  });

  test('never shows a password, not even when it is named', () => {
    const projection = buildProjection(userType, { attributes: ['password', 'userName'] });
    expect(projection.apply({ ...ann, password: 'x' })).not.toHaveProperty('password');
    expect(projection.shows('password')).toBe(false);
  });

  test('ignores and lists unknown names', () => {
    const projection = buildProjection(userType, {
      attributes: ['nosuch', 'a b', 'emails[type pr]', 'toString', '__proto__'],
    });
    expect(projection.unknown).toEqual(['nosuch', 'a b', 'emails[type pr]', 'toString', '__proto__']);
    expect(projection.apply(ann)).toEqual(always);
  });

  test('shows the members of listed groups only when they are named', () => {
    const group = { schemas: [], id: '1', displayName: 'A', members: [{ value: '1' }] };
    const list = buildProjection(groupType, { onlyWhenNamed: ['members'] });
    expect(list.shows('members')).toBe(false);
    expect(list.apply(group)).not.toHaveProperty('members');
    const named = buildProjection(groupType, { onlyWhenNamed: ['members'], attributes: ['members.value'] });
    expect(named.shows('MEMBERS')).toBe(true);
    expect(named.apply(group)).toEqual({ schemas: [], id: '1', members: [{ value: '1' }] });
    expect(buildProjection(groupType).shows('members')).toBe(true);
    expect(buildProjection(groupType, { excludedAttributes: ['members'] }).shows('members')).toBe(false);
  });
});

describe('readAttributeNames', () => {
  test('splits at commas and drops blanks and empty names', () => {
    expect(readAttributeNames(' userName , name.givenName,,')).toEqual(['userName', 'name.givenName']);
    expect(readAttributeNames(' , ')).toBeUndefined();
    expect(readAttributeNames(undefined)).toBeUndefined();
  });
});
