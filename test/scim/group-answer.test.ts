import { describe, expect, spyOn, test } from 'bun:test';
import { type Answer, groupUrn, openTestApp, platformGroupUrn } from '../support/app.ts';
import { dialects } from '../support/database.ts';

/** Names that JSON, SQL or a pattern could read as something else. */
const names = [
  'plain',
  'with "quotes" and \\ backslash',
  "it's",
  '李\u2028é😀',
  '{}],"members":[',
  '%d %s $1 || x',
  '',
];

describe.each(dialects())('a group on %s', (dialect) => {
  test('is answered with all its members, however they are named', async () => {
    await using app = await openTestApp({ dialect });
    const people = [];
    for (const [index, displayName] of names.entries())
      people.push((await app.createUser({ userName: `u${index}`, displayName })).body);
    const members = people.map(({ id }) => ({ value: id }));
    const made = await app.createGroup({
      displayName: 'All',
      externalId: 'x',
      members: members.toReversed(),
    });
    const shown = people.map(({ id, displayName, userName, meta }) => ({
      value: id,
      $ref: meta.location,
      display: displayName ?? userName,
      type: 'User',
    }));
    const whole = {
      schemas: [groupUrn, platformGroupUrn],
      id: made.body.id,
      displayName: 'All',
      externalId: 'x',
      members: shown,
      [platformGroupUrn]: { groupType: 'security group' },
      meta: made.body.meta,
    };
    expect(made.body).toEqual(whole);
    expect(made.headers.get('location')).toBe(made.body.meta.location);
    const got = await app.call('GET', `/Groups/${made.body.id}`);
    expect(got.body).toEqual(whole);
    expect(got.headers.get('etag')).toBe(got.body.meta.version);
    const named = await app.call('GET', `/Groups/${made.body.id}?attributes=members`);
    expect(named.body.members).toEqual(shown);
  });

  test('without members has no attribute for them', async () => {
    await using app = await openTestApp({ dialect });
    const { body } = await app.createGroup({ displayName: 'Nobody' });
    expect((await app.call('GET', `/Groups/${body.id}`)).body).toEqual(body);
    expect(body).not.toHaveProperty('members');
  });

  test('that has not changed is not read for its members', async () => {
    await using app = await openTestApp({ dialect });
    const ann = await app.createUser({ userName: 'ann' });
    const { headers } = await app.createGroup({ displayName: 'G', members: [{ value: ann.body.id }] });
    const tag = headers.get('etag') ?? '';
    using membersText = spyOn(app.groups, 'membersText');
    using members = spyOn(app.groups, 'members');
    for (const path of ['/Groups/1', '/Groups/1?attributes=members']) {
      const asked = await app.call('GET', path, undefined, { headers: { 'if-none-match': tag } });
      expect([asked.status, asked.headers.get('etag'), asked.text]).toEqual([304, tag, '']);
    }
    expect(membersText).not.toHaveBeenCalled();
    expect(members).not.toHaveBeenCalled();
  });

  test('shows a source that sees its own alone the members that are', async () => {
    await using app = await openTestApp({ dialect });
    const token = await app.addSource('Own', { scope: 'own' });
    const theirs = await app.createUser({ userName: 'theirs' });
    const mine = await app.createUser({ userName: 'mine' }, { token });
    const group = await app.createGroup({ displayName: 'G', members: [{ value: mine.body.id }] }, { token });
    await app.patch(`/Groups/${group.body.id}`, [
      { op: 'add', path: 'members', value: [{ value: theirs.body.id }] },
    ]);
    const values = async (asked: string) => {
      const { body } = await app.call('GET', `/Groups/${group.body.id}`, undefined, { token: asked });
      return body.members.map(({ value }: { value: string }) => value);
    };
    expect(await values(token)).toEqual([mine.body.id]);
    expect(await values(app.token)).toEqual([theirs.body.id, mine.body.id]);
  });

  test('shows the personas that are defined over it, in every answer', async () => {
    await using app = await openTestApp({ dialect });
    for (const displayName of ['Staff', 'Guests', 'Alone']) await app.createGroup({ displayName });
    await app.configurations.createPersona({ name: 'Everyone', rule: 'any', groupIds: [1, 2] });
    await app.configurations.createPersona({ name: 'Inside', rule: 'all', groupIds: [1] });
    const everyone = { value: '1', display: 'Everyone' };
    const inside = { value: '2', display: 'Inside' };
    const personasOf = (group: Answer['body']) => group[platformGroupUrn].personas;
    const wanted = [[everyone, inside], [everyone], undefined];
    const listed = (await app.call('GET', '/Groups')).body.Resources;
    expect(listed.map(personasOf)).toEqual(wanted);
    for (const [index, personas] of wanted.entries()) {
      const path = `/Groups/${index + 1}`;
      const { body } = await app.call('GET', path);
      expect(personasOf(body)).toEqual(personas);
      expect((await app.call('PUT', path, body)).body).toEqual(body);
    }
    const named = await app.call('GET', `/Groups/1?attributes=${platformGroupUrn}:personas.display`);
    expect(personasOf(named.body)).toEqual([{ display: 'Everyone' }, { display: 'Inside' }]);
    const found = await app.find('/Groups', `${platformGroupUrn}:personas[display eq "INSIDE"]`);
    expect(found.body.Resources.map(({ id }: { id: string }) => id)).toEqual(['1']);
    const without = await app.find('/Groups', `not (${platformGroupUrn}:personas pr)`);
    expect(without.body.Resources.map(({ id }: { id: string }) => id)).toEqual(['3']);
  });
});
