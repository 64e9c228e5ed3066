import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import type { DirectoryContext } from '../../src/directory/context.ts';
import { Groups } from '../../src/directory/groups.ts';
import { Users } from '../../src/directory/users.ts';
import { createLog } from '../../src/log.ts';
import type { RequestRecord } from '../../src/requests/record.ts';
import { RequestLog } from '../../src/requests/request-log.ts';
import { PasswordHasher } from '../../src/security/password-hash.ts';
import { Configurations } from '../../src/settings/configuration.ts';
import { openSqlite } from '../../src/storage/sqlite.ts';
import { requestRecord } from '../requests/support.ts';
import { type Json, readFailure, Workplace } from './support.ts';

const entry = join(import.meta.dir, '..', '..', 'src', 'main.ts');

/** A data folder with two sources and these requests in its log. */
async function withLog(...records: Partial<RequestRecord>[]): Promise<Workplace> {
  const place = new Workplace();
  for (const name of ['Okta', 'Entra'])
    await place.json('source', 'create', '--kind', 'scim', '--name', name);
  append(place, records);
  return place;
}

function append(place: Workplace, records: readonly Partial<RequestRecord>[]): void {
  const path = join(place.data, 'requests.db');
  const requests = new RequestLog({ path, clock: () => new Date(), log: createLog({ level: 'error' }) });
  for (const record of records) requests.append(requestRecord({ timeMs: Date.now(), ...record }));
  requests.close();
}

async function pathsOf(place: Workplace, ...options: string[]): Promise<string[]> {
  const { requests } = await place.json('log', ...options);
  return (requests as Json[]).map(({ path }) => String(path));
}

const user7 = [{ resourceType: 'User', resourceId: 7 }] as const;

