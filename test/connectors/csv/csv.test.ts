import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connector } from '../../../connectors/csv/csv.ts';
import type { ConnectorRecord } from '../../../src/connectors/contract.ts';
import { openKind, readAll, refusalOf } from '../kind-context.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rollcall-csv-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function put(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, content);
  return path;
}

const config = (more: object = {}) => ({ folder, users: 'people.csv', minAgeSeconds: 0, ...more });
const read = (more: object = {}) => readAll(connector, config(more));
const refusal = (more: object = {}) => refusalOf(() => read(more));

describe('csv', () => {
  test('reads columns that are called like attributes without a mapping', async () => {
    put('people.csv', 'id, username ,phones.work,constructor\n1,ada,+47 1,x\n2,,,\n');
    const { users, log } = await read();
    expect(users).toEqual([
      { kind: 'user', id: '1', username: 'ada', phones: { work: '+47 1' } },
      { kind: 'user', id: '2' },
    ]);
    expect(log).toEqual(['info: Read 2 people from people.csv.']);
  });

  test('maps columns of any name', async () => {
    put('people.csv', '__proto__;E-mail [work];Name\n7;a@x;Ada Lovelace\n');
    const mapping = {
      user: { id: '__proto__', email: 'E-mail [work]', displayname: { template: '{Name}!' } },
    };
    expect((await read({ mapping })).users).toEqual([
      { kind: 'user', id: '7', email: 'a@x', displayname: 'Ada Lovelace!' },
    ]);
  });

  test('calls columns by number where there is no header', async () => {
    put('people.csv', '7|Ada\n8|Bo\n');
    const mapping = { user: { id: '1', firstname: '2' } };
    const { users } = await read({ header: false, mapping });
    expect(users.map(({ firstname }) => firstname)).toEqual(['Ada', 'Bo']);
  });

  test('reads several files as one, in the order of their names', async () => {
    put('b/people-2.csv', 'id\n3\n');
    put('b/people-1.csv', 'username,id\nada,1\nbo,2\n');
    put('b/other.csv', 'id\n9\n');
    const { users } = await read({ users: 'b/people-*.csv' });
    expect(users.map(({ id }) => id)).toEqual(['1', '2', '3']);
  });

  test('gives people the groups of another file', async () => {
    put('people.csv', 'id\n1\n2\n');
    put('groups.csv', 'id,type,name\ng1,Department,Sales\ng2,,Editors\n');
    put('members.csv', 'since,group,user\n2020,g1,1\n2020,g2,1\n2021,g1,99\n');
    const { groups, users, log } = await read({
      groups: 'groups.csv',
      memberships: 'members.csv',
      membershipUser: 'user',
      membershipGroup: 'group',
    });
    expect(groups).toEqual([
      { kind: 'group', id: 'g1', type: 'department', name: 'Sales' },
      { kind: 'group', id: 'g2', type: 'security group', name: 'Editors' },
    ]);
    expect(users.map((user) => user.groups)).toEqual([['g1', 'g2'], []]);
    expect(log[0]).toBe(
      'warn: The memberships name one person whom the source does not have; compare the ids in both.',
    );
  });

  test('takes groups of memberships by name where there is no file of groups', async () => {
    put('people.csv', '1\n');
    put('members.csv', '1,Admins\n');
    const { users } = await readAll(
      connector,
      config({ memberships: 'members.csv', header: false, mapping: { user: { id: '1' } } }),
    );
    expect(users[0]?.groups).toEqual([{ type: 'security group', name: 'Admins' }]);
  });

  test.each([
    ['UTF-8 with a mark', new TextEncoder().encode('\ufeffid,surname\n1,Ødegård\n')],
    ['UTF-16, little end first', new Uint8Array(Buffer.from('\ufeffid,surname\r\n1,Ødegård\r\n', 'utf16le'))],
    [
      'UTF-16, big end first',
      new Uint8Array(Buffer.from('\ufeffid,surname\r\n1,Ødegård', 'utf16le').swap16()),
    ],
  ])('knows %s by its mark, whatever the configuration says', async (_, bytes) => {
    put('people.csv', bytes);
    expect((await read({ encoding: 'windows-1252' })).users).toEqual([
      { kind: 'user', id: '1', surname: 'Ødegård' },
    ]);
  });

  test('reads Windows-1252 and unmarked UTF-16 when told so', async () => {
    put('people.csv', Buffer.from('id,surname\n1,Ødegård\u0080\n', 'latin1'));
    expect((await read({ encoding: 'windows-1252' })).users[0]?.surname).toBe('Ødegård€');
    put('people.csv', Buffer.from('id,surname\n1,Ødegård\n', 'utf16le'));
    expect((await read({ encoding: 'utf-16le' })).users[0]?.surname).toBe('Ødegård');
  });

  test('names the line of a byte that is not of the encoding', async () => {
    put('people.csv', Buffer.from('id,surname\n1,a\n2,Ødegård\n', 'latin1'));
    expect(await refusal()).toBe(
      'The file people.csv: line 3 is not utf-8: save the file as UTF-8, or set "encoding" to windows-1252 or utf-16le.',
    );
    put('people.csv', Buffer.from('id,surname\n1,\u0081\n', 'latin1'));
    expect(await refusal({ encoding: 'windows-1252' })).toContain('line 2 is not windows-1252');
    put('people.csv', Buffer.from('id,surname\n1,a\n', 'utf16le'));
    expect(await refusal()).toContain('line 1 holds null characters: is it UTF-16?');
    put(
      'people.csv',
      Buffer.concat([Buffer.from('\ufeffid\n1\n', 'utf16le'), Buffer.from([0x00, 0xd8, 0x0a, 0])]),
    );
    expect(await refusal()).toContain('line 3 is not utf-16le');
  });

  test('reads a file that was put together of two with marks', async () => {
    put('people.csv', '\ufeffid,bio\n1,a\n\ufeff2,b\n');
    expect((await read()).users.map(({ id }) => id)).toEqual(['1', '2']);
  });

  test('obeys the line with which Excel names the delimiter', async () => {
    put('people.csv', 'sep=;\r\nid;bio\r\n1;a,b,c\r\n2;x;y\r\n');
    expect(await refusal()).toStartWith('The file people.csv: line 4 has 3 fields, but the first row has 2.');
  });

  test('refuses rows that do not fit, and headers that name a column twice', async () => {
    put('people.csv', 'id,bio\n1,"a\nb"\n2\n');
    expect(await refusal()).toStartWith('The file people.csv: line 4 has 1 fields, but the first row has 2.');
    put('people.csv', 'id, bio,bio\n');
    expect(await refusal()).toBe(
      'The file people.csv: the header at line 1 has the column "bio" twice; rename one of them.',
    );
  });

  test('gives nameless columns their number', async () => {
    put('people.csv', 'id,,\n1,a,b\n');
    expect((await read({ mapping: { user: { title: '3' } } })).users[0]?.title).toBe('b');
  });

  test('refuses an empty file, and yields nobody for a bare header', async () => {
    put('people.csv', '');
    expect(await refusal()).toBe('The file people.csv is empty.');
    put('people.csv', '\ufeff\n\n');
    expect(await refusal()).toBe('The file people.csv is empty.');
    put('people.csv', 'id,bio\n');
    expect((await read()).users).toEqual([]);
  });

  test('refuses a mapping that names a column which is not there', async () => {
    put('people.csv', 'id,bio\n1,a\n');
    expect(await refusal({ mapping: { user: { email: 'mail' } } })).toBe(
      'The file people.csv has no column "mail", from which email is taken. Its columns are: id, bio.',
    );
  });

  test('refuses files that are not there, and folders that are no full path', async () => {
    expect(await refusal()).toBe('The file people.csv does not exist.');
    expect(await refusal({ users: 'x*.csv' })).toBe(`No file in ${folder} is called "x*.csv".`);
    expect(await refusal({ folder: 'data' })).toBe('The folder "data" has to be a full path.');
    expect(await refusalOf(() => readAll(connector, { users: 'a.csv' }))).toStartWith(
      'Files need a "folder"',
    );
  });

  test('never leaves its folder', async () => {
    const outside = mkdtempSync(join(tmpdir(), 'rollcall-csv-outside-'));
    try {
      writeFileSync(join(outside, 'secret.csv'), 'id\n1\n');
      symlinkSync(join(outside, 'secret.csv'), join(folder, 'people.csv'));
      symlinkSync(outside, join(folder, 'sub'));
      const link = 'is a link that leads out of the folder; it is not read.';
      expect(await refusal()).toBe(`The file people.csv ${link}`);
      expect(await refusal({ users: 'p*.csv' })).toBe(`The file people.csv ${link}`);
      expect(await refusal({ users: 'sub/secret.csv' })).toBe(`The file sub/secret.csv ${link}`);
      for (const users of [join(outside, 'secret.csv'), '../x.csv', 'a/../../*.csv', 'a\\..\\b.csv'])
        expect(await refusal({ users })).toContain('leads out of the folder');
    } finally {
      rmSync(outside, { recursive: true, force: true });
    }
  });

  test('follows a link that stays in its folder, and reads no folder', async () => {
    put('export-2024.csv', 'id\n1\n');
    symlinkSync('export-2024.csv', join(folder, 'people.csv'));
    expect((await read()).users).toHaveLength(1);
    expect(await refusal({ users: '.' })).toBe('. is not a regular file.');
  });
});

