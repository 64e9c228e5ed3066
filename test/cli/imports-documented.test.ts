import { describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { runStatuses } from '../../src/imports/imports.ts';
import { effectiveOptions } from '../../src/imports/options.ts';
import { toSourceSettings } from '../../src/sources/source-settings.ts';
import { issueCodes, uploadOperation } from '../../src/upload/openapi.ts';
import { type Json, Workplace } from './support.ts';

const entry = join(import.meta.dir, '..', '..', 'src', 'main.ts');
const page = () => Bun.file(join(import.meta.dir, '..', '..', 'docs', 'imports.md')).text();
const startMsMax = 20_000;

async function serve(place: Workplace) {
  const child = Bun.spawn([process.execPath, entry, 'serve', '--data', place.data, '--port', '0'], {
    cwd: place.folder,
    env: {},
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'ignore',
  });
  const { value } = await child.stdout.getReader().read();
  const [address = ''] = /https?:\/\/\S+/.exec(Buffer.from(value ?? []).toString('utf8')) ?? [];
  return {
    address,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await child.exited;
    },
  };
}

describe('docs/imports.md', () => {
  test('has commands that do what it says, one after another', async () => {
    using place = new Workplace();
    const { id, token } = await place.json('source', 'create', '--kind', 'general', '--name', 'HR');
    await using server = await serve(place);
    const blocks = [...(await page()).matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block);
    expect(blocks.length).toBeGreaterThan(5);
    const self = `rollcall() { "${process.execPath}" "${entry}" "$@"; }`;
    const script = ['set -eu', self, ...blocks].join('\n');
    const child = Bun.spawn(['bash', '-c', script], {
      cwd: place.folder,
      env: {
        PATH: '/usr/local/bin:/usr/bin:/bin',
        URL: server.address,
        SOURCE: String(id),
        KEY: String(token),
        DATA: place.data,
        ROLLCALL_DATA: place.data,
      },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    });
    const said = await new Response(child.stdout).text();
    const complaints = await new Response(child.stderr).text();
    expect({ status: await child.exited, complaints }).toEqual({ status: 0, complaints: '' });
    expect(said).toContain('The file is valid.');
    expect(said).toContain('"importId":1,"sourceId":1,"status":"queued"');
    expect(said).toContain('"importId":3,"sourceId":1,"status":"queued"');
    expect(said).toContain('import 1 is completed\nImport 1 of the source "HR" (id 1)\n');
    expect(said).toContain('  mode = full (file)\n');
    expect(said).toContain('completed (dry run: nothing was changed)');
    const found = await place.json('user', 'find', 'bo@example.com');
    expect(found).toMatchObject({ totalResults: 1 });
    const dropped = join(place.data, 'inbox', 'HR', 'people.xml');
    for (let waitedMs = 0; existsSync(dropped) && waitedMs < startMsMax; waitedMs += 100)
      await Bun.sleep(100);
    expect(existsSync(dropped)).toBe(false);
    const { runs } = await place.json('run', 'list');
    expect((runs as Json[]).filter(({ status }) => status !== 'completed')).toEqual([]);
  }, 120_000);

  test('tells of every option, status, issue and answer, and of no other status', async () => {
    const text = await page();
    const rows = (heading: string) => {
      const table = text.split(`| ${heading} |`)[1]?.split('\n\n')[0] ?? '';
      return [...table.matchAll(/^\| (`?[\w-]+`?(?:, `[\w-]+`)*) \|/gm)].flatMap(([, names = '']) =>
        names.replaceAll('`', '').split(', '),
      );
    };
    const options = Object.keys(effectiveOptions(new Map(), toSourceSettings('general', {})));
    expect(rows('option').toSorted()).toEqual(options.toSorted());
    expect(rows('`status`').toSorted()).toEqual([...runStatuses].toSorted());
    expect(rows('`code`').toSorted()).toEqual(issueCodes.toSorted());
    const described = Object.keys(uploadOperation.responses ?? {}).filter((status) => status !== '500');
    expect(rows('status').toSorted()).toEqual(described.filter((status) => status !== '421').toSorted());
  });
});
