import { describe, expect, test } from 'bun:test';
import { openTestApp } from '../support/app.ts';
import { sendRaw } from './raw-request.ts';

const base = '/api/v2/scim/v2';

/** Ways of writing a path by which one reader sees the SCIM surface and another does not. */
const paths = [
  `${base}/Users`,
  `${base}/Users/`,
  `${base}/Users/1`,
  `${base}//Users`,
  `//api/v2/scim/v2/Users`,
  `/${base}/Users`,
  `/api//v2/scim/v2/Users`,
  `${base}/./Users`,
  `${base}/x/../Users`,
  `/healthz/..${base}/Users`,
  `/healthz/../..${base}/Users`,
  `/healthz/%2e%2e${base}/Users`,
  `/healthz/%2E%2E${base}/Users`,
  `/healthz/.%2e${base}/Users`,
  `/healthz%2f..${base}/Users`,
  `/healthz%2F%2E%2E${base}/Users`,
  `${base}/%55sers`,
  `${base}/%2555sers`,
  `${base}%2fUsers`,
  `${base}%2FUsers`,
  `/api%2fv2%2fscim%2fv2%2fUsers`,
  `/%61pi/v2/scim/v2/Users`,
  `/api/v2/%73cim/v2/Users`,
  `/api/v2/%73%63%69%6d/v2/Users`,
  `${base}\\Users`,
  `/api\\v2\\scim\\v2\\Users`,
  `${base}/Users%5c`,
  `${base}/Users;x=1`,
  `${base};x/Users`,
  `${base}/Users%3bx`,
  `${base}/Users%00`,
  `${base}/Users%00.json`,
  `${base}/Users\x00`,
  `${base}/Users%20`,
  `${base}/Users%09`,
  `${base}/Users%0d%0aX-Y:%20z`,
  `${base}/Users%7f`,
  `${base}/Users%c0%af`,
  `${base}/Users%e2%80%ae`,
  `${base}/Us\xe9rs`,
  `${base}/Users.json`,
  `${base}/Users?`,
  `${base}/Users?&`,
  `${base}/Users?token=x`,
  `${base}/Users#fragment`,
  `${base}/Users%23`,
  `${base}/Users%3f`,
  `${base}/USERS`,
  `/API/V2/SCIM/V2/Users`,
  `/api/v2/scim/v2users`,
  `/api/v2/scim`,
  `/api/v2/scim/Users`,
  `/api/v2/scim/../scim/Users`,
  `/api/v2/scim/%2e%2e/Users`,
  `/api/v2/scim%2fUsers`,
  `/api/v2/scimUsers`,
  `${base}`,
  `${base}/`,
  `${base}/Schemas`,
  `${base}/ServiceProviderConfig`,
  `${base}/ResourceTypes`,
  `${base}/Groups/1`,
  `${base}/Me`,
  `${base}/Bulk`,
  `${base}/.search`,
  `${base}/Users/.search`,
  `${base}/*`,
  `*`,
  `http://127.0.0.1${base}/Users`,
  `http://evil.example${base}/Users`,
  `http://127.0.0.1/healthz/..${base}/Users`,
  `https://127.0.0.1:443${base}/Users`,
  `http://user:pass@127.0.0.1${base}/Users`,
  `http:${base}/Users`,
  `@127.0.0.1${base}/Users`,
  `?x=${base}/Users`,
  `/%`,
  `/%zz`,
  `/${'a/'.repeat(3_000)}`,
  `${base}/Users/${'9'.repeat(3_000)}`,
];

/** `Host: x` with a path in it made one framework route to where another check did not look. */
const hosts = (port: number) => [
  `Host: 127.0.0.1:${port}\r\n`,
  'Host: localhost\r\n',
  'Host: id.example.com\r\n',
  'Host: ID.EXAMPLE.COM:8443\r\n',
  'Host: evil.example\r\n',
  'Host: x\r\n',
  'Host: \r\n',
  '',
  `Host: 127.0.0.1${base}/Users\r\n`,
  `Host: 127.0.0.1:${port}/..${base}\r\n`,
  'Host: 127.0.0.1@evil.example\r\n',
  'Host: 127.0.0.1:80:80\r\n',
  'Host: 127.0.0.1, evil.example\r\n',
  'Host: localhost:abc/evil\r\n',
  'Host: [::1]:80\r\n',
  'Host: [::1]evil.example\r\n',
  'Host: evil.example\r\nX-Forwarded-Host: localhost\r\n',
  'Host: localhost\r\nX-Original-URL: /healthz\r\nX-Rewrite-URL: /healthz\r\n',
  'Host: localhost\r\nX-HTTP-Method-Override: GET\r\n',
];

