import { describe, expect, test } from 'bun:test';
import { evaluateFilter } from '../../src/resource/filter-evaluate.ts';
import { readFilter } from '../../src/resource/filter-resolve.ts';
import { additionalFieldsUrn, enterpriseUserUrn, platformUserUrn } from '../../src/resource/schema.ts';
import { ann, userType } from './fixtures.ts';

const matches = (text: string) => evaluateFilter(readFilter(userType, text).filter, ann);

describe('evaluateFilter', () => {
  test.each([
    'userName eq "ANN@example.org"',
    'userName eq " ann@EXAMPLE.org "',
    'displayName eq "ann a\u030angström"',
    'userName sw "ANN@" and userName ew ".ORG" and userName co "EXAMPLE"',
    'externalId eq "ext-17"',
    'not (externalId eq "EXT-17")',
    'active eq true',
    'active ne false',
    'emails eq "ann@home.example"',
    'emails[type eq "home" and value co "home"]',
    'emails[type eq "HOME"].value eq "ANN@home.example"',
    'emails[primary eq "True"].type eq "work"',
    'emails.type ne "work"',
    'emails[not (primary pr)]',
    'title ne "x"',
    'ims ne "x"',
    'ims[type eq "chat"] or name pr',
    'name.givenName gt "ALF" and name.givenName le "ann"',
    `${enterpriseUserUrn}:manager.value eq "3"`,
    `${enterpriseUserUrn}:employeeNumber eq "0042"`,
    `${platformUserUrn}:name.initials eq "aå"`,
    `${platformUserUrn}:jobStartDate eq "2020-02-01T01:00:00+01:00"`,
    `${platformUserUrn}:jobStartDate ge "2020-02-01T00:00:00.000Z"`,
    `${additionalFieldsUrn}:shoe_size gt 38.5`,
    'schemas eq "urn:ietf:params:scim:schemas:core:2.0:User"',
    'groups.value eq "5"',
    'title eq null',
    'id ne null',
  ])('matches %p', (text) => {
    expect(matches(text)).toBe(true);
  });

  test.each([
    'userName eq "bob"',
    'externalId eq "EXT-17"',
    'active eq false',
    'emails[type eq "home" and value co "example.org"]',
    'emails[type eq "work"].value eq "ann@home.example"',
    'title eq "x"',
    'title gt ""',
    'title pr',
    'ims pr',
    'not (title ne "x")',
    'phoneNumbers.type ne "work"',
    `${enterpriseUserUrn}:employeeNumber eq "42"`,
    `${platformUserUrn}:jobEndDate lt "2030-01-01T00:00:00Z"`,
    `${additionalFieldsUrn}:shoe_size ne 39`,
    `${additionalFieldsUrn}:remote eq true`,
    `${additionalFieldsUrn}:badge pr`,
  ])('does not match %p', (text) => {
    expect(matches(text)).toBe(false);
  });

  test('does not count empty values as present', () => {
    const present = readFilter(userType, 'title pr or emails pr or name pr').filter;
    expect(evaluateFilter(present, { title: '', emails: [], name: {} })).toBe(false);
  });

  test('looks into lists of an extension, and into lists within them', () => {
    const memberships = [{ value: '5', type: 'company' }];
    const user = { [platformUserUrn]: { personas: [{ value: '1', memberships }, { value: '2' }] } };
    const holds = (text: string) =>
      evaluateFilter(readFilter(userType, `${platformUserUrn}:personas${text}`).filter, user);
    expect(holds('[value eq "2"]')).toBe(true);
    expect(holds('[value eq "1" and memberships.type eq "Company"]')).toBe(true);
    expect(holds('[value eq "2" and memberships.type eq "Company"]')).toBe(false);
    expect(holds('[memberships[value eq "5" and type eq "company"]]')).toBe(true);
    expect(holds('.memberships pr')).toBe(true);
  });
});
