import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readConversations } from '../conformance/exchange.ts';
import { replay } from '../conformance/replay.ts';
import { type Installation, install, type Server } from '../support/executable.ts';
import { generateProfileXml } from '../support/generate-profile-xml.ts';
import { createPostgresDatabase, postgresUrl } from '../support/postgres.ts';
import { type Door, dumpDirectory, get, readAll } from './directory-dump.ts';

const enterpriseUrn = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const samples = join(import.meta.dir, '..', '..', 'schemas', 'samples');
const importMsMax = 120_000;

interface ScimSource {
  readonly id: number;
  readonly token: string;
  readonly baseUrl: string;
}

interface GeneralSource {
  readonly id: number;
  readonly token: string;
  readonly uploadPath: string;
}

interface Run {
  readonly status: string;
  readonly counts: Readonly<Record<string, number>>;
}

async function upload(
  server: Server,
  source: GeneralSource,
  body: string,
): Promise<{ status: number; answer: Receipt }> {
  const response = await fetch(server.address + source.uploadPath, {
    method: 'POST',
    headers: { 'x-apikey': source.token, 'content-type': 'application/xml' },
    body,
  });
  return { status: response.status, answer: await response.json() };
}

interface Receipt {
  readonly importId: number;
  readonly status: string;
  readonly users: number;
}

async function runOf(server: Server, source: GeneralSource, importId: number): Promise<Run> {
  const path = `/api/platformsync/${source.id}/imports/${importId}`;
  const response = await fetch(server.address + path, { headers: { 'x-apikey': source.token } });
  expect(response.status).toBe(200);
  return response.json();
}

async function finished(server: Server, source: GeneralSource, importId: number): Promise<Run> {
  const deadline = performance.now() + importMsMax;
  for (;;) {
    const run = await runOf(server, source, importId);
    if (!['queued', 'planning', 'applying'].includes(run.status)) return run;
    if (performance.now() > deadline)
      throw new Error(`import ${importId} is still ${run.status}\n${server.log()}`);
    await Bun.sleep(50);
  }
}

/** A sample file, addressed to this source. */
function sample(name: string, source: { readonly id: number }, domain: string): string {
  const text = readFileSync(join(samples, name), 'utf8');
  return text
    .replace(/domain="[^"]*"/, `domain="${domain}"`)
    .replace(/ldapid="[^"]*"/i, `ldapid="${source.id}"`);
}

function door(server: Server, { token }: ScimSource): Door {
  return { baseUrl: `${server.address}/api/v2/scim/v2`, token };
}

