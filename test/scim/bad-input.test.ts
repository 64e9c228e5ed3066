import { describe, expect, test } from 'bun:test';
import { sendRaw } from '../http/raw-request.ts';
import { enterpriseUrn, groupUrn, openTestApp, platformUrn, type TestApp, userUrn } from '../support/app.ts';

const patchOpUrn = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
const base = '/api/v2/scim/v2';

interface Refusal {
  readonly status: number;
  readonly scimType?: string;
  readonly detail: RegExp;
}

interface Bad {
  readonly is: string;
  /** Default: POST /Users. */
  readonly to?: string;
  readonly body: string | Uint8Array | object;
  readonly refusal: Refusal;
}

const syntax = (detail: RegExp): Refusal => ({ status: 400, scimType: 'invalidSyntax', detail });
const value = (detail: RegExp): Refusal => ({ status: 400, scimType: 'invalidValue', detail });
const path = (detail: RegExp): Refusal => ({ status: 400, scimType: 'invalidPath', detail });
const tooLarge = (detail: RegExp): Refusal => ({ status: 413, detail });

const ann = (more: string) => `{"schemas":["${userUrn}"],"userName":"ann",${more}}`;
const user = (more: object) => ({ schemas: [userUrn], userName: 'ann', ...more });
const patch = (...operations: object[]) => ({ schemas: [patchOpUrn], Operations: operations });
const bytes = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map((part) => Buffer.from(part as string)));

const brokenJson: readonly Bad[] = [
  { is: 'nothing', body: '', refusal: syntax(/line 1, column 1 .*the end of the body/) },
  { is: 'blanks', body: ' \n ', refusal: syntax(/line 2, column 2 .*the end of the body/) },
  { is: 'cut off', body: '{"userName":"ann"', refusal: syntax(/line 1, column 18 .*the end of the body/) },
  {
    is: 'a comma too many',
    body: ann('"title":"x",'),
    refusal: syntax(/line 1, column \d+ \(character \d+\)/),
  },
  { is: 'two values', body: '{"a":1}{"b":2}', refusal: syntax(/column 8/) },
  { is: 'quoted by apostrophes', body: "{'userName':'ann'}", refusal: syntax(/column 2/) },
  { is: 'NaN', body: ann('"title":NaN'), refusal: syntax(/column \d+/) },
  { is: 'a leading zero', body: ann('"title":007'), refusal: syntax(/column \d+/) },
  { is: 'with a comment', body: `/* x */${ann('"title":"x"')}`, refusal: syntax(/column 1/) },
  { is: 'a key twice', body: ann('"userName":"bob"'), refusal: syntax(/"userName".* twice|twice/) },
  { is: 'a key twice, escaped', body: ann('"user\\u004eame":"bob"'), refusal: syntax(/twice/) },
  {
    is: 'a key twice in other letters',
    body: ann('"USERNAME":"bob"'),
    refusal: syntax(/userName is given twice/),
  },
  {
    is: 'an extension twice',
    body: ann(`"${enterpriseUrn}":{"division":"A"},"${enterpriseUrn.toUpperCase()}":{"division":"B"}`),
    refusal: syntax(/twice/),
  },
  {
    is: 'a line end in a text',
    body: ann(`"${platformUrn}":{"bio":"a\nb"}`),
    refusal: syntax(/line 1, column \d+ .*U\+000A/),
  },
  {
    is: 'a bad escape in a bio',
    body: ann(`"${platformUrn}":{"bio":"C:\\dir"}`),
    refusal: syntax(/column \d+ .*backslash.*"d" \(U\+0064\)/),
  },
  { is: 'a short unicode escape', body: ann('"title":"\\u12"'), refusal: syntax(/column \d+/) },
  { is: 'deep', body: `${'['.repeat(40)}${']'.repeat(40)}`, refusal: syntax(/deeper than 32|JSON object/) },
  {
    is: 'deep in an attribute',
    body: ann(`"x":${'{"a":'.repeat(40)}1${'}'.repeat(40)}`),
    refusal: syntax(/deeper than 32/),
  },
  {
    is: 'very deep',
    body: ann(`"x":${'['.repeat(100_000)}${']'.repeat(100_000)}`),
    refusal: syntax(/deeper than 32/),
  },
  { is: 'very deep and cut off', body: '['.repeat(1_000_000), refusal: syntax(/deeper|the end of the body/) },
  { is: 'a list', body: '[]', refusal: syntax(/must be a JSON object/) },
  { is: 'null', body: 'null', refusal: syntax(/must be a JSON object/) },
  { is: 'a text', body: '"ann"', refusal: syntax(/must be a JSON object/) },
  {
    is: 'of 1,001 keys',
    body: ann(Array.from({ length: 1_001 }, (_, index) => `"k${index}":1`).join()),
    refusal: syntax(/more than 1000 keys/),
  },
];

