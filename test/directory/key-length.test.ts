import { describe, expect, test } from 'bun:test';
import { openImportHouse, profileXml, userXml } from '../imports/support.ts';
import { enterpriseUrn, openTestApp, platformUrn } from '../support/app.ts';
import { dialects } from '../support/database.ts';

/** Of so many characters, which no database can make shorter. */
function random(length: number, letters = 'abcdefghijklmnopqrstuvwxyz0123456789'): string {
  const [bytes, all] = [new Uint32Array(length), [...letters]];
  for (let from = 0; from < length; from += 10_000)
    crypto.getRandomValues(bytes.subarray(from, from + 10_000));
  return Array.from(bytes, (byte) => all[byte % all.length]).join('');
}

const ofUser = (text: string): readonly (readonly [string, object])[] => [
  ['userName', { userName: text }],
  ['externalId', { externalId: text }],
  ['displayName', { displayName: text }],
  ['name.familyName', { name: { familyName: text } }],
  ['emails.value', { emails: [{ value: 'a@x.org' }, { type: 'home', value: text }] }],
  [`${enterpriseUrn}:employeeNumber`, { [enterpriseUrn]: { employeeNumber: text } }],
  [`${enterpriseUrn}:organization`, { [enterpriseUrn]: { organization: text } }],
  [`${enterpriseUrn}:department`, { [enterpriseUrn]: { department: text } }],
  [`${platformUrn}:company`, { [platformUrn]: { company: text } }],
  [`${platformUrn}:location`, { [platformUrn]: { location: text } }],
  ['manager.value', { [enterpriseUrn]: { manager: { value: `_${text.slice(1)}` } } }],
];

describe.each(dialects())('what is found by its text on %s', (dialect) => {
  test('is refused when it is longer than an index takes, and changes nothing', async () => {
    await using app = await openTestApp({ dialect, settings: { unknownMembers: 'pending' } });
    await app.createUser({ userName: 'ann' });
    await app.createGroup({ displayName: 'g' });
    for (const text of [random(1_025), random(600, 'éàü'), random(60_000)]) {
      for (const [attribute, part] of ofUser(text)) {
        const refusal = {
          status: '400',
          scimType: 'invalidValue',
          detail: expect.stringContaining(attribute),
        };
        expect((await app.createUser({ userName: 'bob', ...part })).body).toMatchObject(refusal);
        expect((await app.patch('/Users/1', [{ op: 'add', value: part }])).body).toMatchObject(refusal);
      }
      for (const part of [{ displayName: text }, { externalId: text }, { members: [{ value: text }] }]) {
        const answer = await app.createGroup({ displayName: 'h', ...part });
        expect(answer.body).toMatchObject({ status: '400', scimType: 'invalidValue' });
      }
    }
    expect(await app.history()).toEqual(['User 1 create', 'Group 1 create']);
  });

  test('is taken up to there, found, and sorted by with a cursor that is followed', async () => {
    await using app = await openTestApp({ dialect, settings: { unknownMembers: 'pending' } });
    for (const [index, [, part]] of ofUser(random(1_024)).entries()) {
      expect((await app.createUser({ userName: `u${index}`, ...part })).body).toMatchObject({
        id: expect.any(String),
      });
    }
    const wild = random(1_024, '\u0001\u0002\u0003\u0004');
    await app.createUser({ userName: 'wild', displayName: wild });
    for (const sortBy of ['userName', 'displayName', 'name.familyName', 'externalId', 'emails.value']) {
      const names: string[] = [];
      let cursor = '';
      do {
        const page = await app.call('GET', `/Users?sortBy=${sortBy}&count=1&cursor=${cursor}`);
        expect(page.status).toBe(200);
        for (const { id } of page.body.Resources) names.push(id);
        cursor = page.body.nextCursor ?? '';
      } while (cursor !== '');
      expect(new Set(names).size).toBe(12);
    }
  });

  test('is an issue of an import when it is too long, and the others come through', async () => {
    await using house = await openImportHouse({ dialect });
    const [long, wide] = [random(3_000), random(1_020, '漢字一二三四五六')];
    const users = [
      userXml('ok', 'ok'),
      userXml(wide, 'wide'),
      userXml('w', `w${wide}`),
      ...['email', 'displayname', 'surname', 'department', 'company', 'location', 'manager'].map((name) =>
        userXml(`of-${name}`, `of-${name}`, `<${name}>${long}</${name}>`),
      ),
      userXml('in', 'in', '<groups><group ref="g"/><group type="security group">New</group></groups>'),
    ];
    const groups = `<group id="g" type="security group" name="${wide}"/><group id="${wide}" type="company" name="C"/>`;
    const run = await house.import(profileXml(users, { groups }));
    expect(run.status).toBe('completed-with-errors');
    const names = (await house.people()).map(({ resource }) => resource.userName);
    expect(names).toEqual(['ok', 'of-manager', 'in']);
    expect(run.counts.issues).toBeGreaterThan(7);
  });
});
