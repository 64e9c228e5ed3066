import { describe, expect, spyOn, test } from 'bun:test';
import { sql } from 'kysely';
import { findLinks } from '../../src/directory/source-link-store.ts';
import type { Database, Dialect } from '../../src/storage/database.ts';
import type { DirectAdapter } from '../../src/storage/statement.ts';
import { dialects, openTestDatabase, type TestDatabase } from '../support/database.ts';

const now = '2030-01-01T00:00:00.000Z';

async function openWithLinks(dialect: Dialect): Promise<TestDatabase> {
  const opened = await openTestDatabase(dialect);
  const { database } = opened;
  await database.write(async (tx) => {
    const source = { kind: 'scim', name: 's', name_key: 's', active: 1, settings: '{}' } as const;
    await tx
      .insertInto('source')
      .values({ ...source, created: now, modified: now })
      .execute();
    const links = [1, 2, 3].map((id) => ({ resource_id: id, external_id: `e${id}`, digest: null }));
    await tx
      .insertInto('source_link')
      .values(links.map((link) => ({ ...link, source_id: 1, resource_type: 'User' as const })))
      .execute();
  });
  return opened;
}

describe('findLinks', () => {
  for (const dialect of dialects()) {
    test(`finds each name once on ${dialect}, however often it is asked`, async () => {
      await using opened = await openWithLinks(dialect);
      const found = await findLinks(opened.database.read, 1, 'User', ['e3', 'e1', 'e3', 'nobody']);
      expect(found.map((link) => [link.resource_id, link.external_id]).toSorted()).toEqual([
        [1, 'e1'],
        [3, 'e3'],
      ]);
    });
  }

  test('looks each name up in its index on SQLite, and reads no other link', async () => {
    await using opened = await openWithLinks('sqlite');
    const plan = await planOf(opened.database, () => findLinks(opened.database.read, 1, 'User', ['e1']));
    expect(plan.join('\n')).toContain(
      'source_link_external (source_id=? AND resource_type=? AND external_id=?)',
    );
    expect(plan.join('\n')).not.toContain('PRIMARY KEY');
  });
});

/** What SQLite says it does for the one query that `work` sends. */
async function planOf(database: Database, work: () => Promise<unknown>): Promise<string[]> {
  const adapter = database.read.getExecutor().adapter as DirectAdapter;
  const run = spyOn(adapter, 'run');
  await work();
  const texts = run.mock.calls.map(([text]) => text);
  run.mockRestore();
  expect(texts).toHaveLength(1);
  const withNulls = (texts[0] ?? '').replaceAll('?', 'null');
  const plan = await sql<{ detail: string }>`explain query plan ${sql.raw(withNulls)}`.execute(database.read);
  return plan.rows.map((row) => row.detail);
}
