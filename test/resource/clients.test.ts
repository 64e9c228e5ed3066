import { describe, expect, test } from 'bun:test';
import { evaluateFilter } from '../../src/resource/filter-evaluate.ts';
import { readFilter } from '../../src/resource/filter-resolve.ts';
import { readJson } from '../../src/resource/json.ts';
import { mergeResource, replaceResource } from '../../src/resource/merge.ts';
import { normaliseResource } from '../../src/resource/normalise.ts';
import { applyPatch, type PatchOptions } from '../../src/resource/patch.ts';
import { expandKeys } from '../../src/resource/patch-keys.ts';
import { splitMembers } from '../../src/resource/patch-members.ts';
import { patchOpUrn, readPatchOp } from '../../src/resource/patch-operation.ts';
import { coreUserUrn, enterpriseUserUrn } from '../../src/resource/schema.ts';
import type { ScimObject } from '../../src/resource/value.ts';
import { ann, groupType, kindOf, userType, utf8 } from './fixtures.ts';

/** The rows of idp-clients.md that concern the pure model; the repairs have their own matrix. */
const compat: PatchOptions = { createForValuePath: true, bareExtensionNames: true };

function readBody(json: string) {
  return readPatchOp(readJson(utf8(`{"schemas":["${patchOpUrn}"],${json}}`)), { removeWithValue: true });
}

function patchAnn(json: string): ScimObject {
  return applyPatch(userType, ann, readBody(`"Operations":[${json}]`), compat).resource;
}

function findsAnn(text: string, user: ScimObject = ann): boolean {
  const options = { unquotedValues: true, bareExtensionNames: true };
  return evaluateFilter(readFilter(userType, text, options).filter, user);
}

describe('Microsoft Entra ID', () => {
  test('E1: capitalised op names', () => {
    expect(patchAnn('{"op":"Replace","path":"displayName","value":"Ann"}').displayName).toBe('Ann');
  });

  test('E2: booleans as texts are refused here, so that only the repair lets them in', () => {
    expect(kindOf(() => patchAnn('{"op":"Replace","path":"active","value":"False"}'))).toBe('invalidValue');
  });

  test.each(['emails', 'phoneNumbers', 'ims', 'roles'])(
    'E3: a value path on an element of %s that is not there',
    (name) => {
      const user = patchAnn(`{"op":"Add","path":"${name}[type eq \\"fax\\"].value","value":"v"}`);
      expect(user[name]).toContainEqual({ type: 'fax', value: 'v' });
    },
  );

  test('E3: two sub-attributes of one address', () => {
    const [street, city] = ['streetAddress', 'locality'].map(
      (name) => `{"op":"Add","path":"addresses[type eq \\"home\\"].${name}","value":"${name}"}`,
    );
    expect(patchAnn(`${street},${city}`).addresses).toContainEqual({
      type: 'home',
      streetAddress: 'streetAddress',
      locality: 'locality',
    });
  });

  test('E4: a manager is removed by an empty text', () => {
    const user = patchAnn(`{"op":"Add","path":"${enterpriseUserUrn}:manager","value":""}`);
    expect(user[enterpriseUserUrn]).toEqual({ department: 'Research', employeeNumber: '0042' });
  });

  test('E5: extension paths, bare names and keys at the root', () => {
    const [full, bare, root] = [
      `{"op":"Replace","path":"${enterpriseUserUrn}:department","value":"HR"}`,
      '{"op":"Replace","path":"department","value":"HR"}',
      '{"op":"Replace","value":{"department":"HR"}}',
    ].map(patchAnn);
    expect(full).toMatchObject({ [enterpriseUserUrn]: { department: 'HR', manager: { value: '3' } } });
    expect(bare).toEqual(full ?? {});
    expect(root).toEqual(full ?? {});
  });

  test('E6: members removed by a list of values, with $ref null', () => {
    const operations = readBody(
      '"Operations":[{"op":"Remove","path":"members","value":[{"value":"7","$ref":null}]}]',
    );
    expect(splitMembers(groupType, operations)).toEqual([
      { kind: 'members', action: 'remove', values: ['7'] },
    ]);
  });

  test('E8: a filter that compares a boolean with a text', () => {
    const user = patchAnn('{"op":"Add","path":"roles[primary eq \\"True\\"].value","value":"admin"}');
    expect(user.roles).toEqual([{ primary: true, value: 'admin' }]);
  });

  test('E9: nulls, empty lists, meta and unknown schemas in a creation', () => {
    const body = {
      schemas: [coreUserUrn, 'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/User'],
      ...{
        userName: 'a',
        roles: [],
        title: null,
        meta: { resourceType: 'User' },
        emails: [{ type: 'work', value: null }],
      },
    };
    expect(normaliseResource(userType, body, 'create')).toEqual({
      resource: { schemas: [coreUserUrn], userName: 'a' },
      ignored: [],
    });
  });

  test.each([
    'userName eq "ANN@example.org"',
    'externalId eq ext-17',
    'emails[type eq "work"].value eq "ann@example.org"',
  ])('E11: the matching query %p', (filter) => {
    expect(findsAnn(filter)).toBe(true);
    expect(findsAnn(filter, { userName: 'bob' })).toBe(false);
  });

  test('E13: a reference check of the manager', () => {
    expect(findsAnn('id eq "17" and manager eq "3"')).toBe(true);
    expect(findsAnn('id eq "17" and manager eq "4"')).toBe(false);
  });

  test('E19: values are kept as they were sent', () => {
    const value = ' Åsa\u00a0 A\u030a ';
    expect(patchAnn(`{"op":"Add","path":"title","value":${JSON.stringify(value)}}`).title).toBe(value);
  });

  test('E22: a lower-case operations key', () => {
    expect(readBody('"operations":[{"op":"remove","path":"title"}]')).toHaveLength(1);
  });

  test('aadOptscim062020: dotted keys, URN keys and members by filter', () => {
    const value = { displayName: 'A', 'name.givenName': 'B', [`${enterpriseUserUrn}:department`]: 'HR' };
    const { operations } = expandKeys(userType, { op: 'replace', value });
    expect(applyPatch(userType, ann, operations).resource).toMatchObject({
      displayName: 'A',
      name: { givenName: 'B', familyName: 'Ångström' },
      [enterpriseUserUrn]: { department: 'HR' },
    });
    expect(splitMembers(groupType, [{ op: 'remove', path: 'members[value eq "7"]' }])).toMatchObject([
      { action: 'remove', values: ['7'] },
    ]);
  });
});