describe('csv, of a delivery that is still under way', () => {
  const rows = (count: number) =>
    Array.from({ length: count }, (_, at) => `${at + 1},${'x'.repeat(100)}\n`).join('');

  /** Reads, and does something once the first person is there. */
  async function meddled(meddle: () => void, more: object = {}): Promise<string> {
    const { context } = await openKind(connector, config(more));
    const seen: ConnectorRecord[] = [];
    const reading = async () => {
      for await (const record of connector.read(context)) if (seen.push(record) === 1) meddle();
    };
    const said = await refusalOf(reading);
    expect(seen.length).toBeGreaterThan(0);
    return said;
  }

  test('fails when a file grows while it is read', async () => {
    const path = put('people.csv', `id,bio\n${rows(10_000)}`);
    expect(await meddled(() => appendFileSync(path, rows(1)))).toStartWith(
      'The file people.csv was changed while it was read.',
    );
  });

  test('fails when a file is written anew in the same length', async () => {
    const path = put('people.csv', `id,bio\n${rows(10_000)}`);
    expect(await meddled(() => utimesSync(path, 1, 1))).toContain('was changed while it was read');
  });

  test('fails when a further file comes', async () => {
    put('part-1.csv', `id,bio\n${rows(10)}`);
    const said = await meddled(() => put('part-2.csv', 'id\n11\n'), { users: 'part-*.csv' });
    expect(said).toStartWith('The files changed while they were read (part-2.csv).');
  });

  test('waits for files to be old enough', async () => {
    const path = put('people.csv', 'id\n1\n');
    utimesSync(path, 1_000, 1_000);
    const at = (seconds: number) => ({ now: new Date(seconds * 1_000) });
    const young = await refusalOf(() => readAll(connector, config({ minAgeSeconds: 30 }), at(1_029)));
    expect(young).toBe(
      'The file people.csv was written 29 s ago and may not be complete; it is read once it is 30 s old ("minAgeSeconds").',
    );
    expect((await readAll(connector, config({ minAgeSeconds: 30 }), at(1_030))).users).toHaveLength(1);
  });

  test('waits for the marker that says that all is there', async () => {
    const path = put('people.csv', 'id\n1\n');
    const more = { completeMarker: 'people.done' };
    expect(await refusal(more)).toBe('The delivery is not complete: the file people.done is not there yet.');
    const marker = put('people.done', '');
    utimesSync(path, 1_000, 1_000);
    utimesSync(marker, 999, 999);
    expect(await refusal(more)).toBe(
      'The delivery is not complete: the file people.done is older than people.csv.',
    );
    utimesSync(marker, 1_000, 1_000);
    expect((await read(more)).users).toHaveLength(1);
  });

  test('ends when it is cancelled', async () => {
    put('people.csv', `id,bio\n${rows(20_000)}`);
    const { context, abort } = await openKind(connector, config());
    let count = 0;
    const reading = async () => {
      for await (const _ of connector.read(context)) {
        count += 1;
        if (count === 1) abort.abort(new Error('The run was cancelled.'));
      }
    };
    expect(await refusalOf(reading)).toBe('The run was cancelled.');
    expect(count).toBeLessThan(20_000);
  });
});

