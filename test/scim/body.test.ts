import { describe, expect, test } from 'bun:test';
import { sendRaw } from '../http/raw-request.ts';
import { openTestApp, userUrn } from '../support/app.ts';

const base = '/api/v2/scim/v2';
const ann = JSON.stringify({ schemas: [userUrn], userName: 'ann' });

describe('the body of a SCIM request', () => {
  test.each([
    'application/scim+json',
    'application/json',
    'application/scim+json; charset=utf-8',
    'application/json;charset=UTF-8',
    'Application/SCIM+JSON; Charset="utf-8"; x=y',
  ])('may be %s', async (type) => {
    await using app = await openTestApp();
    expect((await app.call('POST', '/Users', ann, { headers: { 'content-type': type } })).status).toBe(201);
  });

  test.each([
    'text/plain',
    'application/xml',
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencoded',
    'application/scim+json; charset=iso-8859-1',
    'application/jsonx',
  ])('is refused with 415 as %s', async (type) => {
    await using app = await openTestApp();
    for (const [method, path] of [
      ['POST', '/Users'],
      ['PUT', '/Users/1'],
      ['PATCH', '/Groups/1'],
    ] as const) {
      const answer = await app.call(method, path, ann, { headers: { 'content-type': type } });
      expect(answer).toMatchObject({ status: 415, body: { status: '415' } });
    }
  });

  test('is refused with 413 when it is announced as too long, before it is sent', async () => {
    await using app = await openTestApp();
    const head = `POST ${base}/Users HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${app.token}\r\n`;
    const type = 'Content-Type: application/json\r\n';
    const { status } = await sendRaw(app.port, `${head}${type}Content-Length: 3000000\r\n\r\n{`);
    expect(status).toBe(413);
  });

  test('is refused with 413 when its chunks turn out too long', async () => {
    await using app = await openTestApp();
    const chunk = new Uint8Array(64 * 1024).fill(32);
    let sent = 0;
    const stream = new ReadableStream({
      pull(controller) {
        sent += chunk.length;
        if (sent > 8 * 1024 * 1024) controller.close();
        else controller.enqueue(chunk);
      },
    });
    const response = await fetch(`${app.baseUrl}/Users`, {
      method: 'POST',
      headers: { authorization: `Bearer ${app.token}`, 'content-type': 'application/json' },
      body: stream,
    });
    expect(response.status).toBe(413);
    expect((await response.json()).status).toBe('413');
  });

  test('may be as long as the setting says', async () => {
    await using app = await openTestApp();
    await app.configurations.setSetting('scimBodyBytesMax', '2048');
    const padded = (length: number) => ann + ' '.repeat(length - ann.length);
    expect((await app.call('POST', '/Users', padded(2_048))).status).toBe(201);
    expect((await app.call('POST', '/Users', padded(2_049))).status).toBe(413);
  });

  test.each([
    '',
    '   ',
    '{',
    '{"userName":"a",}',
    '[]',
    'null',
    '"text"',
    '{"userName":"a","userName":"b"}',
    '{"userName":"a"}{"userName":"b"}',
    `${'['.repeat(200)}${']'.repeat(200)}`,
    '{"userName":"\u0000"}',
  ])('is refused with 400 when it is %j', async (text) => {
    await using app = await openTestApp();
    const answer = await app.call('POST', '/Users', text);
    expect(answer).toMatchObject({ status: 400, body: { status: '400' } });
    expect(['invalidSyntax', 'invalidValue']).toContain(answer.body.scimType);
  });

  test('is refused with 400 when it is not UTF-8', async () => {
    await using app = await openTestApp();
    const response = await fetch(`${app.baseUrl}/Users`, {
      method: 'POST',
      headers: { authorization: `Bearer ${app.token}`, 'content-type': 'application/json' },
      body: Buffer.from('{"userName":"caf\xe9"}', 'latin1'),
    });
    expect(response.status).toBe(400);
    expect((await response.json()).scimType).toBe('invalidSyntax');
  });

  test('is left alone with a DELETE, with or without a media type', async () => {
    await using app = await openTestApp();
    await app.createUser({ userName: 'ann' });
    const headers = { 'content-type': 'text/plain' };
    expect((await app.call('DELETE', '/Users/1', 'whatever', { headers })).status).toBe(204);
  });
});

describe('the answer to a SCIM request', () => {
  test.each([
    ['*/*', 'application/scim+json'],
    ['application/scim+json', 'application/scim+json'],
    ['application/json', 'application/json'],
    ['application/json, application/scim+json', 'application/scim+json'],
    ['application/json; q=0.9', 'application/json'],
    ['application/json;q=0', 'application/scim+json'],
    ['application/json, application/scim+json;q=0.0', 'application/json'],
    ['text/html', 'application/scim+json'],
  ])('to a client that accepts %s is %s, errors too', async (accept, type) => {
    await using app = await openTestApp();
    for (const path of ['/Users', '/Users/999', '/Nope']) {
      const { headers } = await app.call('GET', path, undefined, { headers: { accept } });
      expect(headers.get('content-type')).toBe(type);
    }
  });
});

describe('the request log', () => {
  test('has the body when the source says so, with passwords masked wherever they stand', async () => {
    await using app = await openTestApp({ settings: { logBodies: 'true' } });
    await app.createUser({ userName: 'ann', password: 'Canary-1' });
    await app.call('POST', '/Users', {
      USERNAME: 'bob',
      PassWord: 'Canary-2',
      'urn:x:User': { password: 'Canary-3' },
    });
    await app.patch('/Users/1', [{ op: 'replace', path: 'password', value: 'Canary-4' }]);
    await app.patch('/Users/1', [{ op: 'replace', PATH: `${userUrn}:password`, value: { a: ['Canary-5'] } }]);
    await app.patch('/Users/1', [
      { op: 'replace', value: { [`${userUrn}:password`]: 'Canary-6', title: 'Boss' } },
    ]);
    await app.call('POST', '/Users', '{"userName":"cid","password":"Canary-7",');
    const log = app.logged.join('') + JSON.stringify(app.requests());
    expect(log).not.toContain('Canary');
    expect(log).not.toContain(app.token);
    expect(log).toContain('ann');
    expect(log).toContain('********');
  });

  test('has no body unless the source says so, and names repairs and what was ignored', async () => {
    await using app = await openTestApp();
    await app.createUser({ userName: 'ann', displayName: 'Hidden Name', active: 'True', shoeSize: 9 });
    const log = app.logged.join('') + JSON.stringify(app.requests());
    expect(log).not.toContain('Hidden Name');
    expect(log).toContain('boolean-from-string');
    expect(log).toContain('shoeSize');
  });
});
