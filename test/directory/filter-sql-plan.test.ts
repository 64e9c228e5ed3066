// What the engines say they would do for the filters that clients ask most: begin with an index, never with all rows.

import { describe, expect, test } from 'bun:test';
import { type Insertable, type Kysely, sql } from 'kysely';
import { groupFilterSql, userFilterSql } from '../../src/directory/filter-sql.ts';
import { readFilter } from '../../src/resource/filter-resolve.ts';
import { buildResourceType } from '../../src/resource/schema.ts';
import type { Database, Dialect } from '../../src/storage/database.ts';
import type { Tables } from '../../src/storage/schema.ts';
import { enterpriseUrn } from '../support/app.ts';
import { dialects, openTestDatabase } from '../support/database.ts';

const base = 'https://id.example.com';
const peopleCount = 3_000;
const groupsCount = 1_500;
const now = '2030-01-01T00:00:00.000Z';

/** Enough rows for PostgreSQL to find an index worth its while. */
async function fill(database: Database): Promise<void> {
  await database.write(async (tx) => {
    await tx
      .insertInto('source')
      .values({
        kind: 'scim',
        name: 's',
        name_key: 's',
        active: 1,
        settings: '{}',
        created: now,
        modified: now,
      })
      .execute();
    const people = idsUpTo(peopleCount);
    const groups = idsUpTo(groupsCount);
    await insert(tx, 'user', people.map(person));
    await insert(
      tx,
      'user_email',
      people.map((id) => ({
        user_id: id,
        ordinal: 0,
        type: 'work',
        is_primary: 1,
        value_key: `u${id}@x.org`,
      })),
    );
    await insert(tx, 'group_', groups.map(group));
    await insert(
      tx,
      'source_link',
      people.map((id) => linkOf('User', id, `e${id}`)),
    );
    await insert(
      tx,
      'source_link',
      groups.map((id) => linkOf('Group', id, `g${id}`)),
    );
    await insert(
      tx,
      'membership',
      groups.flatMap((id) => [
        { group_id: id, user_id: id, primary_type: 'department' },
        { group_id: id, user_id: id * 2, primary_type: null },
      ]),
    );
  });
}

function idsUpTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}

async function insert<T extends keyof Tables>(
  tx: Kysely<Tables>,
  table: T,
  rows: readonly Insertable<Tables[T]>[],
): Promise<void> {
  for (let start = 0; start < rows.length; start += 500)
    await tx
      .insertInto(table)
      .values(rows.slice(start, start + 500))
      .execute();
}

function linkOf(resourceType: 'User' | 'Group', id: number, externalId: string) {
  const link = { source_id: 1, resource_type: resourceType, resource_id: id };
  return { ...link, external_id: externalId, digest: null };
}

function person(id: number) {
  return {
    id,
    state: id % 100 === 0 ? ('inactive' as const) : ('active' as const),
    owner_source_id: 1,
    user_name: `u${id}`,
    user_name_key: `u${id}`,
    display_name: `u${id}`,
    display_name_key: `u${id}`,
    family_name_key: `f${id}`,
    employee_number_key: `n${id}`,
    document: '{"title":"x"}',
    folded: null,
    manager_id: Math.ceil(id / 10),
    password_hash: null,
    do_not_synchronise: 0 as const,
    version: 1,
    created: now,
    modified: new Date(Date.parse(now) + id * 1000).toISOString(),
  };
}

function group(id: number) {
  const modified = new Date(Date.parse(now) + id * 1000).toISOString();
  const name = { display_name: `G${id}`, display_name_key: `g${id}`, group_type: 'department' };
  const state = 'existing' as const;
  return {
    id,
    state,
    owner_source_id: 1,
    ...name,
    document: '{}',
    folded: null,
    version: 1,
    created: now,
    modified,
  };
}

async function planOf(
  db: Kysely<Tables>,
  dialect: Dialect,
  table: 'user' | 'group_',
  text: string,
): Promise<string> {
  const scope = { dialect, sourceId: 1, base, additionalFields: [], tagEnding: '' };
  const compiled =
    table === 'user'
      ? userFilterSql(readFilter(buildResourceType('User'), text).filter, scope)
      : groupFilterSql(readFilter(buildResourceType('Group'), text).filter, scope);
  expect(compiled.isIndexed).toBe(true);
  const live = table === 'user' ? sql`"user".state <> 'archived'` : sql`group_.state = 'existing'`;
  const query = sql`select ${sql.ref(`${table}.id`)} from ${sql.table(table)} where ${live} and ${compiled.driven} limit 5001`;
  const explain = dialect === 'sqlite' ? sql`explain query plan` : sql`explain`;
  const { rows } = await sql<Record<string, string>>`${explain} ${query}`.execute(db);
  return rows.map((row) => row.detail ?? row['QUERY PLAN']).join('\n');
}

