import { describe, expect, test } from 'bun:test';
import type { Json } from '../support/app.ts';
import { dialects } from '../support/database.ts';
import { openAdminHouse } from './house.ts';

describe.each(dialects())('PATCH /settings on %s', (dialect) => {
  test('changes settings together, or none, and the audit log tells of each', async () => {
    await using admin = await openAdminHouse({ dialect });
    const wrong = await admin.call('PATCH', '/settings', { countMax: 50, requestLogDays: 0 });
    expect([wrong.status, wrong.body.message]).toEqual([400, expect.stringContaining('requestLogDays')]);
    const value = async (name: string) =>
      (await admin.call('GET', '/settings')).body.settings.find((each: Json) => each.name === name);
    expect(await value('countMax')).toMatchObject({ value: 1_000, default: 1_000, min: 1, max: 10_000 });
    const changed = await admin.call('PATCH', '/settings', {
      countMax: 50,
      passwordStrengthRegex: '^.{9,}$',
    });
    expect(changed.status).toBe(200);
    expect(await value('countMax')).toMatchObject({ value: 50 });
    const { entries } = (await admin.call('GET', '/audit?limit=2')).body;
    expect(
      entries.map(({ subject, before, after, by }: Json) => [subject.id, before, after, by.name]),
    ).toEqual([
      [
        'passwordStrengthRegex',
        { passwordStrengthRegex: '' },
        { passwordStrengthRegex: '^.{9,}$' },
        'Ann Lee',
      ],
      ['countMax', { countMax: '1000' }, { countMax: '50' }, 'Ann Lee'],
    ]);
  });

  test("refuses a password regex that does not compile, in the engine's words", async () => {
    await using admin = await openAdminHouse({ dialect });
    const answer = await admin.call('PATCH', '/settings', { passwordStrengthRegex: '(abc' });
    expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining('offset 4')]);
  });
});

describe('a box to try a pattern', () => {
  test('says whether a password meets a rule, and keeps nothing of it', async () => {
    await using admin = await openAdminHouse();
    const attempt = (regex: string, password: string) =>
      admin.call('POST', '/settings/try-password', { regex, password }).then(({ body }) => body);
    expect(await attempt('^(?=.*\\d).{8,}$', 'secret-word-7')).toEqual({ matches: true, message: null });
    expect((await attempt('^(?=.*\\d).{8,}$', 'short')).matches).toBe(false);
    expect((await attempt('(', 'x')).message).toContain('offset 1');
    expect(admin.house.logged.join('')).not.toContain('secret-word-7');
  });

  test('says whether a value fits the pattern of a field', async () => {
    await using admin = await openAdminHouse();
    const attempt = (pattern: string, value: string) =>
      admin.call('POST', '/fields/try-pattern', { pattern, value }).then(({ body }) => body);
    expect(await attempt('[A-Z]{2}\\d+', 'AB12')).toEqual({ matches: true, message: null });
    expect((await attempt('[A-Z]{2}\\d+', 'xAB12')).matches).toBe(false);
    expect((await attempt('(?=a)', 'a')).message).not.toBeNull();
  });
});

describe.each(dialects())('fields and personas on %s', (dialect) => {
  test('are made, listed and, a field, removed', async () => {
    await using admin = await openAdminHouse({ dialect });
    const field = { label: 'Badge Number', type: 'string', pattern: '\\d+', required: true };
    const made = await admin.call('POST', '/fields', field);
    expect(made).toEqual({ status: 201, body: { id: 'badge_number', ...field } });
    expect((await admin.call('POST', '/fields', field)).status).toBe(409);
    expect((await admin.call('GET', '/fields')).body.fields).toEqual([made.body]);
    expect((await admin.call('DELETE', '/fields/badge_number')).status).toBe(200);
    expect((await admin.call('DELETE', '/fields/badge_number')).status).toBe(404);
    const persona = { name: 'Board', rule: 'any', groupIds: [1] };
    expect((await admin.call('POST', '/personas', persona)).status).toBe(400);
    expect((await admin.call('GET', '/personas')).body.personas).toEqual([]);
    const actions = (await admin.call('GET', '/audit')).body.entries.map(({ action }: Json) => action);
    expect(actions.slice(0, 2)).toEqual(['field.change', 'field.change']);
  });
});

describe('GET /requests', () => {
  test('shows what a provider asked, newest first, with bodies where the source logs them', async () => {
    await using admin = await openAdminHouse();
    expect((await admin.call('GET', '/requests')).body).toEqual({ requests: [], next: null });
    const made = await admin.call('POST', '/sources', {
      kind: 'scim',
      name: 'Okta',
      settings: { logBodies: true },
    });
    const headers = { authorization: `Bearer ${made.body.token}`, 'content-type': 'application/scim+json' };
    const body = JSON.stringify({ userName: 'ada', password: 'hunter2hunter2' });
    await fetch(`${made.body.source.url}/Users`, { method: 'POST', headers, body });
    await fetch(`${made.body.source.url}/Users/999`, { headers });
    const listed = async (query = '') => (await admin.call('GET', `/requests${query}`)).body.requests;
    while ((await listed()).length < 2) await Bun.sleep(20);
    const [missing, created] = await listed();
    expect([missing.status, missing.method]).toEqual([404, 'GET']);
    expect(created).toMatchObject({ status: 201, sourceId: 2, path: '/Users' });
    expect(created.body).toContain('ada');
    expect(created.body).not.toContain('hunter2');
    expect((await listed('?status=4')).map(({ id }: Json) => id)).toEqual([missing.id]);
    expect((await listed(`?after=${created.id}`)).map(({ id }: Json) => id)).toEqual([missing.id]);
    expect(await listed('?source=1')).toEqual([]);
    expect((await admin.call('GET', '/requests?status=3')).status).toBe(400);
  });
});
