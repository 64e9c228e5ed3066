import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { additionalFieldsUrn, enterpriseUserUrn, platformUserUrn } from '../../src/resource/schema.ts';
import { openImportHouse } from './support.ts';

const sample = (name: string) => Bun.file(join(import.meta.dir, '../../schemas/samples', name)).text();

describe('the shipped sample files', () => {
  test('bring every attribute that a file can carry to its place', async () => {
    await using house = await openImportHouse();
    await house.configurations.createField('costcentre', 'string', null);
    const run = await house.import(await sample('full.xml'));
    expect(run).toMatchObject({
      status: 'completed',
      counts: { created: 12, groupsCreated: 8, passwordsSet: 1, issues: 0 },
      warnings: ['The additional field "badge" is not configured; it is left out (records that have it: 1).'],
    });
    const { resource, groups } = await house.person('astrid.berg@example.com');
    expect(resource).toEqual({
      userName: 'astrid.berg@example.com',
      externalId: '1001',
      active: true,
      userType: 'Intranet User',
      name: { givenName: 'Astrid', middleName: 'Solveig', familyName: 'Berg' },
      displayName: 'Astrid S. Berg',
      title: 'Head of Research',
      preferredLanguage: 'nb-NO',
      timezone: 'Europe/Oslo',
      emails: [
        { type: 'work', value: 'astrid.berg@example.com', primary: true },
        { type: 'home', value: 'astrid@example.org' },
      ],
      phoneNumbers: [
        { type: 'work', value: '+47 22 00 10 01' },
        { type: 'mobile', value: '+47 900 10 001' },
      ],
      ims: [
        { type: 'chat', value: 'astrid.berg' },
        { type: 'skype', value: 'live:astrid.berg' },
      ],
      addresses: [
        {
          type: 'work',
          streetAddress: 'Storgata 1\n3rd floor',
          locality: 'Oslo',
          region: 'Oslo',
          postalCode: '0155',
          country: 'NO',
        },
        { type: 'home', locality: 'Drammen', country: 'NO' },
      ],
      [enterpriseUserUrn]: {
        employeeNumber: '1001',
        organization: 'Northwind Holding',
        department: 'Research',
        manager: {
          value: String((await house.person('jonas.lind@example.com')).id),
          displayName: 'Jonas Lind',
        },
      },
      [platformUserUrn]: {
        loginType: 'Local Login',
        name: { title: 'Dr.', initials: 'ASB' },
        pronouns: 'she/her',
        jobStartDate: '2011-08-15T00:00:00Z',
        dateOfBirth: '1979-02-28T00:00:00Z',
        omitFromSearch: false,
        forcePasswordReset: true,
        bio: 'Leads research since 2019.\nPlays the viola & climbs <anything>.',
        company: 'Northwind Holding',
        location: 'Oslo',
      },
      [additionalFieldsUrn]: { costcentre: 'CC-4100' },
    });
    expect(groups.map((group) => `${group.groupType} ${group.displayName}`).toSorted()).toEqual([
      'company Northwind Holding',
      'department Research',
      'location Oslo',
      'security group Laboratory access',
      'security group Remote access',
    ]);
    expect((await house.person('lars.holm@example.com')).state).toBe('inactive');
  });

  test('follow each other as their comments say', async () => {
    await using house = await openImportHouse();
    await house.import(await sample('full.xml'));
    const run = await house.import(await sample('delta.xml'));
    expect(run).toMatchObject({
      status: 'completed',
      counts: { created: 2, updated: 4, reactivated: 1, disabled: 1, unchanged: 1 },
    });
    const [elif, joao, mei] = await Promise.all(
      ['elif.demir', 'joao.goncalves', 'mei.tanaka'].map((name) => house.person(`${name}@example.com`)),
    );
    expect(elif?.resource).toMatchObject({
      externalId: '1005',
      name: { familyName: 'Demir' },
      title: 'Engineer',
    });
    expect(joao?.manager).toBeUndefined();
    expect(mei?.manager?.displayName).toBe('Nadia Haddad');
    const states = await house.states();
    expect(states.filter((state) => !state.endsWith(' active'))).toEqual([
      'katrin.weiss@example.com inactive',
    ]);
    expect(states).toHaveLength(14);
  });
});
