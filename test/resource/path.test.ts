import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { parsePath, pathCharactersMax, printPath, resolvePath } from '../../src/resource/path.ts';
import { enterpriseUserUrn, platformUserUrn } from '../../src/resource/schema.ts';
import { groupType, kindOf, refusalOf, strayError, userType } from './fixtures.ts';

/** The path of what was found, with a mark for a filter; short enough for a table. */
function found(text: string, options = {}): string {
  const target = resolvePath(userType, text, options);
  if (target.kind === 'resource') return 'resource';
  if (target.kind === 'extension') return `extension ${target.extension.schema.name}`;
  return `${(target.subAttribute ?? target.attribute).path}${target.filter === undefined ? '' : ' filtered'}`;
}

describe('resolvePath', () => {
  // RFC 7644 §3.5.2, Figure 7 and its examples, and the paths of the clients.
  test.each([
    ['userName', 'userName'],
    ['USERNAME', 'userName'],
    ['name.familyName', 'name.familyName'],
    ['Name.FamilyName', 'name.familyName'],
    ['addresses[type eq "work"]', 'addresses filtered'],
    ['addresses[type eq "work"].streetAddress', 'addresses.streetAddress filtered'],
    ['emails[type eq "work" and value ew "example.com"]', 'emails filtered'],
    ['emails[not (type pr) or primary eq true].VALUE', 'emails.value filtered'],
    ['emails.value', 'emails.value'],
    ['urn:ietf:params:scim:schemas:core:2.0:User:name.givenName', 'name.givenName'],
    ['urn:ietf:params:scim:schemas:core:2.0:User:emails[type eq "work"].value', 'emails.value filtered'],
    ['urn:ietf:params:scim:schemas:core:2.0:User', 'resource'],
    [enterpriseUserUrn, 'extension EnterpriseUser'],
    [enterpriseUserUrn.toUpperCase(), 'extension EnterpriseUser'],
    [`${enterpriseUserUrn}:department`, `${enterpriseUserUrn}:department`],
    [`${enterpriseUserUrn}:manager.value`, `${enterpriseUserUrn}:manager.value`],
    [`${platformUserUrn}:name.initials`, `${platformUserUrn}:name.initials`],
    [`${platformUserUrn}:personas[value eq "1"].display`, `${platformUserUrn}:personas.display filtered`],
    ['roles[primary eq "True"].value', 'roles.value filtered'],
    ['meta.version', 'meta.version'],
    ['x509certificates', 'x509Certificates'],
  ])('finds %p', (path, expected) => {
    expect(found(path)).toBe(expected);
  });

  test('takes the bare name of an extension attribute only when asked to', () => {
    expect(kindOf(() => resolvePath(userType, 'department'))).toBe('invalidPath');
    const target = resolvePath(userType, 'Department', { bareExtensionNames: true });
    expect(target).toMatchObject({ kind: 'attribute', bare: true, attribute: { name: 'department' } });
    expect(found('manager.value', { bareExtensionNames: true })).toBe(`${enterpriseUserUrn}:manager.value`);
  });

  test.each([
    ['nosuch', '"nosuch" is no attribute of User'],
    ['name.nosuch', '"name.nosuch" is no attribute of User'],
    ['emails[type eq "work"].nosuch', '"nosuch" is no sub-attribute of emails'],
    ['members', 'is no attribute of User'],
    ['userName[value eq "x"]', 'is not a list of complex values'],
    ['name[givenName eq "x"]', 'is not a list of complex values'],
    ['emails.value[type eq "x"]', 'emails.value is not a list'],
    [`${enterpriseUserUrn}[department eq "x"]`, 'a schema cannot be filtered'],
    [`${enterpriseUserUrn}:nosuch`, 'is no attribute of User'],
    ['emails[type eq "work"', 'at its end: "]" is missing'],
    ['emails[type eq "work"]value', 'at character 23, near "value": the path should end here'],
    ['emails[type eq "work"].', 'at its end: a sub-attribute name is expected'],
    ['emails[type eq "work"].value.x', 'at character 29'],
    ['emails[0]', 'at character 8'],
    ['emails.', 'at character 1'],
    ['.value', 'at character 1'],
    ['/emails', 'at character 1'],
    ['a b', 'at character 2'],
    ['', 'at its end'],
    ['__proto__', 'is no attribute name'],
    ['__proto__.polluted', 'is no attribute name'],
    ['constructor.prototype', 'is no attribute of User'],
    ['name.constructor', 'is no attribute of User'],
    ['name.__proto__', 'is no attribute name'],
    ['toString', 'is no attribute of User'],
    [`${enterpriseUserUrn}:__proto__`, 'is no attribute name'],
    ['emails[value pr].__proto__', 'a sub-attribute name is expected'],
  ])('refuses %p', (path, problem) => {
    const refusal = refusalOf(() => resolvePath(userType, path));
    expect(refusal).toStartWith('invalidPath: ');
    expect(refusal).toContain(problem);
  });

  test('refuses a filter that names what the elements do not have', () => {
    expect(refusalOf(() => resolvePath(userType, 'emails[nosuch eq "x"]'))).toContain('invalidFilter: ');
    expect(kindOf(() => resolvePath(groupType, 'members[value gt true]'))).toBe('invalidFilter');
  });
});

describe('parsePath', () => {
  test('keeps its bounds on length and depth', () => {
    expect(parsePath('a'.repeat(pathCharactersMax)).attribute.name).toHaveLength(pathCharactersMax);
    expect(kindOf(() => parsePath('a'.repeat(pathCharactersMax + 1)))).toBe('invalidPath');
    expect(parsePath('a[(((b pr)))]').attribute.name).toBe('a');
    expect(refusalOf(() => parsePath('a[((((b pr))))]'))).toContain('deeper than 4 levels');
  });

  test('gives a path or a refusal for any text', () => {
    const parts = ['a', 'emails', '[', ']', '.', ' ', '"', 'eq', '"x"', ':', 'urn:a:b', '(', ')', '\\', '\0'];
    const fragments = fc.array(fc.constantFrom(...parts), { maxLength: 20 }).map((each) => each.join(''));
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fragments), (text) => {
        expect(strayError(() => resolvePath(userType, text))).toBeUndefined();
      }),
      { numRuns: 2000 },
    );
  });
});

describe('printPath', () => {
  test.each([
    'userName',
    'name.givenName',
    'emails[type eq "work"].value',
    'a[(x pr or y pr) and z eq 1]',
    `${enterpriseUserUrn}:manager`,
  ])('writes %p as it was read', (text) => {
    expect(printPath(parsePath(text))).toBe(text);
  });
});
