import { describe, expect, test } from 'bun:test';
import {
  documentOf,
  headXml,
  plainUser,
  read,
  readingError,
  refusal,
  toUtf16,
  validate,
  withMark,
} from './support.ts';

const valid = documentOf(plainUser);

describe('DOCTYPE', () => {
  const doctypes: readonly (readonly [string, string])[] = [
    ['an external entity', '<!DOCTYPE syncdata [<!ENTITY x SYSTEM "file:///etc/passwd">]>'],
    ['a parameter entity', '<!DOCTYPE syncdata [<!ENTITY % x SYSTEM "http://127.0.0.1:1/x.dtd"> %x;]>'],
    ['an external DTD', '<!DOCTYPE syncdata SYSTEM "http://127.0.0.1:1/x.dtd">'],
    ['a public DTD', '<!DOCTYPE syncdata PUBLIC "-//X//Y" "x.dtd">'],
    ['billion laughs', `<!DOCTYPE s [<!ENTITY a "lol">${entities(9)}]>`],
    ['a default attribute', '<!DOCTYPE syncdata [<!ATTLIST user username CDATA "root">]>'],
    ['nothing but a name', '<!DOCTYPE syncdata>'],
    ['an unfinished subset', '<!DOCTYPE syncdata [ <!-- '],
  ];

  test.each(doctypes)('refuses %s where it stands, without reading on', async (_name, doctype) => {
    const before = `<?xml version="1.0"?>\n<!-- a comment -->\n  ${doctype}`;
    const answer = { kind: 'doctype', line: 3, column: 3 } as const;
    expect(await refusal(documentOf(plainUser, { before }))).toMatchObject(answer);
    expect(await readingError(documentOf(plainUser, { before }))).toMatchObject(answer);
  });

  test('refuses one inside and one after the root', async () => {
    expect(await refusal(documentOf(`<!DOCTYPE x>${plainUser}`))).toMatchObject({ kind: 'doctype', line: 1 });
    expect(await refusal(`${valid}<!DOCTYPE x>`)).toMatchObject({ kind: 'doctype' });
    expect(await readingError(documentOf(`<!DOCTYPE x>${plainUser}`))).toMatchObject({ kind: 'malformed' });
  });

  test('accepts the word inside a comment, a CDATA section and an instruction', async () => {
    const bio = '<user><bio><![CDATA[<!DOCTYPE x>]]></bio><additionalfields/></user>';
    const before = '<!-- <!DOCTYPE x> --><?note <!DOCTYPE x> ?>';
    expect(await validate(documentOf(bio, { before }))).toMatchObject({ valid: true });
  });

  const doctype = '<!DOCTYPE syncdata [<!ENTITY x SYSTEM "file:///etc/passwd">]>';
  const hidden: readonly (readonly [string, Uint8Array])[] = [
    ['UTF-16LE with a mark', withMark(toUtf16(doctype + valid, true), 0xff, 0xfe)],
    ['UTF-16BE with a mark', withMark(toUtf16(doctype + valid, false), 0xfe, 0xff)],
    ['UTF-16LE declared', toUtf16(`<?xml version="1.0" encoding="UTF-16"?>${doctype}${valid}`, true)],
    ['UTF-16BE declared', toUtf16(`<?xml version="1.0" encoding="UTF-16"?>${doctype}${valid}`, false)],
    ['UTF-8 with a mark', withMark(new TextEncoder().encode(doctype + valid), 0xef, 0xbb, 0xbf)],
  ];

  test.each(hidden)('refuses one hidden in %s', async (_name, bytes) => {
    expect(await refusal(bytes)).toMatchObject({ kind: 'doctype', line: 1 });
    expect(await readingError(bytes)).toMatchObject({ kind: 'doctype', line: 1 });
  });
});

function entities(depth: number): string {
  return Array.from({ length: depth }, (_, i) => `<!ENTITY b${i} "${`&b${i - 1};`.repeat(10)}">`).join('');
}

describe('validateDocument against things that reach out', () => {
  test('ignores schema locations', async () => {
    const root =
      ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:noNamespaceSchemaLocation="file:///etc/passwd"' +
      ' xsi:schemaLocation="urn:x http://127.0.0.1:1/x.xsd"';
    expect(await validate(documentOf(plainUser, { root }))).toMatchObject({ valid: true });
  });

  test('takes XInclude for the unknown element that it is', async () => {
    const include = '<x:include xmlns:x="http://www.w3.org/2001/XInclude" href="file:///etc/passwd"/>';
    const answer = await refusal(documentOf(`<user>${include}<additionalfields/></user>`));
    expect(answer.message).toContain('This element is not expected');
    expect(answer.path).toBe('/syncdata/users/user[1]/x:include');
  });

  test('ignores a stylesheet instruction', async () => {
    const before = '<?xml-stylesheet href="http://127.0.0.1:1/x.xsl" type="text/xsl"?>';
    expect(await validate(documentOf(plainUser, { before }))).toMatchObject({ valid: true });
  });

  test('refuses a reference to an entity that nobody declared', async () => {
    const text = documentOf('\n<user><bio>a &secret; b</bio><additionalfields/></user>');
    expect(await refusal(text)).toMatchObject({
      kind: 'malformed',
      line: 2,
      path: '/syncdata/users/user[1]/bio',
    });
    expect(await readingError(text)).toMatchObject({ kind: 'malformed', line: 2 });
  });
});

