import { describe, expect, test } from 'bun:test';
import { enterpriseUrn, groupUrn, type Json, openTestApp, userUrn } from '../support/app.ts';
import { dialects } from '../support/database.ts';
import {
  bulk,
  details,
  managedBy,
  managerOf,
  membersOf,
  newGroup,
  newUser,
  patch,
  patchOpUrn,
  statuses,
} from './bulk-support.ts';

const responseUrn = 'urn:ietf:params:scim:api:messages:2.0:BulkResponse';

describe.each(dialects())('POST /Bulk on %s', (dialect) => {
  test('does what RFC 7644 §3.7.2 shows: a user, and a group with that user', async () => {
    await using app = await openTestApp({ dialect, settings: { dialect: 'strict' } });
    const answer = await bulk(app, [
      newUser('qwerty', { userName: 'Alice' }),
      newGroup('ytrewq', ['bulkId:qwerty'], { displayName: 'Tour Guides' }),
    ]);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/scim+json');
    expect(answer.body).toEqual({
      schemas: [responseUrn],
      Operations: [
        {
          location: `${app.baseUrl}/Users/1`,
          method: 'POST',
          bulkId: 'qwerty',
          version: 'W/"1"',
          status: '201',
        },
        {
          location: `${app.baseUrl}/Groups/1`,
          method: 'POST',
          bulkId: 'ytrewq',
          version: 'W/"1"',
          status: '201',
        },
      ],
    });
    expect(await membersOf(app, 1)).toEqual(['Alice']);
  });

  test('does what RFC 7644 §3.7.3 shows: POST, PUT, PATCH and DELETE, each with its version', async () => {
    await using app = await openTestApp({ dialect, settings: { dialect: 'strict' } });
    for (const userName of ['bob', 'dave', 'eve']) await app.createUser({ userName });
    const version = 'W/"1"';
    const answer = await bulk(
      app,
      [
        newUser('qwerty', { userName: 'Alice' }),
        { method: 'PUT', path: '/Users/1', version, data: { schemas: [userUrn], userName: 'Bob' } },
        patch('/Users/2', [{ op: 'add', path: 'nickName', value: 'Dave' }], { version }),
        { method: 'DELETE', path: '/Users/3', version },
      ],
      { failOnErrors: 1 },
    );
    expect(answer.body.Operations).toEqual([
      { location: `${app.baseUrl}/Users/4`, method: 'POST', bulkId: 'qwerty', version, status: '201' },
      { location: `${app.baseUrl}/Users/1`, method: 'PUT', version: 'W/"2"', status: '200' },
      { location: `${app.baseUrl}/Users/2`, method: 'PATCH', version: 'W/"2"', status: '200' },
      { location: `${app.baseUrl}/Users/3`, method: 'DELETE', status: '204' },
    ]);
    expect((await app.call('GET', '/Users/2')).body.nickName).toBe('Dave');
    expect((await app.call('GET', '/Users/3')).status).toBe(404);
  });

  test('answers errors as RFC 7644 §3.7.3 shows, with bodies of their own', async () => {
    await using app = await openTestApp({ dialect });
    await app.createUser({ userName: 'bob' });
    const answer = await bulk(app, [
      newUser('qwerty', { userName: '' }),
      { method: 'PUT', path: '/Users/1', version: 'W/"7"', data: { schemas: [userUrn], userName: 'Bob' } },
      patch('/Users/99', [{ op: 'add', path: 'nickName', value: 'Dave' }]),
      { method: 'DELETE', path: '/Users/99' },
    ]);
    const error = (status: string, more: object = {}) => ({
      schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
      status,
      detail: expect.any(String),
      ...more,
    });
    const { baseUrl } = app;
    expect(answer.body.Operations).toEqual([
      {
        method: 'POST',
        bulkId: 'qwerty',
        status: '400',
        response: error('400', { scimType: 'invalidValue' }),
      },
      { location: `${baseUrl}/Users/1`, method: 'PUT', status: '412', response: error('412') },
      { location: `${baseUrl}/Users/99`, method: 'PATCH', status: '404', response: error('404') },
      { location: `${baseUrl}/Users/99`, method: 'DELETE', status: '404', response: error('404') },
    ]);
    expect(await app.history()).toEqual(['User 1 create']);
  });

  test('says the same as the single requests would, and leaves the same journal', async () => {
    const work = [
      ['POST', '/Users', { schemas: [userUrn], userName: 'ann', active: 'True', shoeSize: 9 }],
      ['POST', '/Users', { schemas: [userUrn], userName: 'ANN', title: 'Boss' }],
      ['POST', '/Groups', { schemas: [groupUrn], displayName: 'Sales', members: [{ value: '1' }] }],
      ['PATCH', '/Users/1', { schemas: [patchOpUrn], Operations: [{ op: 'delete', path: 'title' }] }],
      ['PATCH', '/Users/1', { schemas: [patchOpUrn], Operations: [{ op: 'add', path: 'nope', value: 1 }] }],
      ['PUT', '/Groups/1', { schemas: [groupUrn], displayName: 'Sellers' }],
      ['DELETE', '/Users/1', undefined],
      ['DELETE', '/Users/1', undefined],
      ['PATCH', '/Users/1', { schemas: [patchOpUrn], Operations: [{ op: 'delete', path: 'title' }] }],
    ] as const;
    await using single = await openTestApp({ dialect });
    const alone: string[] = [];
    for (const [method, path, body] of work)
      alone.push(String((await single.call(method, path, body)).status));
    await using app = await openTestApp({ dialect });
    const answer = await bulk(
      app,
      work.map(([method, path, data], index) => ({ method, path, data, bulkId: String(index) })),
    );
    expect(statuses(answer)).toEqual(alone);
    expect(alone).toEqual(['201', '200', '201', '200', '400', '200', '204', '404', '404']);
    expect(await app.history()).toEqual(await single.history());
  });

  test('resolves references to what comes later, and keeps the order of everything else', async () => {
    await using app = await openTestApp({ dialect });
    const operations = [
      newGroup('g', ['bulkId:ann', 'bulkId:bob']),
      newUser('cid'),
      patch('/Groups/bulkId:g', [{ op: 'remove', path: 'members[value eq "bulkId:ann"]' }]),
      newUser('ann', managedBy('bulkId:bob')),
      newUser('bob'),
      newUser('dan'),
    ];
    // With failOnErrors nothing is done at the same time.
    const answer = await bulk(app, operations, { failOnErrors: 6 });
    expect(statuses(answer)).toEqual(['201', '201', '200', '201', '201', '201']);
    expect(answer.body.Operations.map((operation: Json) => operation.bulkId)).toEqual([
      'g',
      'cid',
      undefined,
      'ann',
      'bob',
      'dan',
    ]);
    const names = (await app.call('GET', '/Users')).body.Resources.map((user: Json) => user.userName);
    expect(names).toEqual(['cid', 'bob', 'ann', 'dan']);
    expect(await membersOf(app, 1)).toEqual(['bob']);
    expect(await managerOf(app, 'ann')).toBe('bob');
  });

  test('does in their order what could notice each other without bulkIds', async () => {
    await using app = await openTestApp({ dialect });
    const department = (name: string) => ({ [enterpriseUrn]: { department: name } });
    const answer = await bulk(app, [
      newUser('boss', { emails: [{ value: 'boss@x.org', primary: true }] }),
      newUser('ann', managedBy('BOSS')),
      newUser('bob', managedBy('boss@x.org')),
      newUser('cid', department('HR')),
      newUser('dan', department('hr')),
      newUser('eve', { externalId: 'e-1' }),
      newUser('eve2', { externalId: 'e-1', title: 'Boss' }),
      newUser('fay', { password: 'long enough 1' }),
      newUser('gus', { password: 'long enough 2' }),
      newUser('hal', { password: 'long enough 3' }),
    ]);
    expect(statuses(answer)).toEqual([...Array(6).fill('201'), '200', ...Array(3).fill('201')]);
    expect([await managerOf(app, 'ann'), await managerOf(app, 'bob')]).toEqual(['boss', 'boss']);
    expect((await app.find('/Users', 'userName eq "eve2"')).body.Resources[0].title).toBe('Boss');
    const { body } = await app.call('GET', '/Groups');
    expect(body.Resources.map((group: Json) => group.displayName)).toEqual(['HR']);
  });

  test('takes a bulkId wherever a resource can be referred to', async () => {
    await using app = await openTestApp({ dialect });
    await app.createUser({ userName: 'ann' });
    await app.createGroup({ displayName: 'Sales' });
    const answer = await bulk(app, [
      newUser('boss'),
      newUser('a', { [enterpriseUrn]: { manager: 'bulkId:boss' } }),
      newUser('b', { manager: 'bulkId:boss' }),
      patch('/Users/1', [{ op: 'add', path: `${enterpriseUrn}:manager`, value: 'bulkId:a' }]),
      patch('/Users/1', [{ op: 'replace', path: `${enterpriseUrn}:manager.value`, value: 'bulkId:b' }]),
      patch('/Users/bulkId:a', [{ op: 'replace', value: { [`${enterpriseUrn}:manager`]: 'bulkId:b' } }]),
      patch('/Users/bulkId%3Ab', [{ op: 'replace', value: { [enterpriseUrn]: { manager: 'bulkId:a' } } }]),
      patch('/Groups/1', [
        { op: 'add', path: 'members', value: [{ value: 'bulkId:a' }, { value: 'bulkId:b' }] },
        { op: 'add', value: { members: [{ value: 'bulkId:boss', display: 'bulkId:nobody' }] } },
        { op: 'remove', path: 'members', value: ['bulkId:a'] },
      ]),
      { method: 'PUT', path: 'Users/bulkId:boss', data: { userName: 'chief', ...managedBy('BULKID:a') } },
    ]);
    expect(statuses(answer)).toEqual(['201', '201', '201', '200', '200', '200', '200', '200', '200']);
    expect(await managerOf(app, 'ann')).toBe('b');
    expect(await managerOf(app, 'a')).toBe('b');
    expect(await managerOf(app, 'b')).toBe('a');
    expect(await managerOf(app, 'chief')).toBe('a');
    expect(await membersOf(app, 1)).toEqual(['chief', 'b']);
  });

  test('deactivates and deletes many, and tells what is there twice from what is not', async () => {
    await using app = await openTestApp({ dialect });
    const people = Array.from({ length: 12 }, (_, index) => String(index + 1));
    for (const id of people)
      await app.createUser({ userName: `u${id}`, ...(id === '1' ? {} : managedBy('1')) });
    await app.createGroup({ displayName: 'Sales', members: people.map((value) => ({ value })) });
    const leave = [{ op: 'Replace', path: 'active', value: 'False' }];
    const deactivated = await bulk(app, [
      ...people.map((id) => patch(`/Users/${id}`, leave)),
      patch('/Users/99', leave),
      patch('/Users/1', [{ op: 'replace', value: { active: true } }]),
      patch('/Users/1', [{ op: 'remove', path: 'active' }, ...leave]),
    ]);
    expect(statuses(deactivated)).toEqual([...people.map(() => '200'), '404', '200', '200']);
    expect((await app.find('/Users', 'active eq false')).body.totalResults).toBe(12);
    const deleted = await bulk(app, [
      ...people.slice(0, 6).map((id) => ({ method: 'DELETE', path: `/Users/${id}` })),
      { method: 'DELETE', path: '/Users/1' },
      { method: 'DELETE', path: '/Users/7', version: 'W/"99"' },
    ]);
    expect(statuses(deleted)).toEqual([...Array(6).fill('204'), '404', '412']);
    expect((await membersOf(app, 1)).toSorted()).toEqual(['u10', 'u11', 'u12', 'u7', 'u8', 'u9']);
    expect(await managerOf(app, 'u8')).toBeUndefined();
  });

  test('creates users who are each other\u2019s manager, whichever comes first', async () => {
    await using app = await openTestApp({ dialect });
    const answer = await bulk(app, [
      newUser('ann', managedBy('bulkId:bob')),
      newUser('dan', managedBy('bulkId:ann')),
      newUser('bob', managedBy('bulkId:cid')),
      newUser('cid', managedBy('bulkId:ann')),
      newUser('self', managedBy('bulkId:self')),
    ]);
    expect(statuses(answer)).toEqual(['201', '201', '201', '201', '201']);
    const managers = await Promise.all(
      ['ann', 'dan', 'bob', 'cid', 'self'].map((userName) => managerOf(app, userName)),
    );
    expect(managers).toEqual(['bob', 'ann', 'cid', 'ann', 'self']);
    for (const { location, version } of answer.body.Operations) {
      const { body } = await app.call('GET', location.slice(app.baseUrl.length));
      expect(body.meta.version).toBe(version);
    }
  });

  test('creates nobody of a circle when one of it is refused', async () => {
    await using app = await openTestApp({ dialect, settings: { onMatch: 'reject' } });
    await app.createUser({ userName: 'bob' });
    const answer = await bulk(app, [
      newUser('ann', managedBy('bulkId:bob')),
      newUser('bob', managedBy('bulkId:ann')),
      newUser('cid', managedBy('bulkId:dan')),
      newUser('dan', { active: 'perhaps', ...managedBy('bulkId:cid') }),
      newUser('eve', managedBy('bulkId:ann')),
      newUser('fay'),
    ]);
    expect(statuses(answer)).toEqual(['409', '409', '409', '400', '409', '201']);
    expect(details(answer)[0]).toContain('The operations 1, 2 refer to each other');
    expect(details(answer)[2]).toContain('because operation 4 failed');
    expect(details(answer)[4]).toContain('because operation 1 failed');
    expect(await app.history()).toEqual(['User 1 create', 'User 2 create']);
  });

  test('merges a circle into users who are there, and leaves them alone when the source says so', async () => {
    await using app = await openTestApp({ dialect });
    await app.createUser({ userName: 'ann', title: 'Boss' });
    const circle = [
      newUser('ann', { nickName: 'A', ...managedBy('bulkId:bob') }),
      newUser('bob', managedBy('bulkId:ann')),
    ];
    expect(statuses(await bulk(app, circle))).toEqual(['200', '201']);
    const { body } = await app.call('GET', '/Users/1');
    expect(body).toMatchObject({
      title: 'Boss',
      nickName: 'A',
      [enterpriseUrn]: { manager: { value: '2' } },
    });
    const token = await app.addSource('Other', { onMatch: 'return' });
    const turned = [
      newUser('ann', managedBy('bulkId:ann')),
      newUser('bob', { title: 'x', ...managedBy('bulkId:bob') }),
    ];
    expect(statuses(await bulk(app, turned, { token }))).toEqual(['200', '200']);
    expect([await managerOf(app, 'ann'), await managerOf(app, 'bob')]).toEqual(['bob', 'ann']);
  });

  test('answers a matched create with 200, and refers to the one who was there', async () => {
    await using app = await openTestApp({ dialect });
    await app.createUser({ userName: 'ann' });
    const answer = await bulk(app, [newGroup('g', ['bulkId:x']), newUser('x', { userName: 'ANN' })]);
    expect(answer.body.Operations.map(({ status, location }: Json) => [status, location])).toEqual([
      ['201', `${app.baseUrl}/Groups/1`],
      ['200', `${app.baseUrl}/Users/1`],
    ]);
    expect(await membersOf(app, 1)).toEqual(['ANN']);
  });

  test('keeps a source with its own scope among its own', async () => {
    await using app = await openTestApp({ dialect });
    const token = await app.addSource('Own', { scope: 'own' });
    await app.createUser({ userName: 'ann' });
    await app.createGroup({ displayName: 'Sales' });
    const answer = await bulk(
      app,
      [
        newGroup('g', ['bulkId:bob', '1']),
        newUser('bob'),
        patch('/Groups/1', [{ op: 'add', path: 'members', value: [{ value: 'bulkId:bob' }] }]),
        { method: 'DELETE', path: '/Users/1' },
        newUser('ann'),
      ],
      { token },
    );
    expect(statuses(answer)).toEqual(['400', '201', '404', '404', '409']);
  });

  test('keeps references as pending that name people by other than bulkIds', async () => {
    await using app = await openTestApp({ dialect, settings: { unknownMembers: 'pending' } });
    const answer = await bulk(app, [
      newGroup('g', ['ann', 'bulkId:bob']),
      newUser('bob', managedBy('ann')),
      newUser('ann'),
      newUser('cid', managedBy('bulkId:nobody')),
    ]);
    expect(statuses(answer)).toEqual(['201', '201', '201', '409']);
    expect(await membersOf(app, 1)).toEqual(['bob', 'ann']);
    expect(await managerOf(app, 'bob')).toBe('ann');
    expect(await app.database.read.selectFrom('pending_reference').selectAll().execute()).toEqual([]);
  });
});
