import { describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { DocumentStore } from '../../src/archive/archive.ts';
import type { DomainError } from '../../src/errors.ts';
import { inspectInChild, inspectionDeadlineMs } from '../../src/imports/inspector.ts';
import { Intake } from '../../src/imports/intake.ts';
import { dialects } from '../support/database.ts';
import { canMount, smallDisk } from '../support/small-disk.ts';
import {
  decider,
  type ImportHouse,
  openImportHouse,
  profileXml,
  selfCommand,
  userXml,
  withWrite,
} from './support.ts';

const valid = profileXml([userXml('a', 'anna'), userXml('b', 'bert')]);

for (const dialect of dialects()) {
  describe(`accept on ${dialect}`, () => {
    test('queues a run for a valid document, with both files in place', async () => {
      await using house = await openImportHouse({ dialect });
      const receipt = await house.accept(valid);
      expect(receipt).toEqual({
        importId: 1,
        sourceId: 1,
        status: 'queued',
        sha256: new Bun.CryptoHasher('sha256').update(valid).digest('hex'),
        bytes: valid.length,
        users: 2,
        groups: 0,
        willBeProcessed: true,
        warnings: [],
      });
      expect(house.files('drop')).toHaveLength(1);
      expect(house.files('archive')).toEqual(['1', expect.stringMatching(/^1\/1-[0-9a-f]{32}\.xml\.gz$/)]);
      expect(await house.runs.get(1)).toMatchObject({
        status: 'queued',
        origin: 'upload',
        users: 2,
        dryRun: false,
      });
    });

    test('tells of a document that the last completed run had, unless it is forced', async () => {
      await using house = await openImportHouse({ dialect });
      await house.import(valid);
      expect(await house.accept(valid)).toMatchObject({
        importId: 1,
        status: 'unchanged',
        willBeProcessed: false,
      });
      expect(house.files('drop')).toEqual([]);
      expect(await house.accept(valid, { force: true })).toMatchObject({ importId: 2, status: 'queued' });
    });

    test('looks at the same bytes again when they may mean something else by now', async () => {
      await using house = await openImportHouse({ dialect });
      await house.import(valid);
      await house.configurations.createField('Badge', 'string', null);
      expect(await house.import(valid)).toMatchObject({ id: 2, status: 'completed' });
      expect(await house.accept(valid)).toMatchObject({ importId: 2, status: 'unchanged', users: 2 });
      await house.set({ syncManagers: 'false' });
      expect(await house.accept(valid)).toMatchObject({ importId: 3, status: 'queued' });
    });

    test('takes a document again after another one, and after one that was imported with errors', async () => {
      await using house = await openImportHouse({ dialect });
      await house.import(valid);
      const faulty = profileXml([userXml('a', 'anna', '<userType>King</userType>'), userXml('b', 'bert')]);
      expect(await house.import(faulty)).toMatchObject({ status: 'completed-with-errors' });
      expect(await house.accept(faulty)).toMatchObject({ status: 'queued' });
      expect(await house.accept(valid)).toMatchObject({ status: 'queued' });
    });

    test('takes two documents at once, and they are imported one after the other', async () => {
      await using house = await openImportHouse({ dialect });
      const other = profileXml([userXml('a', 'anna'), userXml('c', 'carl')]);
      const [one, two] = await Promise.all([house.accept(valid), house.accept(other)]);
      expect(new Set([one.importId, two.importId])).toEqual(new Set([1, 2]));
      await house.processor().drain();
      expect((await house.runs.list()).map(({ id, status }) => `${id} ${status}`)).toEqual([
        '2 completed',
        '1 completed',
      ]);
      const last = one.importId === 2 ? 'bert' : 'carl';
      expect(
        (await house.people())
          .filter((user) => user.state === 'active')
          .map((user) => user.resource.userName),
      ).toEqual(expect.arrayContaining(['anna', last]));
    });
  });
}

describe('accept refuses', () => {
  const refused: readonly (readonly [what: string, xml: string, sentence: string])[] = [
    [
      'a value that the schema does not allow',
      profileXml([userXml('a', 'anna', '<loginType>7</loginType>')]),
      "The file is invalid compared to the schema. Element 'loginType'",
    ],
    [
      'a document that is not well-formed',
      valid.replace('</users>', ''),
      "This end tag does not match the start tag of the element 'users'. (line 8, column 1)",
    ],
    [
      'a DOCTYPE',
      valid.replace('<syncdata', '<!DOCTYPE x><syncdata'),
      'A DOCTYPE is not accepted. Remove it from the file. (line 2, column 1)',
    ],
    ['a document that breaks off', valid.slice(0, -20), 'The file'],
    ['something else', 'hello', 'Text stands outside the root element. (line 1, column 1)'],
    [
      'the name of another source',
      valid.replace('Human Resources', 'Sales'),
      "The attribute 'domain' is 'Sales', but this source is named 'Human Resources'.",
    ],
    [
      'the id of another source',
      valid.replace('ldapid="1"', 'ldapid="2"'),
      "The attribute 'ldapid' is '2', but the id of this source is 1.",
    ],
  ];

  test.each(refused)('%s, and leaves nothing behind', async (_what, xml, sentence) => {
    await using house = await openImportHouse();
    const error = await house.accept(xml).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ name: 'DocumentRefused', kind: 'invalidValue' });
    expect((error as { sentences: string[] }).sentences[0]).toStartWith(sentence);
    expect((error as { problems: { line: number }[] }).problems[0]?.line).toBeGreaterThan(0);
    expect(house.files('drop')).toEqual([]);
    expect(house.files('archive').filter((name) => name.endsWith('.gz'))).toEqual([]);
    expect(await house.runs.list()).toEqual([]);
  });

  test('a document that is too long, as soon as it is', async () => {
    await using house = await openImportHouse();
    await house.configurations.setSetting('documentBytesMax', '1024');
    const long = profileXml([userXml('a', 'anna', `<bio>${'x'.repeat(2_000)}</bio>`)]);
    await expect(house.accept(long)).rejects.toMatchObject({ kind: 'payloadTooLarge' });
    expect(house.files('drop')).toEqual([]);
  });

  test('a document whose sender goes away', async () => {
    await using house = await openImportHouse();
    const sender = new AbortController();
    async function* leaving() {
      yield new TextEncoder().encode(valid);
      sender.abort();
    }
    const request = {
      source: house.source,
      origin: 'upload',
      stream: leaving(),
      signal: sender.signal,
    } as const;
    await expect(house.intake.accept(request)).rejects.toThrow('aborted');
    expect(house.files('drop')).toEqual([]);
    expect(await house.runs.list()).toEqual([]);
  });

  test('every document while the program for inspecting them fails, without saying why to the client', async () => {
    await using house = await openImportHouse();
    const broken = [process.execPath, '-e', 'console.error("inner secret"); process.exit(3)'];
    const intake = new Intake({ ...house, clock: house.clock, selfCommand: broken });
    const stream = new Blob([valid]).stream();
    const error = await intake
      .accept({ source: house.source, origin: 'upload', stream })
      .catch((caught: unknown) => caught);
    expect(error).toMatchObject({ kind: 'internal' });
    expect(String((error as Error).message)).not.toContain('inner secret');
    expect(house.logged.join('')).toContain('inner secret');
    expect(house.files('drop')).toEqual([]);
  });

  test('a document whose run cannot be queued because the database cannot be read, and leaves no file of it', async () => {
    await using house = await openImportHouse();
    const { database } = house;
    const unreadable = {
      ...house,
      clock: house.clock,
      selfCommand,
      database: {
        ...withWrite(database, (write) => write()),
        get read(): typeof database.read {
          throw new Error('the database is gone');
        },
      },
    };
    const stream = new Blob([valid]).stream();
    const request = { source: house.source, origin: 'upload', stream, force: true } as const;
    await expect(new Intake(unreadable).accept(request)).rejects.toThrow('the database is gone');
    expect(house.files('drop')).toEqual([]);
    expect(house.files('archive').filter((name) => name.endsWith('.gz'))).toEqual([]);
  });

  test('the third document of a source at once, while another source still gets in', async () => {
    await using house = await openImportHouse();
    const sales = await house.addSource('Sales');
    const gate = Promise.withResolvers<void>();
    const send = (source = house.source) =>
      sendAfter(house, gate.promise, source).catch((error: unknown) => error);
    const first = [send(), send()];
    const third = send();
    const other = send(sales);
    gate.resolve();
    expect(await third).toMatchObject({ kind: 'limitExceeded', retryAfterSeconds: 10 });
    for (const error of await Promise.all([...first, other])) {
      expect(error).toMatchObject({ name: 'DocumentRefused' });
    }
    expect(await send()).toMatchObject({ name: 'DocumentRefused' });
  });

  test('the ninth document of all sources at once', async () => {
    await using house = await openImportHouse();
    const sources = [house.source];
    for (const name of ['B', 'C', 'D', 'E']) sources.push(await house.addSource(name));
    const gate = Promise.withResolvers<void>();
    const [a, b, c, d, e] = sources;
    const first = [a, a, b, b, c, c, d, d].map((source) =>
      sendAfter(house, gate.promise, source).catch((error: unknown) => error),
    );
    await expect(sendAfter(house, gate.promise, e)).rejects.toMatchObject({
      kind: 'unavailable',
      retryAfterSeconds: 10,
    });
    gate.resolve();
    for (const error of await Promise.all(first)) expect(error).toMatchObject({ name: 'DocumentRefused' });
  });
});

