import { describe, expect, test } from 'bun:test';
import { enterpriseUrn, type Json, openTestApp, userUrn } from '../support/app.ts';
import { bulk, details, managedBy, newGroup, newUser, patch, requestUrn, statuses } from './bulk-support.ts';

describe('a Bulk as a whole is refused', () => {
  test.each([
    ['an array', [], 400, 'invalidSyntax'],
    ['without operations', { schemas: [requestUrn] }, 400, 'invalidSyntax'],
    ['with operations that are no list', { schemas: [requestUrn], Operations: {} }, 400, 'invalidSyntax'],
    ['with no operation', { schemas: [requestUrn], Operations: [] }, 400, 'invalidSyntax'],
    ['as another message', { schemas: [userUrn], Operations: [newUser('a')] }, 400, 'invalidSyntax'],
    [
      'with operations twice',
      { schemas: [requestUrn], Operations: [newUser('a')], operations: [] },
      400,
      'invalidSyntax',
    ],
    [
      'with failOnErrors 0',
      { schemas: [requestUrn], failOnErrors: 0, Operations: [newUser('a')] },
      400,
      'invalidValue',
    ],
    [
      'with failOnErrors as a text',
      { schemas: [requestUrn], failOnErrors: '1', Operations: [newUser('a')] },
      400,
      'invalidValue',
    ],
    [
      'with a key twice',
      `{"schemas":["${requestUrn}"],"Operations":[],"Operations":[]}`,
      400,
      'invalidSyntax',
    ],
    [
      'with a key that every object has',
      `{"schemas":["${requestUrn}"],"Operations":[{"method":"POST","__proto__":{"path":"/Users"}}]}`,
      400,
      'invalidSyntax',
    ],
    [
      'when it is nested too deep',
      `{"schemas":["${requestUrn}"],"Operations":${'['.repeat(40)}${']'.repeat(40)}}`,
      400,
      'invalidSyntax',
    ],
    ['when it is not JSON', '{', 400, 'invalidSyntax'],
  ])('%s', async (_, body, status, scimType) => {
    await using app = await openTestApp();
    const answer = await app.call('POST', '/Bulk', body);
    expect(answer).toMatchObject({ status, body: { status: String(status), scimType } });
    expect(await app.history()).toEqual([]);
  });

  test('without schemas by a strict source, and understood by any other', async () => {
    await using app = await openTestApp();
    const token = await app.addSource('Strict', { dialect: 'strict' });
    const body = { Operations: [newUser('ann')] };
    expect((await app.call('POST', '/Bulk', body, { token })).status).toBe(400);
    expect((await app.call('POST', '/Bulk', body)).status).toBe(200);
    expect(app.logged.join('')).toContain('schemas-added');
  });

  test('with 413 when it has more operations than are announced', async () => {
    await using app = await openTestApp();
    const answer = await bulk(app, Array(1_001).fill({ method: 'DELETE', path: '/Users/1' }));
    expect(answer).toMatchObject({ status: 413, body: { status: '413' } });
    expect(answer.body.detail).toContain('1001 operations, more than maxOperations (1000)');
  });

  test('with 413 when it is longer than is announced', async () => {
    await using app = await openTestApp();
    const { maxPayloadSize } = (await app.call('GET', '/ServiceProviderConfig')).body.bulk;
    expect(maxPayloadSize).toBe(1_048_576);
    const text = JSON.stringify({ schemas: [requestUrn], Operations: [newUser('ann')] });
    const exact = text + ' '.repeat(maxPayloadSize - text.length);
    expect((await app.call('POST', '/Bulk', exact)).status).toBe(200);
    const answer = await app.call('POST', '/Bulk', `${exact} `);
    expect(answer.status).toBe(413);
    expect(answer.body.detail).toContain('1048576 bytes');
    await app.configurations.setSetting('scimBodyBytesMax', '2048');
    expect((await app.call('GET', '/ServiceProviderConfig')).body.bulk.maxPayloadSize).toBe(2_048);
    expect((await app.call('POST', '/Bulk', exact)).status).toBe(413);
  });

  test('with other methods, media types and without a token', async () => {
    await using app = await openTestApp();
    const get = await app.call('GET', '/Bulk');
    expect(get).toMatchObject({ status: 405, body: { status: '405' } });
    expect(get.headers.get('allow')).toBe('POST');
    const headers = { 'content-type': 'text/plain' };
    expect((await app.call('POST', '/Bulk', '{}', { headers })).status).toBe(415);
    expect((await app.call('POST', '/Bulk', {}, { token: '' })).status).toBe(401);
    expect((await app.call('POST', '/Bulk/1', {})).status).toBe(404);
  });
});

