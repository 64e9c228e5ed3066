import { describe, expect, test } from 'bun:test';
import { openTestApp, type TestApp } from '../support/app.ts';
import { dialects } from '../support/database.ts';

const names = ['Ann', 'Bob', 'Cid', 'Dora', 'Élodie'];

/** Five people with the ids 1 to 5, all in the group 1. */
async function openGroup(dialect: 'sqlite' | 'postgres', settings = {}): Promise<TestApp> {
  const app = await openTestApp({ dialect, settings });
  for (const displayName of names) await app.createUser({ userName: displayName, displayName });
  const members = names.map((_, index) => ({ value: String(index + 1) }));
  await app.createGroup({ displayName: 'G', members });
  return app;
}

const remove = (filter: string) => [{ op: 'remove', path: `members[${filter}]` }];

async function membersOf(app: TestApp): Promise<string> {
  const { body } = await app.call('GET', '/Groups/1');
  return (body.members ?? []).map(({ value }: { value: string }) => value).join('');
}

describe.each(dialects())('members removed by a filter on %s', (dialect) => {
  test.each([
    ['type eq "User"', ''],
    ['type ne "User"', '12345'],
    ['value ne "4"', '4'],
    ['not (value eq "4")', '4'],
    ['value sw "1"', '2345'],
    ['display eq "ÉLODIE"', '1234'],
    ['display co "o"', '13'],
    ['display pr and value gt "2"', '12'],
    ['value eq "1" and type eq "user"', '2345'],
    ['value eq "1" or display eq "Bob"', '345'],
    ['$ref ew "/Users/3"', '1245'],
    ['value eq "nobody"', '12345'],
    ['value eq "x\' or 1=1 --" or display eq "\\") or (1=1"', '12345'],
  ])('%s: %s stay', async (filter, staying) => {
    await using app = await openGroup(dialect);
    const { status } = await app.patch('/Groups/1', remove(filter));
    expect(status).toBe(200);
    expect(await membersOf(app)).toBe(staying);
    const left = [...'12345'].filter((id) => !staying.includes(id));
    const rows = (await app.journal()).filter(({ action }) => action.endsWith('.remove'));
    expect(
      rows
        .filter(({ resource_type: type }) => type === 'User')
        .map((row) => String(row.resource_id))
        .toSorted(),
    ).toEqual(left);
    for (const id of '12345') {
      const { body } = await app.call('GET', `/Users/${id}`);
      expect([id, body.groups === undefined]).toEqual([id, left.includes(id)]);
    }
  });

  test('of the group alone, and of those whom the source sees', async () => {
    await using app = await openGroup(dialect);
    const token = await app.addSource('Own', { scope: 'own' });
    const mine = await app.createUser({ userName: 'mine' }, { token });
    const group = await app.createGroup(
      { displayName: 'Mine', members: [{ value: mine.body.id }] },
      { token },
    );
    await app.patch(`/Groups/${group.body.id}`, [{ op: 'add', path: 'members', value: [{ value: '1' }] }]);
    await app.patch(`/Groups/${group.body.id}`, remove('type eq "User"'), { token });
    const { body } = await app.call('GET', `/Groups/${group.body.id}`);
    expect(body.members.map(({ value }: { value: string }) => value)).toEqual(['1']);
    expect(await membersOf(app)).toBe('12345');
  });

  test('are counted by the brake, unless each is named', async () => {
    await using app = await openGroup(dialect, { brakeLimit: '3' });
    expect((await app.patch('/Groups/1', remove('value ne "5"'))).status).toBe(429);
    expect(await membersOf(app)).toBe('12345');
    const each = ['1', '2', '3', '4'].map((id) => `value eq "${id}"`).join(' or ');
    expect((await app.patch('/Groups/1', remove(each))).status).toBe(200);
    expect(await membersOf(app)).toBe('5');
  });

  test('by what a member does not have is refused', async () => {
    await using app = await openGroup(dialect);
    const { status } = await app.patch('/Groups/1', remove('nosuch eq "1"'));
    expect(status).toBe(400);
    const changed = await app.patch('/Groups/1', [
      { op: 'replace', path: 'members[type eq "User"].value', value: '2' },
    ]);
    expect(changed.body.scimType).toBe('mutability');
  });
});
