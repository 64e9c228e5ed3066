import { Database as Sqlite } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { type Json, readFailure, Workplace } from './support.ts';

const entry = join(import.meta.dir, '..', '..', 'src', 'main.ts');
const startMsMax = 20_000;

/** The service on the data folder of `place`, on a free port, ready for requests. */
async function serve(place: Workplace) {
  const child = Bun.spawn([process.execPath, entry, 'serve', '--data', place.data, '--port', '0'], {
    cwd: place.folder,
    env: {},
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'ignore',
  });
  const address = await firstAddress(child.stdout);
  return {
    child,
    address,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await child.exited;
    },
  };
}

async function firstAddress(stdout: ReadableStream<Uint8Array>): Promise<string> {
  let text = '';
  const signal = AbortSignal.timeout(startMsMax);
  const reader = stdout.getReader();
  while (!text.includes('\n')) {
    const { done, value } = await reader.read();
    if (done || signal.aborted) throw new Error(`no address: ${text}`);
    text += Buffer.from(value).toString('utf8');
  }
  reader.releaseLock();
  return /https?:\/\/\S+/.exec(text)?.[0] ?? '';
}

/** Resolves while the service works on the first run. */
async function untilPlanned(place: Workplace): Promise<void> {
  using sqlite = new Sqlite(join(place.data, 'rollcall.db'), { readonly: true });
  for (let looks = 0; looks < startMsMax / 5; looks += 1) {
    const run = sqlite.query('select status from import_run').get() as { status: string } | null;
    if (run !== null && run.status !== 'queued') return;
    await Bun.sleep(5);
  }
  throw new Error('the run was not begun');
}

describe('commands beside a running service', () => {
  test('make sources that the service knows at once, under the address it serves', async () => {
    using place = new Workplace();
    await using server = await serve(place);
    const create = ['source', 'create', '--kind', 'scim', '--name'];
    const made = await Promise.all([place.json(...create, 'a'), place.json(...create, 'b')]);
    for (const { baseUrl, token } of made) {
      expect(baseUrl).toBe(`${server.address}/api/v2/scim/v2`);
      const headers = { authorization: `Bearer ${token}` };
      expect((await fetch(`${baseUrl}/Users`, { headers })).status).toBe(200);
    }
    await place.json('source', 'deactivate', 'a');
    const headers = { authorization: `Bearer ${made[0]?.token}` };
    expect((await fetch(`${made[0]?.baseUrl}/Users`, { headers })).status).toBe(403);
  }, 60_000);

  test('leave an import to the service', async () => {
    using place = new Workplace();
    await using _server = await serve(place);
    await place.json('source', 'create', '--kind', 'general', '--name', 'HR');
    const file = join(place.folder, 'people.xml');
    const head =
      '<syncoptions domain="HR" ldapid="1"><option name="syncCompanies">true</option></syncoptions>';
    const users = '<users><user id="1" username="ann"><additionalfields/></user></users>';
    await Bun.write(file, `<syncdata version="1">${head}${users}</syncdata>`);
    expect(await place.json('import', file, '--source', 'HR')).toMatchObject({ status: 'completed' });
  }, 60_000);

  test('let an upload go on that the guard holds', async () => {
    using place = new Workplace();
    await using server = await serve(place);
    const set = ['--set', 'guardMinimum=1', 'guardPercent=1'];
    const { uploadPath, token } = await place.json(
      'source',
      'create',
      '--kind',
      'general',
      '--name',
      'HR',
      ...set,
    );
    const headers = { 'x-apikey': String(token), 'content-type': 'application/xml' };
    const send = async (...names: string[]) => {
      const head = '<syncoptions domain="HR" ldapid="1"><option name="mode">full</option></syncoptions>';
      const users = names.map((name) => `<user id="${name}" username="${name}"><additionalfields/></user>`);
      const body = `<syncdata version="1">${head}<users>${users.join('')}</users></syncdata>`;
      const sent = await fetch(`${server.address}${uploadPath}`, { method: 'POST', headers, body });
      return `${server.address}${sent.headers.get('location')}`;
    };
    const settled = async (location: string) => {
      for (let looks = 0; looks < startMsMax / 50; looks += 1) {
        const run = (await (await fetch(location, { headers })).json()) as Json;
        if (!['queued', 'planning', 'applying'].includes(String(run.status))) return run;
        await Bun.sleep(50);
      }
      throw new Error('the run did not settle');
    };
    await settled(await send('ann', 'bob'));
    const location = await send('ann');
    const held = await settled(location);
    expect(held).toMatchObject({ importId: 2, status: 'awaiting-approval' });
    expect(held.message).toContain('"rollcall run approve 2" lets it go on');
    expect((await place.run('run', 'approve', '2')).stdout).toBe(
      'Run 2 is approved; the service goes on with it.\n',
    );
    expect(await settled(location)).toMatchObject({ status: 'completed', counts: { disabled: 1 } });
  }, 60_000);

  test('finish an import whose service is killed', async () => {
    using place = new Workplace();
    await using server = await serve(place);
    await place.json('source', 'create', '--kind', 'general', '--name', 'HR');
    const file = join(place.folder, 'people.xml');
    const head =
      '<syncoptions domain="HR" ldapid="1"><option name="syncCompanies">true</option></syncoptions>';
    const user = (id: number) => `<user id="${id}" username="person${id}"><additionalfields/></user>`;
    const users = Array.from({ length: 10_000 }, (_, index) => user(index + 1)).join('');
    await Bun.write(file, `<syncdata version="1">${head}<users>${users}</users></syncdata>`);
    const imported = place.json('import', file, '--source', 'HR');
    await untilPlanned(place);
    server.child.kill('SIGKILL');
    expect(await imported).toMatchObject({ status: 'completed', counts: { created: 10_000 } });
  }, 60_000);

  test('see that a service runs, and a second service is refused', async () => {
    using place = new Workplace();
    await using _server = await serve(place);
    const { checks } = await place.json('doctor');
    expect((checks as Json[]).at(-1)).toMatchObject({ detail: 'a service runs on this folder' });
    expect(readFailure(await place.run('serve', '--port', '0'))).toStartWith('Another rollcall serves ');
  }, 60_000);

  test('may start at the same moment as the service', async () => {
    using place = new Workplace();
    const create = ['source', 'create', '--kind', 'scim', '--name'];
    const [server, ...made] = await Promise.all([
      serve(place),
      place.json(...create, 'a'),
      place.json(...create, 'b'),
    ]);
    await server[Symbol.asyncDispose]();
    expect(server.child.exitCode).toBe(0);
    expect(made.map(({ id }) => id).toSorted()).toEqual([1, 2]);
  }, 60_000);
});