/** Sends what is not a document, once the gate is open. */
function sendAfter(house: ImportHouse, gate: Promise<void>, source = house.source) {
  async function* waiting() {
    await gate;
    yield new TextEncoder().encode('x');
  }
  return house.intake.accept({ source, origin: 'upload', stream: waiting() });
}

describe.skipIf(!canMount())('accept on a full disk', () => {
  const disk = 1024 * 1024;
  /** Text that does not shrink below the half: what is archived needs space as well. */
  const noise = (bytes: number) =>
    Buffer.from(crypto.getRandomValues(new Uint8Array(60_000)))
      .toString('hex')
      .repeat(9)
      .slice(0, bytes);
  const wide = (bytes: number) => `<!--${noise(bytes).replace(/(.{100000})/g, '$1--><!--')}-->`;

  test.each([
    ['the document', 1_500_000],
    ['its archived copy', 700_000],
  ])('answers storageFull where there is no space for %s, and keeps nothing', async (_what, bytes) => {
    using small = smallDisk(disk);
    await using house = await openImportHouse();
    const documents = new DocumentStore(small.folder);
    const intake = new Intake({ ...house, clock: house.clock, selfCommand, documents });
    const text = profileXml([wide(bytes) + userXml('a', 'anna')]);
    const stream = new Blob([text]).stream();
    const accepting = intake.accept({ source: house.source, origin: 'upload', stream });
    const detail = 'The disk is full; free some space and send the document again.';
    await expect(accepting).rejects.toMatchObject({ kind: 'storageFull', detail });
    expect(readdirSync(join(small.folder, 'drop'))).toEqual([]);
    expect(await house.runs.list()).toEqual([]);
    // The same once more where there is space: nothing is wrong with the document itself.
    expect(await house.accept(text)).toMatchObject({ status: 'queued' });
  });
});

