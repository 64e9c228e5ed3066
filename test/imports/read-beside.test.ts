import { expect, test } from 'bun:test';
import { readBeside } from '../../src/imports/read-beside.ts';
import { packItems, type ReadItem, readRecords, unpackItems } from '../../src/imports/record-reader.ts';
import { generateProfileXml } from '../support/generate-profile-xml.ts';
import { profileXml, userXml } from './support.ts';

const bytesMax = 100_000_000;

async function* pieces(text: string, size = 10_000): AsyncGenerator<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function collect(reading: AsyncIterable<ReadItem[]>): Promise<ReadItem[]> {
  const all: ReadItem[] = [];
  for await (const items of reading) all.push(...items);
  return all;
}

test('a thread reads what this one would read', async () => {
  const profile = { users: 3_000, domain: 'Human Resources', ldapid: '1' };
  const here = await collect(readRecords(generateProfileXml(profile), bytesMax));
  const beside = await collect(readBeside(generateProfileXml(profile), bytesMax));
  expect(beside.length).toBeGreaterThan(3_000);
  expect(beside).toEqual(here);
});

test('a document that is wrong is refused at the same place, after the records before it', async () => {
  const text = profileXml(Array.from({ length: 2_000 }, (_, n) => userXml(`p${n}`, `person${n}`)));
  const wrong = text.replace('<user id="p1900"', '<user id="p1900" <');
  const told = async (reading: AsyncIterable<ReadItem[]>) => {
    const items: ReadItem[] = [];
    try {
      for await (const some of reading) items.push(...some);
      return [items.length, 'read to its end'];
    } catch (error) {
      const { name, kind, message, line, column, path } = error as Record<string, unknown>;
      return [items.length, { name, kind, message, line, column, path }];
    }
  };
  const here = await told(readRecords(pieces(wrong), bytesMax));
  expect(here[1]).toMatchObject({ name: 'XmlError', kind: 'malformed' });
  expect(await told(readBeside(pieces(wrong), bytesMax))).toEqual(here);
});

test('a stream that fails is told as it failed, and let go of', async () => {
  let isClosed = false;
  async function* failing(): AsyncGenerator<Uint8Array> {
    try {
      yield* pieces(profileXml([userXml('a', 'anna')]), 50);
      throw Object.assign(new Error('gone'), { code: 'ENOENT' });
    } finally {
      isClosed = true;
    }
  }
  await expect(collect(readBeside(failing(), bytesMax))).rejects.toMatchObject({ code: 'ENOENT' });
  expect(isClosed).toBe(true);
});

test('whoever stops in the middle lets go of the stream', async () => {
  let isClosed = false;
  async function* endless(): AsyncGenerator<Uint8Array> {
    try {
      yield new TextEncoder().encode(profileXml([]).split('</users>')[0]);
      for (let n = 0; ; n += 1) yield new TextEncoder().encode(userXml(`p${n}`, `person${n}`).repeat(10));
    } finally {
      isClosed = true;
    }
  }
  for await (const items of readBeside(endless(), bytesMax)) if (items.length > 1) break;
  expect(isClosed).toBe(true);
});

test.each([
  ['at once', 'process.exit(0);'],
  ['in the middle', "require('node:worker_threads').parentPort.on('message', () => process.exit(3));"],
])('a thread that ends %s without a word is told as a failure', async (_, code) => {
  const entry = new URL(`data:text/javascript,${encodeURIComponent(code)}`);
  const reading = readBeside(pieces(profileXml([userXml('a', 'anna')]), 50), bytesMax, entry);
  await expect(collect(reading)).rejects.toThrow('the thread that reads documents has failed');
});

test('items go through JSON as they are', async () => {
  const text = profileXml([userXml('a', 'Änne 𝄞')], { options: { mode: 'delta', syncGroups: 'false' } });
  const items = await collect(readRecords(pieces(text), bytesMax));
  expect(unpackItems(packItems(items))).toEqual(items);
});
