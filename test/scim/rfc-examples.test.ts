import { describe, expect, test } from 'bun:test';
import { enterpriseUrn, groupUrn, type Json, openTestApp, type TestApp, userUrn } from '../support/app.ts';
import { dialects } from '../support/database.ts';

/** The full user of RFC 7643 §8.2 and §8.3, as far as a client may write it. */
const babs = {
  schemas: [userUrn, enterpriseUrn],
  externalId: '701984',
  userName: 'bjensen@example.com',
  name: {
    formatted: 'Ms. Barbara J Jensen, III',
    familyName: 'Jensen',
    givenName: 'Barbara',
    middleName: 'Jane',
    honorificPrefix: 'Ms.',
    honorificSuffix: 'III',
  },
  displayName: 'Babs Jensen',
  nickName: 'Babs',
  profileUrl: 'https://login.example.com/bjensen',
  emails: [
    { value: 'bjensen@example.com', type: 'work', primary: true },
    { value: 'babs@jensen.org', type: 'home' },
  ],
  addresses: [
    {
      type: 'work',
      streetAddress: '100 Universal City Plaza',
      locality: 'Hollywood',
      region: 'CA',
      postalCode: '91608',
      country: 'US',
      formatted: '100 Universal City Plaza\nHollywood, CA 91608 USA',
      primary: true,
    },
    { type: 'home', streetAddress: '456 Hollywood Blvd', locality: 'Hollywood', region: 'CA', country: 'US' },
  ],
  phoneNumbers: [
    { value: '555-555-5555', type: 'work' },
    { value: '555-555-4444', type: 'mobile' },
  ],
  ims: [{ value: 'someaimhandle', type: 'aim' }],
  photos: [
    { value: 'https://photos.example.com/profilephoto/72930000000Ccne/F', type: 'photo' },
    { value: 'https://photos.example.com/profilephoto/72930000000Ccne/T', type: 'thumbnail' },
  ],
  userType: 'Employee',
  title: 'Tour Guide',
  preferredLanguage: 'en-US',
  locale: 'en-US',
  timezone: 'America/Los_Angeles',
  active: true,
  x509Certificates: [{ value: 'MIIDQzCCAqygAwIBAgICEAAwDQYJKoZIhvcNAQEFBQAwTjELMAkGA1UEBhMCVVM=' }],
  [enterpriseUrn]: {
    employeeNumber: '701984',
    costCenter: '4130',
    organization: 'Universal Studios',
    division: 'Theme Park',
    department: 'Tour Operations',
    manager: { value: '1' },
  },
};

/** A strict service with the manager (1), Babs (2) and another (3), and a group of the latter two (id 3, behind two units). */
async function openStrict(dialect: 'sqlite' | 'postgres' = 'sqlite'): Promise<TestApp> {
  const app = await openTestApp({ dialect, settings: { dialect: 'strict' } });
  await app.configurations.setSetting('userTypes', 'Employee, Intern, Contractor');
  await app.createUser({ userName: 'jsmith', displayName: 'John Smith' });
  await app.call('POST', '/Users', {
    ...babs,
    password: 't1meMa$heen',
    meta: {},
    groups: [],
    id: '2819c223',
  });
  await app.createUser({ userName: 'J.Doe', name: { familyName: "O'Malley" }, userType: 'Intern' });
  await app.createGroup({ displayName: 'Tour Guides', members: [{ value: '2' }, { value: '3' }] });
  return app;
}

const group = '/Groups/3';
const values = (list: Json) => (list ?? []).map(({ value }: { value: string }) => value);