describe('inspectInChild', () => {
  test('kills a child that computes past the deadline', async () => {
    const forever = [process.execPath, '-e', 'for (;;);'];
    const outcome = await inspectInChild(
      { file: '/dev/null' },
      { selfCommand: forever, deadlineMs: 200 },
    ).catch((error: DomainError) => error.kind);
    // On a machine that is busy enough it does not come to compute for so long.
    expect([undefined, 'unavailable']).toContain(outcome as undefined);
  });

  test('gives the child no environment', async () => {
    const printing = [
      process.execPath,
      '-e',
      'console.log(JSON.stringify(Object.keys(process.env).filter((n) => n.startsWith("ROLLCALL") || n === "HOME")))',
    ];
    const verdict: unknown = await inspectInChild(
      { file: 'x' },
      { selfCommand: printing, deadlineMs: 10_000 },
    );
    expect(verdict).toEqual([]);
  });

  test('reports problems with their places', async () => {
    await using house = await openImportHouse();
    const file = join(house.folder, 'bad.xml');
    await Bun.write(file, profileXml([userXml('a', 'anna', '<active>maybe</active>')]));
    const verdict = await inspectInChild({ file }, { selfCommand, deadlineMs: 20_000 });
    expect(verdict).toMatchObject({
      valid: false,
      kind: 'schema',
      total: 1,
      errors: [{ line: 5, path: '/syncdata/users/user[1]/active' }],
    });
  });

  test.each([
    [0, 20_000],
    [20 * 1024 * 1024, 24_000],
    [4 * 1024 ** 3, 300_000],
  ])('is given for %d bytes %d ms', (bytes, deadlineMs) => {
    expect(inspectionDeadlineMs(bytes)).toBe(deadlineMs);
  });
});

