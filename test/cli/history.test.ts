import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { type DirectoryContext, machineContext } from '../../src/directory/context.ts';
import { Groups } from '../../src/directory/groups.ts';
import { Users } from '../../src/directory/users.ts';
import { PasswordHasher } from '../../src/security/password-hash.ts';
import { Configurations } from '../../src/settings/configuration.ts';
import { openSqlite } from '../../src/storage/sqlite.ts';
import { type Json, readFailure, Workplace } from './support.ts';

const enterpriseUrn = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';

/** A data folder in which ann was made, changed, put into a group, and archived; another ann came after her. */
async function withPast(): Promise<Workplace> {
  const place = new Workplace();
  await place.json('source', 'create', '--kind', 'scim', '--name', 'Okta');
  const database = openSqlite({ path: join(place.data, 'rollcall.db') });
  const users = new Users(database, new PasswordHasher());
  const groups = new Groups(database);
  let step = 0;
  const configuration = await new Configurations(database).current();
  const context = (): DirectoryContext => {
    step += 1;
    return {
      actor: { kind: 'source', id: 1 },
      ...{ sourceId: 1, scope: 'all', unknownReferences: 'reject', runId: null, configuration },
      requestId: `req-${step}`,
      now: `2026-01-02T03:04:0${step}.000Z`,
    };
  };
  await users.create(context(), { userName: 'ann', title: 'Clerk' }, 'reject');
  const body = { userName: 'ann', title: 'Boss', [enterpriseUrn]: { costCenter: '7' } };
  await users.replace(context(), 1, body);
  await groups.create(context(), { displayName: 'Staff', members: [{ value: '1' }] }, 'reject');
  await users.delete(context(), 1);
  await users.create(context(), { userName: 'Ann' }, 'reject');
  await groups.create(context(), { displayName: 'Empty' }, 'reject');
  await groups.delete(context(), 2);
  await database.close();
  return place;
}

describe('rollcall user history', () => {
  test('tells who changed what, from what to what, and in which request', async () => {
    using place = await withPast();
    const { stdout } = await place.run('user', 'history', '1');
    const blocks = stdout.trimEnd().split('\n\n');
    expect(blocks[0]).toBe('User 1, ann, archived');
    expect(blocks.at(-1)?.split('\n')[0]).toBe(
      '2026-01-02T03:04:01.000Z  create  by source Okta  request req-1',
    );
    const update = blocks.find((block) => block.includes('  update  '))?.split('\n');
    expect(update?.slice(1)).toEqual(['  title: "Clerk" → "Boss"', '  enterprise.costCenter: "7"']);
    const joined = blocks.find((block) => block.includes('  groups.add  '))?.split('\n');
    expect(joined?.slice(1)).toEqual(['  groups: 1 (1)']);
    expect(blocks[1]).toContain('archive  by source Okta  request req-4');
  });

  test('finds somebody by userName, and names those who had it before', async () => {
    using place = await withPast();
    const answer = await place.json('user', 'history', 'ANN');
    expect(answer).toMatchObject({ resourceType: 'User', id: 2, name: 'Ann', others: [1], next: null });
    expect((answer.changes as Json[])[0]).toMatchObject({
      action: 'create',
      actor: { kind: 'source', id: 1, name: 'Okta' },
      requestId: 'req-5',
      importId: null,
    });
  });

  test('tells of a command that nobody with an account gave', async () => {
    using place = await withPast();
    const database = openSqlite({ path: join(place.data, 'rollcall.db') });
    const configuration = await new Configurations(database).current();
    const now = '2026-01-02T03:05:00.000Z';
    const command = machineContext(configuration, { kind: 'administrator', id: null }, now);
    await new Users(database, new PasswordHasher()).replace(command, 2, { userName: 'Ann', title: 'Boss' });
    await database.close();
    const { stdout } = await place.run('user', 'history', '2');
    expect(stdout).toContain(`${now}  update  by an administrator at the command line\n`);
  });

  test('says where to look for what groups and managers are called', async () => {
    using place = await withPast();
    const database = openSqlite({ path: join(place.data, 'rollcall.db') });
    const configuration = await new Configurations(database).current();
    const context = machineContext(configuration, { kind: 'system', id: null }, '2026-01-02T03:05:00.000Z');
    const users = new Users(database, new PasswordHasher());
    const led = { userName: 'led', [enterpriseUrn]: { manager: { value: '2' }, department: 'Sales' } };
    await users.create(context, led, 'reject');
    await database.close();
    const { stdout } = await place.run('user', 'history', 'led');
    expect(stdout.trimEnd().split('\n').at(-1)).toBe(
      'What groups and managers are called: group history 3 (Sales), user history 2 (Ann).',
    );
    expect((await place.json('user', 'history', 'led')).seeAlso).toEqual([
      { resourceType: 'Group', id: 3, name: 'Sales' },
      { resourceType: 'User', id: 2, name: 'Ann' },
    ]);
  });

  test('goes through a long past page by page', async () => {
    using place = await withPast();
    const first = await place.json('user', 'history', '1', '--limit', '3');
    expect((first.changes as Json[]).map(({ action }) => action)).toEqual([
      'archive',
      'groups.add',
      'update',
    ]);
    const second = await place.json('user', 'history', '1', '--limit', '3', '--before', String(first.next));
    expect((second.changes as Json[]).map(({ action }) => action)).toEqual(['create']);
    expect(second.next).toBeNull();
  });

  test('says so of somebody who never was', async () => {
    using place = await withPast();
    const sentence = 'There is no user with the id or userName "zoe", and there was none.';
    expect(readFailure(await place.run('user', 'history', 'zoe'))).toBe(sentence);
  });
});

describe('rollcall group history', () => {
  test('tells who came into the group, and who has gone', async () => {
    using place = await withPast();
    const { changes } = await place.json('group', 'history', 'staff');
    expect((changes as Json[]).map(({ action, after }) => [action, after])).toEqual([
      ['members.remove', null],
      ['members.add', { members: ['1'] }],
      ['create', expect.objectContaining({ displayName: 'Staff' })],
    ]);
  });

  test('says nothing of the members of a group that had none', async () => {
    using place = await withPast();
    const { stdout } = await place.run('group', 'history', '2');
    expect(stdout).toContain('  delete  ');
    expect(stdout).not.toContain('members');
  });
});