const filters = [
  ['userName eq "bjensen@example.com"', ['2']],
  ['userName Eq "BJENSEN@example.com"', ['2']],
  [`name.familyName co "O'Malley"`, ['3']],
  ['userName sw "J"', ['1', '3']],
  [`${userUrn}:userName sw "J"`, ['1', '3']],
  ['title pr', ['2']],
  ['meta.lastModified gt "2011-05-13T04:42:34Z"', ['1', '2', '3']],
  ['meta.lastModified ge "2011-05-13T04:42:34Z"', ['1', '2', '3']],
  ['meta.lastModified lt "2011-05-13T04:42:34Z"', []],
  ['meta.lastModified le "2011-05-13T04:42:34Z"', []],
  ['title pr and userType eq "Employee"', ['2']],
  ['title pr or userType eq "Intern"', ['2', '3']],
  [`schemas eq "${enterpriseUrn}"`, ['2']],
  ['userType eq "Employee" and (emails co "example.com" or emails.value co "example.org")', ['2']],
  ['userType ne "Employee" and not (emails co "example.com" or emails.value co "example.org")', ['1', '3']],
  ['userType eq "Employee" and (emails.type eq "work")', ['2']],
  ['userType eq "Employee" and emails[type eq "work" and value co "@example.com"]', ['2']],
  [
    'emails[type eq "work" and value co "@example.com"] or ims[type eq "xmpp" and value co "@foo.com"]',
    ['2'],
  ],
  [`${enterpriseUrn}:department eq "tour operations"`, ['2']],
] as const;

describe.each(dialects())('a strict source on %s', (dialect) => {
  test('keeps the full user of RFC 7643 §8.2 and §8.3 as it was sent', async () => {
    await using app = await openStrict(dialect);
    const { body } = await app.call('GET', '/Users/2');
    // The company shows in the platform's extension too, so that schema is there as well.
    expect(body).toMatchObject({
      ...babs,
      schemas: expect.arrayContaining(babs.schemas),
      id: '2',
      [enterpriseUrn]: {
        ...babs[enterpriseUrn],
        manager: { value: '1', displayName: 'John Smith', $ref: `${app.baseUrl}/Users/1` },
      },
      meta: { resourceType: 'User', location: `${app.baseUrl}/Users/2` },
    });
    expect(body.password).toBeUndefined();
  });

  test('keeps the group of RFC 7643 §8.4', async () => {
    await using app = await openStrict(dialect);
    expect((await app.call('GET', group)).body).toMatchObject({
      schemas: expect.arrayContaining([groupUrn]),
      displayName: 'Tour Guides',
      members: [
        { value: '2', $ref: `${app.baseUrl}/Users/2`, display: 'Babs Jensen' },
        { value: '3', $ref: `${app.baseUrl}/Users/3` },
      ],
    });
  });

  test('finds by every filter of RFC 7644 §3.4.2.2', async () => {
    await using app = await openStrict(dialect);
    for (const [filter, ids] of filters) {
      const { status, body } = await app.find('/Users', filter);
      const found = body.Resources?.map(({ id }: { id: string }) => id);
      expect({ filter, status, found }).toEqual({ filter, status: 200, found: [...ids] });
    }
  });
});