describe('rollcall, compiled, in an empty folder', () => {
  let installation: Installation;
  let server: Server;
  let data: string;

  beforeAll(async () => {
    installation = install();
    data = join(installation.folder, 'data');
    server = await installation.serve('--data', data);
  });

  afterAll(async () => {
    await server.kill();
    installation[Symbol.dispose]();
  });

  const create = <T>(...args: string[]) =>
    installation.runJson<T>('source', 'create', ...args, '--data', data);

  test('source create --kind scim answers with id, token and the base URL of the running server', async () => {
    const source = await create<ScimSource>('--kind', 'scim', '--name', 'First');
    expect(source.id).toBeGreaterThan(0);
    expect(source.baseUrl).toBe(`${server.address}/api/v2/scim/v2`);
    const config = await get(source, '/ServiceProviderConfig');
    expect(config).toMatchObject({ patch: { supported: true } });
  });

  test('holds the password of a new user to the rule, on the thread of the pattern engine', async () => {
    const source = await create<ScimSource>('--kind', 'scim', '--name', 'Passwords');
    const post = async (userName: string, password: string) => {
      const response = await fetch(`${source.baseUrl}/Users`, {
        method: 'POST',
        headers: { authorization: `Bearer ${source.token}`, 'content-type': 'application/scim+json' },
        body: JSON.stringify({ userName, password }),
      });
      return response.status;
    };
    const rule = ['settings', 'set', 'passwordStrengthRegex'];
    await installation.runJson(...rule, '^(?=.*\\d).{8,}+$', '--data', data);
    expect(await post('weak', 'no digit in it')).toBe(400);
    expect(await post('strong', '1 digit in it')).toBe(201);
    await installation.runJson(...rule, '', '--data', data);
  });

  for (const conversation of readConversations()) {
    test(`understands ${conversation.name}: ${conversation.about}`, async () => {
      await using other = await installation.serve(
        '--data',
        installation.data(conversation.name.replace('/', '-')),
      );
      const settings = Object.entries(conversation.settings).flatMap(([key, value]) => [
        '--set',
        `${key}=${value}`,
      ]);
      const folder = installation.data(conversation.name.replace('/', '-'));
      const args = ['source', 'create', '--kind', 'scim', '--name', 'Client', ...settings, '--data', folder];
      await replay(conversation, await installation.runJson<ScimSource>(...args));
      expect(await other.stop()).toBe(0);
    });
  }

  test('an uploaded file becomes people that SCIM shows', async () => {
    const scim = await create<ScimSource>('--kind', 'scim', '--name', 'Reader');
    const hr = await create<GeneralSource>('--kind', 'general', '--name', 'HR');
    expect(hr.uploadPath).toBe(`/api/platformsync/${hr.id}/upload`);
    const { status, answer } = await upload(server, hr, sample('full.xml', hr, 'HR'));
    expect({ status, users: answer.users }).toEqual({ status: 202, users: 12 });
    const run = await finished(server, hr, answer.importId);
    expect(run.counts.created).toBe(12);
    const filter = encodeURIComponent('userName eq "astrid.berg@example.com"');
    const found = (await get(door(server, scim), `/Users?filter=${filter}`)) as unknown as {
      Resources: [Record<string, unknown>];
    };
    expect(found.Resources[0]).toMatchObject({
      displayName: 'Astrid S. Berg',
      active: true,
      emails: expect.arrayContaining([expect.objectContaining({ value: 'astrid.berg@example.com' })]),
    });
    const users = await readAll(door(server, scim), 'Users');
    const managed = users.filter(
      (user) => (user[enterpriseUrn] as { manager?: unknown } | undefined)?.manager,
    );
    expect(managed.length).toBeGreaterThan(0);
  });

  test('an invalid file is refused with line and column, and changes nothing', async () => {
    const hr = await create<GeneralSource>('--kind', 'general', '--name', 'Careless');
    const bad = sample('full.xml', hr, 'Careless').replace('<active>true</active>', '<active>maybe</active>');
    const { status, answer } = await upload(server, hr, bad);
    expect(status).toBe(400);
    const line = bad.split('\n').findIndex((text) => text.includes('maybe')) + 1;
    expect(answer).toMatchObject({ errors: [{ line }] });
    expect(JSON.stringify(answer)).toContain('The file is invalid compared to the schema.');
  });

  test('a second serve on the same data folder ends at once and says why', async () => {
    const second = installation.run('serve', '--port', '0', '--data', data);
    expect(second).rejects.toThrow(/Another rollcall serves the data folder/);
    await second.catch(() => undefined);
  });

  test('a serve on a port that is taken ends at once and names the setting', async () => {
    const { port } = new URL(server.address);
    const second = installation.run('serve', '--port', port, '--data', installation.data('other'));
    const message = await second.then(String, (error: Error) => error.message);
    expect(message).toContain(`Another program listens on port ${port} already; set port to a free one.`);
  });

  test('no password of an uploaded file is left in the data folder or the log', async () => {
    const secret = 'Correct-Horse-7-Battery';
    expect(readFileSync(join(samples, 'full.xml'), 'utf8')).toContain(secret);
    expect(filesWith(data, secret)).toEqual([]);
    expect(server.log()).not.toContain(secret);
  });

  test('the request log is there before the first request', async () => {
    const folder = installation.data('unasked');
    await using other = await installation.serve('--data', folder);
    expect(await installation.runJson('log', '--data', folder)).toEqual({ requests: [], next: null });
    expect(await other.stop()).toBe(0);
  });

  test('SIGTERM ends the server with status 0', async () => {
    const folder = installation.data('stopped');
    const other = await installation.serve('--data', folder);
    expect(await other.stop()).toBe(0);
  });
});

