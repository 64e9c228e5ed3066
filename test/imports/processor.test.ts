import { describe, expect, test } from 'bun:test';
import { enterpriseUserUrn, platformUserUrn } from '../../src/resource/schema.ts';
import { dialects } from '../support/database.ts';
import { decider, openImportHouse, profileXml, strictGuard, userXml } from './support.ts';

const full = (...users: string[]) => profileXml(users);
const delta = (...users: string[]) => profileXml(users, { options: { mode: 'delta' } });
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
      expect(user).toMatchObject({ state: 'active', ownerSourceId: 1, version: 1 });
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

describe('managers', () => {
  test('are found by id, username, email and number, and unknown or ambiguous ones are issues', async () => {
    await using house = await openImportHouse();
    const run = await house.import(
      full(
        userXml('m1', 'boss', '<email>boss@example.com</email>'),
        userXml('p1', 'p1', '<manager>m1</manager>'),
        userXml('p2', 'p2', '<manager>boss@example.com</manager>'),
        userXml('p3', 'p3', '<manager>later</manager>'),
        userXml('p4', 'p4', '<jobtitle>Kept</jobtitle><manager>nobody</manager>'),
        userXml('p5', 'p5', '<manager>p5</manager>'),
        userXml('p6', 'p6', '<manager>p7</manager>'),
        userXml('p7', 'p7', '<manager>p6</manager>'),
        userXml('l', 'later'),
      ),
    );
    expect(run.status).toBe('completed-with-errors');
    const managers = (await house.people()).map(
      (user) => `${user.resource.userName}: ${user.manager?.displayName ?? '-'}`,
    );
    expect(managers).toEqual([
      'boss: -',
      'p1: boss',
      'p2: boss',
      'p3: later',
      'p4: -',
      'p5: p5',
      'p6: p7',
      'p7: p6',
      'later: -',
    ]);
    expect(await house.runs.issues(run.id)).toEqual([
      {
        line: 9,
        recordId: 'p4',
        code: 'managerNotFound',
        message:
          'The manager "nobody" is not the id, userName, primary or work email, or externalId of any user.',
      },
    ]);
    expect(run.warnings).toEqual([
      'The user "p5" is their own manager; stored as given.',
      'The users "p6" → "p7" manage each other in a circle; stored as given.',
    ]);
    expect((await house.person('p4')).resource.title).toBe('Kept');
    const later = await house.import(
      delta(userXml('p7', 'p7', '<jobtitle>New</jobtitle><manager>p6</manager>'), userXml('q', 'q')),
    );
    expect(later.warnings).toEqual(['The users 7 → "p7" manage each other in a circle; stored as given.']);
  });

  test('who could not be created are taken back', async () => {
    await using house = await openImportHouse();
    await house.configurations.createField('Badge', 'string', 'B[0-9]+');
    // The name is taken between plan and apply, so that the manager exists in the plan only.
    const { importId } = await house.accept(
      full(userXml('p', 'person', '<manager>m</manager>'), userXml('m', 'boss')),
    );
    const taken = house.database.write.bind(house.database);
    let isTaken = false;
    const database = {
      ...fields(house.database),
      write: async <T>(work: Parameters<typeof taken<T>>[0]) => {
        const result = await taken(work);
        const run = await house.runs.get(importId);
        if (run.status === 'applying' && !isTaken) {
          isTaken = true;
          await house.database.write((tx) => tx.insertInto('user').values(stranger('boss')).execute());
        }
        return result;
      },
    };
    await house.processor(database).drain();
    const issues = await house.runs.issues(importId);
    expect(issues.map(({ recordId, code }) => `${recordId} ${code}`)).toEqual([
      'm uniqueness',
      'p managerNotFound',
    ]);
    expect((await house.person('person')).manager).toBeUndefined();
  });

  test('are left alone when syncManagers is false, and taken away by a blank', async () => {
    await using house = await openImportHouse();
    const users = (manager: string) => [userXml('a', 'anna', manager), userXml('b', 'bert')];
    await house.import(profileXml(users('<manager>b</manager>'), { options: { syncManagers: 'false' } }));
    expect((await house.person('anna')).manager).toBeUndefined();
    await house.import(full(...users('<manager>b</manager>')));
    expect((await house.person('anna')).manager?.displayName).toBe('bert');
    await house.import(full(...users('<manager applyBlank="True"/>')));
    expect((await house.person('anna')).manager).toBeUndefined();
  });
});

