import { describe, expect, test } from 'bun:test';
import { sql } from 'kysely';
import { migrateToLatest } from '../../src/storage/migrate.ts';
import { migrations } from '../../src/storage/migrations/index.ts';
import { dialects, emptyDatabase, openDatabase, openTestDatabase } from '../support/database.ts';

describe.each(dialects())('migrateToLatest on %s', (dialect) => {
  test('makes the tables once, and finds nothing to do the second time', async () => {
    await using place = await emptyDatabase(dialect);
    const database = openDatabase(dialect, place.location);
    expect(await migrateToLatest(database)).toEqual(Object.keys(migrations));
    expect(await migrateToLatest(database)).toEqual([]);
    expect(await database.read.selectFrom('sequence').selectAll().orderBy('name').execute()).toEqual([
      { name: 'Group', next: 1 },
      { name: 'User', next: 1 },
    ]);
    await database.close();
  });

  test('refuses a database that a newer release has written', async () => {
    await using place = await openTestDatabase(dialect);
    await sql`insert into kysely_migration (name, timestamp) values ('9999-later', '2030-01-01')`.execute(
      place.database.migrator,
    );
    await expect(migrateToLatest(place.database)).rejects.toThrow('written by a newer release');
  });

  test('has done its work once when two processes start together', async () => {
    await using place = await emptyDatabase(dialect);
    const both = [openDatabase(dialect, place.location), openDatabase(dialect, place.location)];
    const done = await Promise.all(both.map((database) => migrateToLatest(database)));
    expect(done.flat()).toEqual(Object.keys(migrations));
    for (const database of both) await database.close();
  });
});
