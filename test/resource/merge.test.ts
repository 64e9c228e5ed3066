import { describe, expect, test } from 'bun:test';
import { mergeResource, replaceResource } from '../../src/resource/merge.ts';
import { normaliseResource } from '../../src/resource/normalise.ts';
import {
  additionalFieldsUrn,
  coreUserUrn,
  enterpriseUserUrn,
  platformUserUrn,
} from '../../src/resource/schema.ts';
import { equalResources } from '../../src/resource/value.ts';
import { ann, userType } from './fixtures.ts';

const normalise = (body: object) =>
  normaliseResource(userType, { userName: 'ann@example.org', ...body }, 'create').resource;

describe('mergeResource', () => {
  const merge = (body: object) => mergeResource(userType, ann, normalise(body));

  test('blanks nothing that the body leaves out or leaves empty', () => {
    expect(equalResources(merge({ displayName: '', emails: [], title: null, password: 'x' }), ann)).toBe(
      true,
    );
  });

  test('merges complex values and extensions, and replaces lists', () => {
    const merged = merge({
      name: { givenName: 'B' },
      emails: [{ value: 'b@x.org' }],
      active: false,
      [enterpriseUserUrn]: { department: 'HR', manager: { value: '4' } },
      [platformUserUrn]: { name: { title: 'Ms' } },
    });
    expect(merged).toEqual({
      ...ann,
      name: { givenName: 'B', familyName: 'Ångström' },
      emails: [{ value: 'b@x.org' }],
      active: false,
      [enterpriseUserUrn]: { department: 'HR', employeeNumber: '0042', manager: { value: '4' } },
      [platformUserUrn]: { ...Object(ann[platformUserUrn]), name: { title: 'Ms', initials: 'AÅ' } },
    });
  });

  test('changes nothing when the same body comes twice', () => {
    const body = { name: { givenName: 'B' }, roles: [{ value: 'x' }], [additionalFieldsUrn]: { badge: 'B' } };
    const once = merge(body);
    expect(equalResources(mergeResource(userType, once, normalise(body)), once)).toBe(true);
  });
});

describe('replaceResource', () => {
  const replace = (body: object) => replaceResource(userType, ann, normalise(body));

  test('wipes what the body leaves out, but for what is readOnly and active', () => {
    expect(replace({})).toEqual({
      schemas: [coreUserUrn],
      id: '17',
      userName: 'ann@example.org',
      active: true,
      groups: ann.groups ?? null,
    });
  });

  test('never activates by silence', () => {
    const inactive = { ...ann, active: false };
    expect(replaceResource(userType, inactive, normalise({})).active).toBe(false);
    expect(replaceResource(userType, inactive, normalise({ active: true })).active).toBe(true);
  });

  test('replaces complex values and extensions as a whole', () => {
    const replaced = replace({ name: { givenName: 'B' }, [enterpriseUserUrn]: { division: 'D' } });
    expect(replaced.name).toEqual({ givenName: 'B' });
    expect(replaced[enterpriseUserUrn]).toEqual({ division: 'D' });
    expect(replaced.schemas).toEqual([coreUserUrn, enterpriseUserUrn]);
  });

  test('keeps readOnly attributes of an extension', () => {
    const personas = [{ value: '1', display: 'All' }];
    const current = { ...ann, [platformUserUrn]: { bio: 'x', personas } };
    expect(replaceResource(userType, current, normalise({}))[platformUserUrn]).toEqual({ personas });
    const body = normalise({ [platformUserUrn]: { bio: 'y' } });
    expect(replaceResource(userType, current, body)[platformUserUrn]).toEqual({ bio: 'y', personas });
  });

  test('drops the password', () => {
    expect(replace({ password: 'x' })).not.toHaveProperty('password');
  });

  test('changes nothing when the resource comes back as it was read', () => {
    expect(equalResources(replaceResource(userType, ann, normalise(ann)), ann)).toBe(true);
  });
});
