import { describe, expect, test } from 'bun:test';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Json, readFailure, Workplace } from './support.ts';

const entry = join(import.meta.dir, '..', '..', 'src', 'main.ts');

/** A folder with a general source "HR" of id 1. */
async function withSource(): Promise<Workplace> {
  const place = new Workplace();
  await place.json('source', 'create', '--kind', 'general', '--name', 'HR');
  return place;
}

async function addFile(place: Workplace, name: string, file: string, text: string): Promise<string> {
  mkdirSync(join(place.data, 'connectors', name), { recursive: true });
  const path = join(place.data, 'connectors', name, file);
  await Bun.write(path, text);
  return path;
}

async function config(place: Workplace, value: object): Promise<string> {
  const path = join(place.folder, 'config.json');
  await Bun.write(path, JSON.stringify(value));
  return path;
}

/** Two people, or as many as are configured; `body` stands before they are yielded. */
function typescript(kind: string, body = ''): string {
  return `export const connector = {
    kind: '${kind}',
    summary: 'Reads people of a test',
    configSchema: {
      type: 'object',
      properties: {
        count: { type: 'integer', minimum: 0, default: 2 },
        secret: { type: 'string', writeOnly: true },
      },
      additionalProperties: false,
    },
    async test({ config }) {
      if (config.count === 0) throw new Error('The test source cannot be reached; give it people.');
      return \`The source has \${config.count} people.\`;
    },
    async *read({ config, log }) {
      ${body}
      for (let id = 1; id <= config.count; id += 1)
        yield { kind: 'user', id: String(id), username: 'person' + id, surname: 'Person' };
    },
  };`;
}

describe('rollcall connector list', () => {
  test('shows the connectors of the data folder, and of a broken one what is wrong with it', async () => {
    using place = await withSource();
    await addFile(place, 'people', 'connector.ts', typescript('people'));
    await addFile(place, 'again', 'connector.ts', typescript('people'));
    await addFile(place, 'syntax', 'connector.ts', 'export const connector = {');
    await addFile(place, 'nothing', 'connector.ts', 'export const other = 1;');
    await addFile(place, 'leaves', 'connector.ts', 'process.exit(0);');
    await addFile(
      place,
      'schema',
      'connector.json',
      '{"kind":"schema","summary":"x","command":["sh"],"configSchema":{"type":"object","properties":1}}',
    );
    await addFile(place, 'manifest', 'connector.json', '{"kind": ');
    await addFile(place, 'empty', 'notes.txt', '');
    const { connectors, broken } = await place.json('connector', 'list');
    const found = (connectors as Json[]).filter(({ form }) => form !== 'shipped');
    expect(found).toMatchObject([{ kind: 'people', form: 'typescript', canDelta: false }]);
    const problems = Object.fromEntries((broken as Json[]).map(({ name, problem }) => [name, problem]));
    expect(problems).toMatchObject({
      people: expect.stringMatching(/^Its kind "people" is that of .*again already; give it another one\.$/),
      syntax: expect.stringMatching(/^connector\.ts cannot be loaded \(line 1\): /),
      nothing: 'connector.ts has no export named connector; write "export const connector = …".',
      leaves: 'It ended the process while it was loaded.',
      schema: expect.stringMatching(/^configSchema is not a JSON Schema: /),
      manifest: expect.stringMatching(/^connector\.json is not JSON: /),
      empty: 'It holds neither connector.ts nor connector.json.',
    });
  }, 60_000);
});

describe('rollcall connector test', () => {
  test('says what the connector has found, or why it cannot reach its source', async () => {
    using place = await withSource();
    await addFile(place, 'people', 'connector.ts', typescript('people'));
    const file = await config(place, { count: 7 });
    expect((await place.run('connector', 'test', 'people', '--config', file)).stdout).toBe(
      'The source has 7 people.\n',
    );
    const failed = await place.run(
      'connector',
      'test',
      'people',
      '--config',
      await config(place, { count: 0 }),
    );
    expect(readFailure(failed)).toBe(
      'The connector failed: The test source cannot be reached; give it people.',
    );
  }, 60_000);

  test('names what is wrong with a configuration, and never what stands there', async () => {
    using place = await withSource();
    await addFile(place, 'people', 'connector.ts', typescript('people'));
    const wrong = await config(place, { count: 'many', secret: 4711_4711, other: 'geheim' });
    const failure = readFailure(await place.run('connector', 'test', 'people', '--config', wrong));
    expect(failure).toBe(
      '"other" is not a property of the configuration. "count" must be a whole number. "secret" must be a text.',
    );
    const missing = await place.run('connector', 'test', 'people', '--config', 'none.json');
    expect(readFailure(missing)).toBe('The file none.json cannot be read: there is none.');
    const unknown = await place.run('connector', 'test', 'ldapp', '--config', wrong);
    expect(readFailure(unknown)).toStartWith('There is no connector "ldapp"; there are: ');
  }, 60_000);
});

