// Documents that are made to do harm, each with the answer that it gets.

import { toUtf16, withMark } from '../xml/support.ts';
import { type Attack, bio, file, mib, numbered, person, utf8 } from './attack.ts';

const doctype = 'A DOCTYPE is not accepted. Remove it from the file.';

function dtd(name: string, text: string, users = person): Attack {
  const body = () => file(users, { before: `<?xml version="1.0"?>\n ${text}` });
  return { name: `DTD: ${name}`, status: 400, sentence: doctype, at: [2, 2], body };
}

const laughs = Array.from({ length: 9 }, (_, i) => `<!ENTITY b${i} "${`&b${i - 1};`.repeat(10)}">`).join('');
const declared = (text: string) => `<!DOCTYPE syncdata [${text}]>`;
const inside = (reference: string) =>
  `<user id="1" username="ada"><bio>${reference}</bio><additionalfields/></user>`;

const doctypes: readonly Attack[] = [
  dtd('billion laughs', declared(`<!ENTITY b-1 "lol">${laughs}`), inside('&b8;')),
  dtd('quadratic blow-up', declared(`<!ENTITY a "${'a'.repeat(100_000)}">`), inside('&a;'.repeat(50_000))),
  dtd('an entity that contains itself', declared('<!ENTITY a "&b;"><!ENTITY b "&a;">'), inside('&a;')),
  dtd('an external entity', declared('<!ENTITY x SYSTEM "file:///etc/passwd">'), inside('&x;')),
  dtd('a parameter entity', declared('<!ENTITY % x SYSTEM "http://127.0.0.1:1/x.dtd"> %x;')),
  dtd('an external subset', '<!DOCTYPE syncdata SYSTEM "http://127.0.0.1:1/x.dtd">'),
  dtd('a default attribute', declared('<!ATTLIST user username CDATA "root">')),
  {
    name: 'DTD: hidden in UTF-16',
    status: 400,
    sentence: doctype,
    at: [1, 1],
    body: () => withMark(toUtf16(declared('') + file(), true), 0xff, 0xfe),
  },
];

const outside: readonly Attack[] = [
  {
    name: 'XInclude',
    status: 400,
    sentence: 'This element is not expected',
    body: () =>
      file(
        '<user><x:include xmlns:x="http://www.w3.org/2001/XInclude" href="file:///etc/passwd"/><additionalfields/></user>',
      ),
  },
  {
    name: 'schema locations',
    status: 202,
    body: () =>
      file(person, {
        root: ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:noNamespaceSchemaLocation="http://127.0.0.1:1/x.xsd"',
      }),
  },
  {
    name: 'a stylesheet instruction',
    status: 202,
    body: () =>
      file(person, { before: '<?xml-stylesheet href="http://127.0.0.1:1/x.xsl" type="text/xsl"?>' }),
  },
  {
    name: 'an entity that nobody declared',
    status: 400,
    sentence: 'undefined entity',
    body: () => bio('&x;'),
  },
  {
    name: 'a reference without end',
    status: 400,
    sentence: 'line 1',
    body: () => bio(`&${'x'.repeat(500_000)}`),
  },
];

