import { describe, expect, test } from 'bun:test';
import { openTestApp, type TestApp } from '../support/app.ts';

async function createLargeGroup(app: TestApp): Promise<void> {
  const context = { members: [] as { value: string }[] };
  for (let index = 1; index <= 1_001; index += 1) context.members.push({ value: String(index) });
  await Promise.all(context.members.map((_, index) => app.createUser({ userName: `u${index}` })));
  await app.createGroup({ displayName: 'Everybody', ...context });
}

describe('HEAD', () => {
  test('answers what GET does, without a body', async () => {
    await using app = await openTestApp();
    await app.createUser({ userName: 'ann' });
    for (const path of ['/Users/1', '/Users', '/Users/99', '/Schemas', '/Nope']) {
      const [head, get] = [await app.call('HEAD', path), await app.call('GET', path)];
      expect(head.status).toBe(get.status);
      expect(head.text).toBe('');
      for (const name of ['content-type', 'content-length', 'etag'])
        expect(head.headers.get(name)).toBe(get.headers.get(name));
    }
  });

  test('says 304 of a version that the client has', async () => {
    await using app = await openTestApp();
    await app.createUser({ userName: 'ann' });
    for (const method of ['GET', 'HEAD']) {
      for (const tag of ['W/"1"', '"1"', 'W/"7", W/"1"', '*']) {
        const answer = await app.call(method, '/Users/1', undefined, { headers: { 'if-none-match': tag } });
        expect(answer).toMatchObject({ status: 304, text: '' });
        expect(answer.headers.get('etag')).toBe('W/"1"');
      }
      const other = await app.call(method, '/Users/1', undefined, { headers: { 'if-none-match': 'W/"11"' } });
      expect(other.status).toBe(200);
    }
  });

  test('is among the methods of everything that can be read', async () => {
    await using app = await openTestApp();
    expect((await app.call('DELETE', '/Users')).headers.get('allow')).toContain('GET, HEAD');
    expect((await app.call('OPTIONS', '/Users/1')).headers.get('allow')).toBe(
      'GET, HEAD, PUT, PATCH, DELETE',
    );
    expect((await app.call('HEAD', '/Bulk')).headers.get('allow')).toBe('POST');
  });
});

describe('the answer to a change of a group with more than 1,000 members', () => {
  test('is 204, unless the client names attributes', async () => {
    await using app = await openTestApp();
    await createLargeGroup(app);
    const rename = (displayName: string) => [{ op: 'replace', path: 'displayName', value: displayName }];
    const nothing = await app.patch('/Groups/1', rename('All'));
    expect(nothing).toMatchObject({ status: 204, text: '' });
    expect(nothing.headers.get('etag')).toBe('W/"2"');
    const some = await app.patch('/Groups/1?attributes=displayName', rename('Every'));
    expect(some).toMatchObject({ status: 200, body: { id: '1', displayName: 'Every' } });
    expect((await app.patch('/Groups/1?attributes=members', rename('One'))).body.members).toHaveLength(1_001);
    const others = await app.patch('/Groups/1?excludedAttributes=members', rename('Many'));
    expect(others).toMatchObject({ status: 200, body: { displayName: 'Many' } });
    expect(others.body.members).toBeUndefined();
    const { body: group } = await app.call('GET', '/Groups/1');
    expect((await app.call('PUT', '/Groups/1', group)).status).toBe(204);
    const token = await app.addSource('Strict', { dialect: 'strict' });
    const whole = await app.call('PUT', '/Groups/1', group, { token });
    expect(whole.status).toBe(200);
    expect(whole.body.members).toHaveLength(1_001);
  });
});