const methods = [
  'GET',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'HEAD',
  'OPTIONS',
  'TRACE',
  'CONNECT',
  'PROPFIND',
  'get',
];

/** What anybody may have without a token. */
const open = /^(?:GET|HEAD) (?:\S*\/healthz|\S*\/readyz|\S*\/metrics|\S*\/schemas\/profile-sync\.xsd) /;

describe('the gate', () => {
  test('lets nobody in without a token, however path, host and method are written', async () => {
    await using app = await openTestApp();
    await app.createUser({ userName: 'ann', displayName: 'Canary Person' });
    const table = methods.flatMap((method) =>
      paths.map((path, index) => {
        const list = hosts(app.port);
        return `${method} ${path} HTTP/1.1\r\n${list[index % list.length]}`;
      }),
    );
    for (const host of hosts(app.port)) table.push(`GET ${base}/Users HTTP/1.1\r\n${host}`);
    for (const host of hosts(app.port)) table.push(`GET ${base}/Users HTTP/1.0\r\n${host}`);
    for (let start = 0; start < table.length; start += 32) {
      const some = table.slice(start, start + 32);
      const answers = await Promise.all(
        some.map((head) => sendRaw(app.port, `${head}Connection: close\r\n\r\n`)),
      );
      for (const [index, { status, text }] of answers.entries()) {
        const got = { request: some[index], status, text: text.slice(0, 200) };
        if (status >= 200 && status < 300)
          expect(got).toMatchObject({ request: expect.stringMatching(open) });
        // 501 and 505 are the listener's own words for a request line that is none.
        if (status === 500) expect(got).toMatchObject({ status: 'anything but 500' });
        expect(text).not.toContain('Canary');
      }
    }
    expect(table.length).toBeGreaterThan(800);
  }, 120_000);

  test('answers the same to a token that is missing, malformed, unknown or of another kind', async () => {
    await using app = await openTestApp();
    const upload = await app.sources.create('general', 'Files');
    const almost = `${app.token.slice(0, -8)}${app.token.at(-8) === 'A' ? 'B' : 'A'}${app.token.slice(-7)}`;
    const tokens = [
      '',
      'x',
      `${app.token} `.trim().slice(1),
      almost,
      upload.token,
      'rollcall_scim_',
      `${app.token},${app.token}`,
    ];
    const bodies = new Set<string>();
    for (const token of tokens) {
      const answer = await app.call('GET', '/Users', undefined, { token });
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toStartWith('Bearer');
      bodies.add(answer.text);
    }
    expect(bodies.size).toBe(1);
    for (const authorization of [
      'Basic eDp5',
      `bearer${app.token}`,
      `Token ${app.token}`,
      'Bearer',
      'Bearer  ',
    ]) {
      const headers = { authorization };
      expect((await app.call('GET', '/Users', undefined, { token: '', headers })).status).toBe(401);
    }
    const lower = { authorization: `bearer ${app.token}` };
    expect((await app.call('GET', '/Users', undefined, { token: '', headers: lower })).status).toBe(200);
  });

  test('takes a token from the header alone', async () => {
    await using app = await openTestApp();
    const path = `/Users?access_token=${app.token}`;
    const headers = { 'x-api-key': app.token, cookie: `token=${app.token}` };
    expect((await app.call('GET', path, undefined, { token: '', headers })).status).toBe(401);
  });

  test('answers 401 before it reads the body', async () => {
    await using app = await openTestApp();
    const head = `POST ${base}/Users HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/scim+json\r\n`;
    const { status } = await sendRaw(app.port, `${head}Content-Length: 1000000\r\n\r\n{"userName":`);
    expect(status).toBe(401);
  });
});
