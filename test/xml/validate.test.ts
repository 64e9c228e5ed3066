import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { loadProfileSchema } from '../../src/xml/profile-schema.ts';
import { DocumentScanner } from '../../src/xml/scanner.ts';
import { validateDocument } from '../../src/xml/validate.ts';
import { WindowCutter } from '../../src/xml/windows.ts';
import { XmlError, xmlLimits } from '../../src/xml/xml.ts';
import { generateProfileXml } from '../support/generate-profile-xml.ts';
import { documentOf, headXml, plainUser, refusal, streamOf, validate } from './support.ts';

const samples = new URL('../../schemas/samples/', import.meta.url);

describe('validateDocument', () => {
  test.each([
    ['full.xml', 12, 7],
    ['delta.xml', 9, 0],
  ])('accepts the sample %s', async (name, users, groups) => {
    const result = await validate(await Bun.file(new URL(name, samples)).text());
    const expected = { valid: true, domain: 'Human Resources', ldapid: '1', users, groups, warnings: [] };
    expect(result).toMatchObject(expected);
  });

  test('accepts what the generator makes, and counts it', async () => {
    const result = await validateDocument(generateProfileXml({ users: 1_500, passwords: 0.5, blanked: 0.2 }));
    expect(result).toMatchObject({ valid: true, users: 1_500, groups: 25 });
  });

  test('tells domain, number, options and where they stand', async () => {
    const head =
      '\n  <syncoptions domain=" Staff " ldapId="007"><option name="mode"> delta </option></syncoptions>\n';
    const result = await validate(documentOf(plainUser, { head }));
    if (!result.valid) throw new Error('The document was refused.');
    expect(result).toMatchObject({
      domain: 'Staff',
      ldapid: '007',
      head: { version: '1', line: 2, column: 3 },
    });
    expect([...result.options]).toEqual([['mode', 'delta']]);
  });

  test('accepts any number of groups before one user', async () => {
    const group = '<group id="1" type="company" name="A"/>';
    for (const count of [49, 50, 51, 299, 300, 301, 550]) {
      const text = documentOf(plainUser).replace('<users>', `<groups>${group.repeat(count)}</groups><users>`);
      expect(await validate(text)).toMatchObject({ valid: true, groups: count, users: 1 });
    }
  });

  test('validates several windows of groups before users', async () => {
    const groups = Array.from({ length: 700 }, (_, i) => `<group id="${i}" type="company" name="N"/>`);
    const text = (list: readonly string[]) =>
      documentOf(plainUser).replace('<users>', `<groups>\n${list.join('\n')}\n</groups><users>`);
    expect(await validate(text(groups))).toMatchObject({ valid: true, groups: 700, users: 1 });
    const wrong = groups.with(633, '  <group id="633" type="team" name="N"/>');
    expect(await refusal(text(wrong))).toMatchObject({
      line: 635,
      column: 19,
      path: '/syncdata/groups/group[634]/@type',
    });
  });

  test('passes on what the stream throws', async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield new TextEncoder().encode('<syncdata');
      throw new Error('The client went away.');
    }
    await expect(validateDocument(broken())).rejects.toThrow('The client went away.');
  });

  test('stops between windows when its signal is aborted', async () => {
    const signal = AbortSignal.abort(new Error('Enough.'));
    await expect(validate(documentOf(plainUser), { signal })).rejects.toThrow('Enough.');
  });
});

