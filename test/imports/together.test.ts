import { describe, expect, test } from 'bun:test';
import type { ImportRun } from '../../src/imports/runs.ts';
import type { Dialect } from '../../src/storage/database.ts';
import { TestApp } from '../support/app.ts';
import { dialects, openDatabase } from '../support/database.ts';
import { type ImportHouse, openImportHouse, profileXml, userXml, withWrite } from './support.ts';

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);
const people = 240;

/** Everybody with this title; every second one is in the department, every third one in "VPN". */
function documentOf(title: string, department = ''): string {
  return profileXml(
    numbers(people).map((n) => {
      const unit = department === '' || n % 2 === 1 ? '' : `<department>${department}</department>`;
      const groups = n % 3 === 0 ? '<groups><group>VPN</group></groups>' : '<groups/>';
      return userXml(`p${n}`, `user${n}`, `<jobtitle>${title}</jobtitle>${unit}${groups}`);
    }),
  );
}

/** SCIM on a connection of its own where the engine runs writers side by side. */
async function openScim(house: ImportHouse, dialect: Dialect): Promise<TestApp> {
  const isOther = dialect === 'postgres';
  const database = isOther ? openDatabase(dialect, house.location) : house.database;
  const close = () => (isOther ? database.close() : Promise.resolve());
  const app = new TestApp({ database, location: house.location, close, options: {} });
  await app.addSource('Directory');
  return app;
}

async function imported(house: ImportHouse, xml: string): Promise<ImportRun> {
  const id = await house.queue(xml);
  await house.processor().drain();
  return house.runs.get(id);
}

async function eventsOf(house: ImportHouse, runId: number, kind: string): Promise<number> {
  const events = house.database.read.selectFrom('import_event').select('kind');
  return (await events.where('run_id', '=', runId).where('kind', '=', kind).execute()).length;
}

describe.each(dialects())('uploads at once on %s', (dialect) => {
  test('to one source are imported in their order, and the later one counts', async () => {
    await using house = await openImportHouse({ dialect });
    const receipts = await Promise.all(['One', 'Two'].map((title) => house.accept(documentOf(title))));
    const processor = house.processor();
    expect(await processor.drain()).toBe(2);
    const [first, last] = receipts.toSorted((one, other) => one.importId - other.importId);
    const title = receipts.indexOf(last as never) === 0 ? 'One' : 'Two';
    expect((await house.runs.get(first?.importId ?? 0)).counts.created).toBe(people);
    expect((await house.runs.get(last?.importId ?? 0)).counts.updated).toBe(people);
    const titles = new Set((await house.people()).map(({ resource }) => resource.title));
    expect([...titles]).toEqual([title]);
  });

  test('of the same bytes change everybody once', async () => {
    await using house = await openImportHouse({ dialect });
    await Promise.all(numbers(2).map(() => house.accept(documentOf('One'))));
    await house.processor().drain();
    const runs = (await house.runs.list()).toSorted((one, other) => one.id - other.id);
    expect(runs.map(({ counts }) => [counts.created, counts.unchanged])).toEqual([
      [people, 0],
      [0, people],
    ]);
    expect(await house.accept(documentOf('One'))).toMatchObject({ status: 'unchanged' });
  });
});

describe.each(dialects())('processors that want the same run on %s', (dialect) => {
  test('leave it to one of them', async () => {
    await using house = await openImportHouse({ dialect });
    const importId = await house.queue(documentOf('One'));
    const other = openDatabase(dialect, house.location);
    try {
      const processors = [house.database, other, house.database].map((database) =>
        house.processor(database, { isAlone: false }),
      );
      const ended = await Promise.all(processors.map((processor) => processor.drain()));
      expect(ended.toSorted()).toEqual([0, 0, 1]);
    } finally {
      await other.close();
    }
    expect(await eventsOf(house, importId, 'claimed')).toBe(1);
    expect(await house.runs.get(importId)).toMatchObject({
      status: 'completed',
      counts: { created: people },
    });
  });

  test('change nothing once another one has taken it over', async () => {
    await using house = await openImportHouse({ dialect });
    await imported(house, documentOf('One'));
    const importId = await house.queue(documentOf('Two', 'Sales'));
    let taken = 0;
    const slow = withWrite(house.database, async (write, nth) => {
      if (nth === 5) {
        house.advance(3_600);
        taken = await house.processor(house.database, { isAlone: false }).drain();
        await house.database.write((tx) =>
          tx.updateTable('user').set({ do_not_synchronise: 1 }).where('user_name', '=', 'user0').execute(),
        );
      }
      return write();
    });
    expect(await house.processor(slow, { isAlone: false }).drain()).toBe(0);
    expect(taken).toBe(1);
    expect(await house.runs.get(importId)).toMatchObject({
      status: 'completed',
      counts: { updated: people },
    });
    expect(new Set((await house.people()).map(({ version }) => version)).size).toBe(1);
  });
});

