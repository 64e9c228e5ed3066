import { describe, expect, test } from 'bun:test';
import { enterpriseUserUrn, platformUserUrn } from '../../src/resource/schema.ts';
import { openImportHouse, profileXml, stranger, userXml } from './support.ts';

const full = (...users: string[]) => profileXml(users);
const delta = (...users: string[]) => profileXml(users, { options: { mode: 'delta' } });

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

function fields(database: import('../../src/storage/database.ts').Database) {
  return {
    dialect: database.dialect,
    read: database.read,
    migrator: database.migrator,
    writeStep: database.writeStep.bind(database),
    isAwaited: database.isAwaited.bind(database),
    lendTurn: database.lendTurn.bind(database),
    close: database.close.bind(database),
  };
}