describe('bounds', () => {
  const nested = (depth: number) => `${'<a>'.repeat(depth)}${'</a>'.repeat(depth)}`;
  const attributes = (count: number) => Array.from({ length: count }, (_, i) => ` a${i}="1"`).join('');
  const cases: readonly (readonly [string, string, string])[] = [
    ['attributes', documentOf(`<user${attributes(65)}/>`), 'more than 64 attributes'],
    ['an attribute', documentOf(`<user id="${'x'.repeat(65_537)}"/>`), 'attribute is longer than 65536'],
    ['a text', documentOf(`<user><bio>${'x'.repeat(1_100_000)}</bio></user>`), 'longer than 1048576'],
    [
      'a text in pieces',
      documentOf(`<user><bio>${'x<!---->'.repeat(1)}${'y'.repeat(1_048_576)}</bio></user>`),
      '1048576',
    ],
    ['an element name', documentOf(`<${'n'.repeat(300)}/>`), 'name is longer than 256'],
    ['an attribute name', documentOf(`<user ${'n'.repeat(300)}="1"/>`), 'name is longer than 256'],
    ['a comment', documentOf(`<!--${'x'.repeat(2_000_000)}-->${plainUser}`), 'longer than 1048576'],
    ['an unclosed attribute', documentOf(`<user id="${'x'.repeat(2_000_000)}`), 'longer than 1048576'],
  ];

  test.each(cases)('refuses too much of %s, in validation and in reading', async (_name, text, message) => {
    const answer = await refusal(text);
    expect(answer).toMatchObject({ kind: 'limit', line: 1 });
    expect(answer.message).toContain(message);
    expect((await readingError(text)).kind).toBe('limit');
  });

  test('refuses deep nesting; the reader does so at the first element that is not expected', async () => {
    const text = documentOf(nested(100_000));
    const message = 'Elements are nested more than 64 deep.';
    expect(await refusal(text)).toMatchObject({ kind: 'limit', line: 1, message });
    expect(await readingError(text)).toMatchObject({ kind: 'schema', path: '/syncdata/users/a' });
  });

  test('refuses more users and groups than allowed', async () => {
    const limits = { usersMax: 2, groupsMax: 1 };
    const users = documentOf(plainUser.repeat(3));
    expect((await refusal(users, { limits })).message).toContain('more than 2 users');
    expect((await readingError(users, limits)).message).toContain('more than 2 users');
    const group = '<group id="1" type="company" name="A"/>';
    const groups = valid.replace('<users>', `<groups>${group}${group}</groups><users>`);
    expect((await refusal(groups, { limits })).message).toContain('more than 1 groups');
    expect((await readingError(groups, limits)).message).toContain('more than 1 groups');
  });

  test('refuses a record of too many elements, or of too many characters', async () => {
    const phones = `<user>${'<phone type="work">1</phone>'.repeat(6_000)}<additionalfields/></user>`;
    expect((await refusal(documentOf(phones))).message).toContain('More than 10000 elements and attributes');
    const texts = `<user>${`<bio>${'x'.repeat(1_000_000)}</bio>`.repeat(9)}<additionalfields/></user>`;
    expect((await refusal(documentOf(texts))).message).toContain('longer than 8388608 characters');
  });

  test('refuses a record of too many comments, instructions and CDATA sections, and as many before the root', async () => {
    const message = 'More than 50000 comments, instructions and CDATA sections stand in one record.';
    for (const piece of ['<!---->', '<?p?>', '<![CDATA[]]>']) {
      const text = documentOf(`<user><bio>${piece.repeat(50_001)}</bio><additionalfields/></user>`);
      expect(await refusal(text)).toMatchObject({ kind: 'limit', message });
    }
    const before = '<!----><?p?>'.repeat(25_001);
    expect(await refusal(documentOf(plainUser, { before }))).toMatchObject({ kind: 'limit', message });
    const several = `<user>${'<!---->'.repeat(40_000)}<additionalfields/></user>`.repeat(3);
    expect(await validate(documentOf(several))).toMatchObject({ valid: true, users: 3 });
  });

  test('refuses a root that begins late, in validation and in reading alike', async () => {
    const message = 'The root element does not begin within 1048576 characters.';
    const before = `<!--${'x'.repeat(700_000)}-->`.repeat(2);
    const text = documentOf(plainUser, { before });
    expect(await refusal(text)).toMatchObject({ kind: 'limit', line: 1, message });
    expect(await readingError(text)).toMatchObject({ kind: 'limit', message });
  });

  test('accepts a long way from the root to its head, in validation and in reading alike', async () => {
    const head = `${`<!--${'x'.repeat(700_000)}-->`.repeat(3)}${headXml}`;
    expect(await validate(documentOf(plainUser, { head }))).toMatchObject({ valid: true });
    expect(await read(documentOf(plainUser, { head }))).toHaveLength(2);
  });

  test('throws tooLarge for a document above its bound, and accepts one that just fits', async () => {
    const bytes = new TextEncoder().encode(valid);
    const fits = { limits: { documentBytesMax: bytes.length } };
    expect(await validate(bytes, fits)).toMatchObject({ valid: true });
    const thrown = validate(bytes, { limits: { documentBytesMax: bytes.length - 1 } });
    await expect(thrown).rejects.toMatchObject({ kind: 'tooLarge' });
  });

  test('accepts many numeric references, CDATA sections, comments and instructions', async () => {
    const pieces = '&#65;<![CDATA[<b>]]><!-- c --><?p i?>'.repeat(5_000);
    const text = documentOf(`<user><bio>${pieces}</bio><additionalfields/></user>`);
    expect(await validate(text)).toMatchObject({ valid: true, users: 1 });
  });
});