describe('options', () => {
  test('of the file win over those of the source', async () => {
    await using house = await openImportHouse({
      settings: { actionMissingDeletedUsers: 'a', loginType: '1' },
    });
    await house.import(
      profileXml([userXml('a', 'anna'), userXml('b', 'bert')], { options: { loginType: '2' } }),
    );
    expect((await house.person('anna')).resource[platformUserUrn]).toEqual({ loginType: 'SAML' });
    await house.import(
      profileXml([userXml('a', 'anna')], { options: { actionMissingDeletedUsers: 'd', loginType: '2' } }),
    );
    expect(await house.states()).toEqual(['anna active', 'bert inactive']);
  });

  test('that are switched off leave their kind of data alone', async () => {
    await using house = await openImportHouse();
    const options = Object.fromEntries(
      ['syncCompanies', 'syncDepartments', 'syncLocations', 'syncGroups', 'syncAdditionalFields'].map(
        (name) => [name, 'false'],
      ),
    );
    await house.configurations.createField('Badge', 'string', null);
    const content =
      '<company>C</company><department>D</department><location>L</location><groups><group>G</group></groups>';
    const user = userXml('a', 'anna', content, '<field id="badge">7</field>');
    const groups = '<group id="g" type="company" name="Only"/>';
    await house.import(profileXml([user], { options, groups }));
    const anna = await house.person('anna');
    expect(anna.groups).toEqual([]);
    expect(Object.keys(anna.resource).toSorted()).toEqual(
      ['active', 'externalId', platformUserUrn, 'userName', 'userType'].toSorted(),
    );
    expect(await house.database.read.selectFrom('group_').selectAll().execute()).toEqual([]);
  });

  test('give default units, culture and login type only where there is none', async () => {
    await using house = await openImportHouse();
    await house.import(full(userXml('x', 'xaver', '<company>ACME</company><department>HR</department>')));
    const groups = await house.database.read.selectFrom('group_').select(['id', 'display_name']).execute();
    const idOf = (name: string) => String(groups.find((group) => group.display_name === name)?.id);
    await house.set({
      defaultCompany: idOf('ACME'),
      defaultDepartment: idOf('HR'),
      defaultLocation: '999',
      defaultCulture: 'en-GB',
    });
    const run = await house.import(
      full(
        userXml('x', 'xaver'),
        userXml('a', 'anna', '<culture>nb-NO</culture><company>Other</company>'),
        userXml('b', 'bert'),
      ),
    );
    expect(run.warnings).toEqual([
      'There is no location with the id "999"; new users get no default location.',
    ]);
    expect((await house.person('anna')).units).toMatchObject({ company: 'Other', department: 'HR' });
    expect((await house.person('bert')).resource).toMatchObject({
      preferredLanguage: 'en-GB',
      [enterpriseUserUrn]: { organization: 'ACME', department: 'HR' },
    });
    expect((await house.person('anna')).resource.preferredLanguage).toBe('nb-NO');
  });

  test('that are not known are named in the warnings, as are fields that are not configured', async () => {
    await using house = await openImportHouse();
    const run = await house.import(
      profileXml([userXml('a', 'anna', '', '<field id="shoe">42</field>')], { options: { colour: 'red' } }),
    );
    expect(run.warnings).toEqual([
      "The option 'colour' is not known and has no effect.",
      'The additional field "shoe" is not configured; it is left out (records that have it: 1).',
    ]);
  });
});