describe('rollcall log', () => {
  test('tells of each request in a few lines, the newest last', async () => {
    using place = await withLog(
      { method: 'GET', query: 'filter=userName eq "ann"', requestId: 'r-1', durationMs: 1.5 },
      {
        ...{
          method: 'PATCH',
          path: '/Users/7',
          status: 400,
          touched: user7,
          requestId: 'r-2',
          durationMs: 2,
        },
        refusal: 'There is no \u001b[31mattribute "x".',
        repairs: [{ code: 'boolean-from-string', attribute: 'active', from: '"False"', to: 'false' }],
        ignored: [{ attribute: 'shoeSize', reason: 'unknown' }],
        body: '{"active":"False"}',
        decoded: '{"active":false}',
      },
      {
        method: 'GET',
        sourceId: null,
        status: 401,
        refusal: 'Send the token.',
        requestId: 'r-3',
        isAtGate: true,
      },
    );
    const { stdout } = await place.run('log', '--bodies');
    const lines = stdout.replaceAll(/^\S+Z/gm, 'TIME').trimEnd().split('\n');
    expect(lines).toEqual([
      'TIME  200  GET     /Users?filter=userName eq "ann"',
      '    Okta, 1.5 ms, from 127.0.0.1, request r-1',
      'TIME  400  PATCH   /Users/7',
      '    Okta, 2 ms, from 127.0.0.1, request r-2',
      '    refused   There is no \ufffd[31mattribute "x".',
      '    mended    active: "False" → false (boolean-from-string)',
      '    left out  shoeSize (there is no such attribute)',
      '    body      {',
      '                "active": "False"',
      '              }',
      '    became    {',
      '                "active": false',
      '              }',
      'TIME  401  GET     /Users',
      '    nobody known, 1.25 ms, from 127.0.0.1, request r-3',
      '    refused   Send the token.',
    ]);
  });

  test('shows only what was asked for', async () => {
    const old = Date.now() - 3 * 60 * 60 * 1_000;
    using place = await withLog(
      { path: '/1', touched: user7, sourceId: 2, timeMs: old },
      { path: '/2', query: 'filter=userName eq "Ann"', requestId: 'needle' },
      { path: '/3', name: 'ann', status: 409, method: 'POST' },
      { path: '/4', name: 'hannah', status: 503 },
      { path: '/5', touched: [...user7, { resourceType: 'Group', resourceId: 7 }] },
      {
        path: '/6',
        touched: [{ resourceType: 'Group', resourceId: 77 }],
        repairs: [{ code: 'a', attribute: 'b' }],
      },
    );
    expect(await pathsOf(place)).toEqual(['/6', '/5', '/4', '/3', '/2', '/1']);
    expect(await pathsOf(place, '--source', 'entra')).toEqual(['/1']);
    expect(await pathsOf(place, '--user', '7')).toEqual(['/5', '/1']);
    expect(await pathsOf(place, '--user', 'ANN')).toEqual(['/3', '/2']);
    expect(await pathsOf(place, '--group', '7')).toEqual(['/5']);
    expect(await pathsOf(place, '--status', '4xx')).toEqual(['/3']);
    expect(await pathsOf(place, '--status', '400-599', '--method', 'get')).toEqual(['/4']);
    expect(await pathsOf(place, '--request', 'needle')).toEqual(['/2']);
    expect(await pathsOf(place, '--mended')).toEqual(['/6']);
  }, 60_000);

  test('tells of a push of a group when asked for one whom it made or ended as a member', async () => {
    using place = await withLog(
      {
        path: '/Groups',
        method: 'POST',
        requestId: 'push',
        touched: [{ resourceType: 'Group', resourceId: 1 }],
      },
      { path: '/of-another-source', requestId: 'push', sourceId: 2 },
      { path: '/Groups/1', method: 'DELETE', requestId: 'gone' },
      { path: '/Groups/2', method: 'PATCH', requestId: 'other' },
    );
    const database = openSqlite({ path: join(place.data, 'rollcall.db') });
    const configuration = await new Configurations(database).current();
    const context = (requestId: string): DirectoryContext => ({
      ...{ actor: { kind: 'source', id: 1 }, sourceId: 1, scope: 'all', unknownReferences: 'reject' },
      ...{ runId: null, configuration, requestId, now: '2026-01-02T03:04:05.000Z' },
    });
    const groups = new Groups(database);
    await new Users(database, new PasswordHasher()).create(context('made'), { userName: 'ann' }, 'reject');
    await groups.create(context('push'), { displayName: 'Staff', members: [{ value: '1' }] }, 'reject');
    await groups.patch(context('gone'), 1, [{ op: 'remove', path: 'members' }], {});
    await database.close();
    expect(await pathsOf(place, '--user', 'ann')).toEqual(['/Groups/1', '/Groups']);
    expect(await pathsOf(place, '--user', '1', '--method', 'POST')).toEqual(['/Groups']);
  }, 60_000);

  test('goes through the log page by page', async () => {
    using place = await withLog({ path: '/1' }, { path: '/2' }, { path: '/3' });
    const first = await place.json('log', '--limit', '2');
    expect((first.requests as Json[]).map(({ path }) => path)).toEqual(['/3', '/2']);
    expect(await pathsOf(place, '--limit', '2', '--before', String(first.next))).toEqual(['/1']);
  });

  test('counts what had to be mended by source, code and attribute', async () => {
    const repairs = [{ code: 'boolean-from-string', attribute: 'active' }];
    using place = await withLog(
      { repairs },
      { repairs: [...repairs, { code: 'dotted-key', attribute: 'a.b' }] },
    );
    append(place, [{ repairs }, { repairs, sourceId: 2 }]);
    const { repairs: counted } = await place.json('log', '--repairs', '--source', 'Okta');
    expect(counted).toMatchObject([
      { source: 'Okta', code: 'boolean-from-string', attribute: 'active', count: 3 },
      { source: 'Okta', code: 'dotted-key', attribute: 'a.b', count: 1 },
    ]);
    const { stdout } = await place.run('log', '--repairs');
    expect(
      stdout
        .split('\n')
        .slice(0, 2)
        .map((line) => line.split(/ {2,}/).slice(0, 4)),
    ).toEqual([
      ['SOURCE', 'REPAIR', 'ATTRIBUTE', 'TIMES'],
      ['Okta', 'boolean-from-string', 'active', '3'],
    ]);
  });

  test('follows what comes in until it is interrupted', async () => {
    using place = await withLog({ path: '/before' });
    const child = Bun.spawn([process.execPath, entry, 'log', '--follow', '--json', '--data', place.data], {
      env: {},
      stdout: 'pipe',
      stderr: 'pipe',
    });
    const reader = child.stdout.getReader();
    let text = '';
    // It may take a while before it looks for the first time: what comes before that is not news.
    const writing = setInterval(() => append(place, [{ path: '/after' }]), 300);
    while (!text.includes('\n')) text += new TextDecoder().decode((await reader.read()).value);
    clearInterval(writing);
    child.kill('SIGINT');
    expect(await child.exited).toBe(0);
    expect(JSON.parse(text.split('\n')[0] ?? '')).toMatchObject({ path: '/after', source: 'Okta' });
    expect(text).not.toContain('/before');
  }, 60_000);

  test('is there when the database is not, without names', async () => {
    using place = await withLog({ path: '/1', sourceId: 2 }, { path: '/2', name: 'ann' });
    await Bun.write(join(place.data, 'rollcall.db'), 'no database'.repeat(1_000));
    const { status, stdout, stderr } = await place.run('log', '--source', '2');
    expect(status).toBe(0);
    expect(stdout).toContain('source 2, 1.25 ms');
    expect(stderr).toMatch(
      /^rollcall: Without names, because: .+ cannot be opened: file is not a database\.\n$/,
    );
    expect((await place.run('log', '--user', 'ann')).stdout).toContain('/2');
    expect((await place.run('log', '--source', 'Okta')).stderr).toContain(
      'can only be given by its id, not as "Okta"',
    );
  }, 60_000);

  test('says in a sentence what it cannot do', async () => {
    using place = new Workplace();
    await place.json('source', 'create', '--kind', 'scim', '--name', 'Okta');
    const refusals: [options: string[], sentence: RegExp][] = [
      [[], /^There is no request log at .+requests\.db yet; the service begins one\.$/],
      [['--status', '6xx'], /^--status takes 404, 4xx or 400-499, not "6xx"\.$/],
      [['--since', 'yesterday'], /^--since takes a span such as 30m, 2h or 7d, .+, not "yesterday"\.$/],
      [['--limit', '0'], /^--limit takes a whole number from 1 to 10000, not "0"\.$/],
      [['--repairs', '--user', '1'], /^--repairs counts by days, .* not --user\.$/],
      [['--repairs', '--follow'], /^--repairs .* not --follow\.$/],
      [['--follow', '--before', '7'], /^--follow tells what comes from now on; leave out --before, /],
      [['--user', '1', '--group', '1'], /^Give --user or --group, not both\.$/],
      [['--source', 'nope'], /^There is no source "nope"/],
    ];
    for (const [options, sentence] of refusals)
      expect(readFailure(await place.run('log', ...options))).toMatch(sentence);
    await Bun.write(join(place.data, 'requests.db'), 'no database'.repeat(100));
    expect(readFailure(await place.run('log'))).toMatch(
      /^The request log at .+ cannot be read: file is not a database\.$/,
    );
  }, 60_000);
});
