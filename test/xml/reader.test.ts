import { describe, expect, test } from 'bun:test';
import { readDocument } from '../../src/xml/reader.ts';
import { toBoolean } from '../../src/xml/records.ts';
import { generateProfileXml } from '../support/generate-profile-xml.ts';
import { documentOf, plainUser, read, readingError, readUsers, streamOf } from './support.ts';

const sample = new URL('../../schemas/samples/full.xml', import.meta.url);

describe('readDocument', () => {
  test('yields the head, then groups and users in the order of the file', async () => {
    const items = await read(await Bun.file(sample).text());
    const kinds = items.map(({ kind }) => kind);
    expect(kinds).toEqual(['head', ...Array(7).fill('group'), ...Array(12).fill('user')]);
    expect(items[0]).toMatchObject({
      head: { version: '1', domain: 'Human Resources', ldapid: '1', line: 9, column: 3, warnings: [] },
    });
    expect(items[3]).toEqual({
      kind: 'group',
      record: {
        line: 33,
        id: 'd-fin',
        type: 'department',
        name: 'Finance & Control',
        description: { value: 'Accounts, payroll and control.', applyBlank: false },
      },
    });
  });

  test('reads every element that a user can have', async () => {
    const [user] = await readUsers(await Bun.file(sample).text());
    const plain = (value: string) => ({ value, applyBlank: false });
    expect(user).toEqual({
      line: 46,
      id: '1001',
      username: 'astrid.berg@example.com',
      leaves: {
        active: plain('true'),
        loginType: plain('0'),
        userType: plain('Intranet User'),
        password: plain('Correct-Horse-7-Battery'),
        title: plain('Dr.'),
        initials: plain('ASB'),
        firstname: plain('Astrid'),
        middlename: plain('Solveig'),
        surname: plain('Berg'),
        displayname: plain('Astrid S. Berg'),
        pronouns: plain('she/her'),
        email: plain('astrid.berg@example.com'),
        alternateemail: { type: 'home', ...plain('astrid@example.org') },
        jobtitle: plain('Head of Research'),
        employeenumber: plain('1001'),
        jobstartdate: plain('2011-08-15'),
        jobenddate: { value: '', applyBlank: true },
        dateofbirth: plain('1979-02-28'),
        culture: plain('nb-NO'),
        timezone: plain('Europe/Oslo'),
        omitfromsearch: plain('false'),
        forcepasswordreset: plain('true'),
        bio: plain('Leads research since 2019.\nPlays the viola & climbs <anything>.'),
        company: plain('c-1'),
        department: plain('d-rd'),
        location: plain('l-osl'),
        manager: plain('1012'),
      },
      phones: [
        { type: 'work', ...plain('+47 22 00 10 01') },
        { type: 'mobile', ...plain('+47 900 10 001') },
        { type: 'home', value: '', applyBlank: true },
      ],
      ims: [
        { type: 'chat', ...plain('astrid.berg') },
        { type: 'skype', ...plain('live:astrid.berg') },
      ],
      addresses: [
        {
          type: 'work',
          parts: {
            street: plain('Storgata 1\n3rd floor'),
            locality: plain('Oslo'),
            region: plain('Oslo'),
            postalcode: plain('0155'),
            country: plain('NO'),
          },
        },
        { type: 'home', parts: { locality: plain('Drammen'), country: plain('NO') } },
      ],
      groups: [
        { ref: 's-vpn', name: '' },
        { type: 'security group', name: 'Laboratory access' },
      ],
      additionalfields: [
        { id: 'costcentre', ...plain('CC-4100') },
        { id: 'badge', value: '', applyBlank: true },
      ],
    });
  });

  test('leaves out what a user does not have', async () => {
    const [user] = await readUsers(documentOf('\n<user><additionalfields/></user>'));
    const nothing = { leaves: {}, phones: [], ims: [], addresses: [], additionalfields: [] };
    expect(user).toEqual({ line: 2, ...nothing });
    const [emptyGroups] = await readUsers(documentOf('<user><groups/><additionalfields/></user>'));
    expect(emptyGroups?.groups).toEqual([]);
  });

  test('drops white space as the schema does, and keeps that of a password', async () => {
    const inside = `<password> a  b\n</password><title>\n  Dr.\t med. \n</title><bio>\n one\n  two \n</bio>`;
    const [user] = await readUsers(documentOf(`<user id=" 1 ">${inside}<additionalfields/></user>`));
    expect(user).toMatchObject({
      id: '1',
      leaves: { password: { value: ' a  b\n' }, title: { value: 'Dr. med.' }, bio: { value: 'one\n  two' } },
    });
  });

  test('joins text, entities, CDATA and what surrounds comments', async () => {
    const inside = '<bio>a&amp;<![CDATA[<b>]]><!-- c -->&#x64;&#101;</bio>';
    const [user] = await readUsers(documentOf(`<user>${inside}<additionalfields/></user>`));
    expect(user?.leaves.bio?.value).toBe('a&<b>de');
  });

  test('tells the line of each user, also when a tag is broken over lines', async () => {
    const users = `\n<user\nid="1"\n><additionalfields/></user>\r\n<!-- \n -->\r${plainUser}<user><additionalfields/></user>`;
    expect((await readUsers(documentOf(users))).map(({ line }) => line)).toEqual([2, 7, 7]);
  });

  test('yields batches of at most 500 items', async () => {
    const sizes: number[] = [];
    const small = documentOf('<user><additionalfields/></user>'.repeat(5_000));
    for await (const batch of readDocument(streamOf(small, 1_000_000))) sizes.push(batch.length);
    expect(Math.max(...sizes)).toBe(500);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(5_001);
  });

  test('gives the same records for any chunking', async () => {
    const text = await Bun.file(sample).text();
    const expected = await read(text);
    for (const chunkBytes of [1, 7, 1_000]) {
      const items = [];
      for await (const batch of readDocument(streamOf(text, chunkBytes))) items.push(...batch);
      expect(items).toEqual(expected);
    }
  });

  test('reads all that the generator makes, the same each time', async () => {
    const profile = { users: 2_000, renamed: 0.1, moved: 0.1, removed: 0.1, blanked: 0.1, disabled: 0.1 };
    const readAll = async () => {
      const items = [];
      for await (const batch of readDocument(generateProfileXml(profile))) items.push(...batch);
      return items;
    };
    const items = await readAll();
    expect(await readAll()).toEqual(items);
    const users = items.flatMap((item) => (item.kind === 'user' ? [item.record] : []));
    expect(users.length).toBeGreaterThan(1_700);
    expect(users.length).toBeLessThan(1_900);
    expect(users.some(({ leaves }) => leaves.active?.value === 'false')).toBe(true);
    expect(users.some(({ leaves }) => leaves.jobtitle?.applyBlank)).toBe(true);
    expect(users.filter(({ username }) => username?.startsWith('renamed')).length).toBeGreaterThan(100);
  });
});