describe('csv, over HTTP', () => {
  async function serving<T>(
    answer: (request: Request) => Response,
    work: (url: string) => Promise<T>,
  ): Promise<T> {
    const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: answer });
    try {
      return await work(`http://127.0.0.1:${server.port}/people.csv`);
    } finally {
      await server.stop(true);
    }
  }

  test('reads what an address answers', async () => {
    const seen: (string | null)[] = [];
    const answer = (request: Request) => {
      seen.push(request.headers.get('authorization'));
      return new Response('id\n1\n', { headers: { 'content-type': 'text/csv' } });
    };
    const { users } = await serving(answer, (url) =>
      readAll(connector, { users: url, authorization: 'Bearer s3cret' }),
    );
    expect(users).toEqual([{ kind: 'user', id: '1' }]);
    expect(seen).toEqual(['Bearer s3cret']);
  });

  test.each([
    [401, 'text/plain', 'refuses access (status 401); check "authorization" in the configuration.'],
    [404, 'text/plain', 'has no such file (status 404); check the address.'],
    [500, 'text/csv', 'answers with status 500 instead of a file.'],
    [200, 'text/html; charset=utf-8', 'answers with a web page, not with a CSV file; check the address.'],
  ])('says what a status of %d and a body of %s mean, without the key', async (status, type, sentence) => {
    const answer = () => new Response('id\n1\n', { status, headers: { 'content-type': type } });
    const said = await serving(answer, (url) =>
      refusalOf(() => readAll(connector, { users: url, authorization: 'Bearer s3cret' })),
    );
    expect(said).toMatch(/^127\.0\.0\.1:\d+ /);
    expect(said).toEndWith(sentence);
  });

  test('asks no other machine in the clear', async () => {
    expect(await refusalOf(() => readAll(connector, { users: 'http://hr.example.com/people.csv' }))).toBe(
      'The address of the file has to begin with https://, not http://.',
    );
    expect(await refusalOf(() => readAll(connector, { users: 'ftp://hr.example.com/people.csv' }))).toContain(
      'ftp://',
    );
  });
});

