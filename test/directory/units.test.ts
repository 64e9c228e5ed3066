import { describe, expect, test } from 'bun:test';
import {
  enterpriseUrn,
  openTestApp,
  platformGroupUrn,
  platformUrn,
  type TestApp,
  userUrn,
} from '../support/app.ts';
import { dialects } from '../support/database.ts';

const groupsOf = (body: { groups?: { display: string }[] }) =>
  (body.groups ?? []).map((group) => group.display);

async function unitsOf(app: TestApp, id: number): Promise<unknown> {
  const { body } = await app.call('GET', `/Users/${id}`);
  const { organization, department } = body[enterpriseUrn] ?? {};
  const { company, location } = body[platformUrn] ?? {};
  return { organization, department, company, location };
}

describe.each(dialects())('company, department and location on %s', (dialect) => {
  test('change the version of the groups that people join and leave, and of whoever is taken out', async () => {
    await using app = await openTestApp({ dialect });
    await app.createUser({ userName: 'ann', [enterpriseUrn]: { department: 'HR' } });
    const versionOf = async (path: string) => (await app.call('GET', path)).body.meta.version;
    const before = await versionOf('/Groups/1');
    await app.createUser({ userName: 'bob', [enterpriseUrn]: { department: 'HR' } });
    const joined = await versionOf('/Groups/1');
    expect(joined).not.toBe(before);
    await app.patch('/Users/2', [{ op: 'remove', path: `${enterpriseUrn}:department` }]);
    expect(await versionOf('/Groups/1')).not.toBe(joined);
    const ann = await versionOf('/Users/1');
    await app.patch('/Groups/1', [{ op: 'remove', path: 'members[value eq "1"]' }]);
    expect(await versionOf('/Users/1')).not.toBe(ann);
  });

  test('are groups of these types, created when somebody first names them', async () => {
    await using app = await openTestApp({ dialect });
    const { body } = await app.createUser({
      userName: 'ann',
      [enterpriseUrn]: { organization: 'Acme', department: 'HR' },
      [platformUrn]: { location: 'Oslo' },
    });
    expect(body).toMatchObject({
      [enterpriseUrn]: { organization: 'Acme', department: 'HR' },
      [platformUrn]: { company: 'Acme', location: 'Oslo' },
    });
    expect(groupsOf(body)).toEqual(['Acme', 'HR', 'Oslo']);
    const groups = await app.call('GET', '/Groups');
    expect(
      groups.body.Resources.map((group: Record<string, { groupType: string }>) => [
        group.displayName,
        group[platformGroupUrn]?.groupType,
      ]),
    ).toEqual([
      ['Acme', 'company'],
      ['HR', 'department'],
      ['Oslo', 'location'],
    ]);
  });

  test('are found by name without case, and shown as the group is named', async () => {
    await using app = await openTestApp({ dialect });
    await app.createUser({ userName: 'ann', [enterpriseUrn]: { department: 'Human Resources' } });
    await app.createUser({ userName: 'bob', [enterpriseUrn]: { department: 'human RESOURCES' } });
    expect(await unitsOf(app, 2)).toMatchObject({ department: 'Human Resources' });
    expect((await app.call('GET', '/Groups')).body.totalResults).toBe(1);
  });

  test('take the user out of the former group when they change, and when they are unset', async () => {
    await using app = await openTestApp({ dialect });
    await app.createUser({ userName: 'ann', [enterpriseUrn]: { department: 'HR' } });
    await app.patch('/Users/1', [{ op: 'replace', path: `${enterpriseUrn}:department`, value: 'Sales' }]);
    expect(groupsOf((await app.call('GET', '/Users/1')).body)).toEqual(['Sales']);
    expect((await app.call('GET', '/Groups/1')).body.members).toBeUndefined();
    await app.patch('/Users/1', [{ op: 'remove', path: `${enterpriseUrn}:department` }]);
    expect(groupsOf((await app.call('GET', '/Users/1')).body)).toEqual([]);
  });

  test('show their new name to every member when the group is renamed, under a new version', async () => {
    await using app = await openTestApp({ dialect });
    const { body } = await app.createUser({ userName: 'ann', [enterpriseUrn]: { department: 'HR' } });
    await app.patch('/Groups/1', [{ op: 'replace', path: 'displayName', value: 'People' }]);
    const after = (await app.call('GET', '/Users/1')).body;
    expect(after[enterpriseUrn].department).toBe('People');
    expect(after.meta.version).not.toBe(body.meta.version);
    await app.patch('/Users/1', [{ op: 'replace', path: 'title', value: 'x' }]);
    expect(await unitsOf(app, 1)).toMatchObject({ department: 'People' });
  });

  test('are gone when the group is deleted', async () => {
    await using app = await openTestApp({ dialect });
    const { body } = await app.createUser({ userName: 'ann', [enterpriseUrn]: { department: 'HR' } });
    expect((await app.call('DELETE', '/Groups/1')).status).toBe(204);
    const after = (await app.call('GET', '/Users/1')).body;
    expect(after[enterpriseUrn]).toBeUndefined();
    expect(after.groups).toBeUndefined();
    expect(after.meta.version).not.toBe(body.meta.version);
    await app.patch('/Users/1', [{ op: 'replace', path: `${enterpriseUrn}:department`, value: 'HR' }]);
    expect(groupsOf((await app.call('GET', '/Users/1')).body)).toEqual(['HR']);
  });

  test('stay when the user joins a second group of the type', async () => {
    await using app = await openTestApp({ dialect });
    await app.createUser({ userName: 'ann', [enterpriseUrn]: { department: 'HR' } });
    await app.createGroup({
      displayName: 'Sales',
      members: [{ value: '1' }],
      [platformGroupUrn]: { groupType: 'department' },
    });
    expect(await unitsOf(app, 1)).toMatchObject({ department: 'HR' });
    expect(groupsOf((await app.call('GET', '/Users/1')).body)).toEqual(['HR', 'Sales']);
    await app.patch('/Users/1', [{ op: 'replace', path: `${enterpriseUrn}:department`, value: 'Sales' }]);
    expect(await unitsOf(app, 1)).toMatchObject({ department: 'Sales' });
    expect(groupsOf((await app.call('GET', '/Users/1')).body)).toEqual(['Sales']);
  });

  test('end when the group removes the member', async () => {
    await using app = await openTestApp({ dialect });
    await app.createUser({ userName: 'ann', [enterpriseUrn]: { department: 'HR' } });
    await app.patch('/Groups/1', [{ op: 'remove', path: 'members[value eq "1"]' }]);
    expect(await unitsOf(app, 1)).toMatchObject({ department: undefined });
    await app.patch('/Users/1', [{ op: 'replace', path: `${enterpriseUrn}:department`, value: 'HR' }]);
    expect(await unitsOf(app, 1)).toMatchObject({ department: 'HR' });
  });

  test('company by two names in one PATCH is what the later operation says, whatever its name', async () => {
    await using app = await openTestApp({ dialect });
    await app.createUser({ userName: 'ann', [enterpriseUrn]: { organization: 'Acme' } });
    const organization = { op: 'replace', path: `${enterpriseUrn}:organization` };
    const company = { op: 'replace', path: `${platformUrn}:company` };
    const after = async (...operations: object[]) => {
      expect((await app.patch('/Users/1', operations)).status).toBe(200);
      return unitsOf(app, 1);
    };
    const both = (name: string | undefined) => expect.objectContaining({ organization: name, company: name });
    expect(await after({ ...organization, value: 'A' }, { ...company, value: 'B' })).toEqual(both('B'));
    expect(await after({ ...company, value: 'C' }, { ...organization, value: 'D' })).toEqual(both('D'));
    // The later one counts, also where it says what was stored.
    expect(await after({ ...company, value: 'E' }, { ...organization, value: 'D' })).toEqual(both('D'));
    expect(await after({ ...company, value: 'F' }, { op: 'remove', path: organization.path })).toEqual(
      both(undefined),
    );
    const value = { [enterpriseUrn]: { organization: 'G' }, [platformUrn]: { company: 'H' } };
    expect(await after({ op: 'add', value })).toEqual(both('G'));
    // Whoever sends back what was read, with one of the two changed, means that one.
    const echo = { [enterpriseUrn]: { organization: 'G' }, [platformUrn]: { company: 'I' } };
    expect(await after({ op: 'replace', value: echo })).toEqual(both('I'));
  });

  test('company by two names in one body is noted where one of them is lost', async () => {
    await using app = await openTestApp({ dialect });
    const body = (organization: string, company: string) => ({
      ...{ schemas: [userUrn], userName: 'ann' },
      [enterpriseUrn]: { organization },
      [platformUrn]: { company },
    });
    await app.createUser({
      ...body('Acme', 'Beta'),
      emails: [{ type: 'work' }, { type: 'home', value: '' }],
    });
    expect(await unitsOf(app, 1)).toMatchObject({ company: 'Acme' });
    await app.call('PUT', '/Users/1', body('Acme', 'Gamma'));
    expect(await unitsOf(app, 1)).toMatchObject({ company: 'Gamma' });
    await app.call('PUT', '/Users/1', body('GAMMA', 'Gamma'));
    const lost = app.requests().filter(({ method }) => method !== 'GET');
    expect(lost.map(({ ignored }) => ignored)).toEqual([
      [
        { attribute: 'emails', reason: 'noValue' },
        { attribute: `${platformUrn}:company`, reason: 'otherValue' },
      ],
      [{ attribute: `${enterpriseUrn}:organization`, reason: 'otherValue' }],
      [],
    ]);
  });

  test('company may be said in either of its two places', async () => {
    await using app = await openTestApp({ dialect });
    const both = { organization: 'Acme', company: 'Acme' };
    await app.createUser({ userName: 'ann', [platformUrn]: { company: 'Acme' } });
    expect(await unitsOf(app, 1)).toMatchObject(both);
    await app.patch('/Users/1', [{ op: 'replace', path: `${platformUrn}:company`, value: 'Beta' }]);
    expect(await unitsOf(app, 1)).toMatchObject({ organization: 'Beta', company: 'Beta' });
    await app.patch('/Users/1', [{ op: 'replace', path: `${enterpriseUrn}:organization`, value: 'Acme' }]);
    expect(await unitsOf(app, 1)).toMatchObject(both);
    await app.patch('/Users/1', [{ op: 'remove', path: `${platformUrn}:company` }]);
    expect(await unitsOf(app, 1)).toMatchObject({ organization: undefined, company: undefined });
  });

  test('keep a department apart from a security group of the same name', async () => {
    await using app = await openTestApp({ dialect });
    await app.createGroup({ displayName: 'Sales' });
    await app.createUser({ userName: 'ann', [enterpriseUrn]: { department: 'Sales' } });
    expect((await app.call('GET', '/Groups/1')).body.members).toBeUndefined();
    expect((await app.call('GET', '/Groups/2')).body.members).toMatchObject([{ value: '1' }]);
  });

  test('survive a change of the type of their group', async () => {
    await using app = await openTestApp({ dialect });
    await app.createUser({ userName: 'ann', [enterpriseUrn]: { department: 'Sales' } });
    await app.patch('/Groups/1', [
      { op: 'replace', path: `${platformGroupUrn}:groupType`, value: 'location' },
    ]);
    const moved = await app.patch('/Users/1', [
      { op: 'replace', path: `${enterpriseUrn}:department`, value: 'Research' },
    ]);
    expect(moved.status).toBe(200);
    expect(await unitsOf(app, 1)).toMatchObject({ department: 'Research' });
  });
});