const brokenText: readonly Bad[] = [
  {
    is: 'a byte that is no UTF-8',
    body: bytes('{"userName":"caf', [0xe9], '"}'),
    refusal: syntax(/not UTF-8: the byte at offset 16/),
  },
  { is: 'an overlong slash', body: bytes('{"userName":"', [0xc0, 0xaf], '"}'), refusal: syntax(/offset 13/) },
  {
    is: 'half a surrogate pair in UTF-8',
    body: bytes('{"userName":"', [0xed, 0xa0, 0x80], '"}'),
    refusal: syntax(/offset 13/),
  },
  {
    is: 'UTF-16',
    body: Buffer.from(`\ufeff${ann('"title":"x"')}`, 'utf16le'),
    refusal: syntax(/not UTF-8: the byte at offset 0/),
  },
  {
    is: 'UTF-16 without a mark',
    body: Buffer.from(ann('"title":"x"'), 'utf16le'),
    refusal: syntax(/column 2/),
  },
  {
    is: 'half a surrogate pair, escaped',
    body: ann('"title":"\\ud800"'),
    refusal: value(/title has .*surrogate/),
  },
  { is: 'NUL in a name', body: '{"userName":"a\\u0000b"}', refusal: value(/userName has a NUL/) },
  {
    is: 'a bell in a name',
    body: '{"userName":"a\\u0007b"}',
    refusal: value(/userName has a control character/),
  },
  {
    is: 'a line end in a name',
    body: '{"userName":"a\\nb"}',
    refusal: value(/userName has a control character/),
  },
  {
    is: 'DEL in a name',
    body: '{"userName":"a\\u007fb"}',
    refusal: value(/userName has a control character/),
  },
  {
    is: 'a tab in the name of a group',
    to: 'POST /Groups',
    body: { schemas: [groupUrn], displayName: 'a\tb' },
    refusal: value(/displayName has a control character/),
  },
  {
    is: 'a line end in a department',
    body: user({ [enterpriseUrn]: { department: 'a\r\nb' } }),
    refusal: value(/department has a control character/),
  },
  {
    is: 'a text of a megabyte',
    body: user({ title: 'x'.repeat(1024 * 1024) }),
    refusal: syntax(/text of more than 65536 characters/),
  },
  {
    is: 'a key of a megabyte',
    body: user({ ['x'.repeat(1024 * 1024)]: 1 }),
    refusal: syntax(/text of more than 65536 characters/),
  },
];

