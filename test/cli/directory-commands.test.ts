import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { type DirectoryContext, machineContext } from '../../src/directory/context.ts';
import { Groups } from '../../src/directory/groups.ts';
import { Users } from '../../src/directory/users.ts';
import { PasswordHasher } from '../../src/security/password-hash.ts';
import { Configurations } from '../../src/settings/configuration.ts';
import { openSqlite } from '../../src/storage/sqlite.ts';
import { type Json, readFailure, Workplace } from './support.ts';

/** A data folder with two people, one of them in a company. */
async function withPeople(): Promise<Workplace> {
  const place = new Workplace();
  await place.json('source', 'create', '--kind', 'scim', '--name', 'Okta');
  const database = openSqlite({ path: join(place.data, 'rollcall.db') });
  const context: DirectoryContext = {
    actor: { kind: 'source', id: 1 },
    sourceId: 1,
    scope: 'all',
    unknownReferences: 'reject',
    requestId: null,
    runId: null,
    configuration: await new Configurations(database).current(),
    now: '2026-01-02T03:04:05.678Z',
  };
  const users = new Users(database, new PasswordHasher());
  const emails = [{ value: 'ann@example.org', type: 'work' }];
  await users.create(context, { userName: 'ann', displayName: 'Ann \u001b[31mLee', emails }, 'reject');
  await users.create(context, { userName: 'bob', active: false }, 'reject');
  const members = [{ value: '1' }];
  const extension = { groupType: 'company' };
  const platform = 'urn:ietf:params:scim:schemas:extension:platform:2.0:Group';
  await new Groups(database).create(
    context,
    { displayName: 'Acme', members, [platform]: extension },
    'reject',
  );
  await database.close();
  return place;
}

/** Carl comes after Ann and Bob, and goes again. */
async function withCarlArchived(place: Workplace): Promise<void> {
  const database = openSqlite({ path: join(place.data, 'rollcall.db') });
  const configuration = await new Configurations(database).current();
  const context = machineContext(configuration, { kind: 'system', id: null }, '2026-02-02T00:00:00.000Z');
  const users = new Users(database, new PasswordHasher());
  const emails = [{ value: 'carl@example.org', type: 'work' }];
  await users.create(context, { userName: 'carl', emails }, 'reject');
  await users.delete(context, 3);
  await database.close();
}

describe('rollcall user find', () => {
  const hits: [query: string, names: string[]][] = [
    ['ANN', ['ann']],
    ['@example.org', ['ann']],
    ['b', ['bob']],
    ['2', ['bob']],
    ['"', []],
  ];
  test.each(hits)('finds by %j', async (query, names) => {
    using place = await withPeople();
    const { totalResults, users } = await place.json('user', 'find', query);
    expect((users as { resource: Json }[]).map(({ resource }) => resource.userName)).toEqual(names);
    expect(totalResults).toBe(names.length);
    for (const { resource } of users as { resource: Json }[]) {
      expect(resource.schemas).toEqual(['urn:ietf:params:scim:schemas:core:2.0:User']);
    }
  });

  test('finds archived people last, and with --archived them alone', async () => {
    using place = await withPeople();
    await withCarlArchived(place);
    const names = async (...words: string[]) => {
      const { totalResults, users } = await place.json('user', 'find', ...words);
      const found = users as { resource: Json; state: string }[];
      expect(totalResults).toBe(found.length);
      return found.map(({ resource, state }) => `${resource.userName} ${state}`);
    };
    expect(await names('a')).toEqual(['ann active', 'carl archived']);
    expect(await names('a', '--archived')).toEqual(['carl archived']);
    expect(await names('3', '--archived')).toEqual(['carl archived']);
    expect((await place.run('user', 'find', 'CAR')).stdout).toMatch(/3 +archived +carl/);
  });

  test('prints nothing that moves the cursor of a terminal', async () => {
    using place = await withPeople();
    const { stdout } = await place.run('user', 'find', 'ann');
    expect(stdout).toContain('Ann \ufffd[31mLee');
    expect(stdout).not.toContain('\u001b');
  });

  test('refuses an empty text', async () => {
    using place = await withPeople();
    expect(readFailure(await place.run('user', 'find', ' '))).toBe(
      'Search for a text of 1 to 200 characters.',
    );
  });
});

describe('rollcall user show', () => {
  test('shows the SCIM resource, state and owner', async () => {
    using place = await withPeople();
    const shown = await place.json('user', 'show', '1', '--public-url', 'https://id.example');
    expect(shown).toMatchObject({ id: 1, state: 'active', ownerSourceId: 1, doNotSynchronise: false });
    expect(shown.resource).toMatchObject({
      id: '1',
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      userName: 'ann',
      meta: { location: 'https://id.example/api/v2/scim/v2/Users/1' },
    });
    expect((await place.run('user', 'show', '1')).stdout).toMatch(/^groups: {3}Acme \(company\)$/m);
  });

  test('says that there is no such person', async () => {
    using place = await withPeople();
    for (const id of ['9', '0', 'ann', '1e0']) {
      expect(readFailure(await place.run('user', 'show', id))).toBe(
        `There is no user with the id "${id}"; "rollcall user find" looks by name.`,
      );
    }
  });
});

describe('rollcall persona', () => {
  test('create makes a persona of groups, and list shows it', async () => {
    using place = await withPeople();
    const persona = { id: 1, name: 'Staff', rule: 'any', groupIds: [1] };
    expect(await place.json('persona', 'create', '--name', 'Staff', '--any', '1', '1')).toEqual(persona);
    expect(await place.json('persona', 'list')).toEqual({ personas: [persona] });
  });

  const refusals: [words: string[], sentence: string][] = [
    [['--any', '7'], 'There is no group with the id 7.'],
    [['--any', 'Acme'], 'The id of a group is a number, not "Acme".'],
    [[], 'A persona takes either --any or --all, with the ids of its groups.'],
    [['--any', '1', '--all', '1'], 'A persona takes either --any or --all, with the ids of its groups.'],
  ];
  test.each(refusals)('create refuses %j', async (words, sentence) => {
    using place = await withPeople();
    expect(readFailure(await place.run('persona', 'create', '--name', 'Staff', ...words))).toBe(sentence);
  });
});
