import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { maskPasswords } from '../../src/xml/mask.ts';
import { validateDocument } from '../../src/xml/validate.ts';
import { generateProfileXml } from '../support/generate-profile-xml.ts';
import { documentOf, read, streamOf, toUtf16, withMark } from './support.ts';

async function mask(content: string | Uint8Array, chunkBytes = 64 * 1024): Promise<string> {
  let text = '';
  for await (const piece of maskPasswords(streamOf(content, chunkBytes))) text += piece;
  return text;
}

const userWith = (password: string) =>
  documentOf(`<user>\r\n${password}<bio>é</bio><additionalfields/></user>`);

describe('maskPasswords', () => {
  const masked = '<password>********</password>';
  const cases: readonly (readonly [string, string, string])[] = [
    ['plain text', '<password>secret</password>', masked],
    ['entities', '<password>s&amp;&#x73;&lt;</password>', masked],
    ['CDATA', '<password><![CDATA[</password>]]></password>', masked],
    ['comments inside', '<password>a<!-- </password> secret -->b</password>', masked],
    ['an instruction inside', '<password><?secret </password> ?></password>', masked],
    ['white space', '<password> </password>', masked],
    ['an element inside', '<password>a<password>b</password>c<x/>d</password>', masked],
    [
      'attributes',
      '<password applyBlank = "True"\n>secret</password >',
      '<password applyBlank = "True"\n>********</password >',
    ],
    ['a > in an attribute', '<password x="a>b">secret</password>', '<password x="a>b">********</password>'],
    ['a prefix', '<p:password>secret</p:password>', '<p:password>********</p:password>'],
    ['nothing', '<password></password>', '<password></password>'],
    ['no content', '<password applyBlank="True" />', '<password applyBlank="True" />'],
    ['another name', '<passwords>a</passwords><pass>b</pass>', '<passwords>a</passwords><pass>b</pass>'],
    ['a place in a comment', '<!-- <password>a</password> -->', '<!--********-->'],
    ['its name in a comment alone', '<!-- the Passwort is secret1 -->', '<!--********-->'],
    ['a place in an instruction', '<?old password="a"?>', '<?masked ********?>'],
    [
      'an escaped name in an option',
      '<option name="p&#97;sswd">a</option>',
      '<option name="p&#97;sswd">********</option>',
    ],
    [
      'its name in an option',
      '<option name="bind-password">a</option>',
      '<option name="bind-password">********</option>',
    ],
    [
      'its name in a field',
      "<x:field id='Wifi Passphrase'>a</x:field>",
      "<x:field id='Wifi Passphrase'>********</x:field>",
    ],
    ['other comments', '<!-- made by HR at 12:00 --><?x y?>', '<!-- made by HR at 12:00 --><?x y?>'],
    [
      'what only sounds like it',
      '<option name="newUserPasswordBehaviour">file</option><field id="secretary">Bo</field><forcepasswordreset>true</forcepasswordreset>',
      '<option name="newUserPasswordBehaviour">file</option><field id="secretary">Bo</field><forcepasswordreset>true</forcepasswordreset>',
    ],
  ];

  test.each(cases)(
    'masks a password with %s, and leaves all else as it is',
    async (_name, given, expected) => {
      expect(await mask(userWith(given))).toBe(userWith(expected));
    },
  );

  test.each([
    ['a password', '<password>\n a\r\nb\r</password >', '<password>********</password \n\r\n\r>'],
    ['a comment', '<!-- password:\n a\r\nb -->', '<!--********\n\r\n-->'],
    ['an instruction', '<?x password\n\na?>', '<?masked ********\n\n?>'],
  ])('keeps every line where it is behind %s of several lines', async (_name, given, expected) => {
    for (const chunkBytes of [1, 7, 64 * 1024]) {
      expect(await mask(userWith(given), chunkBytes)).toBe(userWith(expected));
    }
    for (const fill of ['\n', 'x\n', '\r\n']) {
      const long = userWith(`<password>${fill.repeat(90_000)}</password>`);
      expect((await mask(long)).split('\n')).toHaveLength(long.split('\n').length);
    }
  });

  test('gives the same text for any chunking', async () => {
    const whole = `<?xml version="1.0"?>\r\n${userWith(cases.map(([, given]) => given).join('\r\n'))}\r\n`;
    const expected = await mask(whole);
    expect(expected).not.toMatch(/secret(?!ary)/);
    const bytes = new TextEncoder().encode(whole);
    const cuts = fc.array(fc.nat(bytes.length), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(cuts, async (points) => {
        const edges = [0, ...points.toSorted((a, b) => a - b), bytes.length];
        async function* pieces(): AsyncGenerator<Uint8Array> {
          for (let i = 1; i < edges.length; i += 1) yield bytes.subarray(edges[i - 1], edges[i]);
        }
        let text = '';
        for await (const piece of maskPasswords(pieces())) text += piece;
        expect(text).toBe(expected);
      }),
    );
  });

  test('masks across the edges of the pieces in which a long document is scanned', async () => {
    const fill = 'x'.repeat(1_000);
    for (const shift of [0, 1, 5, 9, 10, 11, 15, 20, 25]) {
      const start = userWith('').indexOf('\r\n') + 2;
      const before = `<!--${'y'.repeat(64 * 1024 - start - 7 - 30 + shift)}-->`;
      const given = userWith(`${before}<password>sec${fill}ret</password>`);
      expect(await mask(given, 1_024)).toBe(userWith(`${before}<password>********</password>`));
    }
  });

  test('gives a document that can be read again, from UTF-16 too', async () => {
    const text = `<?xml version="1.0" encoding="UTF-16"?>${userWith('<password>secret</password>')}`;
    const again = await mask(withMark(toUtf16(text, true), 0xff, 0xfe));
    const [, user] = await read(again);
    expect(user).toMatchObject({ record: { leaves: { password: { value: '********' } } } });
  });
});

describe('validateDocument with onMasked', () => {
  test('passes on the same text as maskPasswords, waiting for the receiver', async () => {
    const profile = { users: 800, passwords: 0.5 };
    let expected = '';
    for await (const piece of maskPasswords(generateProfileXml(profile))) expected += piece;
    let received = '';
    let isBusy = false;
    const onMasked = async (text: string) => {
      expect(isBusy).toBe(false);
      isBusy = true;
      await Bun.sleep(0);
      received += text;
      isBusy = false;
    };
    expect(await validateDocument(generateProfileXml(profile), { onMasked })).toMatchObject({ valid: true });
    expect(received).toBe(expected);
    expect(received).toContain('<password>********</password>');
    expect(received).not.toContain('Pa55');
  });
});
