import { describe, expect, test } from 'bun:test';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DocumentStore } from '../../src/archive/archive.ts';
import { canMount, smallDisk } from '../support/small-disk.ts';

function openFolder() {
  const path = mkdtempSync(join(tmpdir(), 'rollcall-archive-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

async function* chunks(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield new TextEncoder().encode(text);
}

const options = { sourceId: 7, bytesMax: 100 };
const modeOf = (path: string) => statSync(path).mode & 0o777;

describe.skipIf(!canMount())('spool on a full disk', () => {
  const disk = 256 * 1024;
  const sizes = [disk - 4_096, disk, disk + 1, disk + 4_096, 2 * disk];

  test.each(sizes)(
    'keeps all of %d bytes where they fit, and else answers storageFull and keeps nothing',
    async (bytes) => {
      using small = smallDisk(disk);
      const store = new DocumentStore(small.folder);
      const spooling = store.spool(chunks('x'.repeat(bytes)), { sourceId: 7, bytesMax: 10 * disk });
      if (bytes > disk) {
        const detail = 'The disk is full; free some space and send the document again.';
        await expect(spooling).rejects.toMatchObject({ kind: 'storageFull', detail });
        expect(readdirSync(join(small.folder, 'drop'))).toEqual([]);
      } else {
        expect(statSync((await spooling).path).size).toBe(bytes);
      }
    },
  );
});

describe('spool', () => {
  test('writes a private file and tells its length and SHA-256', async () => {
    using folder = openFolder();
    const spooled = await new DocumentStore(folder.path).spool(chunks('ab', 'c'), options);
    expect(spooled).toMatchObject({
      bytes: 3,
      sha256: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    });
    expect(spooled.name).toMatch(/^7-[0-9a-f]{32}$/);
    expect(await Bun.file(spooled.path).text()).toBe('abc');
    expect(modeOf(spooled.path)).toBe(0o600);
    expect(modeOf(join(folder.path, 'drop'))).toBe(0o700);
  });

  test('takes a document of exactly the longest length', async () => {
    using folder = openFolder();
    const spooled = await new DocumentStore(folder.path).spool(chunks('x'.repeat(100)), options);
    expect(spooled.bytes).toBe(100);
  });

  test('refuses a longer one with payloadTooLarge and leaves nothing', async () => {
    using folder = openFolder();
    const spooling = new DocumentStore(folder.path).spool(chunks('x'.repeat(100), 'y'), options);
    await expect(spooling).rejects.toMatchObject({ kind: 'payloadTooLarge' });
    expect(readdirSync(join(folder.path, 'drop'))).toEqual([]);
  });

  test('leaves nothing of a stream that breaks off', async () => {
    using folder = openFolder();
    async function* broken() {
      yield* chunks('begin');
      throw new Error('connection lost');
    }
    await expect(new DocumentStore(folder.path).spool(broken(), options)).rejects.toThrow('connection lost');
    expect(readdirSync(join(folder.path, 'drop'))).toEqual([]);
  });

  test('does not follow a link that stands in place of the folder', async () => {
    using folder = openFolder();
    using elsewhere = openFolder();
    symlinkSync(elsewhere.path, join(folder.path, 'drop'));
    await expect(new DocumentStore(folder.path).spool(chunks('abc'), options)).rejects.toMatchObject({
      kind: 'unavailable',
    });
    expect(readdirSync(elsewhere.path)).toEqual([]);
  });
});

describe('accept', () => {
  test('moves both files to their lasting places, private', async () => {
    using folder = openFolder();
    const store = new DocumentStore(folder.path);
    const spooled = await store.spool(chunks('abc'), options);
    writeFileSync(spooled.maskedPath, 'masked', { mode: 0o600 });
    const { document, archive } = await store.accept(spooled, 7);
    expect(document).toBe(`${spooled.name}.xml`);
    expect(archive).toBe(`7/${spooled.name}.xml.gz`);
    expect(readdirSync(join(folder.path, 'drop'))).toEqual([document]);
    expect(modeOf(join(folder.path, 'archive', archive))).toBe(0o600);
    expect(modeOf(join(folder.path, 'archive', '7'))).toBe(0o700);
    const bytes: Uint8Array[] = [];
    for await (const chunk of store.read(document)) bytes.push(chunk);
    expect(Buffer.concat(bytes).toString()).toBe('abc');
  });

  test('leaves neither file when one of them is not there', async () => {
    using folder = openFolder();
    const store = new DocumentStore(folder.path);
    const spooled = await store.spool(chunks('abc'), options);
    await expect(store.accept(spooled, 7)).rejects.toThrow('ENOENT');
    expect(readdirSync(join(folder.path, 'drop'))).toEqual([]);
    expect(readdirSync(join(folder.path, 'archive', '7'))).toEqual([]);
  });
});

describe('names', () => {
  test.each([
    '../secret.key',
    '/etc/passwd',
    '7-x.xml',
    'CON',
    '',
    '7-../../x.xml',
    `7-${'a'.repeat(32)}.xml\0`,
  ])('of other forms than its own are never opened: %j', async (name) => {
    using folder = openFolder();
    const store = new DocumentStore(folder.path);
    expect(() => store.read(name)).toThrow('not the name');
    expect(() => store.readArchive(name)).toThrow('not the name');
    await expect(store.removeArchive(name)).rejects.toThrow('not the name');
  });
});

describe('sweep', () => {
  test('removes old files that nobody needs', async () => {
    using folder = openFolder();
    mkdirSync(join(folder.path, 'drop'));
    for (const name of ['old', 'needed', 'young']) writeFileSync(join(folder.path, 'drop', name), 'x');
    for (const name of ['old', 'needed']) utimesSync(join(folder.path, 'drop', name), 0, 0);
    const removed = await new DocumentStore(folder.path).sweep(
      new Date(1_000_000),
      (name) => name === 'needed',
    );
    expect(removed).toBe(1);
    expect(readdirSync(join(folder.path, 'drop')).toSorted()).toEqual(['needed', 'young']);
  });
});

describe('sweepArchive', () => {
  test('removes old copies that nobody needs, and no other file', async () => {
    using folder = openFolder();
    const own = join(folder.path, 'archive', '7');
    mkdirSync(own, { recursive: true });
    const copy = (letter: string) => `7-${letter.repeat(32)}.xml.gz`;
    const names = [copy('a'), copy('b'), copy('c'), 'notes.txt'];
    for (const name of names) writeFileSync(join(own, name), 'x');
    for (const name of names) if (name !== copy('c')) utimesSync(join(own, name), 0, 0);
    writeFileSync(join(folder.path, 'archive', 'README'), 'x');
    const removed = await new DocumentStore(folder.path).sweepArchive(
      new Date(1_000_000),
      (archive) => archive === `7/${copy('b')}`,
    );
    expect(removed).toBe(1);
    expect(readdirSync(own).toSorted()).toEqual([copy('b'), copy('c'), 'notes.txt']);
  });

  test('leaves the copies of a source of which the database knows none', async () => {
    using folder = openFolder();
    const own = join(folder.path, 'archive', '7');
    mkdirSync(own, { recursive: true });
    const name = `7-${'a'.repeat(32)}.xml.gz`;
    writeFileSync(join(own, name), 'x');
    utimesSync(join(own, name), 0, 0);
    expect(await new DocumentStore(folder.path).sweepArchive(new Date(1_000_000), () => false)).toBe(0);
    expect(readdirSync(own)).toEqual([name]);
  });

  test('has nothing to do where no document was ever accepted', async () => {
    using folder = openFolder();
    expect(await new DocumentStore(folder.path).sweepArchive(new Date(), () => false)).toBe(0);
  });
});