describe('memberships', () => {
  test('are left in groups of others, and end in groups of the source', async () => {
    await using house = await openImportHouse();
    await house.import(
      full(userXml('a', 'anna', '<groups><group>Mine</group><group>Also mine</group></groups>')),
    );
    const { id } = await house.person('anna');
    await house.database.write(async (tx) => {
      const row = {
        id: 900,
        state: 'existing' as const,
        owner_source_id: null,
        group_type: 'security group',
        display_name: 'Theirs',
        display_name_key: 'theirs',
        document: '{}',
        version: 1,
        created: '',
        modified: '',
      };
      await tx.insertInto('group_').values(row).execute();
      await tx.insertInto('membership').values({ group_id: 900, user_id: id, primary_type: null }).execute();
    });
    await house.import(full(userXml('a', 'anna', '<jobtitle>same groups</jobtitle>')));
    expect((await house.person('anna')).groups).toHaveLength(3);
    await house.import(full(userXml('a', 'anna', '<groups><group>Mine</group></groups>')));
    expect((await house.person('anna')).groups.map((group) => group.displayName).toSorted()).toEqual([
      'Mine',
      'Theirs',
    ]);
  });

  test('of a group that the file does not define are issues, and the user is imported', async () => {
    await using house = await openImportHouse();
    const run = await house.import(full(userXml('a', 'anna', '<groups><group ref="nope"/></groups>')));
    expect(await house.runs.issues(run.id)).toMatchObject([{ code: 'unknownGroup', recordId: 'a' }]);
    expect(await house.states()).toEqual(['anna active']);
  });
});

describe('groups of the file', () => {
  test('are created, renamed under their id, and described', async () => {
    await using house = await openImportHouse();
    const xml = (groups: string) => profileXml([userXml('a', 'anna')], { groups });
    await house.import(
      xml('<group id="g" type="department" name="Old"><description>One</description></group>'),
    );
    const run = await house.import(xml('<group id="g" type="department" name="New"/>'));
    expect(run.counts).toMatchObject({ groupsUpdated: 1, groupsCreated: 0 });
    const [group] = await house.database.read.selectFrom('group_').selectAll().execute();
    expect(group).toMatchObject({
      display_name: 'New',
      group_type: 'department',
      document: expect.stringContaining('One'),
    });
  });

  test('that change their type, or are given twice, are issues', async () => {
    await using house = await openImportHouse();
    const xml = (groups: string) => profileXml([userXml('a', 'anna')], { groups });
    await house.import(xml('<group id="g" type="department" name="G"/>'));
    const run = await house.import(
      xml(
        '<group id="g" type="location" name="H"/><group id="h" type="company" name="X"/><group id="i" type="company" name="x"/>',
      ),
    );
    expect((await house.runs.issues(run.id)).map(({ recordId, code }) => `${recordId} ${code}`)).toEqual([
      'g refused',
      'i duplicateRecord',
    ]);
  });
});

describe('passwords', () => {
  const withPassword = (id: string, password: string) => userXml(id, id, `<password>${password}</password>`);

  test('of new users are hashed, of known users left alone, and refused by the rule without losing the user', async () => {
    await using house = await openImportHouse();
    await house.configurations.setSetting('passwordStrengthRegex', '^.{8,}$');
    const run = await house.import(full(withPassword('a', 'long enough'), withPassword('b', 'short')));
    expect(run).toMatchObject({ status: 'completed-with-errors', counts: { created: 2, passwordsSet: 1 } });
    expect(await house.runs.issues(run.id)).toMatchObject([{ recordId: 'b', code: 'passwordRefused' }]);
    const hashes = () =>
      house.database.read.selectFrom('user').select(['user_name', 'password_hash']).orderBy('id').execute();
    const [a, b] = await hashes();
    expect(await Bun.password.verify('long enough', a?.password_hash ?? '')).toBe(true);
    expect(b?.password_hash).toBeNull();
    await house.import(full(withPassword('a', 'another one'), userXml('b', 'b', '<bio>x</bio>')));
    expect((await hashes())[0]).toEqual(a);
  });

  test.each([
    ['none', false],
    ['random', true],
  ])('with newUserPasswordBehaviour %s', async (newUserPasswordBehaviour, isSet) => {
    await using house = await openImportHouse();
    const options = { newUserPasswordBehaviour };
    await house.import(profileXml([withPassword('a', 'from the file')], { options }));
    const [row] = await house.database.read.selectFrom('user').select('password_hash').execute();
    expect(row?.password_hash !== null).toBe(isSet);
    expect(isSet && (await Bun.password.verify('from the file', row?.password_hash ?? ''))).toBe(false);
  });
});