describe('validateDocument on faults', () => {
  const user = (i: number, inside = '') => [
    `  <user id="${i}" username="u${i}">`,
    '    <bio>é <![CDATA[<x>\n]]> &amp;</bio>',
    inside,
    '    <additionalfields/>',
    '  </user>',
  ];
  const usersMax = 1_200;

  function file(index: number, inside: string): string {
    const users = Array.from({ length: usersMax }, (_, i) =>
      user(i + 1, i + 1 === index ? inside : '').join('\n'),
    );
    return `<?xml version="1.0"?>\n${documentOf(`\n${users.join('\n')}\n`)}`;
  }

  // Line 1 is the declaration, line 2 ends with <users>; a user takes six lines, of which the fourth is `inside`.
  const lineOf = (index: number) => 2 + (index - 1) * 6 + 4;

  test.each([1, 50, 51, 300, 301, 777, 1_200])(
    'finds a wrong value in user %i at its place',
    async (index) => {
      const text = file(index, '    <company>ok</company> <manager applyBlank="No">x</manager>');
      expect(await refusal(text)).toMatchObject({
        kind: 'schema',
        line: lineOf(index),
        column: 36,
        path: `/syncdata/users/user[${index}]/manager/@applyBlank`,
        total: 1,
      });
    },
  );

  test.each([1, 51, 777, 1_200])('finds an undeclared entity in user %i at its place', async (index) => {
    expect(await refusal(file(index, '    <company>a&b;</company>'))).toMatchObject({
      kind: 'malformed',
      line: lineOf(index),
      column: 17,
      path: `/syncdata/users/user[${index}]/company`,
    });
  });

  test.each([1, 51, 777, 1_200])('finds a wrong end tag in user %i at its place', async (index) => {
    expect(await refusal(file(index, '    <company>a</compania>'))).toMatchObject({
      kind: 'malformed',
      line: lineOf(index),
      column: 15,
      path: `/syncdata/users/user[${index}]/company`,
    });
  });

  test('counts CR LF and a lone CR as one line each', async () => {
    const text = documentOf('\r\n<!-- \r -->\r\n<user>\r\n <foo/><additionalfields/></user>');
    expect(await refusal(text)).toMatchObject({ line: 5, column: 2 });
  });

  test('counts a column in characters, not in code units', async () => {
    expect(await refusal(documentOf('\n<user><bio>😀</bio><foo/><additionalfields/></user>'))).toMatchObject({
      line: 2,
      column: 19,
    });
  });

  test('tells faults in the order of the file, up to the last window', async () => {
    const users = Array.from({ length: 700 }, (_, i) => (i % 100 === 99 ? '<user/>' : plainUser));
    const result = await validate(documentOf(users.join('\n')));
    if (result.valid) throw new Error('The document was accepted.');
    expect(result.errors.map(({ line }) => line)).toEqual([100, 200, 300, 400, 500, 600, 700]);
    expect(result).toMatchObject({ total: 7, isTotalPartial: false });
  });

  const structural: readonly (readonly [string, string, string, string])[] = [
    ['no version', documentOf(plainUser).replace(' version="1"', ''), '/syncdata', "'version' is required"],
    [
      'another version',
      documentOf(plainUser).replace('version="1"', 'version="2"'),
      '/syncdata/@version',
      "{'1'}",
    ],
    ['another root', `<data>${plainUser}</data>`, '/data', 'No matching global declaration'],
    ['a namespace', documentOf(plainUser, { root: ' xmlns="urn:x"' }), '/syncdata', 'No matching global'],
    ['no options', documentOf(plainUser, { head: '' }), '/syncdata/users', 'Expected is ( syncoptions )'],
    [
      'no option',
      documentOf(plainUser, { head: '<syncoptions domain="a" ldapid="1"/>' }),
      '/syncdata/syncoptions',
      'Missing child',
    ],
    [
      'no domain',
      documentOf(plainUser, { head: headXml.replace('domain="Staff"', '') }),
      '/syncdata/syncoptions',
      "'domain' is required",
    ],
    [
      'no users',
      `<syncdata version="1">${headXml}</syncdata>`,
      '/syncdata',
      'Expected is one of ( groups, users )',
    ],
    ['an empty list', documentOf(''), '/syncdata/users', 'Missing child element'],
    [
      'groups after users',
      documentOf(`${plainUser}</users><groups/><users>${plainUser}`),
      '/syncdata/groups',
      'not expected',
    ],
    [
      'wrong order',
      documentOf('<user><surname>b</surname><firstname>a</firstname><additionalfields/></user>'),
      '/syncdata/users/user[1]/firstname',
      'not expected',
    ],
    [
      'the same element twice',
      documentOf('<user><bio>b</bio><bio>a</bio><additionalfields/></user>'),
      '/syncdata/users/user[1]/bio[2]',
      'not expected',
    ],
    [
      'no additionalfields',
      documentOf('<user><bio/></user>'),
      '/syncdata/users/user[1]',
      "'additionalfields', is required",
    ],
    [
      'text between elements',
      documentOf('<user>x<additionalfields/></user>'),
      '/syncdata/users/user[1]',
      'Character content',
    ],
    [
      'an empty username',
      documentOf('<user username=" "><additionalfields/></user>'),
      '/syncdata/users/user[1]/@username',
      'minLength',
    ],
    [
      'a wrong date',
      documentOf('<user><dateofbirth>31.12.1999</dateofbirth><additionalfields/></user>'),
      '/syncdata/users/user[1]/dateofbirth',
      'dateOrEmpty',
    ],
    [
      'a phone without type',
      documentOf('<user><phone>1</phone><additionalfields/></user>'),
      '/syncdata/users/user[1]/phone',
      "'type' is required",
    ],
  ];

  test.each(structural)('refuses %s', async (_name, text, path, message) => {
    const answer = await refusal(text);
    expect(answer.path).toBe(path);
    expect(answer.message).toContain(message);
  });

  test('tells a wrong root attribute once, however many windows there are', async () => {
    const users = Array.from({ length: 700 }, () => plainUser).join('\n');
    const result = await validate(documentOf(users, { root: ' kind="x"' }));
    expect(result).toMatchObject({ valid: false, total: 1 });
  });

  test('finds that users is missing after several windows of groups', async () => {
    const groups = '<group id="1" type="company" name="A"/>'.repeat(400);
    const text = `<syncdata version="1">${headXml}<groups>${groups}</groups></syncdata>`;
    expect(await refusal(text)).toMatchObject({
      path: '/syncdata',
      message: expect.stringContaining('users'),
    });
  });
});

