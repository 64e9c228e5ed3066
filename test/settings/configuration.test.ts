import { describe, expect, test } from 'bun:test';
import { Configurations } from '../../src/settings/configuration.ts';
import { enterpriseUrn, fieldsUrn, openTestApp, platformUrn } from '../support/app.ts';
import { dialects, openDatabase, openTestDatabase } from '../support/database.ts';

describe.each(dialects())('settings on %s', (dialect) => {
  test('have defaults, bounds, and are seen by another process at once', async () => {
    await using place = await openTestDatabase(dialect);
    const other = openDatabase(dialect, place.location);
    const [mine, theirs] = [new Configurations(place.database), new Configurations(other)];
    expect((await theirs.current()).settings.countDefault).toBe(100);
    await mine.setSetting('countDefault', '7');
    expect((await theirs.current()).settings.countDefault).toBe(7);
    for (const text of ['0', '1001', '-1', 'x', '1.5'])
      await expect(mine.setSetting('countDefault', text)).rejects.toThrow('from 1 to 1000');
    await expect(mine.setSetting('nothing', '1')).rejects.toThrow('the settings are: passwordStrengthRegex');
    await expect(mine.setSetting('__proto__', '1')).rejects.toThrow('There is no setting');
    await other.close();
  });

  test('take a password regex that does not compile only by force', async () => {
    await using place = await openTestDatabase(dialect);
    const configurations = new Configurations(place.database);
    const refused = await configurations.setSetting('passwordStrengthRegex', '(').catch(String);
    expect(refused).toContain('offset 1');
    expect(await configurations.getSetting('passwordStrengthRegex')).toBe('');
    await configurations.setSetting('passwordStrengthRegex', '(', { force: true });
    expect(await configurations.getSetting('passwordStrengthRegex')).toBe('(');
  });

  test('have another version after each of many changes at once', async () => {
    await using place = await openTestDatabase(dialect);
    const configurations = new Configurations(place.database);
    const names = ['countDefault', 'archiveRunsKept', 'countMax', 'passwordStrengthRegex'] as const;
    for (let round = 1; round <= 5; round += 1) {
      await Promise.all(names.map((name) => configurations.setSetting(name, String(round))));
      expect((await configurations.current()).version).toBe(String(round * names.length));
    }
  });

  test('are read anew after a failure', async () => {
    await using place = await openTestDatabase(dialect);
    const configurations = new Configurations(place.database);
    const broken = { id: 'a', label: 'A', type: 'string' as const, pattern: '(', ordinal: 1 };
    await place.database.write((tx) => tx.insertInto('additional_field').values(broken).execute());
    await expect(configurations.current()).rejects.toThrow();
    await place.database.write((tx) => tx.deleteFrom('additional_field').execute());
    expect((await configurations.current()).settings.countMax).toBe(1_000);
  });
});

