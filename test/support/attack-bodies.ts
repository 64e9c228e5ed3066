// Bodies around documents that are made to do harm: compressed, in forms, of other types and sizes.

import { gzipSync, zstdCompressSync } from 'node:zlib';
import { type Attack, attackDocumentBytesMax, file, mib, numbered, person } from './attack.ts';

const gzip = { 'content-encoding': 'gzip' };
const zstd = { 'content-encoding': 'zstd' };
const swollen = 'The file grows to more than 100 times its size';
const spaces = (bytes: number) => Buffer.alloc(bytes, ' ');
const repeated = (part: Uint8Array, count: number) =>
  Buffer.concat(Array.from({ length: count }, () => part));

/** gzip whose header gives the file a name that does not end (RFC 1952 §2.3.1, FNAME). */
function longGzipName(): Uint8Array {
  return Buffer.concat([Buffer.from([0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 3]), Buffer.alloc(8 * mib, 'n')]);
}

/** A frame that decoders skip (RFC 8878 §3.1.2), of 4 GB, of which nothing comes. */
const skippable = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 0xff, 0xff, 0xff, 0xff]);

const compressed: readonly Attack[] = [
  {
    name: 'gzip: bomb of 128 MB',
    status: 400,
    sentence: swollen,
    body: () => gzipSync(spaces(128 * mib)),
    headers: gzip,
  },
  {
    name: 'zstd: bomb of 128 MB',
    status: 400,
    sentence: swollen,
    body: () => zstdCompressSync(spaces(128 * mib)),
    headers: zstd,
  },
  {
    name: 'gzip: bomb of 128 members',
    status: 400,
    sentence: swollen,
    body: () => repeated(gzipSync(spaces(mib)), 128),
    headers: gzip,
  },
  {
    name: 'zstd: bomb of 128 frames',
    status: 400,
    sentence: swollen,
    body: () => repeated(zstdCompressSync(spaces(mib)), 128),
    headers: zstd,
  },
  {
    name: 'gzip: 400,000 empty members',
    status: 400,
    sentence: 'The file contains no element.',
    body: () => repeated(gzipSync(''), 400_000),
    headers: gzip,
  },
  {
    name: 'gzip: a name of 8 MB',
    status: 400,
    sentence: 'The body is not valid gzip',
    body: longGzipName,
    headers: gzip,
  },
  {
    name: 'gzip: cut off',
    status: 400,
    sentence: 'ends too early',
    body: () => gzipSync(file()).subarray(0, -8),
    headers: gzip,
  },
  {
    name: 'gzip: wrong checksum',
    status: 400,
    sentence: 'The body is not valid gzip',
    body: wrongChecksum,
    headers: gzip,
  },
  {
    name: 'gzip: within gzip',
    status: 400,
    sentence: 'Text stands outside the root element.',
    body: () => gzipSync(gzipSync(file())),
    headers: gzip,
  },
  {
    name: 'gzip: rubbish behind it',
    status: 400,
    sentence: 'The body is not valid gzip',
    body: () => Buffer.concat([gzipSync(file()), Buffer.from('rubbish')]),
    headers: gzip,
  },
  {
    name: 'zstd: a frame to skip of 4 GB',
    status: 400,
    sentence: 'The file contains no element.',
    body: () => skippable,
    headers: zstd,
  },
  {
    name: 'zstd: cut off',
    status: 400,
    sentence: 'The file contains no element.',
    body: () => zstdCompressSync(file()).subarray(0, -8),
    headers: zstd,
  },
  {
    name: 'zstd: larger than a document may be',
    status: 413,
    sentence: 'larger than',
    body: () => zstdCompressSync(loose(attackDocumentBytesMax + mib)),
    headers: zstd,
  },
  {
    name: 'two encodings',
    status: 415,
    sentence: 'must be gzip, zstd or none',
    body: () => gzipSync(gzipSync(file())),
    headers: { 'content-encoding': 'gzip, gzip' },
  },
  {
    name: 'brotli',
    status: 415,
    sentence: 'must be gzip, zstd or none',
    body: () => file(),
    headers: { 'content-encoding': 'br' },
  },
];

function wrongChecksum(): Uint8Array {
  const bytes = gzipSync(file());
  bytes.writeUInt32LE(0, bytes.length - 8);
  return bytes;
}

