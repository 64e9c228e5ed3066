import { describe, expect, test } from 'bun:test';
import { createConnection, type Socket } from 'node:net';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import type { GeneralSource } from '../../src/sources/source-store.ts';
import { uploadSurface } from '../../src/upload/surface.ts';
import { upload } from '../../src/upload/upload.ts';
import { type ImportHouse, openImportHouse, profileXml, userXml } from '../imports/support.ts';
import { serveSurfaces } from './serve.ts';

const valid = profileXml([userXml('a', 'anna'), userXml('b', 'bert')]);

interface Door extends AsyncDisposable {
  readonly house: ImportHouse;
  readonly port: number;
  readonly token: string;
  send(body: BodyInit, headers?: Readonly<Record<string, string>>, path?: string): Promise<Response>;
  get(path: string, key?: string): Promise<Response>;
}

async function openDoor(): Promise<Door> {
  const house = await openImportHouse();
  const { intake, runs, sources, log } = house;
  const server = serveSurfaces([uploadSurface({ intake, runs, sources, log })], house);
  const token = await sources.revealToken(house.source);
  const base = `http://127.0.0.1:${server.port}`;
  return {
    house,
    port: server.port,
    token,
    send: (body, headers = { 'content-type': 'application/xml' }, path = '/api/platformsync/1/upload') =>
      fetch(base + path, { method: 'POST', body, headers: { 'x-apikey': token, ...headers } }),
    get: (path, key = token) => fetch(base + path, { headers: { 'x-apikey': key } }),
    async [Symbol.asyncDispose]() {
      await server.stop();
      await house[Symbol.asyncDispose]();
    },
  };
}

function form(...files: string[]): FormData {
  const data = new FormData();
  data.append('comment', 'a field');
  for (const [index, text] of files.entries())
    data.append(`file${index}`, new Blob([text]), '../../etc/passwd');
  return data;
}

async function nothingLeft(house: ImportHouse): Promise<void> {
  expect(house.files('drop')).toEqual([]);
  expect(await house.runs.list()).toEqual([]);
}