describe.each(dialects())('additional fields on %s', (dialect) => {
  test('are part of the schema, of writes and of answers at once', async () => {
    await using app = await openTestApp({ dialect });
    await app.createUser({ userName: 'ann', [fieldsUrn]: { badge_number: 'B-1' } });
    expect((await app.call('GET', '/Users/1')).body[fieldsUrn]).toBeUndefined();
    const field = await app.configurations.createField('Badge  Number', 'string', '[A-Z]-\\d+');
    expect(field.id).toMatch(/^badge_+number$/);
    const schema = await app.call('GET', `/Schemas/${fieldsUrn}`);
    expect(schema.body.attributes).toMatchObject([{ name: field.id, type: 'string' }]);
    const path = `${fieldsUrn}:${field.id}`;
    const set = await app.patch('/Users/1', [{ op: 'add', path, value: 'B-22' }]);
    expect(set.body[fieldsUrn]).toEqual({ [field.id]: 'B-22' });
    expect(set.body.schemas).toContain(fieldsUrn);
    expect((await app.find('/Users', `${path} eq "B-22"`)).body.totalResults).toBe(1);
  });

  test('that are removed are neither shown nor found nor written, and come back with their values', async () => {
    await using app = await openTestApp({ dialect });
    const { configurations } = app;
    await configurations.createField('Badge', 'string', null);
    await configurations.createField('Desk', 'string', null);
    await app.createUser({ userName: 'ann', [fieldsUrn]: { badge: 'B', desk: 'D' } });
    await app.createUser({ userName: 'bob', [fieldsUrn]: { badge: 'C' } });
    await configurations.removeField('badge');
    const get = async (id: number) => (await app.call('GET', `/Users/${id}`)).body;
    expect((await get(1))[fieldsUrn]).toEqual({ desk: 'D' });
    expect(await get(2)).not.toHaveProperty(fieldsUrn);
    expect((await get(2)).schemas).not.toContain(fieldsUrn);
    expect((await app.call('GET', '/Users')).text).not.toContain('badge');
    expect((await app.call('GET', `/Schemas/${fieldsUrn}`)).text).not.toContain('badge');
    expect((await app.find('/Users', `${fieldsUrn}:badge eq "B"`)).status).toBe(400);
    const path = `${fieldsUrn}:badge`;
    expect((await app.patch('/Users/1', [{ op: 'replace', path, value: 'X' }])).status).toBe(400);
    // Every other change leaves what nobody can see alone.
    await app.call('PUT', '/Users/1', { userName: 'ann', [fieldsUrn]: { badge: 'Y' } });
    await app.patch('/Users/2', [{ op: 'remove', path: fieldsUrn }]);
    await app.patch('/Users/2', [{ op: 'add', path: 'title', value: 'Boss' }]);
    await app.createUser({ userName: 'bob', [fieldsUrn]: { badge: 'Z' } });
    expect(await get(1)).not.toHaveProperty(fieldsUrn);
    await configurations.createField('Badge', 'string', null);
    expect((await get(1))[fieldsUrn]).toEqual({ badge: 'B' });
    expect((await get(2))[fieldsUrn]).toEqual({ badge: 'C' });
  });

  test('that are required are asked of who has any of them', async () => {
    await using app = await openTestApp({ dialect });
    await app.configurations.createField('Badge', 'string', null, { required: true });
    await app.configurations.createField('Desk', 'integer', null);
    const { body } = await app.call('GET', `/Schemas/${fieldsUrn}`);
    expect(body.attributes.map(({ required }: { required: boolean }) => required)).toEqual([true, false]);
    expect((await app.createUser({ userName: 'ann' })).status).toBe(201);
    const refused = await app.createUser({ userName: 'bob', [fieldsUrn]: { desk: 7 } });
    expect(refused).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
    expect(refused.body.detail).toContain(`${fieldsUrn}:badge is required`);
    const desk = { op: 'add', path: `${fieldsUrn}:desk`, value: 7 };
    const badge = { op: 'add', path: `${fieldsUrn}:badge`, value: 'A' };
    expect(await app.patch('/Users/1', [desk])).toMatchObject({
      status: 400,
      body: { scimType: 'invalidValue' },
    });
    expect((await app.patch('/Users/1', [desk, badge])).status).toBe(200);
    await app.createUser({ userName: 'bob', [fieldsUrn]: { desk: 7, badge: 'B' } });
    const removed = await app.patch('/Users/2', [{ op: 'remove', path: `${fieldsUrn}:badge` }]);
    expect(removed).toMatchObject({ status: 400, body: { scimType: 'mutability' } });
  });

  test('hold values that match their pattern as a whole', async () => {
    await using app = await openTestApp({ dialect });
    await app.configurations.createField('Badge', 'string', 'A|B');
    for (const value of ['AB', 'xA', 'B\nA', 'C']) {
      const answer = await app.createUser({ userName: 'ann', [fieldsUrn]: { badge: value } });
      expect(answer).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
      expect(answer.body.detail).toContain('"badge"');
    }
    expect((await app.createUser({ userName: 'ann', [fieldsUrn]: { badge: 'B' } })).status).toBe(201);
  });

  test('are refused twice, with a label that makes no id, and with a pattern that RE2 does not know', async () => {
    await using place = await openTestDatabase(dialect);
    const configurations = new Configurations(place.database);
    await configurations.createField('Cost Centre', 'string', null);
    await expect(configurations.createField('cost centre', 'string', null)).rejects.toMatchObject({
      kind: 'uniqueness',
    });
    for (const label of ['', '1st', 'Größe', 'a-b', '_x'])
      await expect(configurations.createField(label, 'string', null)).rejects.toMatchObject({
        kind: 'invalidValue',
      });
    await expect(configurations.createField('Looking', 'string', '(?=x)')).rejects.toThrow('RE2');
    expect((await configurations.listFields()).map((field) => field.id)).toEqual(['cost_centre']);
  });
});

describe.each(dialects())('personas on %s', (dialect) => {
  test('show who is in any or in all of their groups, and by which', async () => {
    await using app = await openTestApp({ dialect });
    await app.createUser({ userName: 'ann', [enterpriseUrn]: { department: 'HR' } });
    await app.createUser({ userName: 'bob' });
    await app.createGroup({ displayName: 'Sales', members: [{ value: '1' }, { value: '2' }] });
    await app.configurations.createPersona({ name: 'Either', rule: 'any', groupIds: [1, 2] });
    await app.configurations.createPersona({ name: 'Both', rule: 'all', groupIds: [1, 2] });
    const personasOf = async (id: number) =>
      ((await app.call('GET', `/Users/${id}`)).body[platformUrn]?.personas ?? []).map(
        (persona: { display: string; memberships: { display: string }[] }) => [
          persona.display,
          ...persona.memberships.map((membership) => membership.display),
        ],
      );
    expect(await personasOf(1)).toEqual([
      ['Either', 'HR', 'Sales'],
      ['Both', 'HR', 'Sales'],
    ]);
    expect(await personasOf(2)).toEqual([['Either', 'Sales']]);
    await app.patch('/Groups/2', [{ op: 'remove', path: 'members' }]);
    expect(await personasOf(2)).toEqual([]);
  });

  test('cannot be written by a client', async () => {
    await using app = await openTestApp({ dialect });
    await app.createUser({ userName: 'ann' });
    const path = `${platformUrn}:personas`;
    expect(await app.patch('/Users/1', [{ op: 'add', path, value: [{ value: '1' }] }])).toMatchObject({
      status: 400,
      body: { scimType: 'mutability' },
    });
  });

  test('need a name of their own and groups that exist', async () => {
    await using app = await openTestApp({ dialect });
    await app.createGroup({ displayName: 'Sales' });
    await app.configurations.createPersona({ name: 'Sellers', rule: 'any', groupIds: [1] });
    const create = (name: string, ids: number[]) =>
      app.configurations.createPersona({ name, rule: 'any', groupIds: ids });
    await expect(create('sellers', [1])).rejects.toMatchObject({ kind: 'uniqueness' });
    await expect(create('New', [9])).rejects.toThrow('no group with the id 9');
    await expect(create('New', [])).rejects.toMatchObject({ kind: 'invalidValue' });
  });
});