describe('readDocument on faults', () => {
  const cases: readonly (readonly [string, string, object])[] = [
    [
      'an unknown element in a user',
      documentOf('\n<user>\n  <foo/></user>'),
      { line: 3, column: 3, path: '/syncdata/users/user[1]/foo' },
    ],
    ['an element in a value', documentOf('\n<user><bio>a<b/></bio></user>'), { line: 2, column: 13 }],
    [
      'a value twice',
      documentOf('\n<user><bio>a</bio><bio>b</bio></user>'),
      { line: 2, path: '/syncdata/users/user[1]/bio' },
    ],
    ['another root', '<data/>', { line: 1, column: 1, path: '/data' }],
    ['another section', documentOf(plainUser, { head: '<more/>' }), { line: 1, path: '/syncdata/more' }],
    ['a wrong end tag', documentOf('\n<user>\n</usr>'), { kind: 'malformed', line: 3 }],
    [
      'a missing reference',
      documentOf('\n<user><bio>&nbsp;</bio></user>'),
      { kind: 'malformed', line: 2, column: 17 },
    ],
  ];

  test.each(cases)('refuses %s with line, column and path', async (_name, text, place) => {
    const { kind, line, column, path } = await readingError(text);
    expect({ kind, line, column, path }).toMatchObject(place);
  });

  test('never quotes a password', async () => {
    for (const inside of ['s3cret&s3cret;', '<s3cret/>', '<s3cret', '<!s3cret>', 's3cret\u0001']) {
      const error = await readingError(documentOf(`<user><password>${inside}</password></user>`));
      expect(`${error.message} ${error.path}`).not.toContain('s3cret');
    }
  });
});

describe('toBoolean', () => {
  test('reads the spellings that the schema allows', () => {
    expect(['true', 'True', '1'].map(toBoolean)).toEqual([true, true, true]);
    expect(['false', 'False', '0'].map(toBoolean)).toEqual([false, false, false]);
    expect(toBoolean('')).toBeUndefined();
  });
});