describe.each(dialects())('changes over SCIM during an import on %s', (dialect) => {
  test('are none of them lost, and nor is anything of the file', async () => {
    await using house = await openImportHouse({ dialect });
    await using app = await openScim(house, dialect);
    await imported(house, documentOf('One'));
    const ids = (await house.people()).map(({ id }) => id);
    const chess = (await app.createGroup({ displayName: 'Chess' })).body.id;
    await house.queue(documentOf('Two', 'Sales'));
    const patched = new Map<number, string>();
    const joined = new Set<number>();
    const patch = async (id: number, nickName: string) => {
      const { status } = await app.patch(`/Users/${id}`, [{ op: 'add', path: 'nickName', value: nickName }]);
      expect(status).toBe(200);
      patched.set(id, nickName);
    };
    const join = async (id: number) => {
      const value = [{ value: String(id) }];
      const { status } = await app.patch(`/Groups/${chess}`, [{ op: 'add', path: 'members', value }]);
      expect(status).toBe(200);
      joined.add(id);
    };
    const meanwhile: Promise<void>[] = [];
    const busy = withWrite(house.database, (write, nth) => {
      for (const n of numbers(6)) {
        const id = ids[(nth * 37 + n * 31) % ids.length] ?? 0;
        if (!patched.has(id)) meanwhile.push(patch(id, `nick ${id}`));
        if (!joined.has(id)) meanwhile.push(join(id));
      }
      return write();
    });
    await house.processor(busy).drain();
    await Promise.all(meanwhile);
    expect(await house.runs.get(2)).toMatchObject({
      status: 'completed',
      counts: { updated: people, issues: 0 },
    });
    expect(patched.size).toBeGreaterThan(20);
    for (const [n, person] of (await house.people()).entries()) {
      const groups = person.groups.map((group) => group.displayName).toSorted();
      const wanted = [
        ...(joined.has(person.id) ? ['Chess'] : []),
        ...(n % 2 === 0 ? ['Sales'] : []),
        ...(n % 3 === 0 ? ['VPN'] : []),
      ];
      const { title, nickName } = person.resource;
      expect({ n, title, nickName, groups }).toEqual({
        n,
        title: 'Two',
        nickName: patched.get(person.id),
        groups: wanted,
      });
    }
  }, 120_000);

  test('of which one creates a group that the file creates as well: there is one, with everybody in it', async () => {
    await using house = await openImportHouse({ dialect });
    await using app = await openScim(house, dialect);
    const importId = await house.queue(documentOf('One', 'Sales'));
    let id = '';
    const interrupted = withWrite(house.database, async (write) => {
      const result = await write();
      if (id === '' && (await house.runs.get(importId)).status === 'applying')
        id = (await app.createGroup({ displayName: 'VPN' })).body.id;
      return result;
    });
    await house.processor(interrupted).drain();
    expect(await house.runs.get(importId)).toMatchObject({
      status: 'completed',
      counts: { created: people },
    });
    const { body } = await app.call('GET', `/Groups/${id}`);
    expect(body.members).toHaveLength(Math.ceil(people / 3));
  });

  test('of which one deletes a group that people are to be in: that is told, and mended by the next file', async () => {
    await using house = await openImportHouse({ dialect });
    await using app = await openScim(house, dialect);
    await imported(house, profileXml([userXml('a', 'anna'), userXml('b', 'bert')]));
    const { body: group } = await app.createGroup({ displayName: 'VPN' });
    const document = profileXml([
      userXml('a', 'anna', '<groups><group>VPN</group></groups>'),
      userXml('b', 'bert'),
    ]);
    const importId = await house.queue(document);
    let isDeleted = false;
    const interrupted = withWrite(house.database, async (write) => {
      const result = await write();
      if (!isDeleted && (await house.runs.get(importId)).status === 'applying') {
        isDeleted = true;
        expect((await app.call('DELETE', `/Groups/${group.id}`)).status).toBe(204);
      }
      return result;
    });
    await house.processor(interrupted).drain();
    expect(await house.runs.issues(importId)).toMatchObject([{ recordId: 'a', code: 'unknownGroup' }]);
    expect(await imported(house, document)).toMatchObject({ status: 'completed' });
    expect((await house.person('anna')).groups).toMatchObject([{ displayName: 'VPN' }]);
  });
});