describe('POST /api/platformsync/:sourceId/upload', () => {
  test('answers 202 with the run and its place once the document is durable', async () => {
    await using door = await openDoor();
    const response = await door.send(valid);
    expect(response.status).toBe(202);
    expect(response.headers.get('location')).toBe('/api/platformsync/1/imports/1');
    expect(await response.json()).toEqual({
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
    expect(door.house.files('drop')).toHaveLength(1);
  });

  test('answers 200 with the earlier run for the same bytes, and 202 with force', async () => {
    await using door = await openDoor();
    await door.send(valid);
    await door.house.processor().drain();
    const again = await door.send(valid);
    expect(again.status).toBe(200);
    expect(await again.json()).toMatchObject({ importId: 1, status: 'unchanged' });
    const forced = await door.send(valid, undefined, '/api/platformsync/1/upload?force=true');
    expect(forced.status).toBe(202);
  });

  test.each(['application/xml', 'text/xml; charset=utf-8', 'application/octet-stream', 'APPLICATION/XML'])(
    'takes a raw body of type %s',
    async (type) => {
      await using door = await openDoor();
      expect((await door.send(valid, { 'content-type': type })).status).toBe(202);
    },
  );

  test.each([
    ['gzip', gzipSync(valid)],
    ['zstd', zstdCompressSync(valid)],
  ] as const)('takes a body in %s', async (encoding, body) => {
    await using door = await openDoor();
    const response = await door.send(body, {
      'content-type': 'application/xml',
      'content-encoding': encoding,
    });
    expect(response.status).toBe(202);
    expect(await response.json()).toMatchObject({ bytes: valid.length, users: 2 });
  });

  test('takes the one file of a form, whatever the client calls it', async () => {
    await using door = await openDoor();
    const response = await door.send(form(valid), {});
    expect(response.status).toBe(202);
    expect(await response.json()).toMatchObject({ bytes: valid.length });
    expect(door.house.files('drop').join()).not.toContain('passwd');
  });

  test('refuses a form with several files, and one without any', async () => {
    await using door = await openDoor();
    const several = await door.send(form(valid, valid), {});
    expect(several.status).toBe(400);
    expect(await several.json()).toMatchObject({
      ModelState: { PlatformSyncLogicError: [expect.stringContaining('several files')] },
    });
    expect((await door.send(form(), {})).status).toBe(400);
    await nothingLeft(door.house);
  });

  test('refuses a form with too many fields', async () => {
    await using door = await openDoor();
    const field = '--b\r\nContent-Disposition: form-data; name="f"\r\n\r\nx\r\n';
    const response = await door.send(field.repeat(21), { 'content-type': 'multipart/form-data; boundary=b' });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      ModelState: {
        PlatformSyncLogicError: ['The form has more than 20 fields; send the file alone.'],
      },
    });
    await nothingLeft(door.house);
  });

  test('refuses a form that breaks off', async () => {
    await using door = await openDoor();
    const text = `--b\r\nContent-Disposition: form-data; name="f"; filename="x"\r\n\r\n${valid}`;
    const response = await door.send(text, { 'content-type': 'multipart/form-data; boundary=b' });
    expect(response.status).toBe(400);
    await nothingLeft(door.house);
  });

  test('answers 400 with the sentences and places of what is wrong', async () => {
    await using door = await openDoor();
    const response = await door.send(profileXml([userXml('a', 'anna', '<active>maybe</active>')]));
    expect(response.status).toBe(400);
    const body = await response.json();
    expect(body).toEqual({
      Message: 'The request is invalid.',
      ModelState: {
        PlatformSyncLogicError: [
          expect.stringMatching(/^The file is invalid compared to the schema\. Element 'active'/),
        ],
      },
      errors: [{ line: 5, column: 30, path: '/syncdata/users/user[1]/active', message: expect.any(String) }],
      total: 1,
      isTotalPartial: false,
    });
    await nothingLeft(door.house);
  });

  const oddities: readonly (readonly [
    what: string,
    status: number,
    body: BodyInit,
    headers: Record<string, string>,
  ])[] = [
    ['a body of another type', 415, valid, { 'content-type': 'application/json' }],
    ['an encoding that is not known', 415, valid, { 'content-type': 'text/xml', 'content-encoding': 'br' }],
    ['two encodings', 415, valid, { 'content-type': 'text/xml', 'content-encoding': 'gzip, gzip' }],
    ['bytes that are not gzip', 400, valid, { 'content-type': 'text/xml', 'content-encoding': 'gzip' }],
    [
      'gzip that ends early',
      400,
      gzipSync(valid).subarray(0, -12),
      { 'content-type': 'text/xml', 'content-encoding': 'gzip' },
    ],
    ['no body', 400, '', { 'content-type': 'text/xml' }],
  ];
  test.each(oddities)('refuses %s with %d', async (_what, status, body, headers) => {
    await using door = await openDoor();
    expect((await door.send(body, headers)).status).toBe(status);
    await nothingLeft(door.house);
  });

  test('refuses a body that swells a thousandfold', async () => {
    await using door = await openDoor();
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, ' '));
    const response = await door.send(bomb, { 'content-type': 'text/xml', 'content-encoding': 'gzip' });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('more than 100 times its size');
    await nothingLeft(door.house);
  });

  test.each([
    ['gzip', gzipSync(valid)],
    ['zstd', zstdCompressSync(valid)],
  ] as const)('says what is missing beside a body in %s', async (encoding, body) => {
    await using door = await openDoor();
    const response = await door.send(body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      ModelState: {
        PlatformSyncLogicError: [`The body is ${encoding}; send Content-Encoding: ${encoding}.`],
      },
    });
    await nothingLeft(door.house);
  });

  test('answers 413 for a document that is too long', async () => {
    await using door = await openDoor();
    await door.house.configurations.setSetting('documentBytesMax', '1024');
    const response = await door.send('x'.repeat(2_000));
    expect(response.status).toBe(413);
    expect(await response.json()).toEqual({ Message: expect.stringContaining('larger than 1,024 bytes') });
  });

  test('answers alike to a wrong key, no key and an unknown source', async () => {
    await using door = await openDoor();
    const other = await door.house.sources.create('general', 'Other');
    const answers = await Promise.all([
      door.send(valid, { 'content-type': 'text/xml', 'x-apikey': 'wrong' }),
      door.send(valid, { 'content-type': 'text/xml', 'x-apikey': '' }),
      door.send(valid, { 'content-type': 'text/xml', 'x-apikey': other.token }),
      door.send(valid, undefined, '/api/platformsync/999/upload'),
    ]);
    expect(answers.map((answer) => answer.status)).toEqual([401, 401, 401, 401]);
    expect(new Set(await Promise.all(answers.map((answer) => answer.text()))).size).toBe(1);
    await nothingLeft(door.house);
  });

  test('answers 403 for a source that is not active', async () => {
    await using door = await openDoor();
    await door.house.sources.change('1', { active: false });
    expect((await door.send(valid)).status).toBe(403);
  });

  test('leaves nothing of a client that goes away in the middle', async () => {
    await using door = await openDoor();
    const socket = await openSocket(door.port);
    const head = `POST /api/platformsync/1/upload HTTP/1.1\r\nHost: 127.0.0.1:${door.port}\r\nX-ApiKey: ${door.token}\r\nContent-Type: text/xml\r\nContent-Length: 100000\r\n\r\n`;
    socket.write(`${head}${valid}`);
    await until(() => door.house.files('drop').length === 1);
    socket.destroy();
    await until(() => door.house.files('drop').length === 0);
    await nothingLeft(door.house);
    await until(() => door.house.logged.some((line) => line.includes('"the client dropped its upload"')));
    const lines = door.house.logged.map((line) => JSON.parse(line));
    expect(lines.find(({ message }) => message === 'the client dropped its upload')).toMatchObject({
      level: 'info',
      sourceId: 1,
      bytes: valid.length,
      requestId: expect.any(String),
    });
    expect(lines.filter(({ level }) => level === 'error')).toEqual([]);
  });

  test('is refused over plain HTTP from elsewhere, unless the source allows it', async () => {
    await using house = await openImportHouse();
    const post = () => {
      const sourceOf = (): GeneralSource => house.source;
      const app = upload({
        intake: house.intake,
        runs: house.runs,
        sourceOf,
        requestIdOf: () => 'r1',
        isSecure: () => false,
        signalOf: (request) => request.signal,
        log: house.log,
      });
      const headers = { 'content-type': 'text/xml' };
      return app.handle(
        new Request('http://id.example.com/api/platformsync/1/upload', {
          method: 'POST',
          body: valid,
          headers,
        }),
      );
    };
    const refused = await post();
    expect(refused.status).toBe(403);
    expect(await refused.json()).toEqual({ Message: expect.stringContaining('HTTPS') });
    await house.set({ allowPlainHttp: 'true' });
    expect((await post()).status).toBe(202);
  });
});

