// Refusals read aloud: what they say has to be true of what was sent.

import { describe, expect, test } from 'bun:test';
import { enterpriseUrn, fieldsUrn, openTestApp, userUrn } from '../support/app.ts';

describe('a refusal', () => {
  test.each(['0', '99999999999999999999', '007'])('of the id %s does not say what it is not', async (id) => {
    await using app = await openTestApp();
    const { status, body } = await app.call('GET', `/Users/${id}`);
    expect(status).toBe(404);
    expect(body.detail).toBe(`There is no resource with the id "${id}".`);
  });

  test('of an id that is no number says that ids are', async () => {
    await using app = await openTestApp();
    const { body } = await app.call('GET', '/Users/ann');
    expect(body.detail).toBe('There is no resource with the id "ann"; ids are whole numbers.');
  });

  test.each([
    ['12345678901234567890', 'must be a whole number, but a number of too many digits was sent'],
    ['1.5', 'must be a whole number, but a number with a fraction was sent'],
    ['"x"', 'must be a whole number, but a text was sent'],
  ])('of the number %s says what is wrong with it', async (number, problem) => {
    await using app = await openTestApp();
    await app.configurations.createField('Floor', 'integer', null);
    const user = `{"schemas":["${userUrn}"],"userName":"ann","${fieldsUrn}":{"floor":${number}}}`;
    const { status, body } = await app.call('POST', '/Users', user);
    expect(status).toBe(400);
    expect(body.detail).toBe(`The attribute ${fieldsUrn}:floor ${problem}.`);
  });

  test.each([
    ['add', 'an add'],
    ['replace', 'a replace'],
  ])('of a %s has the right article', async (op, words) => {
    await using app = await openTestApp();
    await app.createUser({ userName: 'ann' });
    const { body } = await app.patch('/Users/1', [{ op, value: 'x' }]);
    expect(body.detail).toBe(`The value of ${words} without a path must be an object of attributes.`);
  });

  test('counts operations as the client does', async () => {
    await using app = await openTestApp();
    await app.createUser({ userName: 'ann' });
    const several = { title: 'x', 'name.givenName': 'A', 'name.familyName': 'B', 'name.middleName': 7 };
    const bad = {
      op: 'replace',
      value: { ...several, [`${enterpriseUrn}:department`]: 'HR', active: 'perhaps' },
    };
    const alone = await app.patch('/Users/1', [bad]);
    expect(alone.body).toMatchObject({ status: '400' });
    expect(alone.body.detail).toStartWith('The attribute active must be');
    const second = await app.patch('/Users/1', [{ op: 'replace', value: several }, bad]);
    expect(second.body.detail).toStartWith('Operation 2: The attribute active must be');
  });

  test('counts operations of a group with those of its members', async () => {
    await using app = await openTestApp();
    await app.createGroup({ displayName: 'G' });
    const members = { op: 'remove', path: 'members' };
    const bad = { op: 'replace', path: 'displayName', value: 7.5 };
    const { body } = await app.patch('/Groups/1', [members, { ...bad, value: { x: 1 } }]);
    expect(body.detail).toStartWith('Operation 2: The attribute displayName must be');
  });

  test('of a name that somebody has whom the source does not see gives no other advice than another name', async () => {
    await using app = await openTestApp();
    const token = await app.addSource('Own', { scope: 'own' });
    await app.createUser({ userName: 'ann' });
    await app.createGroup({ displayName: 'Staff' });
    for (const answer of [
      await app.createUser({ userName: 'ann' }, { token }),
      await app.createGroup({ displayName: 'Staff' }, { token }),
    ]) {
      expect(answer.status).toBe(409);
      expect(answer.body.detail).toMatch(/is not free; choose another\.$/);
    }
    const reject = await app.addSource('Reject', { onMatch: 'reject' });
    const seen = await app.createUser({ userName: 'ann' }, { token: reject });
    expect(seen.body.detail).toBe('The user exists already; update it instead of creating it.');
  });
});

describe('a token', () => {
  test('that is not in force is told apart from none, in the challenge and the log alone', async () => {
    await using app = await openTestApp();
    const old = await app.addSource('Old');
    const source = (await app.sources.list()).find(({ name }) => name === 'Old');
    if (source === undefined) throw new Error('no source');
    await app.sources.rotateToken(source, 0);
    const forged = `${old.slice(0, -1)}${old.endsWith('A') ? 'B' : 'A'}`;
    const details = new Set<string>();
    for (const token of [old, forged, 'nonsense']) {
      const { status, headers, body } = await app.call('GET', '/Users', undefined, { token });
      expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer error="invalid_token"']);
      details.add(body.detail);
    }
    const none = await app.call('GET', '/Users', undefined, { token: '' });
    expect(none.headers.get('www-authenticate')).toBe('Bearer');
    expect([...details, none.body.detail]).toEqual([none.body.detail, none.body.detail]);
    const said = app.logged.filter((line) => line.includes('request refused'));
    expect(said.map((line) => line.includes('not in force'))).toEqual([true, true, true, false]);
    const logged = app.requests().map(({ refusal }) => refusal?.includes('not in force'));
    expect(logged).toEqual([true, true, true, false]);
    expect(app.logged.join('')).not.toContain(old);
  });
});

describe('a PATCH without schemas', () => {
  test('is mended as inside a Bulk, and refused to a strict source', async () => {
    await using app = await openTestApp();
    await app.createUser({ userName: 'ann' });
    const body = { Operations: [{ op: 'replace', path: 'title', value: 'Clerk' }] };
    const mended = await app.call('PATCH', '/Users/1', body);
    expect([mended.status, mended.body.title]).toEqual([200, 'Clerk']);
    expect(
      app
        .requests()
        .at(-1)
        ?.repairs.map(({ code }) => code),
    ).toEqual(['schemas-added']);
    const token = await app.addSource('Strict', { dialect: 'strict' });
    expect((await app.call('PATCH', '/Users/1', body, { token })).status).toBe(400);
  });
});

describe('a body', () => {
  test.each(['gzip', 'GZIP', 'br', 'identity, gzip'])(
    'in the encoding %s is refused as such',
    async (encoding) => {
      await using app = await openTestApp();
      const headers = { 'content-encoding': encoding };
      const body = { schemas: [userUrn], userName: 'ann' };
      const { status, body: answer } = await app.call('POST', '/Users', body, { headers });
      expect(status).toBe(415);
      expect(answer.detail).toBe(
        'Send the body without Content-Encoding: it is taken as it is, not compressed.',
      );
      const plain = await app.call('POST', '/Users', body, { headers: { 'content-encoding': 'identity' } });
      expect(plain.status).toBe(201);
    },
  );
});
