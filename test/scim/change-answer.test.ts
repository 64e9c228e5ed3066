import { describe, expect, test } from 'bun:test';
import { enterpriseUrn, fieldsUrn, openTestApp, platformUrn, userUrn } from '../support/app.ts';
import { dialects } from '../support/database.ts';

const ann = {
  userName: 'Ann@example.com',
  externalId: 'a "1"',
  displayName: 'Ann Ö',
  name: { givenName: 'Ann', familyName: 'O' },
  emails: [{ value: 'ann@example.com', type: 'work', primary: true }],
  [platformUrn]: { location: 'Oslo' },
};

for (const dialect of dialects()) {
  for (const scope of ['all', 'own']) {
    describe(`What a change answers (${dialect}, scope ${scope})`, () => {
      test('is what a GET of the user answers then', async () => {
        await using app = await openTestApp({ dialect, settings: { scope } });
        await app.configurations.createField('Shoe size', 'integer', null);
        const boss = await app.createUser({ userName: 'boss', displayName: 'The Boss' });
        const manager = { value: boss.body.id };
        const enterprise = { department: 'Sales', organization: 'ACME', employeeNumber: '7' };
        const made = await app.createUser({ ...ann, [enterpriseUrn]: enterprise });
        const id = made.body.id;
        const same = async (answer: typeof made) => {
          const read = await app.call('GET', `/Users/${id}`);
          expect(answer.body).toEqual(read.body);
          expect(answer.headers.get('etag')).toBe(read.headers.get('etag'));
        };
        expect(made.status).toBe(201);
        expect(made.headers.get('location')).toBe(made.body.meta.location);
        await same(made);

        const groups = await app.createGroup({ displayName: 'Crew', members: [{ value: id }] });
        await app.configurations.createPersona({
          name: 'Sailor',
          rule: 'any',
          groupIds: [Number(groups.body.id)],
        });
        const patches = [
          [{ op: 'replace', path: 'title', value: 'Engineer' }],
          [{ op: 'replace', path: `${enterpriseUrn}:department`, value: 'Support' }],
          [{ op: 'add', path: `${enterpriseUrn}:manager`, value: manager }],
          [{ op: 'add', value: { [fieldsUrn]: { shoesize: 42 } } }],
          [{ op: 'replace', path: 'active', value: false }],
          [{ op: 'replace', path: 'active', value: false }],
          [{ op: 'remove', path: `${enterpriseUrn}:manager` }],
        ];
        for (const operations of patches) {
          const patched = await app.patch(`/Users/${id}`, operations);
          expect(patched.status).toBe(200);
          await same(patched);
        }
        const other = {
          schemas: [userUrn],
          ...ann,
          title: 'Director',
          [enterpriseUrn]: { ...enterprise, manager },
        };
        await same(await app.call('PUT', `/Users/${id}`, other));
        const again = await app.createUser({ userName: 'ann@example.com', nickName: 'A' });
        expect(again.status).toBe(200);
        expect(again.headers.get('location')).toBe(again.body.meta.location);
        await same(again);
        const some = await app.call('PUT', `/Users/${id}?attributes=userName`, other);
        expect(Object.keys(some.body).toSorted()).toEqual(['id', 'schemas', 'userName']);
      });

      test('is no different for a user with a department that is there, in another spelling', async () => {
        await using app = await openTestApp({ dialect, settings: { scope } });
        const owner = await app.addSource('Other');
        await app.createUser({ userName: 'bo', [enterpriseUrn]: { department: 'Ventes' } }, { token: owner });
        await app.createUser({ userName: 'cy', [enterpriseUrn]: { department: 'Sales' } });
        for (const [userName, department] of [
          ['di', 'SALES'],
          ['ed', 'VENTES'],
        ] as const) {
          const made = await app.createUser({
            userName,
            [enterpriseUrn]: { department, organization: 'Sales' },
            [platformUrn]: { location: 'sales' },
          });
          const read = await app.call('GET', `/Users/${made.body.id}`);
          expect(made.body).toEqual(read.body);
        }
      });
    });
  }
}
