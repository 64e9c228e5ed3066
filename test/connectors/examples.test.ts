// The examples that "rollcall connector new" writes, as connectors of a data folder, against a JSON service.

import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Language, languages, writeNewConnector } from '../../src/connectors/new-connector.ts';
import { type ContractSource, describeConnectorContract, largeCount } from './contract.ts';
import { openConnectorHouse } from './support.ts';

const pageSize = 2_000;
const token = 'example-token-4711';

/** A JSON service: `/people/N` has N people, `/silent` never answers. */
function openPeopleService(): ContractSource {
  let onReached: () => void = () => undefined;
  const reached = new Promise<void>((resolve) => {
    onReached = resolve;
  });
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    fetch(request) {
      const url = new URL(request.url);
      if (request.headers.get('authorization') !== `Bearer ${token}`)
        return new Response('', { status: 401 });
      if (url.pathname === '/silent') {
        onReached();
        return new Promise<Response>(() => undefined);
      }
      return Response.json(pageOf(Number(url.pathname.split('/')[2]), Number(url.searchParams.get('page'))));
    },
  });
  const config = (path: string, secret = token) => ({
    url: `http://127.0.0.1:${server.port}${path}`,
    token: secret,
  });
  return {
    config: config('/people/3'),
    badCredentials: config('/people/3', 'another-token-0815'),
    empty: config('/people/0'),
    large: config(`/people/${largeCount}`),
    silent: { config: config('/silent'), reached },
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

function pageOf(count: number, page: number) {
  const first = (page - 1) * pageSize + 1;
  const length = Math.max(0, Math.min(pageSize, count - first + 1));
  const people = Array.from({ length }, (_, index) => {
    const id = first + index;
    return { id, login: `person${id}`, first: 'Pär & <Ann>', last: `N${id}`, mail: `p${id}@example.com` };
  });
  return { people, next: first + length <= count ? page + 1 : null };
}

for (const language of languages) {
  describeConnectorContract({
    kind: `people-${language}`,
    prepare: async (house) => {
      await writeNewConnector(house.imports.folder, `people-${language}`, language);
    },
    open: async () => openPeopleService(),
  });
}

const programs: Readonly<Record<Language, { readonly file: string; readonly test: readonly string[] }>> = {
  ts: { file: 'connector.ts', test: [process.execPath, 'test'] },
  python: { file: 'connector.py', test: ['python3', 'test_connector.py'] },
};

describe('a new connector', () => {
  test.each(languages)(
    'in %s is shorter than 60 lines and passes the test that comes with it',
    async (language) => {
      await using house = await openConnectorHouse();
      const { folder, files } = await writeNewConnector(house.imports.folder, 'mine', language);
      const { file, test: command } = programs[language];
      const text = readFileSync(join(folder, file), 'utf8');
      expect(text.split('\n').length).toBeLessThan(61);
      expect(files).toContain('README.md');
      for (const each of files)
        expect(readFileSync(join(folder, each), 'utf8')).not.toMatch(/src\/connectors|\bexample["'`]/);
      const ran = Bun.spawnSync([...command], { cwd: folder, stdout: 'pipe', stderr: 'pipe' });
      expect(`${ran.exitCode} ${ran.stderr}`).toMatch(/^0 [\s\S]*(2 pass|OK)/);
    },
  );

  test('is refused under a name that is taken, or that no kind can have', async () => {
    await using house = await openConnectorHouse();
    const make = (name: string) => writeNewConnector(house.imports.folder, name, 'ts');
    await make('mine');
    expect(await house.failure(make('mine'))).toEndWith('mine is there already; choose another name.');
    expect(await house.failure(make('../mine'))).toStartWith('A connector is named by small letters');
  });
});
