import { describe, expect, test } from 'bun:test';
import { type HistoryEntry, listHistory } from '../../src/directory/history-store.ts';
import { enterpriseUrn, openTestApp, platformUrn, type TestApp } from '../support/app.ts';
import { dialects } from '../support/database.ts';

/** What the history of one resource says, oldest first: `action before → after`. */
async function told(app: TestApp, resourceType: 'User' | 'Group', resourceId: number): Promise<string[]> {
  const { changes } = await listHistory(app.database.read, { resourceType, resourceId, limit: 100 });
  const side = (value: HistoryEntry['before']) => (value === null ? '-' : JSON.stringify(value));
  return changes
    .toReversed()
    .slice(1)
    .map(({ action, before, after }) => `${action} ${side(before)} ${side(after)}`);
}

const managed = (value: string) => ({ [enterpriseUrn]: { manager: { value } } });

describe.each(dialects())('the history on %s', (dialect) => {
  test('of a user tells that a group was deleted, and of a group who was in it', async () => {
    await using app = await openTestApp({ dialect });
    for (const userName of ['ann', 'bob']) await app.createUser({ userName });
    await app.createGroup({ displayName: 'Staff', members: [{ value: '1' }, { value: '2' }] });
    await app.call('DELETE', '/Groups/1');
    for (const id of [1, 2]) {
      expect(await told(app, 'User', id)).toEqual([
        'groups.add - {"groups":["1"]}',
        'groups.remove {"groups":["1"]} -',
      ]);
    }
    expect((await told(app, 'Group', 1)).at(-1)).toMatch(/^delete .*"members":\["1","2"\]/);
  });

  test('of a user tells that a manager has gone, and of a group that a member has', async () => {
    await using app = await openTestApp({ dialect });
    await app.createUser({ userName: 'boss' });
    await app.createUser({ userName: 'ann', ...managed('1') });
    await app.createGroup({ displayName: 'Staff', members: [{ value: '1' }, { value: '2' }] });
    await app.call('DELETE', '/Users/1');
    expect(await told(app, 'User', 2)).toEqual([
      'groups.add - {"groups":["1"]}',
      `update {"${enterpriseUrn}":{"manager":{"value":"1"}}} {}`,
    ]);
    expect(await told(app, 'Group', 1)).toEqual([
      'members.add - {"members":["1","2"]}',
      'members.remove {"members":["1"]} -',
    ]);
    expect((await told(app, 'User', 1)).at(-1)).toBe(
      'archive {"state":"active","groups":["1"]} {"state":"archived"}',
    );
  });

  test('of a department tells who joined and left by what is said of them', async () => {
    await using app = await openTestApp({ dialect });
    const inHr = { [enterpriseUrn]: { department: 'HR' }, [platformUrn]: { location: 'Oslo' } };
    await app.createUser({ userName: 'ann', ...inHr });
    await app.createUser({ userName: 'bob' });
    await app.patch('/Groups/1', [{ op: 'add', path: 'members', value: [{ value: '2' }] }]);
    await app.patch('/Users/2', [{ op: 'add', value: { [enterpriseUrn]: { department: 'hr' } } }]);
    await app.patch('/Users/1', [{ op: 'replace', value: { [enterpriseUrn]: { department: 'IT' } } }]);
    await app.call('DELETE', '/Users/2');
    expect(await told(app, 'Group', 1)).toEqual([
      'members.add - {"members":["1"]}',
      'members.add - {"members":["2"]}',
      'members.remove {"members":["1"]} -',
      'members.remove {"members":["2"]} -',
    ]);
    expect(await told(app, 'Group', 2)).toEqual(['members.add - {"members":["1"]}']);
    expect(await told(app, 'Group', 3)).toEqual(['members.add - {"members":["1"]}']);
  });

  test('of a user tells of what was waited for', async () => {
    await using app = await openTestApp({ dialect, settings: { unknownMembers: 'pending' } });
    await app.createUser({ userName: 'ann', ...managed('boss') });
    await app.createGroup({ displayName: 'Staff', members: [{ value: 'boss' }] });
    await app.createUser({ userName: 'boss' });
    expect(await told(app, 'User', 2)).toEqual(['groups.add - {"groups":["1"]}']);
    expect(await told(app, 'Group', 1)).toEqual(['members.add - {"members":["2"]}']);
    expect(await told(app, 'User', 1)).toEqual([`update {} {"${enterpriseUrn}":{"manager":{"value":"2"}}}`]);
  });
});
