import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  type Filter,
  filterDepthMax,
  filterTermsMax,
  parseFilter,
  printFilter,
} from '../../src/resource/filter.ts';
import { kindOf, refusalOf, strayError } from './fixtures.ts';

/** The filter without positions and source texts, which printing does not keep. */
function bare(filter: Filter): unknown {
  switch (filter.kind) {
    case 'compare':
      return [filter.attribute.text, filter.operator, filter.literal.value];
    case 'present':
      return [filter.attribute.text, 'pr'];
    case 'valuePath':
      return [filter.attribute.text, [bare(filter.filter)]];
    case 'not':
      return { not: bare(filter.filter) };
    default:
      return { [filter.kind]: filter.terms.map(bare) };
  }
}

const names = fc.constantFrom(
  'userName',
  'name.familyName',
  'urn:ietf:params:scim:schemas:x:2.0:User:a.b',
  '$ref',
  'not',
  'and',
);
const literals = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
  fc.boolean(),
  fc.constant(null),
);
const operators = fc.constantFrom('eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le');
const { filters } = fc.letrec<{ filters: string }>((tie) => ({
  filters: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.tuple(names, operators, literals).map(([name, op, value]) => `${name} ${op} ${JSON.stringify(value)}`),
    names.map((name) => `${name} pr`),
    fc.tuple(names, tie('filters')).map(([name, inner]) => `${name}[${inner}]`),
    tie('filters').map((inner) => `not (${inner})`),
    tie('filters').map((inner) => `(${inner})`),
    fc
      .tuple(tie('filters'), fc.constantFrom('and', 'or', 'AND', 'Or'), tie('filters'))
      .map((parts) => parts.join(' ')),
  ),
}));

