import { describe, expect, test } from 'bun:test';
import { parseFilter } from '../../src/resource/filter.ts';
import { readFilter, resolveFilter } from '../../src/resource/filter-resolve.ts';
import { enterpriseUserUrn } from '../../src/resource/schema.ts';
import { groupType, kindOf, refusalOf, userType } from './fixtures.ts';

const resolve = (text: string) => resolveFilter(userType, parseFilter(text));

describe('resolveFilter', () => {
  test('finds attributes without case, with and without the URN of the core schema', () => {
    const long = `${userType.schema.id.toUpperCase()}:NAME.FAMILYNAME eq "x"`;
    expect(resolve(long)).toEqual(resolve('name.familyName eq "x"'));
  });

  test('finds extension attributes behind their URN only', () => {
    expect(resolve(`${enterpriseUserUrn}:department eq "R"`)).toMatchObject({
      target: { attribute: { name: 'department', extension: enterpriseUserUrn } },
    });
    expect(kindOf(() => resolve('department eq "R"'))).toBe('invalidFilter');
  });

  test('takes the value of a complex attribute in a comparison', () => {
    expect(resolve('emails eq "x"')).toEqual(resolve('emails.value eq "x"'));
    expect(resolve(`${enterpriseUserUrn}:manager eq "3"`)).toEqual(
      resolve(`${enterpriseUserUrn}:manager.value eq "3"`),
    );
    expect(refusalOf(() => resolve('name eq "x"'))).toContain('is complex; name one of its sub-attributes');
  });

  test('reads literals by the type of the attribute', () => {
    expect(resolve('active eq "True"')).toMatchObject({ literal: { kind: 'boolean', boolean: true } });
    expect(resolve('active eq false')).toMatchObject({ literal: { kind: 'boolean', boolean: false } });
    expect(resolve('meta.created gt "1970-01-01T01:00:00+01:00"')).toMatchObject({
      literal: { kind: 'dateTime', instant: 0 },
    });
    expect(resolve('userName eq " ÀNN "')).toMatchObject({
      literal: { kind: 'string', text: ' ÀNN ', key: 'ànn' },
    });
    expect(resolve('userName co " ÀNN "')).toMatchObject({ literal: { key: ' ànn ' } });
    expect(resolve('externalId eq "ABC"')).toMatchObject({ literal: { key: 'ABC' } });
  });

  test('turns comparisons with null into presence', () => {
    expect(resolve('title eq null')).toEqual(resolve('not (title pr)'));
    expect(resolve('title ne null')).toEqual(resolve('title pr'));
    expect(kindOf(() => resolve('title gt null'))).toBe('invalidFilter');
  });

  test.each([
    ['nosuch eq "x"', '"nosuch" at character 1 is no attribute of User'],
    ['userName pr and emails.nosuch pr', '"emails.nosuch" at character 17'],
    ['emails[nosuch pr]', 'is no attribute of emails'],
    ['emails[userName pr]', 'is no attribute of emails'],
    ['userName[value pr]', 'has no sub-attributes to filter by'],
    ['password eq "x"', 'is never returned'],
    ['password pr', 'is never returned'],
    ['active gt true', 'is of type boolean, which gt cannot compare'],
    ['x509Certificates.value lt "x"', 'is of type binary'],
    ['meta.created sw "2011"', 'is of type dateTime, which sw cannot compare'],
    ['active eq "yes"', 'not of type boolean'],
    ['userName eq 5', 'not of type string'],
    ['meta.created gt "soon"', 'not of type dateTime'],
    ['toString pr', 'is no attribute'],
    ['__proto__ pr', 'is no attribute'],
    ['urn:nosuch:userName pr', 'is no attribute'],
    [`${enterpriseUserUrn} pr`, 'is no attribute'],
  ])('refuses %p', (text, problem) => {
    const refusal = refusalOf(() => resolve(text));
    expect(refusal).toStartWith('invalidFilter: ');
    expect(refusal).toContain(problem);
  });
});

describe('readFilter', () => {
  test('reports the values that were not quoted', () => {
    const options = { unquotedValues: true };
    expect(readFilter(userType, 'externalId eq jdoe', options).unquotedValues).toEqual(['jdoe']);
    expect(readFilter(userType, 'externalId eq 4711 or externalId eq true', options).unquotedValues).toEqual([
      '4711',
      'true',
    ]);
    expect(readFilter(userType, 'externalId eq "4711"', options).unquotedValues).toEqual([]);
    expect(readFilter(userType, 'active eq true', options).unquotedValues).toEqual([]);
    expect(readFilter(userType, 'externalId eq 4711', options).filter).toEqual(
      resolve('externalId eq "4711"'),
    );
    expect(kindOf(() => readFilter(userType, 'active eq "5"', options))).toBe('invalidFilter');
  });

  test('reports the extension attributes that were named without URN', () => {
    const read = readFilter(userType, 'id eq "u" and manager eq "m"', { bareExtensionNames: true });
    expect(read.bareNames).toEqual(['manager']);
    expect(read.filter).toEqual(resolve(`id eq "u" and ${enterpriseUserUrn}:manager eq "m"`));
  });

  test('takes the three ways to ask for a member as one', () => {
    const [members, value, path] = ['members eq "u"', 'members.value eq "u"', 'members[value eq "u"]'].map(
      (text) => readFilter(groupType, text).filter,
    );
    expect(members).toEqual(value);
    expect(path).toMatchObject({
      kind: 'valuePath',
      attribute: { path: 'members' },
      filter: { target: { leaf: { path: 'members.value' } } },
    });
  });
});
