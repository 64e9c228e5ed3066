import { describe, expect, test } from 'bun:test';
import { enterpriseUrn, openTestApp, type TestApp } from '../support/app.ts';
import { dialects } from '../support/database.ts';

const people = [
  { userName: 'ann@x.org', externalId: 'e1', displayName: 'Ann Lee', name: { familyName: 'Lee' } },
  { userName: 'BOB', displayName: 'Bøb 100%_\\', name: { familyName: 'Åse' }, active: false },
  {
    userName: 'çid',
    externalId: 'E1',
    emails: [
      { type: 'work', value: 'cid@x.org', primary: true },
      { type: 'home', value: 'C@home.org' },
    ],
  },
  { userName: "d'or", displayName: 'zoë', emails: [{ type: 'work', value: 'dor@x.org' }] },
  {
    userName: 'İlker',
    displayName: 'ÆØÅ',
    title: 'Boss',
    [enterpriseUrn]: { employeeNumber: '007', manager: { value: '1' } },
  },
  { userName: 'eve', displayName: 'ann lee', title: 'boss', [enterpriseUrn]: { employeeNumber: '7' } },
];

async function openWithPeople(dialect: (typeof engines)[number]): Promise<TestApp> {
  const app = await openTestApp({ dialect });
  for (const person of people) {
    await app.createUser(person);
    app.clock.advance(60);
  }
  await app.createGroup({
    displayName: 'Sales',
    externalId: 'g1',
    members: [{ value: '1' }, { value: '3' }],
  });
  await app.createUser({ userName: 'gone', displayName: 'Ann Gone' });
  await app.call('DELETE', '/Users/7');
  return app;
}

const engines = dialects();

describe.each(engines)('filters on %s', (dialect) => {
  test('find by each attribute that clients ask for', async () => {
    await using app = await openWithPeople(dialect);
    const cases: [string, string[]][] = [
      ['userName eq "ANN@X.ORG"', ['1']],
      ['USERNAME EQ "bob"', ['2']],
      ['urn:ietf:params:scim:schemas:core:2.0:User:userName eq "bob"', ['2']],
      ['externalId eq "e1"', ['1']],
      ['externalId eq e1', ['1']],
      ['externalId eq "E1"', ['3']],
      ['emails eq "CID@x.org"', ['3']],
      ['emails[type eq "work" and value co "@x.org"]', ['3', '4']],
      ['title eq "boss"', ['5', '6']],
      ['employeeNumber eq "007"', ['5']],
      [`${enterpriseUrn}:manager eq "1"`, ['5']],
      ['userName eq "gone"', []],
      ['displayName sw "ann"', ['1', '6']],
      ['userName eq "d\'or"', ['4']],
      ['userName eq "x\' or 1=1 --"', []],
    ];
    for (const [filter, ids] of cases) {
      const { body } = await app.find('/Users', filter);
      const found = (body.Resources ?? []).map((user: { id: string }) => user.id);
      expect({ filter, found, total: body.totalResults }).toEqual({ filter, found: ids, total: ids.length });
    }
    const groups = [
      'displayName eq "SALES"',
      'externalId eq "g1"',
      'id eq "1" and members eq "3"',
      'members[value eq "1"]',
    ];
    for (const filter of groups) expect((await app.find('/Groups', filter)).body.totalResults).toBe(1);
    for (const filter of ['members eq "2"', 'members.value eq "x"', 'displayName eq "sale"'])
      expect((await app.find('/Groups', filter)).body.totalResults).toBe(0);
  });
});

describe('a filter that is not understood', () => {
  test.each([
    'userName',
    'userName eq',
    'userName is "x"',
    'shoeSize eq 5',
    'userName eq "x" and',
    '(userName eq "x"',
    'userName eq "x" userName eq "y"',
    'active gt true',
    'emails[type eq "work"',
    'emails.shoe eq "x"',
    '__proto__ eq "x"',
    `userName eq "${'x'.repeat(5_000)}"`,
    `${'('.repeat(50)}userName pr${')'.repeat(50)}`,
    Array.from({ length: 60 }, () => 'userName pr').join(' or '),
  ])('is refused with invalidFilter: %.60s', async (filter) => {
    await using app = await openTestApp();
    expect(await app.find('/Users', filter)).toMatchObject({
      status: 400,
      body: { scimType: 'invalidFilter' },
    });
  });
});