describe('parseFilter', () => {
  // RFC 7644 §3.4.2.2, Figure 2, and what the clients of the design send.
  test.each<[string, unknown]>([
    ['userName eq "bjensen"', ['userName', 'eq', 'bjensen']],
    ['name.familyName co "O\'Malley"', ['name.familyName', 'co', "O'Malley"]],
    [
      'urn:ietf:params:scim:schemas:core:2.0:User:userName sw "J"',
      ['urn:ietf:params:scim:schemas:core:2.0:User:userName', 'sw', 'J'],
    ],
    ['title pr', ['title', 'pr']],
    ['meta.lastModified gt "2011-05-13T04:42:34Z"', ['meta.lastModified', 'gt', '2011-05-13T04:42:34Z']],
    [
      'title pr and userType eq "Employee"',
      {
        and: [
          ['title', 'pr'],
          ['userType', 'eq', 'Employee'],
        ],
      },
    ],
    [
      'title pr or userType eq "Intern"',
      {
        or: [
          ['title', 'pr'],
          ['userType', 'eq', 'Intern'],
        ],
      },
    ],
    [
      'userType eq "Employee" and (emails co "example.com" or emails.value co "example.org")',
      {
        and: [
          ['userType', 'eq', 'Employee'],
          {
            or: [
              ['emails', 'co', 'example.com'],
              ['emails.value', 'co', 'example.org'],
            ],
          },
        ],
      },
    ],
    [
      'userType ne "Employee" and not (emails co "example.com")',
      { and: [['userType', 'ne', 'Employee'], { not: ['emails', 'co', 'example.com'] }] },
    ],
    [
      'userType eq "Employee" and emails[type eq "work" and value co "@example.com"]',
      {
        and: [
          ['userType', 'eq', 'Employee'],
          [
            'emails',
            [
              {
                and: [
                  ['type', 'eq', 'work'],
                  ['value', 'co', '@example.com'],
                ],
              },
            ],
          ],
        ],
      },
    ],
    [
      'emails[type eq "work"] or ims[type eq "xmpp" and value co "@foo.com"]',
      {
        or: [
          ['emails', [['type', 'eq', 'work']]],
          [
            'ims',
            [
              {
                and: [
                  ['type', 'eq', 'xmpp'],
                  ['value', 'co', '@foo.com'],
                ],
              },
            ],
          ],
        ],
      },
    ],
    [
      'emails[type eq "work"].value eq "a@x.org"',
      [
        'emails',
        [
          {
            and: [
              ['type', 'eq', 'work'],
              ['value', 'eq', 'a@x.org'],
            ],
          },
        ],
      ],
    ],
    [
      'id eq "g" and members eq "u"',
      {
        and: [
          ['id', 'eq', 'g'],
          ['members', 'eq', 'u'],
        ],
      },
    ],
    [
      'a eq 1 or b eq 2 and c eq 3',
      {
        or: [
          ['a', 'eq', 1],
          {
            and: [
              ['b', 'eq', 2],
              ['c', 'eq', 3],
            ],
          },
        ],
      },
    ],
    ['active EQ true AND NOT(a PR)', { and: [['active', 'eq', true], { not: ['a', 'pr'] }] }],
    ['a eq -1.5e3', ['a', 'eq', -1500]],
    ['a eq null', ['a', 'eq', null]],
    ['a eq "\\u00e4\\"\\\\\\n"', ['a', 'eq', 'ä"\\\n']],
    ['  a   eq   "x"  ', ['a', 'eq', 'x']],
    ['manager.$ref pr', ['manager.$ref', 'pr']],
  ])('reads %p', (text, filter) => {
    expect(bare(parseFilter(text))).toEqual(filter);
  });

  test.each([
    ['', 'at its end: an attribute name is missing'],
    ['userName', 'at its end: an operator'],
    ['userName is "x"', 'at character 10, near "is "x""'],
    ['userName eq', 'at its end: a blank and a value'],
    ['userName eq"x"', 'at character 12'],
    ['userName eq jdoe', 'at character 13, near "jdoe": the value must be a quoted text'],
    ['userName eq "x', 'at character 13, near ""x": the closing quotation mark is missing'],
    ['userName eq "\\q"', 'bad escape'],
    ['userName eq "\\ud800"', 'bad escape or character'],
    ['userName eq "\\u0000"', 'bad escape or character'],
    ['userName eq 01', 'at character 13'],
    ['userName eq True', 'at character 13'],
    ['(userName pr', 'at its end: ")" is missing'],
    ['emails[type pr', 'at its end: "]" is missing'],
    ['emails[]', 'at character 8'],
    ['userName pr)', 'at character 12, near ")": "and", "or" or the end'],
    ['userName pr and', 'at its end'],
    ['userName pr title pr', 'at character 13'],
    ['user name pr', 'at character 6'],
    ['1name pr', 'at character 1'],
    ['a.b.c pr', 'at character 1'],
    ['a. pr', 'at character 1'],
    ['x:y pr', '"x:y" is no attribute name'],
    ['emails[type pr]value pr', 'at character 16'],
    ["userName eq 'x'", 'at character 13'],
  ])('refuses %p and says where', (text, problem) => {
    const refusal = refusalOf(() => parseFilter(text));
    expect(refusal).toStartWith('invalidFilter: ');
    expect(refusal).toContain(problem);
  });

  test('reads a bare word as text when asked to, and says so', () => {
    const options = { unquotedValues: true };
    expect(parseFilter('externalId eq j.doe@x.org', options)).toMatchObject({
      literal: { value: 'j.doe@x.org', unquoted: true },
    });
    expect(parseFilter('(externalId eq 007)', options)).toMatchObject({
      literal: { value: '007', unquoted: true },
    });
    expect(parseFilter('externalId eq "x"', options)).toMatchObject({
      literal: { value: 'x', unquoted: false },
    });
    expect(kindOf(() => parseFilter('externalId eq j doe', options))).toBe('invalidFilter');
  });

  test('keeps each bound at its edge', () => {
    const nested = (depth: number) => `${'('.repeat(depth - 1)}a pr${')'.repeat(depth - 1)}`;
    const long = (terms: number) => Array.from({ length: terms }, () => 'a pr').join(' or ');
    expect(strayError(() => parseFilter(nested(filterDepthMax)))).toBeUndefined();
    expect(parseFilter(nested(filterDepthMax)).kind).toBe('present');
    expect(refusalOf(() => parseFilter(nested(filterDepthMax + 1)))).toContain(
      'nested deeper than 12 levels',
    );
    expect(kindOf(() => parseFilter(nested(1000)))).toBe('invalidFilter');
    expect(parseFilter(long(filterTermsMax)).kind).toBe('or');
    expect(refusalOf(() => parseFilter(long(filterTermsMax + 1)))).toContain('more than 32 terms');
    expect(parseFilter(`a eq "${'x'.repeat(4096 - 7)}"`).kind).toBe('compare');
    expect(refusalOf(() => parseFilter(`a eq "${'x'.repeat(4096 - 6)}"`))).toContain('longer than 4096');
  });

  test('gives a filter or a refusal for any text', () => {
    const fragments = fc.array(
      fc.constantFrom(
        'a',
        'eq',
        'pr',
        'and',
        'or',
        'not',
        '(',
        ')',
        '[',
        ']',
        '.',
        ' ',
        '"',
        '\\',
        '"x"',
        ':',
        'urn:a:b',
        '1',
        '\0',
      ),
      { maxLength: 30 },
    );
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fragments.map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(texts, fc.boolean(), (text, unquotedValues) => {
        expect(strayError(() => parseFilter(text, { unquotedValues }))).toBeUndefined();
      }),
      { numRuns: 2000 },
    );
  });
});

describe('printFilter', () => {
  test('writes text that reads back as the same filter', () => {
    let read = 0;
    fc.assert(
      fc.property(filters, (text) => {
        fc.pre(text.length < 3000 && strayError(() => parseFilter(text)) === undefined);
        let filter: Filter;
        try {
          filter = parseFilter(text);
        } catch {
          return;
        }
        read += 1;
        expect(bare(parseFilter(printFilter(filter)))).toEqual(bare(filter));
      }),
      { numRuns: 1000 },
    );
    expect(read).toBeGreaterThan(500);
  });
});
