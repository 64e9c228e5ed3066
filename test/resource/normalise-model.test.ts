import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { evaluateFilter } from '../../src/resource/filter-evaluate.ts';
import { readFilter } from '../../src/resource/filter-resolve.ts';
import { mergeResource, replaceResource } from '../../src/resource/merge.ts';
import { normaliseResource } from '../../src/resource/normalise.ts';
import { buildProjection } from '../../src/resource/project.ts';
import { enterpriseUserUrn, platformUserUrn } from '../../src/resource/schema.ts';
import { equalResources } from '../../src/resource/value.ts';
import { ann, strayError, userType } from './fixtures.ts';

const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constant(null));
const element = fc.record(
  { value: text, type: text, primary: fc.boolean(), x: fc.anything() },
  { requiredKeys: [] },
);
const bodies = fc.record(
  {
    ...{
      userName: fc.string({ minLength: 1 }),
      TITLE: text,
      active: fc.boolean(),
      id: text,
      groups: fc.jsonValue(),
    },
    name: fc.record({ givenName: text, FamilyName: text }, { requiredKeys: [] }),
    emails: fc.array(element, { maxLength: 3 }),
    [enterpriseUserUrn]: fc.record(
      { department: text, manager: fc.record({ value: text, displayName: text }) },
      { requiredKeys: [] },
    ),
    [platformUserUrn.toUpperCase()]: fc.record({ bio: text, nosuch: fc.jsonValue() }, { requiredKeys: [] }),
  },
  { requiredKeys: ['userName'] },
);

/** The normalised resource, or undefined when the body is refused. */
function normalise(body: object) {
  const clean: unknown = JSON.parse(JSON.stringify(body));
  expect(strayError(() => normaliseResource(userType, clean, 'create'))).toBeUndefined();
  try {
    return normaliseResource(userType, clean, 'create').resource;
  } catch {
    return undefined;
  }
}

describe('normaliseResource', () => {
  test('gives a resource or a refusal for any JSON', () => {
    fc.assert(
      fc.property(
        fc.jsonValue(),
        (body) => strayError(() => normaliseResource(userType, body, 'merge')) === undefined,
      ),
    );
  });

  test('changes nothing when it is applied to its own result', () => {
    let accepted = 0;
    fc.assert(
      fc.property(bodies, (body) => {
        const once = normalise(body);
        if (once === undefined) return;
        accepted += 1;
        expect(normaliseResource(userType, once, 'create')).toEqual({ resource: once, ignored: [] });
      }),
      { numRuns: 300 },
    );
    expect(accepted).toBeGreaterThan(30);
  });
});

describe('mergeResource and replaceResource', () => {
  test('change nothing when the same body comes twice', () => {
    fc.assert(
      fc.property(bodies, (body) => {
        const normalised = normalise(body);
        if (normalised === undefined) return;
        for (const change of [mergeResource, replaceResource]) {
          const once = change(userType, ann, normalised);
          expect(equalResources(change(userType, once, normalised), once)).toBe(true);
          expect(once.id).toBe('17');
        }
      }),
    );
  });
});

describe('buildProjection', () => {
  test('parts a resource into what is named and what is left', () => {
    const names = ['userName', 'name', 'emails', 'active', enterpriseUserUrn, 'addresses', 'groups'];
    fc.assert(
      fc.property(fc.subarray(names), (attributes) => {
        const named = buildProjection(userType, { attributes }).apply(ann);
        const rest = buildProjection(userType, { excludedAttributes: attributes }).apply(ann);
        expect({ ...named, ...rest }).toEqual(ann);
        expect(
          Object.keys(named)
            .filter((name) => Object.hasOwn(rest, name))
            .sort(),
        ).toEqual(['id', 'schemas']);
      }),
    );
  });
});

describe('evaluateFilter', () => {
  test('obeys the laws of logic for any two terms', () => {
    const terms = fc.constantFrom(
      ...[
        'userName sw "A"',
        'title pr',
        'title eq "x"',
        'title ne "x"',
        'active eq true',
        'emails eq "a"',
        'emails.type ne "work"',
      ],
      ...[
        'emails[type eq "home" and value pr]',
        `${enterpriseUserUrn}:department co "e"`,
        'name.givenName gt "m"',
        'emails.primary eq false',
      ],
    );
    const holds = (filter: string, resource: object) =>
      evaluateFilter(readFilter(userType, filter).filter, JSON.parse(JSON.stringify(resource)));
    fc.assert(
      fc.property(terms, terms, bodies, (a, b, body) => {
        const resource = normalise(body) ?? ann;
        const [x, y] = [holds(a, resource), holds(b, resource)];
        expect(holds(`not (${a})`, resource)).toBe(!x);
        expect(holds(`${a} and ${b}`, resource)).toBe(x && y);
        expect(holds(`${a} or ${b}`, resource)).toBe(x || y);
        expect(holds(`not (${a} or ${b})`, resource)).toBe(holds(`not (${a}) and not (${b})`, resource));
      }),
      { numRuns: 500 },
    );
  });
});