describe('validateDocument on passwords', () => {
  const secret = 'Tr0ub4dor';
  const faults: readonly (readonly [string, string])[] = [
    ['an entity', `<password>${secret}&${secret};</password>`],
    ['an element', `<password>x<${secret}/></password>`],
    ['an element with text', `<password>x<email>${secret}</email></password>`],
    ['an unclosed element', `<password>x<${secret}></password>`],
    ['a bracket', `<password>x<${secret}</password>`],
    ['a declaration', `<password><!${secret}></password>`],
    ['a control character', `<password>${secret}\u0001</password>`],
    ['an instruction', `<password><?${secret}</password>`],
    ['a wrong attribute', `<password applyBlank="q">${secret}</password>`],
    ['a second password', `<password>x</password><password>${secret}</password>`],
    ['a text that never ends', `<password>${secret}`],
  ];

  test.each(faults)('never quotes one with %s', async (_name, password) => {
    const result = await validate(documentOf(`<user>${password}<additionalfields/></user>`));
    expect(result.valid).toBe(false);
    expect(JSON.stringify(result)).not.toContain(secret);
  });
});

describe('windows', () => {
  const one = { recordsMax: 1, charactersMax: 1_000_000, nodesMax: 1_000_000 };
  const groups =
    '<groups><group id="g" type="company" name="A"><description>d</description></group></groups>';
  const whole = `<?xml version="1.0"?>${documentOf(`${plainUser}<!-- c --><user id="2"><phone type="work">1</phone><bio><![CDATA[<a>]]>&amp;</bio><additionalfields><field id="x">y</field></additionalfields></user>${plainUser}`).replace('<users>', `${groups}<users>`)}`;

  async function isAcceptedInWindows(text: string): Promise<boolean> {
    const schema = await loadProfileSchema();
    const cutter = new WindowCutter(one, one);
    try {
      const scanner = new DocumentScanner(xmlLimits, cutter);
      scanner.push(text);
      scanner.end();
    } catch (error) {
      if (error instanceof XmlError) return false;
      throw error;
    }
    return [...cutter.take(), cutter.finish()].every(
      ({ document }) => schema.check(document).kind === 'valid',
    );
  }

  test('are as many as the users, when each record fills one', () => {
    const cutter = new WindowCutter(one, one);
    const scanner = new DocumentScanner(xmlLimits, cutter);
    scanner.push(whole);
    scanner.end();
    expect([...cutter.take(), cutter.finish()]).toHaveLength(3);
  });

  test('judge like the schema judges the whole document, whatever is changed in it', async () => {
    const schema = await loadProfileSchema();
    const snippets = [
      '<',
      '>',
      '</',
      '/>',
      '"',
      "'",
      '&',
      ';',
      '<!--',
      '-->',
      '<![CDATA[',
      ']]>',
      '<?',
      '?>',
      ' ',
      'x',
      '</user>',
      '<user>',
      '</users>',
      '<users>',
      '</syncdata>',
      '<users',
      '<group>',
      '</groups>',
      'id="9"',
      '=',
      '\u0001',
    ];
    const change = fc.record({
      at: fc.nat(whole.length),
      remove: fc.nat(6),
      insert: fc.constantFrom('', ...snippets),
    });
    let accepted = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
        const text = changes.reduce(
          (t, { at, remove, insert }) => t.slice(0, at) + insert + t.slice(at + remove),
          whole,
        );
        const expected = schema.check(text).kind === 'valid';
        if (expected) accepted += 1;
        expect(await isAcceptedInWindows(text)).toBe(expected);
      }),
      { numRuns: 10_000 },
    );
    expect(accepted).toBeGreaterThan(50);
  });

  test('judge structures that close and open sections between records like the whole', async () => {
    const between = [
      '</users><users>',
      '</users></syncdata><syncdata version="1"><users>',
      '</users>',
      '<users>',
      '</users><!-- <users> -->',
      '</users><groups></groups><users>',
    ];
    const schema = await loadProfileSchema();
    for (const piece of between) {
      const text = documentOf(`${plainUser}${piece}${plainUser}`);
      expect(schema.check(text).kind).not.toBe('valid');
      expect(await isAcceptedInWindows(text)).toBe(false);
    }
  });
});

describe('validateDocument and any bytes', () => {
  test('gives a verdict, whatever they are', async () => {
    const bytes = fc.uint8Array({ maxLength: 200 });
    const mixed = fc.tuple(fc.nat(300), bytes).map(([at, noise]) => {
      const text = new TextEncoder().encode(documentOf(plainUser));
      return new Uint8Array([...text.subarray(0, at), ...noise, ...text.subarray(at)]);
    });
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(bytes, mixed),
        fc.integer({ min: 1, max: 64 }),
        async (content, chunkBytes) => {
          const result = await validateDocument(streamOf(content, chunkBytes));
          expect(typeof result.valid).toBe('boolean');
        },
      ),
      { numRuns: 1_000 },
    );
  });
});