describe('the test of csv', () => {
  test('says what is there, and no value of anybody', async () => {
    put('people.csv', 'id;mail;sn\n1;a@x;Lovelace\n');
    put('groups.csv', 'id\ttype\tname\n');
    put('members.csv', 'u,g\n1,a\n');
    const mapping = { user: { email: 'mail', surname: 'sn' } };
    const more = { groups: 'groups.csv', memberships: 'members.csv', mapping, minAgeSeconds: 60 };
    const { context } = await openKind(connector, config(more), { now: new Date(Date.now() + 5_000) });
    const said = await connector.test(context);
    expect(said).toStartWith(
      'Found people in people.csv. The file people.csv has the columns id, mail, sn, separated by ";". ' +
        'Its first row gives id, surname, email. Found groups in groups.csv. The file groups.csv has the columns ' +
        'id, type, name, separated by a tab. It has no rows. Found memberships in members.csv. ',
    );
    expect(said).toContain('may not be complete');
    expect(said).not.toContain('Lovelace');
  });

  test('refuses what a run would refuse', async () => {
    put('people.csv', 'id\n1\n');
    const { context } = await openKind(connector, config({ mapping: { user: { email: 'mail' } } }));
    expect(await refusalOf(() => connector.test(context))).toContain('has no column "mail"');
  });
});