describe('Okta', () => {
  test('O3: a creation with password, empty groups and locale', () => {
    const body = {
      userName: 'a',
      password: 'p',
      groups: [],
      locale: 'en-US',
      externalId: '00u1',
      active: true,
    };
    const { resource } = normaliseResource(userType, body, 'create');
    expect(resource).toMatchObject({ password: 'p', locale: 'en-US', externalId: '00u1' });
    expect(resource).not.toHaveProperty('groups');
  });

  test('O4: the whole object put back, read-only parts included, without active', () => {
    const inactive = { ...ann, active: false };
    const { active: _active, ...echo } = { ...inactive, meta: { version: 'W/"1"' }, displayName: 'New' };
    const { resource } = normaliseResource(userType, echo, 'replace');
    expect(replaceResource(userType, inactive, resource)).toEqual({ ...inactive, displayName: 'New' });
  });

  test('O5: a path-less deactivation', () => {
    expect(patchAnn('{"op":"replace","value":{"active":false}}')).toEqual({ ...ann, active: false });
  });

  test('O7: a repeated creation blanks nothing', () => {
    const { resource } = normaliseResource(userType, { userName: 'ann@example.org', emails: [] }, 'create');
    expect(mergeResource(userType, ann, resource)).toEqual(ann);
  });

  test('O8: a rename that echoes the id', () => {
    const group = { schemas: [], id: '9', displayName: 'Old' };
    const rename = (id: string) =>
      applyPatch(groupType, group, [{ op: 'replace', value: { id, displayName: 'New' } }]);
    expect(rename('9').resource.displayName).toBe('New');
    expect(kindOf(() => rename('10'))).toBe('mutability');
  });

  test('O9, O10, O11: members added, removed by filter and replaced by nothing', () => {
    const operations = readBody(
      '"Operations":[{"op":"add","path":"members","value":[{"value":"1","display":"a@x.org"}]},' +
        '{"op":"remove","path":"members[value eq \\"2\\"]"},{"op":"replace","path":"members","value":[]}]',
    );
    expect(splitMembers(groupType, operations)).toMatchObject([
      { action: 'add', values: ['1'] },
      { action: 'remove', values: ['2'] },
      { action: 'replace', values: [] },
    ]);
  });
});

describe('Ping, JumpCloud and everybody', () => {
  test('a multi-valued complex attribute in a comparison means its value', () => {
    expect(findsAnn('emails eq "ann@home.example"')).toBe(true);
  });

  test('an add of an existing value and a remove of a missing one change nothing', () => {
    const add = '{"op":"add","path":"phoneNumbers","value":[{"value":"+43 1 234","type":"work"}]}';
    expect(patchAnn(`${add},${add},{"op":"remove","path":"ims[value eq \\"x\\"]"}`)).toEqual(ann);
  });

  test('empty Operations, unknown ops and unknown paths are refused', () => {
    expect(kindOf(() => readBody('"Operations":[]'))).toBe('invalidSyntax');
    expect(kindOf(() => readBody('"Operations":[{"op":"move","path":"title"}]'))).toBe('invalidSyntax');
    expect(kindOf(() => patchAnn('{"op":"replace","path":"salary","value":1}'))).toBe('invalidPath');
  });

  test('an id in a creation is not taken over', () => {
    expect(normaliseResource(userType, { id: '1', userName: 'a' }, 'create').resource).not.toHaveProperty(
      'id',
    );
  });
});