const floods: readonly Attack[] = [
  {
    name: 'nested 100,000 deep',
    status: 400,
    sentence: 'Elements are nested more than 64 deep.',
    body: () => file('<a>'.repeat(100_000)),
  },
  {
    name: 'a name of 1 MB',
    status: 400,
    sentence: 'A name is longer than 256 characters.',
    body: () => file(`<${'n'.repeat(1_000_000)}/>`),
  },
  {
    name: 'an attribute of 1 MB',
    status: 400,
    sentence: 'An attribute is longer than 65536 characters.',
    body: () => file(`<user id="${'x'.repeat(1_000_000)}"/>`),
  },
  {
    name: 'a text of 20 MB',
    status: 400,
    sentence: 'A text is longer than 1048576 characters.',
    body: () => bio('x'.repeat(20 * mib)),
  },
  {
    name: 'a comment of 20 MB',
    status: 400,
    sentence: 'A tag or comment is longer than 1048576 characters.',
    body: () => file(`<!--${'x'.repeat(20 * mib)}-->`),
  },
  {
    name: 'a start tag without end',
    status: 400,
    sentence: 'A tag or comment is longer than 1048576 characters.',
    body: () => file(`<user id="${'>'.repeat(20 * mib)}`),
  },
  {
    name: '200,000 attributes',
    status: 400,
    sentence: 'A tag or comment is longer than 1048576 characters.',
    body: () => file(`<user${numbered(200_000, (i) => ` a${i}=""`)}/>`),
  },
  {
    name: '200,000 namespaces, 64 an element',
    status: 400,
    sentence: 'More than 10000 elements and attributes stand in one record.',
    body: () =>
      file(
        `<user>${numbered(3_125, (e) => `<bio${numbered(60, (i) => ` xmlns:n${e}a${i}="u:${i}"`)}/>`)}</user>`,
      ),
  },
  {
    name: '1,000,000 errors',
    status: 400,
    sentence: 'The file is invalid compared to the schema.',
    at: [1, 114],
    body: () => file('<user bad="1"/>'.repeat(1_000_000)),
  },
  {
    name: '9,000 errors in one record',
    status: 400,
    sentence: 'The file is invalid compared to the schema.',
    body: () => file(`<user>${'<phone/>'.repeat(9_000)}<additionalfields/></user>`),
  },
  {
    name: '500,000 CDATA sections',
    status: 400,
    sentence: 'More than 50000 comments, instructions and CDATA sections stand in one record.',
    body: () => bio('<![CDATA[x]]>'.repeat(500_000)),
  },
  {
    name: '50,000 CDATA sections',
    status: 202,
    body: () => bio('<![CDATA[x]]>'.repeat(50_000)),
  },
  { name: '100,000 numeric references', status: 202, body: () => bio('&#x2e;'.repeat(100_000)) },
  {
    name: '1,000,000 comments and instructions',
    status: 400,
    sentence: 'More than 50000 comments, instructions and CDATA sections stand in one record.',
    body: () => file(person, { before: '<!----><?p?>'.repeat(500_000) }),
  },
  {
    name: '1,000,000 comments, 50,000 a record',
    status: 202,
    body: () =>
      file(
        numbered(
          20,
          (i) => `<user id="c${i}" username="c${i}">${'<!---->'.repeat(50_000)}<additionalfields/></user>`,
        ),
      ),
  },
];

const malformed = (name: string, sentence: string, body: () => string): Attack => ({
  name,
  status: 400,
  sentence,
  body,
});

const forms: readonly Attack[] = [
  malformed('an attribute twice', 'duplicate attribute: id', () => file('<user id="1" id="2"/>')),
  malformed('an attribute twice by two prefixes', 'line 1', () =>
    file('<user xmlns:a="u" xmlns:b="u" a:id="1" b:id="2"><additionalfields/></user>'),
  ),
  malformed('two hyphens in a comment', 'line 1', () => file(`<!-- a -- b -->${person}`)),
  malformed('an XML declaration in the middle', 'line 1', () => file(`<?xml version="1.0"?>${person}`)),
  malformed(']]> in a text', 'line 1', () => bio(']]>')),
  malformed('two roots', 'A second root element follows the first.', () => file() + file()),
  malformed('elements that cross', 'This end tag does not match', () => file('<user><bio></user></bio>')),
  malformed('a control character by reference', 'line 1', () => bio('&#x1;')),
  malformed('a namespace of its own', 'This element is not expected', () =>
    file('<user xmlns="urn:x" id="1"><additionalfields/></user>'),
  ),
  malformed('a prefix that nobody declared', 'line 1', () =>
    file('<x:user id="1"><additionalfields/></x:user>'),
  ),
  malformed('the prefix xml for something else', 'line 1', () =>
    file(person, { root: ' xmlns:xml="urn:x"' }),
  ),
];

const encoded = (name: string, sentence: string, body: () => Uint8Array): Attack => ({
  name: `encoding: ${name}`,
  status: 400,
  sentence,
  body,
});
const says = (encoding: string) => `<?xml version="1.0" encoding="${encoding}"?>`;
const broken = (...bytes: readonly number[]) => {
  const [before = '', after = ''] = bio('|').split('|');
  return new Uint8Array([...utf8(before), ...bytes, ...utf8(after)]);
};