describe('an error flood', () => {
  const flood = (count: number, user: string) =>
    documentOf(Array.from({ length: count }, () => user).join('\n'));

  test('is answered from the first windows', async () => {
    const result = await validate(flood(40_000, '<user bad="1"><additionalfields/></user>'));
    if (result.valid) throw new Error('The document was accepted.');
    expect(result.errors).toHaveLength(100);
    expect(result.isTotalPartial).toBe(true);
    expect(result.total).toBeLessThan(1_000);
    expect(result.errors[99]).toMatchObject({ line: 100, column: 7, path: '/syncdata/users/user[100]/@bad' });
  });

  test('inside one record is bounded by the elements of a record', async () => {
    const phones = '<phone/>'.repeat(9_000);
    const result = await validate(documentOf(`<user>${phones}<additionalfields/></user>`));
    expect(result).toMatchObject({ valid: false, total: 9_000, isTotalPartial: false });
  });

  test('keeps the whole answer small', async () => {
    const long = 'x'.repeat(10_000);
    const result = await validate(flood(200, `<user><active>${long}</active><additionalfields/></user>`));
    expect(JSON.stringify(result).length).toBeLessThan(100_000);
  });
});

describe('files that are not whole', () => {
  const users = Array.from(
    { length: 120 },
    (_, i) => `<user id="${i}"><bio>é &amp; ü</bio><additionalfields/></user>`,
  );
  const bytes = new TextEncoder().encode(
    `<?xml version="1.0" encoding="UTF-8"?>\n${documentOf(users.join('\n'))}`,
  );

  test('accepts only the full one of 200 truncations', async () => {
    expect(await validate(bytes)).toMatchObject({ valid: true, users: 120 });
    for (let i = 0; i < 200; i += 1) {
      const cut = bytes.subarray(0, Math.floor((bytes.length * i) / 200));
      expect(await validate(cut)).toMatchObject({ valid: false });
      expect(await readingError(cut)).toMatchObject({ name: 'XmlError' });
    }
  });

  test.each([
    ['text', 'x', 'Text stands outside the root element.'],
    ['a second root', valid, 'A second root element follows the first.'],
    ['an end tag', '</syncdata>', 'An end tag stands outside the root element.'],
    ['a CDATA section', '<![CDATA[x]]>', 'Text stands outside the root element.'],
    ['a NUL', '\0', 'The file contains a NUL character.'],
  ])('refuses trailing bytes: %s', async (_name, tail, message) => {
    expect(await refusal(`${valid}\n${tail}`)).toMatchObject({ line: 2, column: 1, message });
    expect(await readingError(`${valid}\n${tail}`)).toMatchObject({ line: 2 });
  });

  test('accepts white space, comments and instructions after the root', async () => {
    expect(await validate(`${valid}\r\n<!-- end -->\n<?done?>\n`)).toMatchObject({ valid: true });
  });

  test('refuses an empty file', async () => {
    expect(await refusal('')).toMatchObject({ kind: 'malformed', line: 1, column: 1 });
    expect(await readingError('')).toMatchObject({ kind: 'malformed' });
  });
});
