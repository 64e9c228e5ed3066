import { Database as Sqlite } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { RequestReader } from '../../src/requests/request-reader.ts';
import { LogHouse, requestRecord } from './support.ts';

const writer = join(import.meta.dir, 'writer-main.ts');

describe('the request log', () => {
  test('keeps what it was given, for the owner of the file alone', () => {
    using house = new LogHouse();
    const log = house.open();
    const record = requestRecord({
      query: 'count=1',
      touched: [{ resourceType: 'User', resourceId: 7 }],
      name: 'ann',
      refusal: 'No.',
      repairs: [{ code: 'boolean-from-string', attribute: 'active', from: '"False"', to: 'false' }],
      ignored: [{ attribute: 'shoeSize', reason: 'unknown' }],
      body: '{"a":1}',
      decoded: '{"a":2}',
    });
    log.append(record);
    expect(existsSync(house.path)).toBe(false);
    log.flush();
    const { timeMs, isAtGate: _isAtGate, ...others } = record;
    const [found] = house.read((reader) => reader.page({}, { limit: 10, withBodies: true })).requests;
    expect(found).toMatchObject({ ...others, time: new Date(timeMs).toISOString() });
    expect(statSync(house.path).mode & 0o777).toBe(0o600);
  });

  test('writes by itself once enough records wait', async () => {
    using house = new LogHouse();
    const log = house.open();
    for (let number = 0; number < 256; number += 1) log.append(requestRecord());
    await new Promise((resolve) => setImmediate(resolve));
    expect(house.paths()).toHaveLength(256);
  });

  test('keeps the order in which requests were answered when the clock goes back', () => {
    using house = new LogHouse();
    const log = house.open();
    for (const path of ['/1', '/2', '/3']) {
      log.append(requestRecord({ path }));
      log.flush();
      house.clock.advance(-60);
    }
    expect(house.paths()).toEqual(['/1', '/2', '/3']);
  });

  test('goes on behind what an earlier process wrote', () => {
    using house = new LogHouse();
    for (const path of ['/1', '/2']) {
      const log = house.open();
      log.append(requestRecord({ path }));
      log.close();
    }
    expect(house.paths()).toEqual(['/1', '/2']);
  });

  test('waits for a folder that is not there, never fails a request, and says both once', () => {
    using house = new LogHouse('missing/requests.db');
    const log = house.open();
    for (const path of ['/1', '/2']) {
      log.append(requestRecord({ path }));
      log.flush();
    }
    expect(house.said.filter((line) => line.includes('cannot be written'))).toHaveLength(1);
    mkdirSync(dirname(house.path));
    log.flush();
    expect(house.paths()).toEqual(['/1', '/2']);
    expect(house.said.at(-1)).toContain('written again');
    expect(log.dropped).toBe(0);
  });

  test('gives up what is too much while it cannot write, counts it and says so', () => {
    using house = new LogHouse('missing/requests.db');
    const log = house.open();
    log.flush();
    for (let number = 0; number < 9_000; number += 1) log.append(requestRecord());
    expect(log.dropped).toBe(9_000 - 8_192);
    expect(house.said.join('')).toContain('cannot keep up');
  });

  test('bounds the bodies that wait by their size', () => {
    using house = new LogHouse('missing/requests.db');
    const log = house.open();
    const body = 'x'.repeat(1024 * 1024);
    for (let number = 0; number < 20; number += 1) log.append(requestRecord({ body }));
    expect(log.dropped).toBe(4);
  });

  test.each([
    [
      'garbage',
      (path: string) =>
        writeFileSync(path, 'this is no database, and it is long enough to be read'.repeat(20)),
    ],
    ['the database of something else', (path: string) => otherDatabase(path)],
    ['the log of a newer release', (path: string) => newerLog(path)],
  ])('sets %s aside and goes on', (_, prepare) => {
    using house = new LogHouse();
    prepare(house.path);
    const former = readFileSync(house.path);
    const log = house.open();
    log.append(requestRecord({ path: '/1' }));
    log.flush();
    expect(house.paths()).toEqual(['/1']);
    const [aside] = readdirSync(house.folder).filter((name) => name.includes('unusable'));
    expect(readFileSync(join(house.folder, aside ?? '')).equals(former)).toBe(true);
    expect(house.said.join('')).toContain('set aside');
    expect(log.dropped).toBe(0);
  });

  test('sets a file aside that breaks under it, loses nothing that waits, and keeps only the last such files', () => {
    using house = new LogHouse();
    for (const path of ['/1', '/2', '/3', '/4']) {
      const log = house.open();
      log.append(requestRecord({ path }));
      log.close();
      writeFileSync(house.path, Buffer.alloc(64 * 1024, path));
      house.clock.advance(1);
    }
    const log = house.open();
    log.append(requestRecord({ path: '/5' }));
    log.flush();
    expect(house.paths()).toEqual(['/5']);
    expect(readdirSync(house.folder).filter((name) => name.includes('unusable'))).toHaveLength(2);
  });

  test('loses at most the last quarter of a second to kill -9, and the file stays whole', async () => {
    using house = new LogHouse();
    const child = Bun.spawn([process.execPath, writer, house.path, '100000'], {
      stdout: 'pipe',
      stderr: 'pipe',
    });
    // By the writer's own clock: where it has come to later, its timers of before have been.
    const overdue = (lines: readonly Line[]) => {
      const lastMs = lines.at(-1)?.[1] ?? 0;
      return lines.filter(([, atMs]) => atMs < lastMs - 300);
    };
    const lines = await readUntil(child.stdout, (read) => overdue(read).length > 100);
    child.kill('SIGKILL');
    await child.exited;
    const mustBeThere = overdue(lines).map(([number]) => `/Users/${number}`);
    const { requests } = house.read((reader) => reader.page({}, { limit: 1_000 }));
    const there = new Set(requests.map(({ path }) => path));
    const oldest = requests.at(-1)?.path ?? '';
    const asked = mustBeThere.slice(Math.max(0, mustBeThere.indexOf(oldest)));
    expect(asked.length).toBeGreaterThan(10);
    expect(asked.filter((path) => !there.has(path))).toEqual([]);
    expect(integrity(house.path)).toBe('ok');
  });

  test('survives a disk that is full: requests go on, what was written stays readable', async () => {
    using house = new LogHouse();
    // A limit for the size of files makes writing fail as a full disk does.
    const limited = `trap '' XFSZ; ulimit -f 600; exec "$0" "$@"`;
    const child = Bun.spawn(['bash', '-c', limited, process.execPath, writer, house.path, '1500'], {
      stdout: 'pipe',
      stderr: 'pipe',
    });
    const [stdout, stderr] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    expect(await child.exited).toBe(0);
    expect(stderr).toContain('the request log cannot be written');
    expect(Number(/^dropped (\d+)$/m.exec(stdout)?.[1])).toBeGreaterThan(0);
    expect(integrity(house.path)).toBe('ok');
    expect(house.read((reader) => reader.page({}, { limit: 10 })).requests.length).toBe(10);
  });

  test('is read by two at once while it is written', () => {
    using house = new LogHouse();
    const log = house.open();
    log.append(requestRecord({ path: '/1' }));
    log.flush();
    using first = new RequestReader(house.path);
    using second = new RequestReader(house.path);
    for (let number = 2; number <= 50; number += 1) {
      log.append(requestRecord({ path: `/${number}` }));
      log.flush();
      for (const reader of [first, second])
        expect(reader.page({}, { limit: 1 }).requests[0]?.path).toBe(`/${number}`);
    }
  });
});

/** Lines of `number time` that came within `ms`. */
type Line = readonly [number: number, atMs: number];

/** The lines that came until there are enough of them. */
async function readUntil(
  stream: ReadableStream<Uint8Array>,
  isEnough: (lines: readonly Line[]) => boolean,
): Promise<Line[]> {
  const reader = stream.getReader();
  const lines: Line[] = [];
  let rest = '';
  while (!isEnough(lines)) {
    const chunk = await reader.read();
    if (chunk.done) break;
    const whole = (rest + new TextDecoder().decode(chunk.value)).split('\n');
    rest = whole.pop() ?? '';
    for (const line of whole) {
      const [number = 0, atMs = 0] = line.split(' ').map(Number);
      lines.push([number, atMs]);
    }
  }
  reader.releaseLock();
  return lines;
}

function integrity(path: string): unknown {
  using sqlite = new Sqlite(path);
  return Object.values(sqlite.query('pragma integrity_check').get() as object)[0];
}

function otherDatabase(path: string): void {
  using sqlite = new Sqlite(path, { create: true });
  sqlite.run('create table request (a)');
}

function newerLog(path: string): void {
  using sqlite = new Sqlite(path, { create: true });
  sqlite.run('pragma user_version = 99');
}
