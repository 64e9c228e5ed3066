import { expect, test } from 'bun:test';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Json, Workplace } from './support.ts';

const entry = join(import.meta.dir, '..', '..', 'src', 'main.ts');
const waitMsMax = 30_000;

function serve(place: Workplace) {
  const child = Bun.spawn([process.execPath, entry, 'serve', '--data', place.data, '--port', '0'], {
    cwd: place.folder,
    env: {},
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'ignore',
  });
  return {
    child,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await child.exited;
    },
  };
}

async function until(is: () => boolean | Promise<boolean>, everyMs: number): Promise<void> {
  for (let waitedMs = 0; waitedMs < waitMsMax; waitedMs += everyMs) {
    if (await is()) return;
    await Bun.sleep(everyMs);
  }
  throw new Error('it did not come about');
}

function document(count: number): string {
  const users = Array.from(
    { length: count },
    (_, n) => `<user id="${n}" username="user${n}"><additionalfields/></user>`,
  );
  const head = '<syncoptions domain="HR" ldapid="1"><option name="syncCompanies">true</option></syncoptions>';
  return `<syncdata version="1">${head}<users>${users.join('')}</users></syncdata>`;
}

test('a service that is killed while it takes a file from inbox/ takes it in once', async () => {
  using place = new Workplace();
  await place.json('source', 'create', '--kind', 'general', '--name', 'HR');
  const inbox = join(place.data, 'inbox', 'HR');
  mkdirSync(inbox, { recursive: true });
  await Bun.write(join(inbox, 'people.xml'), document(3_000));
  await Bun.write(join(inbox, 'wrong.xml'), '<syncdata/>');
  const names = () => readdirSync(inbox, { recursive: true }) as string[];
  {
    await using server = serve(place);
    await until(() => names().some((name) => /^\.taking.*\.xml$/.test(name)), 1);
    server.child.kill('SIGKILL');
  }
  await using _server = serve(place);
  await until(async () => {
    const { runs } = await place.json('run', 'list');
    return (runs as Json[]).some(({ status }) => status === 'completed');
  }, 500);
  await until(() => names().includes('refused/wrong.xml') && !names().includes('people.xml'), 100);
  await until(() => !names().some((name) => name.endsWith('people.xml')), 100);
  const { runs } = await place.json('run', 'list');
  expect(runs).toMatchObject([{ importId: 1, origin: 'drop', users: 3_000, counts: { created: 3_000 } }]);
  expect(await Bun.file(join(inbox, 'refused', 'wrong.xml.txt')).text()).toStartWith(
    'wrong.xml was not taken in (',
  );
}, 90_000);
