import { describe, expect, test } from 'bun:test';
import {
  type AttributeDefinition,
  buildResourceType,
  enterpriseUserUrn,
  type ResourceType,
} from '../../src/resource/schema.ts';
import { isArray, isObject, type ScimValue } from '../../src/resource/value.ts';
import { resourceFits, valueFits } from '../../src/scim/repairs/fitting.ts';
import { schemasFit } from '../../src/scim/repairs/schemas.ts';
import { valueRepairs } from '../../src/scim/repairs/value-repair.ts';

const userType = buildResourceType('User');
const groupType = buildResourceType('Group');

const texts: ScimValue[] = ['', 'x', 'True', ' false', '7', '{"value":"x"}', ' [1]', '["x"]', 'a [b] {c}'];
const simple: ScimValue[] = [...texts, null, true, false, 0, 7, -0, 1.5, 1e300];
const parts = ['value', 'VALUE', 'display', 'displayName', 'DisplayName', 'type', 'primary', 'x'];
const objects: ScimValue[] = [{}, ...parts.flatMap((part) => simple.map((value) => ({ [part]: value })))];
const lists: ScimValue[] = [
  [],
  [null],
  ['x'],
  [7],
  ['{"value":"x"}'],
  [['x']],
  ...objects.map((each) => [each]),
];
const values: readonly ScimValue[] = [...simple, ...objects, ...lists, [{ value: 'x' }, { value: 7 }]];

function attributesOf({ attributes, extensionsByUrn }: ResourceType): readonly AttributeDefinition[] {
  const all = [attributes, ...[...extensionsByUrn.values()].map((extension) => extension.attributes)];
  return [...new Set(all.flatMap((each) => [...each.values()]))];
}

/** Whether some repair has something to do, for the value or anything in it; the long way. */
function isMended(attribute: AttributeDefinition, value: ScimValue): boolean {
  if (value === null || value === '') return false;
  if (valueRepairs.some((repair) => repair.mend(attribute, value) !== undefined)) return true;
  if (isArray(value)) {
    const element = { ...attribute, multiValued: false };
    return attribute.multiValued && value.some((each) => !isArray(each) && isMended(element, each));
  }
  if (!isObject(value)) return false;
  return Object.entries(value).some(([name, part]) => {
    const child = attribute.children.get(name) ?? attribute.children.get(name.toLowerCase());
    return child !== undefined && isMended(child, part);
  });
}

describe('what fits', () => {
  test('is never what a repair would mend, for every attribute and many values', () => {
    let fitting = 0;
    for (const attribute of [...attributesOf(userType), ...attributesOf(groupType)]) {
      for (const value of values) {
        if (!valueFits(attribute, value)) continue;
        fitting += 1;
        expect([attribute.path, value, isMended(attribute, value)]).toEqual([attribute.path, value, false]);
      }
    }
    expect(fitting).toBeGreaterThan(500);
  });

  test('is what common identity providers send', () => {
    const user = {
      schemas: [userType.schema.id, enterpriseUserUrn],
      userName: 'ann@example.com',
      active: true,
      name: { givenName: 'Ann', familyName: 'Bo' },
      emails: [{ value: 'ann@example.com', type: 'work', primary: true }],
      groups: [],
      [enterpriseUserUrn]: { department: 'HR', manager: { value: '7' } },
    };
    expect(schemasFit(userType, user) && resourceFits(userType, user)).toBeTrue();
    expect(
      resourceFits(groupType, { displayName: 'A', members: [{ value: '1', display: 'Ann' }] }),
    ).toBeTrue();
  });

  test.each([
    ['a bare name of an extension', { department: 'HR' }],
    ['a URN of nobody', { 'urn:example:x': { a: 1 } }],
    ['a former URN', { 'urn:scim:schemas:extension:enterprise:1.0': { department: 'HR' } }],
    ['an extension that is no object', { [enterpriseUserUrn]: 'x' }],
    ['a manager as text', { [enterpriseUserUrn]: { manager: '7' } }],
    ['a manager in a list', { [enterpriseUserUrn]: { manager: [{ value: '7' }] } }],
    ['a boolean as text', { active: 'False' }],
    ['an address as text', { emails: ['ann@example.com'] }],
  ])('is not %s', (_what, body) => {
    expect(resourceFits(userType, body as never)).toBeFalse();
  });

  test.each([
    ['none', {}],
    ['an empty list', { schemas: [] }],
    ['one that nobody has', { schemas: [userType.schema.id, 'urn:example:x'] }],
    [
      'one in another spelling that comes first',
      { Schemas: ['urn:example:x'], schemas: [userType.schema.id] },
    ],
  ])('is not a body with schemas that are %s', (_what, body) => {
    expect(schemasFit(userType, body as never)).toBeFalse();
  });
});