describe('rollcall connector run', () => {
  test('imports what a connector in TypeScript yields', async () => {
    using place = await withSource();
    await addFile(place, 'people', 'connector.ts', typescript('people', "log.info('asking');"));
    const words = ['connector', 'run', 'people', '--source', 'HR', '--config', await config(place, {})];
    expect(await place.json(...words)).toMatchObject({
      status: 'completed',
      origin: 'connector',
      mode: 'full',
      counts: { created: 2 },
      log: [{ level: 'info', text: 'asking' }],
    });
    expect(await place.json(...words)).toMatchObject({ status: 'unchanged', importId: 1 });
    expect((await place.json('user', 'find', 'person2')).totalResults).toBe(1);
    expect(readdirSync(join(place.data, 'connector-runs'))).toEqual([]);
  }, 60_000);

  test('plans with --dry-run, and shows the first records with --preview', async () => {
    using place = await withSource();
    await addFile(place, 'people', 'connector.ts', typescript('people'));
    const words = [
      'connector',
      'run',
      'people',
      '--source',
      'HR',
      '--config',
      await config(place, { count: 5 }),
    ];
    expect(await place.json(...words, '--dry-run')).toMatchObject({
      dryRun: true,
      planned: { created: 5 },
      counts: { created: 0 },
    });
    const { records } = await place.json(...words, '--preview', '2');
    expect(records).toMatchObject([
      { source: null, record: { id: '1', surname: 'Person' } },
      { xml: expect.stringContaining('<user id="2" username="person2">') },
    ]);
    expect((await place.json('user', 'find', 'person1')).totalResults).toBe(0);
    expect((await place.json('run', 'list')).runs).toHaveLength(1);
  }, 60_000);

  test('imports nothing when the source answers with nobody', async () => {
    using place = await withSource();
    await addFile(place, 'people', 'connector.ts', typescript('people'));
    const words = ['connector', 'run', 'people', '--source', 'HR', '--config'];
    await place.json(...words, await config(place, {}));
    const failed = await place.run(...words, await config(place, { count: 0 }));
    expect(readFailure(failed)).toStartWith(
      'The connector failed: The source has answered with nobody, so nothing is imported.',
    );
    expect((await place.json('run', 'list')).runs).toHaveLength(1);
    expect((await place.json('user', 'find', 'person1')).users).toMatchObject([{ state: 'active' }]);
  }, 60_000);
});

/** The service on the data folder of `place`, on a free port. */
async function serve(place: Workplace) {
  const child = Bun.spawn([process.execPath, entry, 'serve', '--data', place.data, '--port', '0'], {
    cwd: place.folder,
    env: {},
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'ignore',
  });
  let text = '';
  for await (const chunk of child.stdout) {
    text += Buffer.from(chunk).toString('utf8');
    if (text.includes('\n')) break;
  }
  return {
    address: /https?:\/\/\S+/.exec(text)?.[0] ?? '',
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await child.exited;
    },
  };
}

test('the service answers while connectors misbehave beside it', async () => {
  using place = await withSource();
  const { token } = await place.json('source', 'create', '--kind', 'scim', '--name', 'Okta');
  await place.json('settings', 'set', 'documentBytesMax', '1000000');
  const programs = {
    log: ['sh', '-c', 'exec yes debug: still here >&2'],
    hoard: ['python3', '-c', 'held = []\nwhile True: held.append(bytearray(16_000_000))'],
    zeros: ['head', '-c', '10000000000', '/dev/zero'],
  };
  for (const [kind, command] of Object.entries(programs)) {
    const manifest = { kind, summary: 'Misbehaves', command, configSchema: { type: 'object' } };
    await addFile(place, kind, 'connector.json', JSON.stringify(manifest));
  }
  await using server = await serve(place);
  const file = await config(place, {});
  let isOver = false;
  const runs = Promise.all(
    Object.keys(programs).map((kind) =>
      place.run('connector', 'run', kind, '--source', 'HR', '--config', file),
    ),
  ).finally(() => {
    isOver = true;
  });
  const headers = { authorization: `Bearer ${token}` };
  const statuses = new Set<number>();
  let asked = 0;
  for (; !isOver; asked += 1) {
    statuses.add((await fetch(`${server.address}/healthz`)).status);
    statuses.add((await fetch(`${server.address}/api/v2/scim/v2/Users`, { headers })).status);
    await Bun.sleep(20);
  }
  const [log, hoard, zeros] = (await runs).map(({ stderr }) => stderr.split('\n').at(-2));
  expect(log).toContain('wrote more than');
  expect(hoard).toMatch(/used more than|MemoryError/);
  expect(zeros).toContain('larger than 1,000,000 bytes');
  expect(asked).toBeGreaterThan(0);
  expect([...statuses]).toEqual([200]);
  expect(readdirSync(join(place.data, 'connector-runs'))).toEqual([]);
  expect((await place.json('run', 'list')).runs).toEqual([]);
}, 120_000);
