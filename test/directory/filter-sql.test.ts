import { describe, expect, test } from 'bun:test';
import { successor } from '../../src/directory/filter-sql-value.ts';
import { filterCharactersMax, filterDepthMax, filterTermsMax } from '../../src/resource/filter.ts';
import { enterpriseUrn, fieldsUrn, openTestApp, platformUrn, type TestApp } from '../support/app.ts';
import { dialects } from '../support/database.ts';

const platform = platformUrn;

async function ids(
  app: TestApp,
  filter: string,
  endpoint: '/Users' | '/Groups' = '/Users',
): Promise<string[]> {
  const { status, body, text } = await app.find(endpoint, filter);
  if (status !== 200) throw new Error(text);
  return body.Resources.map((resource: { id: string }) => resource.id);
}

describe.each(dialects())('filters on %s', (dialect) => {
  test('find by what follows from memberships, managers and personas', async () => {
    await using app = await openTestApp({ dialect });
    await app.createUser({ userName: 'boss', displayName: 'Éva Boss' });
    await app.createUser({
      userName: 'ann',
      [enterpriseUrn]: { department: 'HR', organization: 'Acme', manager: { value: '1' } },
    });
    await app.createUser({ userName: 'bob' });
    await app.createGroup({ displayName: 'Skiers', members: [{ value: '3' }] });
    await app.configurations.createPersona({ name: 'People of HR', rule: 'any', groupIds: [1, 2] });
    await app.configurations.createPersona({ name: 'Sport', rule: 'all', groupIds: [3] });
    const cases: [filter: string, ids: string[]][] = [
      [`${enterpriseUrn}:department eq "hr"`, ['2']],
      [`${enterpriseUrn}:department ne "hr"`, ['1', '3']],
      [`${platform}:company sw "ac"`, ['2']],
      [`${enterpriseUrn}:organization pr`, ['2']],
      [`${enterpriseUrn}:manager.displayName eq "ÉVA boss"`, ['2']],
      [`${enterpriseUrn}:manager.$ref eq "${app.baseUrl}/Users/1"`, ['2']],
      [`${enterpriseUrn}:manager[displayName co "boss" and value eq "1"]`, ['2']],
      [`${enterpriseUrn}:manager pr`, ['2']],
      ['groups.display eq "acme" and groups.type eq "Direct"', ['2']],
      [`groups.$ref eq "${app.baseUrl}/Groups/1"`, ['2']],
      [`groups.$ref ew "/Groups/1"`, ['2']],
      ['groups[display eq "hr" and value eq "1"] or groups[display eq "hr" and value eq "2"]', ['2']],
      [`${platform}:personas.display co "OF hr"`, ['2']],
      [`${platform}:personas[display sw "people" and memberships[type eq "department"]]`, ['2']],
      [`${platform}:personas[memberships.display eq "Nowhere"]`, []],
      [`schemas eq "${platform}"`, ['2', '3']],
      [`not (schemas eq "${enterpriseUrn}")`, ['1', '3']],
      [`meta.location eq "${app.baseUrl}/Users/2"`, ['2']],
      ['meta.version sw "W/\\"1." and meta.resourceType eq "User"', ['1', '2']],
      [`${platform}:personas[value eq "2" and memberships.display eq "skiers"]`, ['3']],
      ['meta.resourceType eq "user"', []],
    ];
    for (const [filter, found] of cases) {
      expect({ filter, ids: await ids(app, filter) }).toEqual({ filter, ids: found });
    }
  });

  test('find groups by their members as they are shown', async () => {
    await using app = await openTestApp({ dialect });
    await app.createUser({ userName: 'eva', displayName: ' Éva ' });
    await app.createUser({ userName: 'ann' });
    await app.createGroup({ displayName: 'One', members: [{ value: '1' }] });
    await app.createGroup({ displayName: 'Two', members: [{ value: '2' }] });
    const groups = (filter: string) => ids(app, filter, '/Groups');
    expect(await groups('members.display eq "ÉVA"')).toEqual(['1']);
    expect(await groups('members.display ne "ÉVA"')).toEqual(['2']);
    expect(await groups('members[display sw "an" and type eq "user"]')).toEqual(['2']);
    expect(await groups(`members.$ref eq "${app.baseUrl}/Users/2"`)).toEqual(['2']);
    expect(await groups('not (members[value eq "2"])')).toEqual(['1']);
  });

  test('treat a value that was stored under another type as different from any', async () => {
    await using app = await openTestApp({ dialect });
    await app.configurations.createField('Shoe', 'string', null);
    await app.createUser({ userName: 'ann', [fieldsUrn]: { shoe: '44' } });
    await app.createUser({ userName: 'bob' });
    // The product has no way to change the type of a field yet; a setting makes it read its configuration anew.
    await app.database.write((tx) =>
      tx.updateTable('additional_field').set({ type: 'integer' }).executeTakeFirst(),
    );
    await app.configurations.setSetting('countMax', '1000');
    expect(await ids(app, `${fieldsUrn}:shoe eq 44`)).toEqual([]);
    expect(await ids(app, `${fieldsUrn}:shoe ne 44`)).toEqual(['1', '2']);
    expect(await ids(app, `${fieldsUrn}:shoe pr`)).toEqual(['1']);
  });

  test('find nobody by a field that was removed', async () => {
    await using app = await openTestApp({ dialect });
    await app.configurations.createField('Shoe', 'string', null);
    await app.createUser({ userName: 'ann', [fieldsUrn]: { shoe: '44' } });
    expect(await ids(app, `schemas eq "${fieldsUrn}"`)).toEqual(['1']);
    await app.configurations.removeField('shoe');
    expect((await app.call('GET', '/Users/1')).body.schemas).not.toContain(fieldsUrn);
    expect(await ids(app, `schemas eq "${fieldsUrn}"`)).toEqual([]);
    expect((await app.find('/Users', `${fieldsUrn}:shoe pr`)).body.scimType).toBe('invalidFilter');
  });

  test('answer the largest filters there may be', async () => {
    await using app = await openTestApp({ dialect });
    await app.createUser({ userName: 'ann', emails: [{ type: 'work', value: 'a@x.org' }] });
    for (const filter of largestFilters()) {
      expect(filter.length).toBeLessThanOrEqual(filterCharactersMax);
      expect((await app.find('/Users', filter)).status).toBe(200);
    }
  }, 60_000);
});

