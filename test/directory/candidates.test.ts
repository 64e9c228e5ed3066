import { describe, expect, test } from 'bun:test';
import { findCandidates } from '../../src/directory/candidates.ts';
import { readFilter } from '../../src/resource/filter-resolve.ts';
import { buildResourceType } from '../../src/resource/schema.ts';
import { openTestApp } from '../support/app.ts';
import { dialects } from '../support/database.ts';

const userType = buildResourceType('User');

/** What an index is said to find for a literal: `few3` the ids 1 to 3, `many` too many, anything else has no index. */
async function candidatesOf(text: string): Promise<{ ids: readonly number[] | undefined; asked: string[] }> {
  const asked: string[] = [];
  const ids = await findCandidates(readFilter(userType, text).filter, 5, async (term) => {
    const { literal } = term as { literal?: { text?: string } };
    const value = literal?.text ?? term.kind;
    asked.push(value);
    const few = /^few(\d)$/.exec(value)?.[1];
    return few === undefined ? undefined : Array.from({ length: Number(few) }, (_, index) => index + 1);
  });
  return { ids, asked };
}

describe('findCandidates', () => {
  test.each([
    ['userName eq "few2"', [1, 2], ['few2']],
    ['userName eq "many"', undefined, ['many']],
    ['userName sw "many" and title eq "few1"', [1], ['few1']],
    ['userName eq "many" and displayName eq "few3"', [1, 2, 3], ['many', 'few3']],
    ['userName eq "few2" or displayName eq "few3"', [1, 2, 3], ['few2', 'few3']],
    ['userName eq "few2" or displayName eq "many"', undefined, ['few2', 'many']],
    ['(userName eq "few1" or userName eq "few2") and title eq "many"', [1, 2], ['many', 'few1', 'few2']],
    ['not (userName eq "few1")', undefined, []],
    ['title pr', undefined, []],
    ['emails[type eq "work" and value eq "x"]', undefined, ['valuePath']],
    ['emails[type eq "work" and value sw "x"]', undefined, []],
    ['emails[not (value eq "x")]', undefined, []],
  ] as const)('of %s are what indexes show', async (text, ids, asked) => {
    const found = await candidatesOf(text);
    expect({ ids: found.ids, asked: found.asked }).toEqual({ ids: ids && [...ids], asked: [...asked] });
  });
});

describe.each(dialects())('a filter by what very many share, on %s', (dialect) => {
  test('is answered by the other part, or by looking at all', async () => {
    await using app = await openTestApp({ dialect });
    await app.createGroup({ displayName: 'All' });
    const now = '2030-01-01T00:00:00.000Z';
    await app.database.write(async (tx) => {
      for (let start = 1; start <= 6_000; start += 250) {
        const ids = Array.from({ length: 250 }, (_, index) => start + index);
        const users = ids.map((id) => ({
          id,
          state: 'active' as const,
          owner_source_id: 1,
          user_name: `u${id}`,
          user_name_key: `u${id}`,
          display_name: `u${id}`,
          document: '{}',
          do_not_synchronise: 0 as const,
          version: 1,
          created: now,
          modified: now,
        }));
        await tx.insertInto('user').values(users).execute();
        await tx
          .insertInto('membership')
          .values(ids.map((id) => ({ group_id: 1, user_id: id })))
          .execute();
        const emails = ids.map((id) => ({
          user_id: id,
          ordinal: 0,
          type: 'work',
          is_primary: 1 as const,
          value_key: `p${id}@x.org`,
        }));
        await tx.insertInto('user_email').values(emails).execute();
      }
    });
    const totals: [filter: string, total: number, first: string | undefined][] = [
      ['groups.value eq "1"', 6_000, '1'],
      ['groups.value eq "1" and userName eq "u77"', 1, '77'],
      ['emails.value sw "p"', 6_000, '1'],
      ['emails.value sw "p59"', 111, '59'],
      ['emails.value sw "p" and not (groups.value eq "1")', 0, undefined],
      ['groups.value eq "1" or userName eq "nobody"', 6_000, '1'],
      ['emails.value eq "p9@x.org" or userName eq "u8" or id eq "7"', 3, '7'],
    ];
    for (const [filter, total, first] of totals) {
      const { body } = await app.find('/Users', filter);
      expect({ filter, total: body.totalResults, first: body.Resources[0]?.id }).toEqual({
        filter,
        total,
        first,
      });
    }
  }, 60_000);
});
