import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { decodeDocument } from '../../src/xml/decode.ts';
import { XmlError } from '../../src/xml/xml.ts';
import {
  documentOf,
  plainUser,
  readingError,
  refusal,
  streamOf,
  toUtf16,
  validate,
  withMark,
} from './support.ts';

const utf8 = (text: string) => new TextEncoder().encode(text);

async function decode(bytes: Uint8Array, chunkBytes = 64 * 1024): Promise<string> {
  let text = '';
  const stream = streamOf(bytes, chunkBytes);
  for await (const piece of decodeDocument(stream, { documentBytesMax: 1_000_000 })) text += piece;
  return text;
}

describe('decodeDocument', () => {
  const declared = (name: string) => `<?xml version="1.0" encoding="${name}"?><a>é€😀</a>`;
  const accepted: readonly (readonly [string, Uint8Array])[] = [
    ['UTF-8', utf8(declared('UTF-8'))],
    ['UTF-8 in lower case', utf8(declared('utf-8'))],
    ['UTF-8 undeclared', utf8('<a>é€😀</a>')],
    ['UTF-8 with a mark', withMark(utf8(declared('UTF-8')), 0xef, 0xbb, 0xbf)],
    ['UTF-16LE with a mark', withMark(toUtf16(declared('UTF-16'), true), 0xff, 0xfe)],
    ['UTF-16BE with a mark', withMark(toUtf16(declared('UTF-16'), false), 0xfe, 0xff)],
    ['UTF-16LE with a mark, undeclared', withMark(toUtf16('<a>é€😀</a>', true), 0xff, 0xfe)],
    ['UTF-16LE declared', toUtf16(declared('UTF-16LE'), true)],
    ['UTF-16BE declared', toUtf16(declared('UTF-16BE'), false)],
  ];

  test.each(accepted)('reads %s', async (_name, bytes) => {
    expect(await decode(bytes)).toEndWith('<a>é€😀</a>');
  });

  test('declares UTF-8 in the text of a UTF-16 file, without moving anything', async () => {
    const text = await decode(withMark(toUtf16(declared('UTF-16'), true), 0xff, 0xfe));
    expect(text).toBe('<?xml version="1.0" encoding="UTF-8" ?><a>é€😀</a>');
    expect(text).toHaveLength(declared('UTF-16').length);
  });

  const refused: readonly (readonly [string, Uint8Array, string])[] = [
    ['Latin-1', utf8(declared('ISO-8859-1')), "'ISO-8859-1' is not accepted"],
    ['Windows-1252', utf8(declared('windows-1252')), "'windows-1252' is not accepted"],
    ['UTF-7 declared', utf8(declared('UTF-7')), "'UTF-7' is not accepted"],
    ['UTF-7 with a mark', utf8('+/v8-+ADw-a+AD4-'), 'UTF-7'],
    ['UTF-32BE with a mark', new Uint8Array([0, 0, 0xfe, 0xff, 0, 0, 0, 0x3c]), 'UTF-32'],
    ['UTF-32LE with a mark', new Uint8Array([0xff, 0xfe, 0, 0, 0x3c, 0, 0, 0]), 'UTF-32'],
    ['UTF-32 without a mark', new Uint8Array([0x3c, 0, 0, 0, 0x61, 0, 0, 0]), 'UTF-32'],
    ['EBCDIC', new Uint8Array([0x4c, 0x6f, 0xa7, 0x94, 0x93]), 'EBCDIC'],
    ['UTF-16 undeclared without a mark', toUtf16('<a/>', true), 'without a byte order mark or a declaration'],
    ['UTF-8 that says UTF-16', utf8(declared('UTF-16')), 'the bytes are UTF-8'],
    [
      'UTF-16 that says UTF-8',
      withMark(toUtf16(declared('UTF-8'), true), 0xff, 0xfe),
      'the bytes are UTF-16LE',
    ],
    [
      'UTF-16LE that says UTF-16BE',
      withMark(toUtf16(declared('UTF-16BE'), true), 0xff, 0xfe),
      'are UTF-16LE',
    ],
    ['an overlong form', new Uint8Array([...utf8('<a>'), 0xc0, 0xaf]), 'are not UTF-8'],
    ['a surrogate in UTF-8', new Uint8Array([...utf8('<a>'), 0xed, 0xa0, 0x80]), 'are not UTF-8'],
    ['a lone byte', new Uint8Array([...utf8('<a>'), 0xff]), 'are not UTF-8'],
    ['half a character at the end', new Uint8Array([...utf8('<a>'), 0xe2, 0x82]), 'are not UTF-8'],
    ['a lone surrogate in UTF-16', withMark(toUtf16('<a>\ud800b', true), 0xff, 0xfe), 'are not UTF-16LE'],
    [
      'an odd number of UTF-16 bytes',
      withMark(toUtf16('<a/>', true), 0xff, 0xfe).subarray(0, 9),
      'not UTF-16LE',
    ],
    ['NUL', utf8('<a>\0</a>'), 'NUL'],
    ['a declaration without end', utf8(`<?xml version="1.0" ${' '.repeat(2000)}?><a/>`), '1,024'],
  ];

  test.each(refused)('refuses %s', async (_name, bytes, message) => {
    const failure = await decode(bytes).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(XmlError);
    expect(failure).toMatchObject({ kind: 'encoding', message: expect.stringContaining(message) });
  });

  test('gives the same text for any chunking', async () => {
    const text = `<a>\r\n${'é€😀\r\n\r'.repeat(40)}</a>`;
    const sources = [
      utf8(text),
      withMark(toUtf16(text, true), 0xff, 0xfe),
      withMark(toUtf16(text, false), 0xfe, 0xff),
    ];
    await fc.assert(
      fc.asyncProperty(fc.nat(2), fc.integer({ min: 1, max: 40 }), async (source, chunkBytes) => {
        expect(await decode(sources[source] ?? utf8(''), chunkBytes)).toBe(text);
      }),
    );
  });

  test('cuts a large chunk neither inside a character nor inside CR LF', async () => {
    const text = `<a>${'é€😀\r\n'.repeat(60_000)}</a>`;
    const pieces: string[] = [];
    const stream = streamOf(utf8(text), 10_000_000);
    for await (const piece of decodeDocument(stream, { documentBytesMax: 1_000_000 })) pieces.push(piece);
    expect(pieces.length).toBeGreaterThan(2);
    expect(pieces.join('')).toBe(text);
    expect(pieces.filter((piece) => /[\r\ud800-\udbff]$/.test(piece))).toEqual([]);
  });
});

describe('validateDocument and readDocument on bad bytes', () => {
  test('tell line and column of the first bad byte', async () => {
    const good = utf8(`${documentOf(`${plainUser}\r\n${plainUser}\n  <!-- é `).slice(0, -19)}`);
    const bytes = new Uint8Array([...good, 0xff, 0x41]);
    expect(await refusal(bytes)).toMatchObject({ kind: 'encoding', line: 3, column: 10 });
    expect(await readingError(bytes)).toMatchObject({ kind: 'encoding', line: 3, column: 10 });
  });

  test('read a UTF-16 file like the same file in UTF-8', async () => {
    const text = documentOf('<user id="ä" username="李"><additionalfields/></user>');
    const utf16 = withMark(toUtf16(text, true), 0xff, 0xfe);
    expect(await validate(utf16)).toEqual(await validate(text));
  });
});
