import { describe, expect, test } from 'bun:test';
import { openTestApp, type TestApp } from '../support/app.ts';
import { dialects } from '../support/database.ts';

/** References that wait for nobody's arrival, as many PATCHes would leave them. */
async function park(app: TestApp, count: number, created: string): Promise<void> {
  await app.database.write(async (tx) => {
    for (let from = 0; from < count; from += 2_000) {
      const length = Math.min(2_000, count - from);
      const rows = Array.from({ length }, (_, index) => `old${created}${from + index}`).map((reference) => ({
        ...{
          source_id: 1,
          kind: 'member' as const,
          resource_id: 1,
          reference,
          reference_key: reference,
          created,
        },
      }));
      await tx.insertInto('pending_reference').values(rows).execute();
    }
  });
}

const naming = (...values: string[]) => ({
  op: 'add',
  path: 'members',
  value: values.map((value) => ({ value })),
});

describe.each(dialects())('references that wait on %s', (dialect) => {
  test('are no more than so many of a source; the oldest make room', async () => {
    await using app = await openTestApp({ dialect, settings: { unknownMembers: 'pending' } });
    await app.createGroup({ displayName: 'Staff' });
    const now = app.clock().toISOString();
    await park(app, 99_999, now);
    expect((await app.patch('/Groups/1', [naming('ann')])).status).toBe(200);
    expect((await app.patch('/Groups/1', [naming('ann')])).status).toBe(200);
    const refused = await app.patch('/Groups/1', [naming('ann', 'bob')]);
    expect(refused.body).toMatchObject({ status: '400', scimType: 'invalidValue' });
    expect(refused.body.detail).toContain('send these users first');
    app.clock.advance(91 * 24 * 60 * 60);
    expect((await app.patch('/Groups/1', [naming('bob')])).status).toBe(200);
    await app.createUser({ userName: 'bob' });
    expect((await app.call('GET', '/Groups/1')).body.members).toMatchObject([{ value: '1' }]);
  }, 60_000);
});
