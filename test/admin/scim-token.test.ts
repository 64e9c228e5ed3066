import { describe, expect, test } from 'bun:test';
import { dialects } from '../support/database.ts';
import { adminName, adminPassword, openAdminApp } from './support.ts';

const password = 'a password that was set by SCIM';

/** What somebody with a stolen token of a SCIM source could try, to get into the console (control 5). */
const attempts = [
  { userName: 'eve', userType: 'Power User', password },
  { userName: 'eve', displayName: adminName, userType: 'POWER USER', password },
  { userName: adminName, userType: 'Power User', password },
  { userName: ` ${adminName.toUpperCase()} `, displayName: adminName, userType: 'Power User', password },
  { userName: 'eve', roles: [{ value: 'Power User', primary: true }], password },
  { userName: 'eve', entitlements: [{ value: 'admin' }], isAdmin: true, admin: true, password },
  {
    userName: 'eve',
    'urn:ietf:params:scim:schemas:extension:platform:2.0:User': { loginType: 'Local Login' },
    password,
  },
];

describe.each(dialects())('a token of a SCIM source on %s', (dialect) => {
  test.each(attempts)('makes no account of the console with %j', async (user) => {
    await using app = await openAdminApp({ dialect });
    await app.setUp();
    const token = await app.scim.addSource('Directory');
    const before = await app.database.read.selectFrom('admin_account').selectAll().execute();
    expect((await app.scim.createUser(user, { token })).status).toBe(201);
    await app.scim.patch('/Users/1', [{ op: 'replace', path: 'userType', value: 'Power User' }], { token });
    for (const name of ['eve', user.userName, adminName])
      expect((await app.signIn(password, {}, name)).status).toBe(401);
    expect(await app.database.read.selectFrom('admin_account').selectAll().execute()).toEqual(before);
    expect((await app.signIn(adminPassword)).status).toBe(200);
  });

  test('opens nothing of the admin surface', async () => {
    await using app = await openAdminApp({ dialect });
    await app.setUp();
    const token = await app.scim.addSource('Directory');
    for (const headers of [
      { authorization: `Bearer ${token}` },
      { cookie: `rollcall=${token}` },
      { 'x-apikey': token },
    ])
      expect((await app.call('/me', undefined, { headers })).status).toBe(401);
  });

  test('neither archives nor disables an account of the console with the person of the same name', async () => {
    await using app = await openAdminApp({ dialect });
    const cookie = await app.setUp();
    const token = await app.scim.addSource('Directory');
    await app.scim.createUser({ userName: adminName, active: false }, { token });
    await app.scim.call('DELETE', '/Users/1', undefined, { token });
    expect(await app.statusOfMe(cookie)).toBe(200);
    expect((await app.signIn(adminPassword)).status).toBe(200);
  });
});