for (const url of [postgresUrl()].filter((known) => known !== undefined)) {
  test('rollcall, compiled, serves and imports on PostgreSQL', async () => {
    using installation = install();
    await using place = await createPostgresDatabase(url);
    const settings = ['--data', installation.data('data'), '--database', place.url];
    await using server = await installation.serve(...settings);
    const create = <T>(kind: string, name: string) =>
      installation.runJson<T>('source', 'create', '--kind', kind, '--name', name, ...settings);
    const hr = await create<GeneralSource>('general', 'HR');
    const scim = await create<ScimSource>('scim', 'Reader');
    const { answer } = await upload(server, hr, sample('full.xml', hr, 'HR'));
    expect(await finished(server, hr, answer.importId)).toMatchObject({ counts: { created: 12 } });
    expect(await readAll(door(server, scim), 'Users')).toHaveLength(12);
    const file = join(installation.folder, 'delta.xml');
    await Bun.write(file, sample('delta.xml', hr, 'HR'));
    const run = await installation.runJson<Run>('import', file, '--source', 'HR', ...settings);
    expect(run.status).toStartWith('completed');
    expect(await server.stop()).toBe(0);
  }, 60_000);
}

function filesWith(folder: string, text: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => {
    const path = join(folder, name);
    if (!statSync(path).isFile()) return false;
    const bytes = readFileSync(path);
    const plain = name.endsWith('.gz') ? Buffer.from(Bun.gunzipSync(bytes)) : bytes;
    return plain.includes(text);
  });
}

describe('an import of 20,000 users that is killed', () => {
  const users = 20_000;
  let installation: Installation;
  let document: string;
  let undisturbed: readonly string[];

  /** A server with both kinds of source, and the file on its way in. */
  async function begin(folder: string) {
    const server = await installation.serve('--data', folder);
    const create = <T>(kind: string, name: string) =>
      installation.runJson<T>('source', 'create', '--kind', kind, '--name', name, '--data', folder);
    const hr = await create<GeneralSource>('general', 'HR');
    const scim = await create<ScimSource>('scim', 'Reader');
    const { status, answer } = await upload(server, hr, document);
    expect(status).toBe(202);
    return { server, hr, scim, importId: answer.importId };
  }

  beforeAll(async () => {
    installation = install();
    const chunks: (string | Uint8Array)[] = [];
    for await (const chunk of generateProfileXml({ users })) chunks.push(chunk);
    const text = Buffer.concat(chunks.map((chunk) => Buffer.from(chunk))).toString('utf8');
    document = text.replace(/domain="[^"]*"/, 'domain="HR"').replace(/ldapid="[^"]*"/i, 'ldapid="1"');
    const { server, hr, scim, importId } = await begin(installation.data('undisturbed'));
    const run = await finished(server, hr, importId);
    expect(run.counts.created).toBe(users);
    undisturbed = await dumpDirectory(door(server, scim));
    expect(await server.stop()).toBe(0);
  }, 180_000);

  afterAll(() => installation[Symbol.dispose]());

  for (const applied of [0, 0.1, 0.6]) {
    test(`ends as an undisturbed one when killed after ${applied * 100} % of the users`, async () => {
      const folder = installation.data(`killed-${applied}`);
      const { server, hr, scim, importId } = await begin(folder);
      await until(async () => ((await runOf(server, hr, importId)).counts.created ?? 0) >= users * applied);
      await server.kill();
      const again = await installation.serve('--data', folder);
      const run = await finished(again, hr, importId);
      expect(run.counts.created).toBe(users);
      const dump = await dumpDirectory(door(again, scim));
      expect(dump.length).toBe(undisturbed.length);
      expect(dump.findIndex((line, index) => line !== undisturbed[index])).toBe(-1);
      expect(await again.stop()).toBe(0);
    }, 180_000);
  }
});

async function until(condition: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + importMsMax;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error('the import did not get so far');
    await Bun.sleep(10);
  }
}
