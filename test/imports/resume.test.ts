import { describe, expect, test } from 'bun:test';
import { cpSync } from 'node:fs';
import type { ImportRun } from '../../src/imports/runs.ts';
import type { Dialect } from '../../src/storage/database.ts';
import { dialects, openDatabase, openTestDatabase } from '../support/database.ts';
import { ImportHouse, openImportHouse, profileXml, userXml, withWrite } from './support.ts';

const number = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
const password = '<password>Pa55word-7</password>';
const groups =
  '<group id="g1" type="company" name="ACME"/><group id="g2" type="security group" name="VPN"><description>d</description></group>';

const before = profileXml(
  number(0, 40).map((n) => userXml(`p${n}`, `user${n}`, '<company>g1</company>')),
  { groups },
);

/** Everything at once: new people with passwords and managers to come, renames, a swap, disabled and missing ones. */
const after = profileXml(
  [
    userXml('p0', 'user1', '<jobtitle>swapped</jobtitle>'),
    userXml('p1', 'user0'),
    userXml('p2', 'renamed2', '<department>New department</department><manager>n3</manager>'),
    userXml('p3', 'user3', '<active>false</active>'),
    userXml('p4', 'user4', '<userType>King</userType>'),
    ...number(5, 35).map((n) =>
      userXml(`p${n}`, `user${n}`, `<jobtitle>t${n}</jobtitle><company>g1</company>`),
    ),
    ...number(0, 90).map((n) =>
      userXml(
        `n${n}`,
        `new${n}`,
        `${n < 3 ? password : ''}<company>g1</company><location>Place ${n % 4}</location><manager>${
          n % 7 === 0 ? `new${89 - n}` : `n${(n * 7) % 90}`
        }</manager><groups><group ref="g2"/></groups>`,
      ),
    ),
  ],
  { groups },
);

const settings = { guardMinimum: '1000' };

describe('a processor that is killed', () => {
  test('at any write leaves a run that ends as if nothing had happened, on sqlite', async () => {
    await using prepared = await prepare('sqlite');
    const undisturbed = await endState(await copyOf(prepared));
    expect(undisturbed.run).toMatchObject({ status: 'completed-with-errors' });
    let survived = false;
    let kills = 0;
    for (let nth = 1; !survived; nth += 1) {
      for (const isCommitted of [false, true]) {
        await using house = await copyOf(prepared);
        survived = await processUntilKilled(house, nth, isCommitted);
        kills += survived ? 0 : 1;
        expect({ nth, isCommitted, ...(await endState(house)) }).toEqual({
          nth,
          isCommitted,
          ...undisturbed,
        });
      }
    }
    expect(kills).toBeGreaterThan(30);
  }, 120_000);

  for (const dialect of dialects().filter((name) => name === 'postgres')) {
    test('at some write leaves a run that ends as if nothing had happened, on postgres', async () => {
      await using calm = await prepare(dialect);
      const undisturbed = await endState(calm);
      for (const nth of [2, 5, 9, 13]) {
        await using house = await prepare(dialect);
        expect(await processUntilKilled(house, nth, nth % 2 === 0)).toBe(false);
        expect(await endState(house)).toEqual(undisturbed);
      }
    }, 120_000);
  }

  test('again and again, at every second write, still comes to an end', async () => {
    await using house = await prepare('sqlite');
    for (let attempt = 0; attempt < 200; attempt += 1) {
      if (await processUntilKilled(house, attempt < 20 ? 12 : 4, false)) break;
    }
    await using calm = await prepare('sqlite');
    expect(await endState(house)).toEqual(await endState(calm));
  }, 120_000);
});