describe('a dry run', () => {
  test('says what would happen, changes nothing, and does not count as imported', async () => {
    await using house = await openImportHouse();
    const xml = full(userXml('a', 'anna'), userXml('b', 'bert', '<userType>King</userType>'));
    const dry = await house.import(xml, { dryRun: true });
    expect(dry).toMatchObject({
      status: 'completed',
      dryRun: true,
      planned: { created: 1, issues: 1 },
      counts: { created: 0, issues: 1 },
    });
    expect(await house.people()).toEqual([]);
    expect(house.files('drop')).toEqual([]);
    expect(await house.accept(xml)).toMatchObject({ status: 'queued' });
  });
});

describe('additional fields', () => {
  test('are read by their type and checked against their pattern', async () => {
    await using house = await openImportHouse();
    await house.configurations.createField('Floor', 'integer', null);
    await house.configurations.createField('Badge', 'string', 'B[0-9]+');
    const field = (id: string, value: string) => `<field id="${id}">${value}</field>`;
    const run = await house.import(
      full(
        userXml('a', 'anna', '', field('floor', '3') + field('Badge', 'B1')),
        userXml('b', 'bert', '', field('floor', 'three')),
        userXml('c', 'carl', '', field('badge', 'X')),
      ),
    );
    expect(Object.values((await house.person('anna')).resource)).toContainEqual({ floor: 3, badge: 'B1' });
    expect((await house.runs.issues(run.id)).map(({ recordId, code }) => `${recordId} ${code}`)).toEqual([
      'b invalidRecord',
      'c invalidRecord',
    ]);
  });
});

describe('matching', () => {
  test('adopts by username or email somebody whom nobody owns', async () => {
    await using house = await openImportHouse();
    await house.database.write((tx) => tx.insertInto('user').values(stranger('anna')).execute());
    await house.import(full(userXml('a', 'Anna')));
    expect(await house.people()).toMatchObject([
      { id: 1000, ownerSourceId: 1, resource: { externalId: 'a' } },
    ]);
  });

  test('makes an issue of a username and an email that lead to two people', async () => {
    await using house = await openImportHouse();
    await house.database.write(async (tx) => {
      await tx
        .insertInto('user')
        .values([stranger('anna', 1000), stranger('bert', 1001)])
        .execute();
      await tx
        .insertInto('user_email')
        .values({ user_id: 1001, ordinal: 0, type: 'work', is_primary: 1, value_key: 'b@x' })
        .execute();
    });
    const run = await house.import(full(userXml('a', 'anna', '<email>b@x</email>'), userXml('c', 'carl')));
    expect(await house.runs.issues(run.id)).toMatchObject([{ recordId: 'a', code: 'ambiguousMatch' }]);
  });
});

function stranger(userName: string, id = 1000) {
  const names = {
    user_name: userName,
    user_name_key: userName,
    display_name: userName,
    display_name_key: null,
  };
  const keys = { family_name_key: null, employee_number_key: null, manager_id: null, password_hash: null };
  const rest = {
    owner_source_id: null,
    document: '{}',
    do_not_synchronise: 0 as const,
    version: 1,
    created: '',
    modified: '',
  };
  return { id, state: 'active' as const, ...names, ...keys, ...rest };
}

function fields(database: import('../../src/storage/database.ts').Database) {
  return {
    dialect: database.dialect,
    read: database.read,
    migrator: database.migrator,
    lendTurn: database.lendTurn.bind(database),
    close: database.close.bind(database),
  };
}
