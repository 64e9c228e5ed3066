import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { ConnectorRecord, User } from '../../src/connectors/contract.ts';
import { compileMapping } from '../../src/connectors/mapping.ts';
import { RecordWriter, toDocument } from '../../src/connectors/to-document.ts';
import { addressPartNames, leafNames } from '../../src/xml/records.ts';
import { read, validate } from '../xml/support.ts';

const head = { domain: 'Staff', ldapid: '7', options: new Map([['mode', 'full']]) };

async function* each(records: readonly unknown[]): AsyncGenerator<ConnectorRecord> {
  for (const record of records) yield record as ConnectorRecord;
}

async function write(...records: readonly unknown[]): Promise<{ text: string; warnings: string[] }> {
  const warnings: string[] = [];
  let text = '';
  for await (const piece of toDocument(each(records), {
    head,
    mode: 'full',
    warn: (line) => warnings.push(line),
  }))
    text += piece;
  return { text, warnings };
}

async function refusal(...records: readonly unknown[]): Promise<string> {
  try {
    await write(...records);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  throw new Error('The records were accepted.');
}

const ada = { kind: 'user', id: '1' } as const;
const sales = { kind: 'group', id: 'g', type: 'department', name: 'Sales' } as const;

describe('toDocument', () => {
  test('writes a document that is valid, with groups before users', async () => {
    const { text } = await write(
      { ...sales, description: 'All of them' },
      {
        ...ada,
        username: 'ada',
        active: 'Yes',
        omitfromsearch: false,
        loginType: 2,
        employeenumber: 12345678901234567890n,
        jobstartdate: new Date('2024-05-31T08:00:00Z'),
        jobenddate: '2024-12-31 17:30:00+01',
        dateofbirth: '1815-12-10',
        culture: 'nb_NO',
        title: null,
        bio: '',
        alternateemail: { type: 'home', value: 'a@x' },
        phones: { work: '1', home: null, mobile: undefined },
        ims: { chat: 'ada' },
        addresses: { home: { street: 'A\nB', country: null }, work: {} },
        groups: ['g', { type: 'security group', name: 'Admins' }],
        additionalfields: { badge: 'B', gone: null, kept: '' },
      },
    );
    expect(await validate(text)).toMatchObject({ valid: true, users: 1, groups: 1 });
    expect(text).toContain('<active>true</active>');
    expect(text).toContain('<omitfromsearch>false</omitfromsearch>');
    expect(text).toContain('<employeenumber>12345678901234567890</employeenumber>');
    expect(text).toContain('<jobstartdate>2024-05-31T08:00:00.000Z</jobstartdate>');
    expect(text).toContain('<jobenddate>2024-12-31T17:30:00+01:00</jobenddate>');
    expect(text).toContain('<culture>nb-NO</culture>');
    expect(text).toContain('<title applyBlank="True"></title>');
    expect(text).not.toContain('<bio');
    expect(text).toContain('<phone type="home" applyBlank="True"></phone>');
    expect(text).not.toContain('address type="work"');
    expect(text).toContain('<group ref="g" /><group type="security group">Admins</group>');
    expect(text).toContain('<field id="badge">B</field><field id="gone" applyBlank="True"></field></add');
  });

  test('keeps apart no groups and unknown groups', async () => {
    expect((await write({ ...ada, groups: [] })).text).toContain('<groups></groups>');
    expect((await write(ada)).text).not.toContain('<groups>');
  });

  test('yields no end when the records fail', async () => {
    async function* broken(): AsyncGenerator<ConnectorRecord> {
      for (let id = 1; id <= 5_000; id += 1) yield { ...ada, id: String(id) };
      throw new Error('The source hung up.');
    }
    let text = '';
    const reading = async () => {
      for await (const piece of toDocument(broken(), { head, mode: 'full' })) text += piece;
    };
    expect(reading()).rejects.toThrow('The source hung up.');
    await reading().catch(() => {});
    expect(text).toContain('<user id="1"');
    expect(text).not.toContain('</syncdata>');
  });

  test('refuses nobody at all', async () => {
    expect(await refusal()).toStartWith('The source has answered with nobody');
    expect(await refusal(sales)).toStartWith('The source has answered with nobody');
  });

  test('writes nothing for a delta of nobody', async () => {
    const pieces: string[] = [];
    for (const records of [[], [sales]])
      for await (const piece of toDocument(each(records), { head, mode: 'delta' })) pieces.push(piece);
    expect(pieces).toEqual([]);
  });

  test('refuses a group after a user', async () => {
    expect(await refusal(ada, sales)).toBe(
      'The group "g" came after the first user: all groups have to come before the users.',
    );
  });

  test.each([
    ['nothing', undefined, 'neither a group nor a user'],
    ['a record of no kind', { id: '1' }, 'neither a group nor a user'],
    ['a user without an id', { kind: 'user' }, 'The id of a user is missing or empty.'],
    ['a user with a blank id', { ...ada, id: ' \n' }, 'The id of a user is missing or empty.'],
    ['a long id', { ...ada, id: 'x'.repeat(1_025) }, 'is longer than 1024 characters.'],
    ['a group without a name', { ...sales, name: null }, 'The name of the group "g" is missing or empty.'],
    ['a group of another type', { ...sales, type: 'team' }, 'The type of the group "g" is "team"; there are'],
    ['an unclear boolean', { ...ada, active: 'Aktiv' }, 'active of the user "1" is "Aktiv", which has to be'],
    ['a foreign date', { ...ada, dateofbirth: '10.12.1815' }, 'has the form "99.99.9999", which is not'],
    ['a day that is not', { ...ada, jobstartdate: '2023-02-29' }, 'is a date or time that does not exist.'],
    ['a Date that is not', { ...ada, jobstartdate: new Date('x') }, 'is a date that does not exist.'],
    ['a number that is not', { ...ada, title: Number.NaN }, 'title of the user "1" is a number that is not'],
    ['an object as text', { ...ada, title: {} }, 'title of the user "1" must be a text, number, boolean or'],
    ['a language that is none', { ...ada, culture: 'Norsk bokmål' }, 'has to be a language tag'],
    ['a way of signing in', { ...ada, loginType: 3 }, 'which has to be 0 (local), 1 (Windows) or 2 (SAML).'],
    ['a telephone of another type', { ...ada, phones: { fax: '1' } }, 'phones of the user "1" has the type'],
    ['a list of telephones', { ...ada, phones: ['1'] }, 'phones of the user "1" must be an object.'],
    ['a group that is no list', { ...ada, groups: 'g' }, 'groups of the user "1" must be a list.'],
    ['part of an address', { ...ada, addresses: { home: { zip: '1' } } }, 'has a member "zip"; there are'],
  ])('refuses %s', async (_, record, sentence) => {
    expect(await refusal(record)).toContain(sentence);
  });

  test('leaves out control characters, and says so once', async () => {
    const { text, warnings } = await write(
      {
        ...ada,
        bio: 'a\u0000b\u000bc\ud800d',
        groups: ['g\u0001'],
        additionalfields: { 'f\u0002': 'x\u0003' },
      },
      { ...ada, id: '2', surname: '\u0007' },
    );
    expect(text).toContain('<bio>abcd</bio>');
    expect(text).toContain('<group ref="g" />');
    expect(text).toContain('<field id="f">x</field>');
    expect(await validate(text)).toMatchObject({ valid: true });
    expect(warnings).toEqual([
      'Control characters, which XML cannot carry, were removed from 2 records; the first is the user "1".',
    ]);
  });

  test('refuses control characters in what must not become another', async () => {
    const sentence = 'has a control character in it; correct it in the source.';
    expect(await refusal({ ...ada, id: '1\u0000' })).toBe(`The id of a user ${sentence}`);
    expect(await refusal({ ...ada, username: 'a\u0000' })).toBe(`The username of the user "1" ${sentence}`);
    expect(await refusal({ ...ada, password: 's3cret\u0000' })).toBe(
      `The password of the user "1" ${sentence}`,
    );
  });

  test('names members that no attribute has', async () => {
    const { text, warnings } = await write({ ...ada, firstName: 'Ada', constructor: 'x' });
    expect(text).not.toContain('Ada');
    expect(warnings).toEqual([
      '"firstName" is not an attribute of the profile file; it was left out.',
      '"constructor" is not an attribute of the profile file; it was left out.',
    ]);
  });
});

const keys = [
  ...leafNames.filter((name) => name !== 'alternateemail'),
  ...['alternateemail.home', 'phones.work', 'phones.mobile', 'ims.chat'],
  ...addressPartNames.map((part) => `addresses.work.${part}`),
  ...['groups', 'groups.department', 'additionalfields.badge', 'additionalfields.__proto__'],
];
const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)) }),
  fc.constantFrom(
    'true',
    'N',
    '2024-02-29',
    '2023-02-29T10:00:00Z',
    '0000-01-01',
    '1',
    'en_GB',
    ']]>',
    '<&>"',
  ),
);