describe('a processor that is stopped', () => {
  test('lets go of its run at a batch border, and another one ends it', async () => {
    await using house = await prepare('sqlite');
    const first = house.processor();
    const stopped = new AbortController();
    first.start();
    const onProgress = (run: ImportRun) => {
      if (run.progress !== undefined) void first.stop().then(() => stopped.abort());
    };
    await house.runs.wait(2, { everyMs: 1, signal: stopped.signal, onProgress }).catch(() => undefined);
    await first.stop();
    expect((await house.runs.get(2)).status).not.toStartWith('completed');
    await using calm = await prepare('sqlite');
    expect(await endState(house)).toEqual(await endState(calm));
  });

  test('takes a run whose lease has ended, and the former holder can no longer write', async () => {
    await using house = await prepare('sqlite');
    let other: Promise<number> | undefined;
    const slow = withWrite(house.database, async (write, nth) => {
      if (nth === 6) {
        house.advance(3_600);
        other = house.processor().drain();
        await other;
      }
      return write();
    });
    await house.processor(slow).drain();
    expect(await other).toBe(1);
    await using calm = await prepare('sqlite');
    expect(await endState(house)).toEqual(await endState(calm));
    expect(house.logged.join('')).toContain('taken over');
  });
});

/** A house in which `before` is imported and `after` is queued. */
async function prepare(dialect: Dialect): Promise<ImportHouse> {
  const house = await openImportHouse({ dialect, settings });
  await house.import(before);
  await house.accept(after);
  return house;
}

async function copyOf(house: ImportHouse): Promise<ImportHouse> {
  const place = await openTestDatabase('sqlite');
  await place.database.close();
  const rows = house.location;
  await house.checkpoint();
  cpSync(rows, place.location);
  const database = openDatabase('sqlite', place.location);
  const close = async () => {
    await database.close();
    await place[Symbol.asyncDispose]();
  };
  const copy = new ImportHouse(database, close, place.location);
  cpSync(house.folder, copy.folder, { recursive: true });
  await copy.reload();
  return copy;
}

/** True when the run ended before the nth write; from that one on nothing can be written. */
async function processUntilKilled(house: ImportHouse, nth: number, isCommitted: boolean): Promise<boolean> {
  let isDead = false;
  const mortal = withWrite(house.database, async (write, count) => {
    if (isDead || (count === nth && !isCommitted)) {
      isDead = true;
      throw new Error('killed');
    }
    const result = await write();
    if (count !== nth) return result;
    isDead = true;
    throw new Error('killed');
  });
  await house
    .processor(mortal)
    .drain()
    .catch(() => undefined);
  return !isDead;
}

/** Lets the run end and returns all that is left of it and of the directory, without times and counters of batches. */
async function endState(house: ImportHouse) {
  await house.processor().drain();
  const db = house.database.read;
  const users = await db.selectFrom('user').selectAll().orderBy('id').execute();
  const groupRows = await db.selectFrom('group_').selectAll().orderBy('id').execute();
  const journal = await db.selectFrom('journal').selectAll().where('resource_type', '=', 'User').execute();
  const { created: _created, started: _started, finished: _finished, ...run } = await house.runs.get(2);
  return {
    run,
    issues: await house.runs.issues(2),
    users: users.map(({ created: _c, modified: _m, password_hash, ...user }) => ({
      ...user,
      hasPassword: password_hash !== null,
    })),
    emails: await db.selectFrom('user_email').selectAll().orderBy('user_id').orderBy('ordinal').execute(),
    links: await db
      .selectFrom('source_link')
      .selectAll()
      .orderBy('resource_type')
      .orderBy('resource_id')
      .execute(),
    groups: groupRows.map(({ created: _c, modified: _m, version: _v, ...group }) => group),
    memberships: await db
      .selectFrom('membership')
      .selectAll()
      .orderBy('group_id')
      .orderBy('user_id')
      .execute(),
    sequences: await db.selectFrom('sequence').selectAll().orderBy('name').execute(),
    journal: journal.map(({ seq: _s, time: _t, ...entry }) => JSON.stringify(entry)).toSorted(),
    sealed: await db
      .selectFrom('import_plan')
      .select('seq')
      .where('sealed_password', 'is not', null)
      .execute(),
    drop: house.files('drop'),
    archive: house.files('archive').length,
  };
}
