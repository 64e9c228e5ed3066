import { describe, expect, test } from 'bun:test';
import { Configurations } from '../../src/settings/configuration.ts';
import { openTestApp, userUrn } from '../support/app.ts';
import { dialects, openDatabase, openTestDatabase } from '../support/database.ts';

const standard = ['Power User', 'Intranet User', 'Non Intranet User'];

describe.each(dialects())('the type of a user on %s', (dialect) => {
  test('is Intranet User when nothing is said, and again when it is taken away', async () => {
    await using app = await openTestApp({ dialect });
    const typeAfter = async (answer: ReturnType<typeof app.call>) => (await answer).body.userType;
    expect(await typeAfter(app.createUser({ userName: 'ann' }))).toBe('Intranet User');
    expect((await app.find('/Users', 'userType eq "intranet user"')).body.totalResults).toBe(1);
    for (const operation of [
      { op: 'remove', path: 'userType' },
      { op: 'replace', path: 'userType', value: '' },
      { op: 'replace', value: { userType: null } },
    ]) {
      await app.patch('/Users/1', [{ op: 'replace', path: 'userType', value: 'Power User' }]);
      expect(await typeAfter(app.patch('/Users/1', [operation]))).toBe('Intranet User');
    }
    await app.patch('/Users/1', [{ op: 'replace', path: 'userType', value: 'Power User' }]);
    expect(await typeAfter(app.call('PUT', '/Users/1', { userName: 'ann' }))).toBe('Intranet User');
    const { version } = (await app.call('GET', '/Users/1')).body.meta;
    const again = await app.call('PUT', '/Users/1', { userName: 'ann' });
    expect(again.body.meta.version).toBe(version);
  }, 20_000);

  test('is compared without case and answered in the spelling of the list', async () => {
    await using app = await openTestApp({ dialect });
    for (const [index, userType] of standard.entries()) {
      const created = await app.createUser({ userName: `u${index}`, userType: userType.toUpperCase() });
      expect(created.body.userType).toBe(userType);
      expect((await app.find('/Users', `userType eq "${userType.toLowerCase()}"`)).body.totalResults).toBe(1);
    }
  });

  test('that nobody listed is refused with the list', async () => {
    await using app = await openTestApp({ dialect });
    await app.createUser({ userName: 'ann' });
    for (const answer of [
      await app.createUser({ userName: 'bob', userType: 'Employee' }),
      await app.call('PUT', '/Users/1', { userName: 'ann', userType: 'Employee' }),
      await app.patch('/Users/1', [{ op: 'replace', path: 'userType', value: 'Employee' }]),
    ]) {
      expect(answer).toMatchObject({
        status: 400,
        body: {
          scimType: 'invalidValue',
          detail: 'The attribute userType must be one of: Power User, Intranet User, Non Intranet User.',
        },
      });
    }
    expect(await app.history()).toEqual(['User 1 create']);
  });

  test('may be one that the setting adds, in every process and in /Schemas at once', async () => {
    await using app = await openTestApp({ dialect });
    const canonicalValues = async () => {
      const { body } = await app.call('GET', `/Schemas/${userUrn}`);
      return body.attributes.find(({ name }: { name: string }) => name === 'userType').canonicalValues;
    };
    expect(await canonicalValues()).toEqual(standard);
    await app.configurations.setSetting('userTypes', ' Contractor ,Board Member,');
    expect(await app.configurations.getSetting('userTypes')).toBe('Contractor, Board Member');
    expect(await canonicalValues()).toEqual([...standard, 'Contractor', 'Board Member']);
    const created = await app.createUser({ userName: 'ann', userType: 'board MEMBER' });
    expect(created.body.userType).toBe('Board Member');
    // One that is no longer listed stays with those who are of it, and is given to nobody else.
    await app.configurations.setSetting('userTypes', '');
    const changed = await app.patch('/Users/1', [{ op: 'replace', path: 'title', value: 'Chair' }]);
    expect(changed).toMatchObject({ status: 200, body: { userType: 'Board Member' } });
    expect((await app.createUser({ userName: 'bob', userType: 'Board Member' })).status).toBe(400);
  });
});

describe('the setting userTypes', () => {
  test('is seen by another process at once', async () => {
    await using place = await openTestDatabase('sqlite');
    const other = openDatabase('sqlite', place.location);
    const [mine, theirs] = [new Configurations(place.database), new Configurations(other)];
    await theirs.current();
    await mine.setSetting('userTypes', 'Contractor');
    expect((await theirs.current()).userType.attributes.get('userType')?.canonicalValues).toContain(
      'Contractor',
    );
    await other.close();
  });

  test.each([
    ['power user', 'each name once'],
    ['A, B, a', 'each name once'],
    ['x'.repeat(101), 'names of 1 to 100'],
    ['A\tB', 'names of 1 to 100'],
    [Array.from({ length: 51 }, (_, index) => `T${index}`).join(), 'at most 50'],
  ])('refuses %j', async (value, sentence) => {
    await using place = await openTestDatabase('sqlite');
    const configurations = new Configurations(place.database);
    await expect(configurations.setSetting('userTypes', value)).rejects.toThrow(sentence);
    expect(await configurations.getSetting('userTypes')).toBe('');
  });
});
