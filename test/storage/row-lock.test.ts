import { describe, expect, test } from 'bun:test';
import { sql } from 'kysely';
import { lockBrake } from '../../src/directory/brake-store.ts';
import type { Database, Tx } from '../../src/storage/database.ts';
import { keepInPassing, lockInPassing, lockRows } from '../../src/storage/row-lock.ts';
import { reserveIds } from '../../src/storage/sequence-store.ts';
import { openTestApp, type TestApp } from '../support/app.ts';
import { dialects } from '../support/database.ts';

// SQLite has one writer, and nothing to lock.
const only = dialects().filter((dialect) => dialect === 'postgres');

async function openWithRows(dialect: 'sqlite' | 'postgres'): Promise<TestApp> {
  const app = await openTestApp({ dialect });
  for (const userName of ['ann', 'bob']) await app.createUser({ userName });
  for (const displayName of ['Sales', 'Staff']) await app.createGroup({ displayName });
  return app;
}

/** A moment that a test waits for. */
function moment() {
  let come = () => {};
  const came = new Promise<void>((resolve) => {
    come = resolve;
  });
  return { come, came };
}

/** Runs `work` and says by which codes its attempts were undone. */
async function attempts(database: Database, work: (tx: Tx) => Promise<void>): Promise<string[]> {
  const codes: string[] = [];
  await database.write(async (tx) => {
    try {
      await work(tx);
    } catch (error) {
      codes.push((error as { code: string }).code);
      throw error;
    }
  });
  return codes;
}

async function untilAnyWaits({ read }: Database): Promise<void> {
  for (;;) {
    const { rows } = await sql`select 1 from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(read);
    if (rows.length > 0) return;
    await Bun.sleep(5);
  }
}

type Lock = (tx: Tx) => Promise<unknown>;
const user =
  (id: number): Lock =>
  (tx) =>
    lockRows(tx, 'user', [id]);
const group =
  (id: number): Lock =>
  (tx) =>
    lockRows(tx, 'group_', [id]);

/** What is locked first, and what after it by a transaction that begins at the other end. */
const pairs: Readonly<Record<string, readonly [Lock, Lock]>> = {
  'a group and a user': [group(1), user(1)],
  'two users': [user(1), user(2)],
  'a user and the ids of groups': [user(1), (tx) => reserveIds(tx, 'Group', 1)],
  'a user and the count of the brake': [user(1), (tx) => lockBrake(tx, 1)],
  'a user and a group in passing': [group(1), (tx) => lockInPassing(tx, 'user', [1])],
  'a user who is kept and a group': [group(1), (tx) => keepInPassing(tx, 'user', [1])],
};

describe.each(only)('locks on %s', (dialect) => {
  test.each(Object.entries(pairs))('of %s never wait for each other', async (_name, [first, second]) => {
    await using app = await openWithRows(dialect);
    const { database } = app;
    await database.write((tx) => lockBrake(tx, 1));
    const [held, busy] = [moment(), moment()];
    const inOrder = attempts(database, async (tx) => {
      await first(tx);
      held.come();
      await busy.came;
      await second(tx);
    });
    await held.came;
    const otherWay = attempts(database, async (tx) => {
      await second(tx);
      await first(tx);
    });
    await untilAnyWaits(database);
    busy.come();
    expect(await inOrder).toEqual([]);
    expect(await otherWay).toEqual(['40001']);
  });

  test('that are kept by several stop whoever wants to change the row', async () => {
    await using app = await openWithRows(dialect);
    const { database } = app;
    const [held, busy] = [moment(), moment()];
    const first = database.write(async (tx) => {
      await keepInPassing(tx, 'user', [1]);
      held.come();
      await busy.came;
    });
    await held.came;
    await database.write((tx) => keepInPassing(tx, 'user', [1]));
    const changed: string[] = [];
    const change = database.write(async (tx) => {
      await lockRows(tx, 'user', [1]);
      changed.push('changed');
    });
    await untilAnyWaits(database);
    expect(changed).toEqual([]);
    busy.come();
    await Promise.all([first, change]);
    expect(changed).toEqual(['changed']);
  });
});