const dangerous: readonly Bad[] = ['__proto__', 'constructor', 'prototype'].flatMap((key) => [
  {
    is: `${key} as a key`,
    body: ann(`"${key}":{"isAdmin":true}`),
    refusal: syntax(new RegExp(`"${key}" is not allowed`)),
  },
  {
    is: `${key} in a name`,
    body: ann(`"name":{"${key}":{"isAdmin":true}}`),
    refusal: syntax(/is not allowed/),
  },
  {
    is: `${key} in JSON in a text`,
    body: ann(`"roles":["{\\"${key}\\":{\\"isAdmin\\":true},\\"value\\":\\"x\\"}"]`),
    refusal: syntax(/is not allowed/),
  },
  {
    is: `${key} as a path`,
    to: 'PATCH /Users/1',
    body: patch({ op: 'add', path: key, value: 'x' }),
    refusal: path(/cannot be used|cannot be read/),
  },
  {
    is: `${key}.isAdmin as a path`,
    to: 'PATCH /Users/1',
    body: patch({ op: 'add', path: `${key}.isAdmin`, value: true }),
    refusal: path(/cannot be used|cannot be read/),
  },
  {
    is: `${key} behind a URN`,
    to: 'PATCH /Users/1',
    body: patch({ op: 'add', path: `${enterpriseUrn}:${key}`, value: 'x' }),
    refusal: path(/cannot be used|cannot be read/),
  },
  {
    is: `${key} behind a dot`,
    to: 'PATCH /Users/1',
    body: patch({ op: 'add', value: { [`name.${key}`]: 'x' } }),
    refusal: path(/no attribute of User/),
  },
]);

const wrongTypes: readonly Bad[] = [
  {
    is: 'a number for an object',
    body: user({ name: 7 }),
    refusal: value(/name must be an object, but a number was sent/),
  },
  {
    is: 'a text for a boolean',
    body: user({ active: 'yes' }),
    refusal: value(/active must be a boolean \(true or false\), but a text was sent/),
  },
  {
    is: 'an object for a text',
    body: user({ title: {} }),
    refusal: value(/title must be a text, but an object was sent/),
  },
  {
    is: 'a list in a list',
    body: user({ emails: [[{ value: 'a' }]] }),
    refusal: value(/emails must be an array/),
  },
  {
    is: 'two primary values',
    body: user({
      emails: [
        { value: 'a', primary: true },
        { value: 'b', primary: true },
      ],
    }),
    refusal: value(/more than one value marked primary/),
  },
  {
    is: 'a date that is none',
    body: user({ [platformUrn]: { dateOfBirth: '2001-02-30T00:00:00Z' } }),
    refusal: value(/dateOfBirth must be a date and time such as/),
  },
  { is: 'a list for an extension', body: user({ [enterpriseUrn]: [] }), refusal: value(/must be an object/) },
  {
    is: 'no userName',
    body: { schemas: [userUrn] },
    refusal: value(/userName is required; give it a value/),
  },
  {
    is: 'an invisible userName',
    body: { schemas: [userUrn], userName: ' \u2003' },
    refusal: value(/userName is required/),
  },
  {
    is: 'a hundred thousand e-mails',
    body: user({ emails: Array.from({ length: 100_000 }, () => 1) }),
    refusal: value(/emails must be an array, each of its values an object, but a number was sent/),
  },
  {
    is: 'a hundred thousand objects',
    body: user({ emails: Array.from({ length: 100_000 }, () => ({})) }),
    refusal: tooLarge(/more than 20000/),
  },
  {
    is: 'a body of ten megabytes',
    body: ann(`"x":"${'x'.repeat(10 * 1024 * 1024)}"`),
    refusal: tooLarge(/larger than|2097152/),
  },
];