describe('GET /api/platformsync/:sourceId/imports/:id', () => {
  test('shows status, counts and the first issues', async () => {
    await using door = await openDoor();
    await door.house.set({ guardErrorPercent: '100' });
    await door.send(profileXml([userXml('a', 'anna'), userXml('b', 'bert', '<userType>King</userType>')]));
    expect(await (await door.get('/api/platformsync/1/imports/1')).json()).toMatchObject({
      importId: 1,
      status: 'queued',
    });
    await door.house.processor().drain();
    const response = await door.get('/api/platformsync/1/imports/1');
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      importId: 1,
      sourceId: 1,
      status: 'completed-with-errors',
      counts: { created: 1, issues: 1 },
      issues: [{ line: 6, recordId: 'b', code: 'invalidRecord' }],
    });
  });

  test('answers 404 for a run of another source, and for what is no id', async () => {
    await using door = await openDoor();
    await door.send(valid);
    const other = await door.house.sources.create('general', 'Other');
    expect((await door.get(`/api/platformsync/${other.source.id}/imports/1`, other.token)).status).toBe(404);
    expect((await door.get('/api/platformsync/1/imports/x')).status).toBe(404);
    expect((await door.get('/api/platformsync/1/imports/2')).status).toBe(404);
  });
});

describe('GET /api/platformsync/:sourceId/imports/:id/log', () => {
  test('answers the log of the run as text, to its own source alone', async () => {
    await using door = await openDoor();
    await door.send(valid);
    await door.house.processor().drain();
    const response = await door.get('/api/platformsync/1/imports/1/log');
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    const log = await response.text();
    expect(log).toBe(await door.house.runs.log(1));
    expect(log).toContain('Z  users: 2 rows to do\n');
    const other = await door.house.sources.create('general', 'Other');
    const path = `/api/platformsync/${other.source.id}/imports/1/log`;
    expect((await door.get(path, other.token)).status).toBe(404);
    expect((await door.get('/api/platformsync/1/imports/1/log', 'wrong')).status).toBe(401);
  });
});

describe('other paths', () => {
  test('answer 404 or 405 in the body of the surface', async () => {
    await using door = await openDoor();
    expect((await door.get('/api/platformsync/1/nothing')).status).toBe(404);
    const wrong = await door.get('/api/platformsync/1/upload');
    expect(wrong.status).toBe(405);
    expect(wrong.headers.get('allow')).toBe('POST');
  });
});

function openSocket(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(port, '127.0.0.1', () => resolve(socket));
    socket.on('error', reject);
  });
}

const looksMax = 500;

async function until(is: () => boolean): Promise<void> {
  for (let look = 0; look < looksMax; look += 1) {
    if (is()) return;
    await Bun.sleep(10);
  }
  throw new Error('it did not come to pass');
}