describe.each(engines)('pages on %s', (dialect) => {
  test('begin and end where RFC 7644 says, in the order of ids', async () => {
    await using app = await openTestApp({ dialect });
    for (let number = 1; number <= 5; number += 1)
      await app.createUser({ userName: `u${number}`, title: 'x' });
    const page = async (query: string) => {
      const { body } = await app.call('GET', `/Users?${query}`);
      return [
        body.totalResults,
        body.startIndex,
        body.itemsPerPage,
        body.Resources.map((r: { id: string }) => r.id),
      ];
    };
    const all = ['1', '2', '3', '4', '5'];
    expect(await page('')).toEqual([5, 1, 5, all]);
    for (const start of ['0', '-3', '1', '+1', ''])
      expect(await page(`startIndex=${start}`)).toEqual([5, 1, 5, all]);
    expect(await page('startIndex=4&count=5')).toEqual([5, 4, 2, ['4', '5']]);
    expect(await page('startIndex=2&count=2')).toEqual([5, 2, 2, ['2', '3']]);
    for (const count of ['0', '-1']) expect(await page(`count=${count}`)).toEqual([5, 1, 0, []]);
    expect(await page('count=999999999')).toEqual([5, 1, 5, all]);
    expect(await page('startIndex=999999999999')).toEqual([5, 999_999_999_999, 0, []]);
    const filter = encodeURIComponent('title eq "x"');
    expect(await page(`filter=${filter}&startIndex=3&count=2`)).toEqual([5, 3, 2, ['3', '4']]);
    const byName = encodeURIComponent('userName eq "u3"');
    expect(await page(`filter=${byName}&startIndex=2`)).toEqual([1, 2, 0, []]);
    expect(await page(`filter=${byName}&count=0`)).toEqual([1, 1, 0, []]);
    expect(await page('unknown=1&sortBy=userName')).toEqual([5, 1, 5, all]);
  });

  test('hold what the settings say, at most', async () => {
    await using app = await openTestApp({ dialect });
    for (let number = 1; number <= 4; number += 1) await app.createUser({ userName: `u${number}` });
    await app.configurations.setSetting('countDefault', '2');
    await app.configurations.setSetting('countMax', '3');
    expect((await app.call('GET', '/Users')).body.itemsPerPage).toBe(2);
    expect((await app.call('GET', '/Users?count=1000')).body.itemsPerPage).toBe(3);
  });
});

describe('a page that is asked for wrongly', () => {
  test.each(['count=x', 'count=1e9', 'count=NaN', 'startIndex=1.5', 'startIndex=0x1'])(
    'is refused: %s',
    async (query) => {
      await using app = await openTestApp();
      expect(await app.call('GET', `/Users?${query}`)).toMatchObject({
        status: 400,
        body: { scimType: 'invalidValue' },
      });
    },
  );
});

describe('attributes and excludedAttributes', () => {
  test('choose what is shown; schemas and id always are', async () => {
    await using app = await openTestApp();
    await app.createUser({ userName: 'ann', title: 'Boss', name: { givenName: 'Ann', familyName: 'Lee' } });
    const keys = async (query: string) =>
      Object.keys((await app.call('GET', `/Users/1?${query}`)).body).toSorted();
    expect(await keys('attributes=title')).toEqual(['id', 'schemas', 'title']);
    expect(await keys('attributes=NAME.givenname')).toEqual(['id', 'name', 'schemas']);
    const without = await keys('excludedAttributes=title,name,id,schemas,meta');
    expect(without).toEqual(['active', 'id', 'schemas', 'userName', 'userType']);
    const listed = (await app.call('GET', '/Users?attributes=userName')).body.Resources[0];
    expect(Object.keys(listed).toSorted()).toEqual(['id', 'schemas', 'userName']);
    const posted = await app.call('POST', '/Users?attributes=userName', { userName: 'bob', title: 'x' });
    expect(Object.keys(posted.body).toSorted()).toEqual(['id', 'schemas', 'userName']);
  });
});