function largestFilters(): string[] {
  const heavy = [
    'schemas ne "x"',
    'emails.type ne "a"',
    `${platform}:personas.display ne "a"`,
    `${platform}:personas pr`,
    'emails[type ne "a"]',
    'userName co "a"',
    'groups.value eq "1"',
  ];
  return heavy.flatMap((term) => {
    const count = Math.min(filterTermsMax, Math.floor((filterCharactersMax - 200) / (term.length + 12)));
    const terms = Array.from({ length: count }, () => term);
    return [terms.join(' or '), terms.map((each) => `not (${each})`).join(' and '), nested(terms)];
  });
}

/** As deep as may be, with the rest of the terms side by side. */
function nested(terms: readonly string[]): string {
  let filter = terms
    .slice(filterDepthMax)
    .concat('userName pr')
    .slice(0, filterTermsMax - filterDepthMax)
    .join(' and ');
  for (const term of terms.slice(0, filterDepthMax - 3)) filter = `not (${filter}) or ${term}`;
  return filter;
}

describe('successor', () => {
  test.each([
    ['a', 'b'],
    ['az', 'a{'],
    ['\uD7FF', '\uE000'],
    ['\uFFFF', '\u{10000}'],
    ['a\u{10FFFF}', 'b'],
    ['\u{10FFFF}', undefined],
    ['', undefined],
  ])('of %j is the least text behind all that begin with it: %j', (prefix, next) => {
    expect(successor(prefix)).toBe(next);
  });
});