describe('the examples of RFC 7644 §3.5.2 on a strict source', () => {
  test('add without a path, an attribute in other letters among them', async () => {
    await using app = await openStrict();
    const added = { emails: [{ value: 'third@jensen.org', type: 'home' }], nickname: 'Barb' };
    const { status, body } = await app.patch('/Users/2', [{ op: 'add', value: added }]);
    expect(status).toBe(200);
    expect(values(body.emails)).toEqual(['bjensen@example.com', 'babs@jensen.org', 'third@jensen.org']);
    expect(body.nickName).toBe('Barb');
  });

  test.each([
    [
      [{ op: 'add', path: 'members', value: [{ display: 'J', $ref: 'Users/1', value: '1' }] }],
      ['1', '2', '3'],
    ],
    [[{ op: 'add', path: 'members', value: [{ value: '2' }] }], ['2', '3']],
    [[{ op: 'remove', path: 'members[value eq "2"]' }], ['3']],
    [[{ op: 'remove', path: 'members' }], []],
    [
      [
        { op: 'remove', path: 'members[value eq "2"]' },
        { op: 'add', path: 'members', value: [{ value: '1' }] },
      ],
      ['1', '3'],
    ],
    [
      [
        { op: 'remove', path: 'members' },
        { op: 'add', path: 'members', value: [{ value: '1' }, { value: '3' }] },
      ],
      ['1', '3'],
    ],
    [[{ op: 'replace', path: 'members', value: [{ value: '1' }] }], ['1']],
  ])('change members by %j', async (operations, members) => {
    await using app = await openStrict();
    const { status, body } = await app.patch(group, operations);
    expect({ status, members: values(body.members).toSorted() }).toEqual({ status: 200, members });
  });

  test.each([
    [
      { op: 'remove', path: 'emails[type eq "work" and value ew "example.com"]' },
      { emails: [{ type: 'home' }] },
    ],
    [
      {
        op: 'replace',
        path: 'addresses[type eq "work"]',
        value: { type: 'work', streetAddress: '911 Universal City Plaza' },
      },
      { addresses: [{ type: 'work', streetAddress: '911 Universal City Plaza' }, { type: 'home' }] },
    ],
    [
      { op: 'replace', path: 'addresses[type eq "work"].streetAddress', value: '1010 Broadway Ave' },
      {
        addresses: [
          { type: 'work', streetAddress: '1010 Broadway Ave', locality: 'Hollywood' },
          { type: 'home' },
        ],
      },
    ],
    [
      {
        op: 'replace',
        value: { emails: [{ value: 'bjensen@example.com', type: 'work', primary: true }], nickname: 'Babs' },
      },
      { emails: [{ type: 'work' }], nickName: 'Babs' },
    ],
    [
      { op: 'add', path: `${enterpriseUrn}:costCenter`, value: '1' },
      { [enterpriseUrn]: { costCenter: '1', division: 'Theme Park' } },
    ],
    [
      { op: 'add', path: 'emails', value: [{ value: 'x@y.org', primary: true }] },
      { emails: [{ primary: false }, {}, { primary: true }] },
    ],
    [{ op: 'remove', path: enterpriseUrn }, { displayName: 'Babs Jensen' }],
    [{ op: 'replace', path: 'title', value: 'Guide' }, { title: 'Guide' }],
    [{ op: 'remove', path: 'phoneNumbers[type eq "fax"]' }, { phoneNumbers: [{}, {}] }],
  ])('change a user by %j', async (operation, result) => {
    await using app = await openStrict();
    expect(await app.patch('/Users/2', [operation])).toMatchObject({ status: 200, body: result });
  });

  test.each([
    [{ op: 'remove' }, 'noTarget'],
    [{ op: 'replace', path: 'emails[type eq "other"].value', value: 'x' }, 'noTarget'],
    [{ op: 'replace', path: 'id', value: '7' }, 'mutability'],
    [{ op: 'remove', path: 'userName' }, 'mutability'],
    [{ op: 'replace', path: 'name.nothing', value: 'x' }, 'invalidPath'],
  ])('refuse %j with %s', async (operation, scimType) => {
    await using app = await openStrict();
    expect(await app.patch('/Users/2', [operation])).toMatchObject({ status: 400, body: { scimType } });
  });

  test('PUT of §3.5.1 wipes what it leaves out', async () => {
    await using app = await openStrict();
    const { schemas: _schemas, ...rest } = babs;
    const put = {
      schemas: [userUrn],
      id: '2',
      userName: rest.userName,
      name: rest.name,
      roles: [],
      emails: rest.emails,
    };
    const { status, body } = await app.call('PUT', '/Users/2', put);
    expect(status).toBe(200);
    expect(body).toMatchObject({ name: rest.name, emails: rest.emails, userType: 'Intranet User' });
    for (const name of ['externalId', 'title', 'addresses', enterpriseUrn])
      expect(body[name]).toBeUndefined();
  });
});