describe('a mapped person', () => {
  test('becomes valid XML that reads back, or is refused with a sentence, whatever the texts are', async () => {
    const user = Object.fromEntries(keys.map((key) => [key, { column: key, split: ',' }]));
    const mapping = await compileMapping({ user: { id: 'id', username: 'username', ...user } }, {});
    const record = fc.dictionary(fc.constantFrom('username', ...keys), anyText, { maxKeys: 6 });
    await fc.assert(
      fc.asyncProperty(record, fc.oneof(fc.constant('1'), anyText), async (values, id) => {
        const text = await written(() => mapping.user({ ...values, id }));
        if (text === undefined) return;
        const result = await validate(text);
        expect(result.valid ? [] : result.errors).toEqual([]);
        expect((await read(text)).filter(({ kind }) => kind === 'user')).toHaveLength(1);
      }),
      { numRuns: 300 },
    );
  });

  /** The document of one person; undefined when the person is refused as a connector's fault should be. */
  async function written(map: () => User): Promise<string | undefined> {
    try {
      return (await write(map())).text;
    } catch (error) {
      expect(error).toMatchObject({ name: 'DomainError' });
      expect(error instanceof Error ? error.message : '').toMatch(/^[^\n]*\.$/s);
      return undefined;
    }
  }
});

describe('RecordWriter', () => {
  test('writes one element, for a preview', () => {
    expect(new RecordWriter().write({ ...ada, surname: 'A & B' })).toContain('<surname>A &amp; B</surname>');
  });
});
