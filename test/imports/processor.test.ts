import { describe, expect, test } from 'bun:test';
import { enterpriseUserUrn, platformUserUrn } from '../../src/resource/schema.ts';
import { dialects } from '../support/database.ts';
import { decider, openImportHouse, profileXml, stranger, strictGuard, userXml } from './support.ts';

const full = (...users: string[]) => profileXml(users);
const manyUsers = (count: number) => Array.from({ length: count }, (_, i) => userXml(`m${i}`, `many${i}`));

for (const dialect of dialects()) {
  describe(`a run on ${dialect}`, () => {
    test('creates people with attributes, units, memberships and managers that come later in the file', async () => {
      await using house = await openImportHouse({ dialect });
      const groups =
        '<group id="c1" type="company" name="ACME"/><group id="s1" type="security group" name="VPN"/>';
      const anna = userXml(
        'a',
        'anna',
        '<firstname>Anna</firstname><email>a@example.com</email><company>c1</company><location>Oslo</location><manager>b</manager><groups><group ref="s1"/><group type="security group">New</group></groups>',
      );
      const run = await house.import(profileXml([anna, userXml('b', 'bert')], { groups }));
      expect(run).toMatchObject({ status: 'completed', counts: { created: 2, groupsCreated: 4, issues: 0 } });
      const user = await house.person('anna');
      expect(user.resource).toMatchObject({
        externalId: 'a',
        name: { givenName: 'Anna' },
        emails: [{ type: 'work', value: 'a@example.com', primary: true }],
        [enterpriseUserUrn]: {
          organization: 'ACME',
          manager: { value: String((await house.person('bert')).id) },
        },
        [platformUserUrn]: { company: 'ACME', location: 'Oslo', loginType: 'Local Login' },
      });
      expect(user.groups.map((group) => group.displayName).toSorted()).toEqual([
        'ACME',
        'New',
        'Oslo',
        'VPN',
      ]);
      // Once for herself, and once for her manager, who is shown from then on.
      expect(user).toMatchObject({ state: 'active', ownerSourceId: 1, version: 2 });
    });

    test('changes nothing for a file that says the same', async () => {
      await using house = await openImportHouse({ dialect });
      const users = [userXml('a', 'anna', '<jobtitle>Chef</jobtitle>'), userXml('b', 'bert')];
      await house.import(full(...users));
      const before = await house.people();
      const run = await house.import(full(...users), { force: true });
      expect(run.counts).toMatchObject({ unchanged: 2, created: 0, updated: 0 });
      expect(await house.people()).toEqual(before);
    });

    test('updates what has changed, leaves what is blank, clears with applyBlank', async () => {
      await using house = await openImportHouse({ dialect });
      const content =
        '<firstname>A</firstname><surname>B</surname><jobtitle>Chef</jobtitle><phone type="work">1</phone><phone type="home">2</phone><department>HR</department>';
      await house.import(full(userXml('a', 'anna', content)));
      const next =
        '<firstname>C</firstname><surname/><jobtitle applyBlank="True"/><phone type="home" applyBlank="True"/><department applyBlank="True"/>';
      const run = await house.import(full(userXml('a', 'anna', next)));
      expect(run.counts).toMatchObject({ updated: 1 });
      const { resource } = await house.person('anna');
      expect(resource).toMatchObject({
        name: { givenName: 'C', familyName: 'B' },
        phoneNumbers: [{ value: '1', type: 'work' }],
      });
      expect(resource.title).toBeUndefined();
      expect(resource[enterpriseUserUrn]).toBeUndefined();
    });

    test('renames under the same id, and lets two people swap their usernames', async () => {
      await using house = await openImportHouse({ dialect });
      await house.import(full(userXml('a', 'anna'), userXml('b', 'bert'), userXml('c', 'carl')));
      const run = await house.import(
        full(userXml('a', 'bert'), userXml('b', 'anna'), userXml('c', 'carola')),
      );
      expect(run).toMatchObject({ status: 'completed', counts: { updated: 3, issues: 0 } });
      expect(await house.states()).toEqual(['bert active', 'anna active', 'carola active']);
    });

    test('lets usernames move along a chain, and to somebody new', async () => {
      await using house = await openImportHouse({ dialect });
      await house.import(full(userXml('a', 'one'), userXml('b', 'two'), userXml('c', 'three')));
      const run = await house.import(
        full(userXml('n', 'one'), userXml('a', 'two'), userXml('b', 'three'), userXml('c', 'four')),
      );
      expect(run).toMatchObject({ status: 'completed', counts: { created: 1, updated: 3, issues: 0 } });
      expect(
        (await house.people()).map(({ resource }) => `${resource.externalId} ${resource.userName}`),
      ).toEqual(['a two', 'b three', 'c four', 'n one']);
    });

    test('gives the username of someone who is archived to somebody new in the same file', async () => {
      await using house = await openImportHouse({ dialect, settings: { actionDisabledUsers: 'a' } });
      await house.import(full(userXml('a', 'anna')));
      const run = await house.import(
        full(userXml('n', 'anna'), userXml('a', 'anna2', '<active>false</active>')),
      );
      expect(run).toMatchObject({ status: 'completed', counts: { created: 1, archived: 1, issues: 0 } });
      expect(await house.states()).toEqual(['anna archived', 'anna active']);
    });

    test('makes an issue of a rename to the username of someone who is not in the file, and imports the rest', async () => {
      await using house = await openImportHouse({ dialect });
      await house.import(full(userXml('a', 'anna'), userXml('b', 'bert')));
      await house.database.write((tx) => tx.insertInto('user').values(stranger('carl')).execute());
      const run = await house.import(full(userXml('a', 'carl'), userXml('b', 'bert', '<bio>x</bio>')));
      expect(run).toMatchObject({ status: 'completed-with-errors', counts: { updated: 1, issues: 1 } });
      expect(await house.runs.issues(run.id)).toEqual([
        {
          line: 5,
          recordId: 'a',
          code: 'uniqueness',
          message: 'Another user has this username; give this one another.',
        },
      ]);
    });

    test('takes a known person under a new id for the same when the old id is gone', async () => {
      await using house = await openImportHouse({ dialect });
      await house.import(full(userXml('old', 'anna'), userXml('b', 'bert')));
      const run = await house.import(full(userXml('new', 'anna'), userXml('b', 'bert')));
      expect(run.counts).toMatchObject({ created: 0, updated: 1, disabled: 0 });
      expect((await house.person('anna')).resource.externalId).toBe('new');
    });

    test('takes the first of two records with one username, in whatever letter case, and imports the rest', async () => {
      await using house = await openImportHouse({ dialect });
      await house.import(full(userXml('a', 'anna'), userXml('b', 'bert')));
      const run = await house.import(
        full(userXml('a', 'bert', '<jobtitle>X</jobtitle>'), userXml('b', 'bert2x'), userXml('c', 'BERT2X')),
      );
      expect(run.status).toBe('completed-with-errors');
      expect(await house.runs.issues(run.id)).toMatchObject([
        { recordId: 'c', code: 'duplicateRecord', line: 7 },
      ]);
      expect(await house.states()).toEqual(['bert active', 'bert2x active']);
    });
  });

  describe(`disabled and missing people on ${dialect}`, () => {
    const three = full(userXml('a', 'anna'), userXml('b', 'bert'), userXml('c', 'carl'));
    const without = (options: Readonly<Record<string, string>>) =>
      profileXml([userXml('a', 'anna'), userXml('b', 'bert', '<active>false</active>')], { options });

    test.each([
      ['d', 'd', ['anna active', 'bert inactive', 'carl inactive']],
      ['a', 'd', ['anna active', 'bert archived', 'carl inactive']],
      ['d', 'a', ['anna active', 'bert inactive', 'carl archived']],
      ['x', 'x', ['anna active', 'bert active', 'carl active']],
    ] as const)(
      'follow actionDisabledUsers %s and actionMissingDeletedUsers %s',
      async (disabled, missing, states) => {
        await using house = await openImportHouse({ dialect });
        await house.import(three);
        const options = { actionDisabledUsers: disabled, actionMissingDeletedUsers: missing };
        expect((await house.import(without(options))).status).toBe('completed');
        expect(await house.states()).toEqual([...states]);
      },
    );

    test('are nobody in a delta', async () => {
      await using house = await openImportHouse({ dialect });
      await house.import(three);
      await house.import(profileXml([userXml('a', 'anna', '<bio>x</bio>')], { options: { mode: 'delta' } }));
      expect(await house.states()).toEqual(['anna active', 'bert active', 'carl active']);
    });

    test('come back: the missing one by being in the file, the disabled one by active true', async () => {
      await using house = await openImportHouse({ dialect });
      await house.import(three);
      await house.import(without({}));
      const back = await house.import(full(userXml('a', 'anna'), userXml('b', 'bert'), userXml('c', 'carl')));
      expect(back.counts).toMatchObject({ reactivated: 1 });
      expect(await house.states()).toEqual(['anna active', 'bert inactive', 'carl active']);
      await house.import(
        full(userXml('a', 'anna'), userXml('b', 'bert', '<active>true</active>'), userXml('c', 'carl')),
      );
      expect(await house.states()).toEqual(['anna active', 'bert active', 'carl active']);
    });

    test('are not those whose record is in error, nor those of another source, nor those marked', async () => {
      await using house = await openImportHouse({ dialect });
      await house.import(three);
      const other = await house.addSource('Other');
      await house.import(
        profileXml([userXml('x', 'xaver'), userXml('y', 'carl')], { domain: 'Other', ldapid: '2' }),
        { source: other },
      );
      await house.database.write((tx) =>
        tx.updateTable('user').set({ do_not_synchronise: 1 }).where('user_name', '=', 'bert').execute(),
      );
      const run = await house.import(
        full(userXml('a', 'anna', '<userType>King</userType>'), userXml('z', 'carl2')),
      );
      expect(run.status).toBe('completed-with-errors');
      // carl was created by the first source: the other one has only a name for him.
      expect(await house.states()).toEqual([
        'anna active',
        'bert active',
        'carl inactive',
        'xaver active',
        'carl2 active',
      ]);
      expect(await house.runs.issues(run.id)).toMatchObject([{ recordId: 'a', code: 'invalidRecord' }]);
    });

    test('of another source stay as they are, whatever "active" says', async () => {
      await using house = await openImportHouse({ dialect });
      const other = await house.addSource('Other');
      await house.import(three);
      const xml = profileXml([userXml('y', 'carl', '<active>false</active><jobtitle>Y</jobtitle>')], {
        domain: 'Other',
        ldapid: '2',
      });
      const run = await house.import(xml, { source: other });
      expect(run.warnings).toEqual([
        '"active" of this file does not apply to users who belong to another source (1 of them differ).',
      ]);
      const carl = await house.person('carl');
      expect(carl).toMatchObject({ state: 'active', ownerSourceId: 1, resource: { title: 'Y' } });
    });
  });

  describe(`the guard on ${dialect}`, () => {
    test('holds a run that disables too many until it is approved, and changes nothing before', async () => {
      await using house = await openImportHouse({ dialect });
      await house.import(full(...manyUsers(40)));
      const before = await house.people();
      const held = await house.import(full(...manyUsers(30)));
      expect(held).toMatchObject({
        status: 'awaiting-approval',
        message:
          'The import waits for approval: it would disable or archive 10 of 40 active users (limit 10). "rollcall run approve 2" lets it go on, "rollcall run reject 2" ends it.',
        planned: { disabled: 10, unchanged: 30 },
      });
      expect(await house.people()).toEqual(before);
      await house.runs.approve(held.id, decider);
      await house.processor().drain();
      expect(await house.runs.get(held.id)).toMatchObject({
        status: 'completed',
        counts: { disabled: 10, unchanged: 30 },
      });
      expect((await house.states()).filter((state) => state.endsWith('inactive'))).toHaveLength(10);
    });

    test('lets a run be rejected, which leaves nothing to do', async () => {
      await using house = await openImportHouse({ dialect });
      await house.import(full(...manyUsers(40)));
      const held = await house.import(full(...manyUsers(30)));
      expect(await house.runs.reject(held.id, decider)).toMatchObject({ status: 'rejected' });
      expect(await house.processor().drain()).toBe(0);
      expect(house.files('drop')).toEqual([]);
      await expect(house.runs.approve(held.id, decider)).rejects.toThrow(
        `Import ${held.id} is rejected and so cannot be approved.`,
      );
    });

    test('lets a later file within limits take the place of one that waits', async () => {
      await using house = await openImportHouse({ dialect });
      await house.import(full(...manyUsers(40)));
      const held = await house.import(full(...manyUsers(20)));
      const receipt = await house.accept(full(...manyUsers(39)));
      expect(receipt).toMatchObject({
        willBeProcessed: false,
        reason: expect.stringContaining(`Import ${held.id}`),
      });
      await house.processor().drain();
      expect(await house.runs.get(receipt.importId)).toMatchObject({
        status: 'completed',
        counts: { disabled: 1 },
      });
      expect(await house.runs.get(held.id)).toMatchObject({ status: 'superseded' });
      expect(house.files('drop')).toEqual([]);
    });

    test('holds a file that has shrunk, and one full of errors', async () => {
      await using house = await openImportHouse({
        dialect,
        settings: { ...strictGuard, actionMissingDeletedUsers: 'x' },
      });
      await house.import(full(...manyUsers(10)));
      const shrunk = await house.import(full(...manyUsers(7)));
      expect(shrunk).toMatchObject({
        status: 'awaiting-approval',
        message: expect.stringContaining('the file has 7 users, the last one had 10'),
      });
      const bad = [
        userXml('e1', 'e1', '<userType>King</userType>'),
        userXml('e2', 'e2', '<userType>King</userType>'),
      ];
      const wrong = await house.import(full(...manyUsers(10), ...bad));
      expect(wrong).toMatchObject({
        status: 'awaiting-approval',
        message: expect.stringContaining('2 of 12 records are in error'),
      });
    });

    test('stops nobody from being cancelled', async () => {
      await using house = await openImportHouse({ dialect });
      const { importId } = await house.accept(full(userXml('a', 'anna')));
      expect(await house.runs.cancel(importId, decider)).toMatchObject({ status: 'cancelled' });
      expect(await house.processor().drain()).toBe(0);
      expect(await house.people()).toEqual([]);
      expect(house.files('drop')).toEqual([]);
    });
  });
}
