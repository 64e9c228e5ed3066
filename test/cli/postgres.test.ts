import { describe, expect, test } from 'bun:test';
import { createPostgresDatabase, postgresUrl } from '../support/postgres.ts';
import { type Json, readFailure, Workplace } from './support.ts';

const serverUrl = postgresUrl();

describe.skipIf(serverUrl === undefined)('commands on PostgreSQL', () => {
  test('make the tables once, whoever comes first', async () => {
    await using database = await createPostgresDatabase(serverUrl ?? '');
    using place = new Workplace();
    place.environment.ROLLCALL_DATABASE = database.url;
    const create = ['source', 'create', '--kind', 'scim', '--name'];
    const made = await Promise.all(['a', 'b', 'c'].map((name) => place.json(...create, name)));
    expect(made.map(({ id }) => id).toSorted()).toEqual([1, 2, 3]);
    expect((await place.json('source', 'token', 'a')).token).toBe(made[0]?.token);
    expect(readFailure(await place.run(...create, 'A'))).toBe(
      'There is a source named "A" already; choose another name.',
    );
  }, 30_000);

  test('doctor looks at database, tables and key', async () => {
    await using database = await createPostgresDatabase(serverUrl ?? '');
    using place = new Workplace();
    place.environment.ROLLCALL_DATABASE = database.url;
    await place.json('source', 'create', '--kind', 'scim', '--name', 'a');
    const { passed, checks } = await place.json('doctor');
    expect((checks as Json[]).map(({ name }) => name)).toEqual([
      'data folder',
      'secret key',
      'free space',
      'database',
      'tables',
      'counts',
      'key',
      'brake',
    ]);
    expect(passed).toBe(true);
  }, 30_000);

  test('backup and restore point to the tools of PostgreSQL', async () => {
    using place = new Workplace();
    place.environment.ROLLCALL_DATABASE = serverUrl ?? '';
    for (const command of ['backup', 'restore']) {
      expect(readFailure(await place.run(command, 'copy.db'))).toBe(
        'The data is in PostgreSQL; use its own tools (pg_dump, pg_restore) to back it up.',
      );
    }
  });
});