describe('an operation of a Bulk is refused', () => {
  const user = { schemas: [userUrn], userName: 'ann' };
  test.each([
    ['that is no object', 'POST /Users', '400', 'must be an object'],
    ['with a member twice', { method: 'POST', METHOD: 'PUT' }, '400', 'given twice'],
    ['without a method', { path: '/Users/1' }, '400', '"method"'],
    ['that reads', { method: 'GET', path: '/Users/1' }, '400', 'POST, PUT, PATCH or DELETE'],
    ['with a method of another type', { method: ['POST'], path: '/Users' }, '400', '"method"'],
    ['without a path', { method: 'DELETE' }, '400', '"path"'],
    ['with a path of another type', { method: 'DELETE', path: 7 }, '400', '"path"'],
    ['without a bulkId for what is new', { method: 'POST', path: '/Users', data: user }, '400', '"bulkId"'],
    [
      'with a bulkId of another type',
      { method: 'POST', path: '/Users', bulkId: {}, data: user },
      '400',
      '"bulkId"',
    ],
    ['without data', { method: 'POST', path: '/Users', bulkId: 'a' }, '400', '"data"'],
    [
      'with data of another type',
      { method: 'POST', path: '/Users', bulkId: 'a', data: 7 },
      '400',
      'JSON object',
    ],
    [
      'with a version of another type',
      { method: 'DELETE', path: '/Users/1', version: 1 },
      '400',
      '"version" of a Bulk operation must be a text',
    ],
    ['that is a Bulk', { method: 'POST', path: '/Bulk', bulkId: 'a', data: {} }, '400', 'inside a Bulk'],
    ['for /Me', { method: 'PATCH', path: '/Me', data: {} }, '501', '/Me'],
    ['for another path', { method: 'DELETE', path: '/Schemas/1' }, '404', '/Users, /Groups'],
    ['for no path', { method: 'DELETE', path: '/' }, '404', '/Users, /Groups'],
    ['for a path that goes on', { method: 'DELETE', path: '/Users/1/2' }, '404', '/Users, /Groups'],
    ['for a path that goes up', { method: 'DELETE', path: '/Users/../Groups' }, '404', '/Users, /Groups'],
    ['for an escape that is none', { method: 'DELETE', path: '/Users/%' }, '404', 'no resource'],
    ['for a name of every object', { method: 'DELETE', path: '/constructor/1' }, '404', '/Users, /Groups'],
    [
      'that creates at a resource',
      { method: 'POST', path: '/Users/1', bulkId: 'a', data: user },
      '405',
      'PUT, PATCH, DELETE',
    ],
    ['that changes an endpoint', { method: 'PUT', path: '/Users', data: user }, '405', 'POST'],
    ['that deletes all', { method: 'DELETE', path: '/Users' }, '405', 'POST'],
    ['for an id that is none', { method: 'DELETE', path: '/Users/abc' }, '404', 'no resource'],
    ['that is no PATCH', { method: 'PATCH', path: '/Users/1', data: user }, '400', 'PatchOp'],
    [
      'for a bulkId that nobody has',
      { method: 'DELETE', path: '/Users/bulkId:nobody' },
      '409',
      'No operation of this Bulk creates a resource with the bulkId "nobody"',
    ],
    ['for a bulkId without name', { method: 'DELETE', path: '/Users/bulkId:' }, '404', 'no resource'],
  ])('%s', async (_, operation, status, detail) => {
    await using app = await openTestApp();
    const answer = await bulk(app, [operation, newUser('last')]);
    expect(answer.status).toBe(200);
    expect(statuses(answer)).toEqual([status, '201']);
    expect(details(answer)[0]).toContain(detail);
    expect(await app.history()).toEqual(['User 1 create']);
  });

  test('as the single request for a path with a base is not', async () => {
    await using app = await openTestApp();
    const { pathname } = new URL(app.baseUrl);
    const answer = await bulk(app, [
      { method: 'post', path: `${pathname}/Users`, bulkId: 1, data: user },
      { method: 'Post', path: `${app.baseUrl}/Groups/`, bulkId: 'g', data: { displayName: 'g' } },
      {
        method: 'POST',
        path: `${pathname.slice(1)}/Groups`,
        bulkId: 'h',
        data: { displayName: 'h', members: ['bulkId:1'] },
      },
      { method: 'POST', path: `${pathname}x/Groups`, bulkId: 'i', data: { displayName: 'i' } },
    ]);
    expect(statuses(answer)).toEqual(['201', '201', '201', '404']);
    expect(answer.body.Operations[0]).toMatchObject({ method: 'POST', bulkId: '1' });
  });

  test('by a strict source when anything would have to be mended', async () => {
    await using app = await openTestApp({ settings: { dialect: 'strict' } });
    await app.createUser({ userName: 'bob' });
    const changes = [{ op: 'add', path: 'title', value: 'x' }];
    const operations = [
      { ...newUser('ann'), method: 'post' },
      { ...newUser('ann'), bulkId: 1 },
      { method: 'PATCH', path: '/Users/1', data: { Operations: changes } },
      { method: 'PATCH', path: '/Users/1', data: changes },
      newUser('cid', { [enterpriseUrn]: { manager: 'bulkId:dan' } }),
      newUser('dan'),
    ];
    expect(statuses(await bulk(app, operations))).toEqual(['400', '400', '400', '400', '400', '201']);
    const token = await app.addSource('Compat');
    expect(statuses(await bulk(app, operations, { token }))).toEqual([
      '201',
      '200',
      '200',
      '200',
      '201',
      '200',
    ]);
  });

  test('when its bulkId is given to another new resource too, with all that refers to it', async () => {
    await using app = await openTestApp();
    const answer = await bulk(app, [
      newUser('x', { userName: 'ann' }),
      newUser('x', { userName: 'bob' }),
      newGroup('g', ['bulkId:x']),
      patch('/Users/bulkId:x', [{ op: 'add', path: 'title', value: 'Boss' }]),
      newUser('y', managedBy('bulkId:x')),
    ]);
    expect(statuses(answer)).toEqual(['400', '400', '409', '409', '409']);
    expect(await app.history()).toEqual([]);
  });

  test('when it refers to what failed, and whatever refers to that', async () => {
    await using app = await openTestApp();
    const answer = await bulk(app, [
      newGroup('g', ['bulkId:ann']),
      newUser('ann', managedBy('bulkId:bob')),
      newUser('bob', { active: 7 }),
      patch('/Users/bulkId:bob', [{ op: 'add', path: 'title', value: 'Boss' }]),
      { method: 'DELETE', path: '/Groups/bulkId:g' },
    ]);
    expect(statuses(answer)).toEqual(['409', '409', '400', '409', '409']);
    expect(details(answer)).toEqual([
      expect.stringContaining('operation 2 failed'),
      expect.stringContaining('operation 3 failed'),
      expect.stringContaining('active'),
      expect.stringContaining('operation 3 failed'),
      expect.stringContaining('operation 1 failed'),
    ]);
    expect(await app.history()).toEqual([]);
  });

  test('when its bulkId is that of a resource of another type', async () => {
    await using app = await openTestApp();
    const answer = await bulk(app, [
      newGroup('a', ['bulkId:b']),
      newGroup('b', ['bulkId:a']),
      newGroup('c'),
      newUser('ann', managedBy('bulkId:c')),
      { method: 'DELETE', path: '/Users/bulkId:c' },
    ]);
    expect(statuses(answer)).toEqual(['400', '400', '201', '400', '400']);
    expect(details(answer)[0]).toContain('is that of a Group, but a User is needed');
  });

  test('when more users refer to each other than one transaction takes', async () => {
    await using app = await openTestApp();
    const circle = (length: number) =>
      Array.from({ length }, (_, index) =>
        newUser(`u${index}`, managedBy(`bulkId:u${(index + 1) % length}`)),
      );
    expect(new Set(statuses(await bulk(app, circle(101))))).toEqual(new Set(['409']));
    expect(await app.history()).toEqual([]);
    expect(new Set(statuses(await bulk(app, circle(100))))).toEqual(new Set(['201']));
  });

  test('alone: a text that only looks like a reference stays one', async () => {
    await using app = await openTestApp();
    const answer = await bulk(app, [
      newUser('ann', { nickName: 'bulkId:bob', displayName: 'bulkId:' }),
      newUser('bob'),
    ]);
    expect(statuses(answer)).toEqual(['201', '201']);
    expect((await app.call('GET', '/Users/1')).body).toMatchObject({
      nickName: 'bulkId:bob',
      displayName: 'bulkId:',
    });
  });
});

