import { describe, expect, test } from 'bun:test';
import { listAudit } from '../../src/security/audit.ts';
import type { Json } from '../support/app.ts';
import { dialects } from '../support/database.ts';
import { openAdminHouse } from './house.ts';

describe.each(dialects())('POST /sources on %s', (dialect) => {
  test('makes a source whose token opens SCIM at the address that is shown', async () => {
    await using admin = await openAdminHouse({ dialect });
    const settings = { logBodies: true, rateLimit: 50, onMatch: 'reject' };
    const made = await admin.call('POST', '/sources', { kind: 'scim', name: 'Entra', settings });
    expect(made.status).toBe(201);
    const { source, token } = made.body;
    expect(source).toMatchObject({ name: 'Entra', kind: 'scim', active: true, settings });
    expect(source.url).toBe(`${admin.origin}/api/v2/scim/v2`);
    const headers = { authorization: `Bearer ${token}` };
    expect((await fetch(`${source.url}/Users`, { headers })).status).toBe(200);
    expect(source.tokens).toEqual([{ id: expect.any(Number), created: expect.any(String), expires: null }]);
    const shown = await admin.call('GET', `/sources/${source.id}`);
    expect(shown).toEqual({ status: 200, body: source });
    expect(JSON.stringify(shown.body)).not.toContain(token);
  });

  const refused: readonly (readonly [why: string, body: Json, status: number, says: RegExp])[] = [
    ['a name that another has', { kind: 'scim', name: ' human RESOURCES ' }, 409, /choose another name/],
    [
      'a setting of the other kind',
      { kind: 'scim', name: 'A', settings: { guardPercent: 1 } },
      400,
      /no setting/,
    ],
    ['a value out of bounds', { kind: 'scim', name: 'A', settings: { rateLimit: 3 } }, 400, /takes requests/],
    ['an unknown kind', { kind: 'ldap', name: 'A' }, 400, /members that this path takes/],
    ['a member that is not known', { kind: 'scim', name: 'A', more: 1 }, 400, /members that this path/],
    ['a name of digits', { kind: 'scim', name: '12' }, 400, /more than digits/],
  ];

  test.each(refused)('refuses %s and makes nothing', async (_why, body, status, says) => {
    await using admin = await openAdminHouse({ dialect });
    const answer = await admin.call('POST', '/sources', body);
    expect(answer.status).toBe(status);
    expect(answer.body.message).toMatch(says);
    expect((await admin.call('GET', '/sources')).body.sources).toHaveLength(1);
  });
});

describe.each(dialects())('PATCH /sources/{source} on %s', (dialect) => {
  test('changes name, state and settings together, and tells the audit log who did', async () => {
    await using admin = await openAdminHouse({ dialect });
    const settings = { guardPercent: 20, syncManagers: false };
    const change = { name: 'People', active: false, settings };
    const answer = await admin.call('PATCH', '/sources/1', change);
    expect(answer.body).toMatchObject({ id: 1, ...change });
    expect(answer.body.settings.syncGroups).toBe(true);
    const [entry] = (await listAudit(admin.house.database.read, { limit: 1 })).entries;
    expect(entry?.by).toEqual({ kind: 'administrator', name: 'Ann Lee', clientAddress: '127.0.0.1' });
    expect(entry?.before).toMatchObject({ name: 'Human Resources', active: true, syncManagers: true });
  });

  test('changes nothing when one of the settings is wrong, and does not know a source that is not there', async () => {
    await using admin = await openAdminHouse({ dialect });
    const wrong = { name: 'People', settings: { guardPercent: 101 } };
    expect((await admin.call('PATCH', '/sources/1', wrong)).status).toBe(400);
    expect((await admin.call('GET', '/sources/1')).body.name).toBe('Human Resources');
    expect((await admin.call('PATCH', '/sources/99', { active: true })).status).toBe(404);
    expect((await admin.call('GET', '/sources/x')).status).toBe(400);
  });
});

describe.each(dialects())('the tokens of a source on %s', (dialect) => {
  test('are shown again, rotated with an overlap, and each look is in the audit log', async () => {
    await using admin = await openAdminHouse({ dialect });
    const first = (await admin.call('POST', '/sources/1/tokens/reveal')).body.token;
    const second = (await admin.call('POST', '/sources/1/tokens', { overlapDays: 2 })).body.token;
    const authenticate = (token: string) => admin.house.sources.authenticateUpload('1', token);
    expect((await authenticate(first)).source.id).toBe(1);
    expect((await admin.call('POST', '/sources/1/tokens/reveal')).body).toEqual({ token: second });
    const { tokens } = (await admin.call('GET', '/sources/1')).body;
    expect(tokens.map(({ expires }: Json) => expires === null)).toEqual([true, false]);
    admin.house.advance(2 * 86_400 + 60);
    await expect(authenticate(first)).rejects.toMatchObject({ kind: 'unauthenticated' });
    expect((await authenticate(second)).source.id).toBe(1);
    const { entries } = await listAudit(admin.house.database.read, { limit: 10 });
    expect(entries.map(({ action }) => action).slice(0, 3)).toEqual([
      'source.token.view',
      'source.token.issue',
      'source.token.view',
    ]);
  });
});
