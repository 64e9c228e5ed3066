import { describe, expect, test } from 'bun:test';
import { profileXml, userXml } from '../imports/support.ts';
import type { Json } from '../support/app.ts';
import { dialects } from '../support/database.ts';
import { openAdminHouse } from './house.ts';

const people = (ids: readonly number[]) => ids.map((id) => userXml(`p${id}`, `p${id}@example.com`));
const many = Array.from({ length: 40 }, (_, id) => id);

describe.each(dialects())('an import in the admin API on %s', (dialect) => {
  test('is shown with its counts, its records, its log, and what was found wrong', async () => {
    await using admin = await openAdminHouse({ dialect });
    const double = userXml('p1', 'other@example.com');
    const run = await admin.house.import(profileXml([...people([1, 2]), double]));
    const path = `/imports/${run.id}`;
    const { body } = await admin.call('GET', path);
    expect(body).toMatchObject({ id: run.id, status: 'completed-with-errors', origin: 'upload', users: 3 });
    expect(body.counts).toMatchObject({ created: 2, issues: 1 });
    const { issues } = (await admin.call('GET', `${path}/issues`)).body;
    expect(issues).toEqual([
      { line: 7, recordId: 'p1', code: expect.any(String), message: expect.any(String) },
    ]);
    const { records } = (await admin.call('GET', `${path}/records?action=create&limit=1`)).body;
    expect(records).toMatchObject([{ recordId: 'p1', kind: 'user', action: 'create' }]);
    const [{ seq }] = records;
    const next = (await admin.call('GET', `${path}/records?action=create&after=${seq}`)).body.records;
    expect(next.map(({ recordId }: Json) => recordId)).toEqual(['p2']);
    expect((await admin.call('GET', `${path}/log`)).body.log).toContain('Human Resources');
    const listed = await admin.call('GET', '/imports?source=1');
    expect(listed.body.imports.map(({ id }: Json) => id)).toEqual([run.id]);
    expect((await admin.call('GET', '/imports?source=2')).body.imports).toEqual([]);
    expect((await admin.call('GET', '/imports/99')).status).toBe(404);
  });

  test('that waits is approved or rejected under the name of who is signed in', async () => {
    await using admin = await openAdminHouse({
      dialect,
      settings: { guardMinimum: '5', guardPercent: '10' },
    });
    await admin.house.import(profileXml(people(many)));
    const first = await admin.house.import(profileXml(people(many.slice(20))));
    expect(first.status).toBe('awaiting-approval');
    expect((await admin.call('POST', `/imports/${first.id}/reject`)).body.status).toBe('rejected');
    const second = await admin.house.import(profileXml(people(many.slice(21))));
    expect((await admin.call('POST', `/imports/${second.id}/approve`)).body.status).toBe('applying');
    await admin.house.processor().drain();
    const { body } = await admin.call('GET', `/imports/${second.id}`);
    expect([body.status, body.counts.disabled]).toEqual(['completed', 21]);
    expect((await admin.call('GET', `/imports/${second.id}/log`)).body.log).toContain('Ann Lee');
    expect((await admin.call('POST', `/imports/${second.id}/cancel`)).status).toBe(400);
    const { entries } = (await admin.call('GET', '/audit?limit=2')).body;
    expect(entries.map(({ action, subject, by }: Json) => [action, subject.id, by.name])).toEqual([
      ['import.approve', String(second.id), 'Ann Lee'],
      ['import.reject', String(first.id), 'Ann Lee'],
    ]);
    const enabled = await admin.call('POST', `/imports/${second.id}/re-enable`);
    expect(enabled.body).toEqual({ enabled: 21, left: 0 });
  });

  test('is compared with the one before', async () => {
    await using admin = await openAdminHouse({ dialect });
    await admin.house.import(profileXml(people([1, 2, 3])));
    const later = await admin.house.import(
      profileXml([...people([2, 4]), userXml('p3', 'p3@example.com', '<jobtitle>Clerk</jobtitle>')]),
    );
    const { body } = await admin.call('GET', `/imports/${later.id}/comparison`);
    expect(body.counts).toEqual({ added: 1, removed: 1, changed: 1 });
    expect([body.added, body.removed, body.changed].map(([person]: Json) => person.recordId)).toEqual([
      'p4',
      'p1',
      'p3',
    ]);
  });

  test('is taken in again from the archive, whole or what went wrong', async () => {
    await using admin = await openAdminHouse({ dialect });
    const run = await admin.house.import(profileXml(people([1])));
    const again = await admin.call('POST', `/imports/${run.id}/rerun`, { dryRun: true });
    expect(again).toMatchObject({ status: 202, body: { origin: 'rerun', dryRun: true, status: 'queued' } });
    const retried = await admin.call('POST', `/imports/${run.id}/retry`);
    expect([retried.status, retried.body.message]).toEqual([
      400,
      expect.stringContaining('nothing to retry'),
    ]);
  });
});