const primaryKeys: Readonly<Record<string, string>> = {
  membership_pk: 'mine USING PRIMARY KEY',
  user_pkey: 'user USING INTEGER PRIMARY KEY',
  group__pkey: 'group_ USING INTEGER PRIMARY KEY',
};

const userFilters: readonly (readonly [filter: string, ...indexes: string[]])[] = [
  ['id eq "5"', 'user_pkey|user_live'],
  ['meta.location eq "https://id.example.com/Users/5"', 'user_pkey|user_live'],
  ['userName eq "U5"', 'user_name_live'],
  ['userName sw "u12"', 'user_name_live'],
  ['displayName eq "u5"', 'user_display_name'],
  ['displayName sw "u12"', 'user_display_name'],
  ['name.familyName eq "f5"', 'user_family_name'],
  [`${enterpriseUrn}:employeeNumber eq "n5"`, 'user_employee_number'],
  ['active eq false', 'user_inactive'],
  ['meta.lastModified gt "2030-01-01T00:49:00Z"', 'user_modified'],
  ['externalId eq "e5"', 'source_link_external'],
  ['externalId sw "e2999"', 'source_link_external'],
  ['emails.value eq "u5@x.org"', 'user_email_value'],
  ['emails eq "u5@x.org"', 'user_email_value'],
  ['emails[type eq "work" and value eq "u5@x.org"]', 'user_email_value'],
  ['emails[type eq "work"].value eq "u5@x.org"', 'user_email_value'],
  ['groups.value eq "5"', 'membership_pk'],
  ['groups[value eq "5"]', 'membership_pk'],
  ['groups.$ref eq "https://id.example.com/Groups/5"', 'membership_pk'],
  ['groups.display eq "G5"', 'group_name', 'membership_pk'],
  [`${enterpriseUrn}:department eq "g5"`, 'group_name', 'membership_pk'],
  [`${enterpriseUrn}:manager eq "5"`, 'user_manager'],
  [`${enterpriseUrn}:manager.value eq "5"`, 'user_manager'],
  ['title eq "x" and userName eq "u5"', 'user_name_live'],
  ['id eq "5" and externalId eq "e5"', 'user_pkey|user_live'],
  ['userName eq "u5" or emails.value eq "u5@x.org"', 'user_name_live', 'user_email_value'],
  ['userName eq "u5" or groups.value eq "5"', 'user_name_live', 'membership_pk'],
];

const groupFilters: typeof userFilters = [
  ['id eq "5"', 'group__pkey|group_live'],
  ['displayName eq "G5"', 'group_name'],
  ['displayName sw "g12"', 'group_name'],
  ['externalId eq "g5"', 'source_link_external'],
  ['members.value eq "5"', 'membership_user'],
  ['members eq "5"', 'membership_user'],
  ['members[value eq "5"]', 'membership_user'],
  ['meta.lastModified gt "2030-01-01T00:24:30Z"', 'group_modified'],
];

describe.each(dialects())('the plan of %s', (dialect) => {
  test('begins with an index for each attribute that has one', async () => {
    await using opened = await openTestDatabase(dialect);
    const { database } = opened;
    await fill(database);
    await database.read.connection().execute(async (db) => {
      if (dialect === 'postgres') await sql`analyze`.execute(db);
      if (dialect === 'postgres') await sql`set enable_seqscan = off`.execute(db);
      for (const [table, filters] of [
        ['user', userFilters],
        ['group_', groupFilters],
      ] as const) {
        for (const [filter, ...indexes] of filters) {
          const plan = await planOf(db, dialect, table, filter);
          expect({ filter, plan }).toEqual({
            filter,
            plan: expect.stringMatching(usesAll(dialect, indexes)),
          });
          expect({ filter, plan }).toEqual({
            filter,
            plan: expect.not.stringMatching(walksAll),
          });
        }
      }
      if (dialect === 'postgres') await sql`reset enable_seqscan`.execute(db);
    });
  }, 60_000);
});

/** All rows, or all entries of an index that has every row. */
const walksAll =
  /^SCAN (?:user|group_)\b(?! USING COVERING INDEX user_inactive)|(?:user|group)_live\b[^\n]*(?:\n(?!\s*Index Cond)|$(?![\s\S]))/m;

function usesAll(dialect: Dialect, indexes: readonly string[]): RegExp {
  const named = indexes.map((each) =>
    each
      .split('|')
      .map((name) => (dialect === 'sqlite' ? (primaryKeys[name] ?? name) : name))
      .join('|'),
  );
  return new RegExp(named.map((name) => `(?=[^]*(?:${name}))`).join(''));
}