/** Text that shrinks to the half only, so that its size is what is refused. */
function loose(bytes: number): Uint8Array {
  const numbers = new Uint32Array(Math.ceil(bytes / 8));
  for (let i = 0; i < numbers.length; i += 1) numbers[i] = Math.imul(i + 1, 2_654_435_761) ^ Math.imul(i, i);
  return Buffer.from(Buffer.from(numbers.buffer).toString('hex')).subarray(0, bytes);
}

const boundary = 'b';
const multipart = { 'content-type': `multipart/form-data; boundary=${boundary}` };
const part = (headers: string, text: string) => `--${boundary}\r\n${headers}\r\n\r\n${text}\r\n`;
const asFile = (name: string) => `Content-Disposition: form-data; name="${name}"; filename="${name}.xml"`;
const field = (name: string) => `Content-Disposition: form-data; name="${name}"`;
const end = `--${boundary}--\r\n`;

const multiparts: readonly Attack[] = [
  {
    name: 'form: two files',
    status: 400,
    sentence: 'several files',
    body: () => part(asFile('a'), file()) + part(asFile('b'), file()) + end,
    headers: multipart,
  },
  {
    name: 'form: no file',
    status: 400,
    sentence: 'The form has no file',
    body: () => part(field('a'), file()) + end,
    headers: multipart,
  },
  {
    name: 'form: no boundary',
    status: 400,
    sentence: 'not valid multipart',
    body: () => part(asFile('a'), file()) + end,
    headers: { 'content-type': 'multipart/form-data' },
  },
  {
    name: 'form: another boundary',
    status: 400,
    sentence: 'form',
    body: () => part(asFile('a'), file()).replaceAll('--b', '--c') + end.replace('--b', '--c'),
    headers: multipart,
  },
  {
    name: 'form: no end',
    status: 400,
    sentence: 'ends too early',
    body: () => part(asFile('a'), file()),
    headers: multipart,
  },
  {
    name: 'form: a header of 8 MB',
    status: 400,
    sentence: 'form',
    body: () => part(`X: ${'x'.repeat(8 * mib)}\r\n${asFile('a')}`, file()) + end,
    headers: multipart,
  },
  {
    name: 'form: 100,000 headers',
    status: 400,
    sentence: 'form',
    body: () => part(`${numbered(100_000, (i) => `X${i}: x\r\n`)}${asFile('a')}`, file()) + end,
    headers: multipart,
  },
  {
    name: 'form: 100,000 fields',
    status: 400,
    sentence: 'The form has more than 20 fields; send the file alone.',
    body: () => numbered(100_000, (i) => part(field(`f${i}`), 'x')) + end,
    headers: multipart,
  },
  {
    name: 'form: a field of 20 MB',
    status: 400,
    sentence: 'The form has no file',
    body: () => part(field('a'), 'x'.repeat(20 * mib)) + end,
    headers: multipart,
  },
  {
    name: 'form: a file name that climbs',
    status: 202,
    body: () => part(asFile('../../../etc/cron.d/x'), file(`<!-- climbs -->${person}`)) + end,
    headers: multipart,
  },
  {
    name: 'form: in gzip, a bomb',
    status: 400,
    sentence: swollen,
    body: () => gzipSync(part(asFile('a'), ' '.repeat(64 * mib)) + end),
    headers: { ...multipart, ...gzip },
  },
];

const others: readonly Attack[] = [
  {
    name: 'JSON',
    status: 415,
    sentence: 'not as "application/json"',
    body: () => '{}',
    headers: { 'content-type': 'application/json' },
  },
  {
    name: 'a type of 8 kB',
    status: 415,
    sentence: 'Send the file as',
    body: () => file(),
    headers: { 'content-type': `x/${'y'.repeat(8_000)}` },
  },
  { name: 'nothing', status: 400, sentence: 'no body', body: () => '' },
  {
    name: 'binary rubbish',
    status: 400,
    sentence: 'line 1',
    body: () => new Uint8Array(mib).map((_, i) => (i * 7_919) % 251),
  },
  {
    name: 'larger than a document may be',
    status: 413,
    sentence: 'larger than',
    body: () => spaces(attackDocumentBytesMax + 1),
  },
];

export const hostileBodies: readonly Attack[] = [...compressed, ...multiparts, ...others];
