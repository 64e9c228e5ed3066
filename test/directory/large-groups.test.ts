import { describe, expect, test } from 'bun:test';
import { groupUrn, openTestApp } from '../support/app.ts';
import { dialects } from '../support/database.ts';
import { insertPeople } from '../support/people.ts';

const people = 12_000;
const values = (count: number) => Array.from({ length: count }, (_, index) => ({ value: String(index + 1) }));

describe.each(dialects())('a group with thousands of members on %s', (dialect) => {
  test('takes them all in one PUT, and lets all but one go in the next', async () => {
    await using app = await openTestApp({ dialect });
    await insertPeople(app.database, people);
    await app.createGroup({ displayName: 'All' });
    const versions: (string | null)[] = [];
    for (const count of [people, 1]) {
      const body = {
        schemas: [groupUrn],
        displayName: 'All',
        members: values(count).map((member) => ({ ...member, type: 'User' })),
      };
      const answer = await app.call('PUT', '/Groups/1', body);
      expect(answer.status).toBe(count === 1 ? 200 : 204);
      versions.push(answer.headers.get('etag'));
      expect(await app.groups.countMembers(1)).toBe(count);
    }
    expect(versions).toEqual(['W/"2"', 'W/"3"']);
    const rows = await app.database.read
      .selectFrom('journal')
      .select(['resource_id', 'action', 'before', 'after'])
      .where('resource_type', '=', 'User')
      .orderBy('seq')
      .execute();
    const joined = rows.filter((row) => row.action === 'groups.add');
    expect(joined.map((row) => row.resource_id).toSorted((a, b) => a - b)).toEqual(
      values(people).map(({ value }) => Number(value)),
    );
    expect(joined[0]).toMatchObject({ before: null, after: '{"groups":["1"]}' });
    expect(rows.filter((row) => row.action === 'groups.remove')).toHaveLength(people - 1);
  }, 120_000);

  test('takes thousands by PATCH, and keeps thousands that are not there yet waiting once', async () => {
    await using app = await openTestApp({ dialect, settings: { unknownMembers: 'pending' } });
    await insertPeople(app.database, 2_000);
    await app.createGroup({ displayName: 'All' });
    const late = values(6_000).map(({ value }) => ({ value: `late-${value}` }));
    const value = [...values(2_000), ...late];
    for (let time = 0; time < 2; time += 1) {
      const answer = await app.patch('/Groups/1', [{ op: 'add', path: 'members', value }]);
      expect(answer.status).toBe(204);
      expect(answer.headers.get('etag')).toBe('W/"2"');
    }
    expect(await app.groups.countMembers(1)).toBe(2_000);
    const waiting = await app.database.read.selectFrom('pending_reference').select('reference').execute();
    expect(new Set(waiting.map((row) => row.reference)).size).toBe(6_000);
    expect(waiting).toHaveLength(6_000);
  }, 120_000);
});

describe('a body of too many values', () => {
  test('is refused with words when it names more members than a request may', async () => {
    await using app = await openTestApp();
    await app.configurations.setSetting('scimBodyBytesMax', String(16 * 1024 * 1024));
    await app.createGroup({ displayName: 'All' });
    const put = await app.call('PUT', '/Groups/1', { displayName: 'All', members: values(100_001) });
    expect(put).toMatchObject({
      status: 413,
      body: { detail: 'More than 100000 members in one operation; split the request.' },
    });
  }, 60_000);

  test('is refused for any other list at the bound there was', async () => {
    await using app = await openTestApp();
    const emails = Array.from({ length: 20_001 }, (_, index) => ({ value: `${index}@x.org` }));
    expect(await app.createUser({ userName: 'ann', emails })).toMatchObject({ status: 413 });
  });
});