describe('failOnErrors', () => {
  const operations = [
    newUser('ann'),
    newUser('bad', { active: 7 }),
    { method: 'DELETE', path: '/Users/99' },
    newUser('bob'),
  ];

  test.each([
    [undefined, ['201', '400', '404', '201']],
    [1, ['201', '400']],
    [2, ['201', '400', '404']],
    [3, ['201', '400', '404', '201']],
  ])('%p ends the request after that many', async (failOnErrors, expected) => {
    await using app = await openTestApp();
    const answer = await bulk(app, operations, failOnErrors === undefined ? {} : { failOnErrors });
    expect(answer.status).toBe(200);
    expect(statuses(answer)).toEqual(expected);
  });

  test('answers what was done beside a text that has no form in an address', async () => {
    await using app = await openTestApp();
    const half = '\ud800';
    const answer = await bulk(app, [
      newUser('ann'),
      { method: 'DELETE', path: `/Users/${half}x` },
      { method: half, path: '/Users/1' },
      { method: 'DELETE', path: `/Users/bulkId:${half}y` },
      newUser(half, { userName: 'bob' }),
    ]);
    expect(answer.status).toBe(200);
    expect(statuses(answer)).toEqual(['201', '404', '400', '409', '201']);
    expect(app.requests().at(-1)?.bulk).toMatchObject({ succeeded: 2, failed: 3 });
  });

  test('answers what was done, though it stands behind what was not', async () => {
    await using app = await openTestApp();
    const waiting = [newGroup('g', ['bulkId:ann']), newUser('bad', { active: 7 }), newUser('ann')];
    const answer = await bulk(app, waiting, { failOnErrors: 1 });
    expect(answer.body.Operations.map((operation: Json) => operation.bulkId)).toEqual(['bad']);
    expect(await app.history()).toEqual([]);
  });
});