const patches: readonly Bad[] = [
  { is: 'no operations', body: patch(), refusal: syntax(/"Operations" is empty/) },
  {
    is: 'operations that are no list',
    body: { schemas: [patchOpUrn], Operations: {} },
    refusal: syntax(/must be an array/),
  },
  {
    is: 'an operation that is none',
    body: patch({ op: 'remove', path: 'title' }, 'x' as unknown as object),
    refusal: syntax(/operation 2 must be an object/),
  },
  {
    is: 'an unknown op',
    body: patch({ op: 'move', path: 'title', value: 'x' }),
    refusal: syntax(/"op" of operation 1/),
  },
  {
    is: 'no value',
    body: patch({ op: 'add', path: 'title' }),
    refusal: syntax(/operation 1 \(add\) has no "value"/),
  },
  {
    is: 'a remove of nothing',
    body: patch({ op: 'remove' }),
    refusal: { status: 400, scimType: 'noTarget', detail: /names nothing to remove/ },
  },
  {
    is: 'an unknown path, second',
    body: patch({ op: 'add', path: 'title', value: 'x' }, { op: 'add', path: 'shoeSize', value: 'x' }),
    refusal: path(/^Operation 2: .*"shoeSize"/),
  },
  {
    is: 'a path with an open bracket',
    body: patch({ op: 'remove', path: 'emails[type eq "work"' }),
    refusal: path(/character 21|"\]" is missing/),
  },
  {
    is: 'a path with a bad filter',
    body: patch({ op: 'remove', path: 'emails[type is "work"]' }),
    refusal: path(/character 13/),
  },
  {
    is: 'a path of two kilobytes',
    body: patch({ op: 'remove', path: 'x'.repeat(2_048) }),
    refusal: path(/longer than 1024 characters/),
  },
  {
    is: 'a deep path',
    body: patch({ op: 'remove', path: `emails[${'('.repeat(20)}type pr${')'.repeat(20)}]` }),
    refusal: path(/deep|nested/),
  },
  {
    is: '1,001 operations',
    body: patch(...Array.from({ length: 1_001 }, () => ({ op: 'add', path: 'title', value: 'x' }))),
    refusal: tooLarge(/more than 1000 operations/),
  },
  {
    is: 'a thousand filters over a long list',
    body: patch(
      {
        op: 'replace',
        path: 'emails',
        value: Array.from({ length: 2_000 }, (_, index) => ({ value: `${index}@x.org` })),
      },
      ...Array.from({ length: 900 }, () => ({ op: 'remove', path: 'emails[value eq "x" or value eq "y"]' })),
    ),
    refusal: tooLarge(/looks through too many values/),
  },
  {
    is: 'more values than a list holds',
    body: patch({
      op: 'add',
      path: 'emails',
      value: Array.from({ length: 2_001 }, (_, index) => ({ value: `${index}` })),
    }),
    refusal: value(/more than 2000 values/),
  },
  {
    is: 'the password',
    body: patch({ op: 'replace', path: 'password', value: 'x' }),
    refusal: {
      status: 400,
      scimType: 'mutability',
      detail: /password can only be given when the user is created/,
    },
  },
  {
    is: 'a read-only attribute',
    body: patch({ op: 'add', path: 'groups', value: [{ value: '1' }] }),
    refusal: { status: 400, scimType: 'mutability', detail: /groups is read-only/ },
  },
  {
    is: 'meta',
    body: patch({ op: 'replace', path: 'meta.created', value: '2001-01-01T00:00:00Z' }),
    refusal: { status: 400, scimType: 'mutability', detail: /read-only/ },
  },
].map((bad) => ({ to: 'PATCH /Users/1', ...bad }));

const groups: readonly Bad[] = [
  {
    is: 'a member that is nobody',
    to: 'PATCH /Groups/1',
    body: patch({ op: 'add', path: 'members', value: [{ value: '999' }] }),
    refusal: value(/999/),
  },
  {
    is: 'a member without value',
    to: 'PATCH /Groups/1',
    body: patch({ op: 'add', path: 'members', value: [{ display: 'x' }] }),
    refusal: value(/identifier of each member/),
  },
  {
    is: 'a group as a member',
    to: 'PUT /Groups/1',
    body: { schemas: [groupUrn], displayName: 'G', members: [{ value: '1', type: 'Group' }] },
    refusal: value(/can only hold users/),
  },
  ...['0', '-1', '1e3', '01', '9007199254740993', ' 1', '１', '../1'].map((id) => ({
    is: `a member with the id "${id}"`,
    to: 'PATCH /Groups/1',
    body: patch({ op: 'add', path: 'members', value: [{ value: id }] }),
    refusal: value(/no user|member/i),
  })),
];