const encodings: readonly Attack[] = [
  encoded('UTF-7 by its mark', 'The encoding UTF-7 is not accepted', () => utf8('+/v8-+ADw-syncdata+AD4-')),
  encoded('UTF-7 declared', "The encoding 'UTF-7' is not accepted", () => utf8(says('UTF-7') + file())),
  encoded(
    'UTF-32',
    'The encoding UTF-32 is not accepted',
    () => new Uint8Array([0xff, 0xfe, 0, 0, 0x3c, 0, 0, 0]),
  ),
  encoded(
    'EBCDIC',
    'The encoding EBCDIC is not accepted',
    () => new Uint8Array([0x4c, 0x6f, 0xa7, 0x94, 0x93]),
  ),
  encoded('Latin-1', "The encoding 'ISO-8859-1' is not accepted", () => utf8(says('ISO-8859-1') + file())),
  encoded('UTF-8 that says UTF-16', 'the bytes are UTF-8', () => utf8(says('UTF-16') + file())),
  encoded('a mark of UTF-16 before UTF-8', 'Text stands outside the root element.', () =>
    withMark(utf8(file()), 0xff, 0xfe),
  ),
  encoded('overlong forms', 'The bytes that follow are not UTF-8.', () => broken(0xc0, 0xbc)),
  encoded('a surrogate in UTF-8', 'The bytes that follow are not UTF-8.', () => broken(0xed, 0xa0, 0x80)),
  encoded('beyond Unicode', 'The bytes that follow are not UTF-8.', () => broken(0xf4, 0x90, 0x80, 0x80)),
  encoded('a lone surrogate in UTF-16', 'UTF-16LE', () =>
    withMark(toUtf16(bio('\ud800x'), true), 0xff, 0xfe),
  ),
  encoded('NUL', 'The file contains a NUL character.', () => utf8(bio('\0'))),
  encoded('U+FFFE', 'line 1', () => utf8(bio('\ufffe'))),
];

/** Where a file may break off: each with what stands before the end. */
const endings: readonly (readonly [where: string, tail: string, sentence: string])[] = [
  ['in the declaration', '', 'The XML declaration does not end'],
  ['in a start tag', '<user id', 'The file ends inside a tag or a comment.'],
  ['in an attribute', '<user id="1', 'The file ends inside a tag or a comment.'],
  ['in a text', '<user><bio>a', "The file ends inside the element 'bio'."],
  ['in a reference', '<user><bio>&am', "The file ends inside the element 'bio'."],
  ['in a comment', '<!-- a', 'The file ends inside a tag or a comment.'],
  ['in a CDATA section', '<user><bio><![CDATA[a', 'The file ends inside a tag or a comment.'],
  ['in an instruction', '<?a', 'The file ends inside a tag or a comment.'],
  ['in an end tag', '<user></us', 'The file ends inside a tag or a comment.'],
  ['after a record', person, "The file ends inside the element 'users'."],
  ['after the people', `${person}</users>`, "The file ends inside the element 'syncdata'."],
];

const truncations: readonly Attack[] = [
  ...endings.map(([where, tail, sentence]): Attack => {
    const [before = ''] = file('|').split('|');
    const body = () => (tail === '' ? '<?xml version="1.0" encodi' : before + tail);
    return { name: `cut off ${where}`, status: 400, sentence, body };
  }),
  {
    name: 'cut off in a character',
    status: 400,
    sentence: 'The bytes that follow are not UTF-8.',
    body: () => utf8(file('<user><bio>é')).subarray(0, utf8(file('<user><bio>').slice(0, -19)).length + 1),
  },
  {
    name: 'nothing but white space',
    status: 400,
    sentence: 'The file contains no element.',
    body: () => ' \n',
  },
];

export const hostileDocuments: readonly Attack[] = [
  ...doctypes,
  ...outside,
  ...floods,
  ...forms,
  ...encodings,
  ...truncations,
];