describe('a password in a document', () => {
  test('is found nowhere in the data folder or the log, neither before nor after the import', async () => {
    await using house = await openImportHouse();
    const canary = 'Canary-7f3a-Passw0rd';
    const secret = `<password>${canary}</password>`;
    const users = [
      userXml('a', 'anna', secret),
      userXml('b', 'bert', '<password><![CDATA[Canary-7f3a-Passw0rd]]></password>'),
    ];
    const run = await house.import(profileXml(users));
    expect(run).toMatchObject({ status: 'completed', counts: { passwordsSet: 2 } });
    await house.checkpoint();
    const files = house.files('archive').filter((name) => name.endsWith('.gz'));
    expect(files).toHaveLength(1);
    const archived = gunzipSync(readFileSync(join(house.folder, 'archive', files[0] ?? ''))).toString();
    expect(archived).toContain('<user id="a" username="anna"');
    expect(archived).not.toContain(canary);
    expect(house.files('drop')).toEqual([]);
    expect(readFileSync(house.location).includes(canary)).toBe(false);
    expect(house.logged.join('')).not.toContain(canary);
    const rows = await house.database.read
      .selectFrom('import_plan')
      .select(['payload', 'sealed_password'])
      .execute();
    expect(rows.every((row) => row.payload === null && row.sealed_password === null)).toBe(true);
  });

  test('is sealed while a run waits for approval, and gone when it is rejected', async () => {
    await using house = await openImportHouse({ settings: { guardErrorPercent: '0' } });
    const users = [
      userXml('a', 'anna', '<password>Canary-1</password>'),
      userXml('b', 'bert', '<userType>King</userType>'),
    ];
    const held = await house.import(profileXml(users));
    expect(held.status).toBe('awaiting-approval');
    const sealed = () =>
      house.database.read
        .selectFrom('import_plan')
        .select('sealed_password')
        .where('sealed_password', 'is not', null)
        .execute();
    expect(JSON.stringify(await sealed())).toMatch(/^\[\{"sealed_password":"v1\.[\w-]+"\}\]$/);
    await house.runs.reject(held.id, decider);
    expect(await sealed()).toEqual([]);
  });
});

describe('archived documents', () => {
  test('are kept for the newest runs, and always for the last that was imported', async () => {
    await using house = await openImportHouse();
    await house.configurations.setSetting('archiveRunsKept', '2');
    await house.import(valid);
    for (const title of ['one', 'two', 'three']) {
      await house.import(
        profileXml([userXml('a', 'anna', `<userType>${title}</userType>`), userXml('b', 'bert')]),
      );
    }
    expect(house.files('archive').filter((name) => name.endsWith('.gz'))).toHaveLength(3);
    const plans = await house.database.read
      .selectFrom('import_plan')
      .select('run_id')
      .distinct()
      .orderBy('run_id')
      .execute();
    expect(plans.map((row) => row.run_id)).toEqual([1, 3, 4]);
  });
});