const all: readonly Bad[] = [
  ...brokenJson,
  ...brokenText,
  ...dangerous,
  ...wrongTypes,
  ...patches,
  ...groups,
];

/** Everything that the directory holds. */
async function dump({ database }: TestApp): Promise<string> {
  const rows = await Promise.all([
    database.read.selectFrom('user').selectAll().orderBy('id').execute(),
    database.read.selectFrom('group_').selectAll().orderBy('id').execute(),
    database.read.selectFrom('membership').selectAll().orderBy('group_id').orderBy('user_id').execute(),
    database.read.selectFrom('source_link').selectAll().orderBy('resource_id').execute(),
    database.read.selectFrom('journal').selectAll().orderBy('seq').execute(),
  ]);
  return JSON.stringify(rows);
}

/** A service with one user in one group. */
async function openSmallApp(): Promise<TestApp> {
  const app = await openTestApp();
  await app.createUser({ userName: 'boss', title: 'Boss' });
  await app.createGroup({ displayName: 'G', members: [{ value: '1' }] });
  return app;
}

async function send(app: TestApp, { to = 'POST /Users', body }: Bad) {
  const [method = '', target = ''] = to.split(' ');
  const isRaw = typeof body === 'string' || body instanceof Uint8Array;
  const response = await fetch(app.baseUrl + target, {
    method,
    headers: { authorization: `Bearer ${app.token}`, 'content-type': 'application/scim+json' },
    body: isRaw ? Buffer.from(body as string) : JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

describe('a request', () => {
  test.each(all.map((bad) => [bad.to ?? 'POST /Users', bad.is, bad] as const))(
    '%s with %s is refused with its reason, changes nothing, and the next one is served',
    async (_to, _is, bad) => {
      await using app = await openSmallApp();
      const before = await dump(app);
      const { status, body } = await send(app, bad);
      const { scimType, detail } = body;
      const { detail: wanted, ...refusal } = { scimType: undefined, ...bad.refusal };
      expect({ status, scimType }).toEqual(refusal);
      expect(body.status).toBe(String(status));
      expect(detail).toMatch(wanted);
      expect(detail).toMatch(/^[A-Z].+[.]$/s);
      expect(detail.length).toBeLessThan(3_000);
      expect(await dump(app)).toBe(before);
      expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined();
      expect((await app.createUser({ userName: 'next' })).status).toBe(201);
    },
  );

  test('with a byte order mark is read without it', async () => {
    await using app = await openTestApp();
    const created = await send(app, { is: '', body: `\ufeff${ann('"title":"x"')}`, refusal: syntax(/./) });
    expect(created).toMatchObject({ status: 201, body: { userName: 'ann' } });
  });

  test.each(['0', '-1', '1e3', '01', '1.0', '9007199254740993', 'ann', '1,2', '*', '%C2%B9', 'null'])(
    'for the id %s finds nothing, whatever it wants to do',
    async (id) => {
      await using app = await openSmallApp();
      const before = await dump(app);
      for (const [method, body] of [
        ['GET', undefined],
        ['PUT', { schemas: [userUrn], userName: 'ann' }],
        ['PATCH', patch({ op: 'replace', path: 'title', value: 'x' })],
        ['DELETE', undefined],
      ] as const) {
        for (const type of ['Users', 'Groups']) {
          const head = `${method} ${base}/${type}/${id} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${app.token}\r\n`;
          const text = body === undefined ? '' : JSON.stringify(body);
          const rest = `Content-Type: application/json\r\nContent-Length: ${text.length}\r\nConnection: close\r\n\r\n${text}`;
          const { status, text: answer } = await sendRaw(app.port, head + rest);
          expect([400, 404]).toContain(status);
          expect(answer).toContain('urn:ietf:params:scim:api:messages:2.0:Error');
        }
      }
      expect(await dump(app)).toBe(before);
    },
  );
});
