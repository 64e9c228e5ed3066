import { describe, expect, test } from 'bun:test';
import { DocumentStore } from '../../src/archive/archive.ts';
import { dialects, openDatabase } from '../support/database.ts';
import { type ImportHouse, openImportHouse, profileXml, userXml } from './support.ts';

/** A file of three people that loses one has shrunk by a third. */
const relaxed = { guardShrinkPercent: '100' };

/** Reads a document of the first source only once `released` is. */
class HeldDocuments extends DocumentStore {
  readonly #released: Promise<unknown>;
  reads = 0;

  constructor(folder: string, released: Promise<unknown>) {
    super(folder);
    this.#released = released;
  }

  override async *read(document: string): AsyncGenerator<Uint8Array> {
    this.reads += 1;
    if (document.startsWith('1-')) await this.#released;
    yield* super.read(document);
  }
}

async function queueFor(house: ImportHouse, sourceId: number, names: readonly string[]): Promise<number> {
  const source = await house.sources.get(String(sourceId));
  if (source.kind !== 'general') throw new Error('not a general source');
  const users = names.map((name) => userXml(`${sourceId}-${name}`, `${name}${sourceId}`));
  const xml = profileXml(users, { domain: source.name, ldapid: String(sourceId) });
  return (await house.accept(xml, { source })).importId;
}

async function statusesOf(house: ImportHouse): Promise<string[]> {
  return (await house.runs.list()).map(({ id, status }) => `${id} ${status}`).toSorted();
}

async function until(is: () => Promise<boolean>): Promise<void> {
  for (let look = 0; look < 1_000; look += 1) {
    if (await is()) return;
    await Bun.sleep(10);
  }
  throw new Error('it did not come about');
}

for (const dialect of dialects()) {
  describe(`several sources on ${dialect}`, () => {
    test('are imported side by side, and one of them in the order of arrival', async () => {
      await using house = await openImportHouse({ dialect });
      await house.addSource('Sales');
      const released = Promise.withResolvers<void>();
      const documents = new HeldDocuments(house.folder, released.promise);
      await queueFor(house, 1, ['long']);
      await queueFor(house, 1, ['long', 'next']);
      const processor = house.processor(house.database, { documents });
      processor.start();
      await until(async () => documents.reads === 1);
      await queueFor(house, 2, ['short']);
      processor.wake();
      await until(async () => (await house.runs.get(3)).status === 'completed');
      expect(await statusesOf(house)).toEqual(['1 planning', '2 queued', '3 completed']);
      released.resolve();
      await until(async () => (await house.runs.get(2)).status === 'completed');
      await processor.stop();
      expect(await statusesOf(house)).toEqual(['1 completed', '2 completed', '3 completed']);
    });

    test('are never at work in greater number than two', async () => {
      await using house = await openImportHouse({ dialect });
      for (const name of ['Sales', 'Works', 'Board']) await house.addSource(name);
      for (const sourceId of [1, 2, 3, 4]) await queueFor(house, sourceId, ['a', 'b', 'c']);
      let most = 0;
      const watched = new (class extends DocumentStore {
        override async *read(document: string): AsyncGenerator<Uint8Array> {
          const rows = await house.runs.list();
          most = Math.max(
            most,
            rows.filter(({ status }) => ['planning', 'applying'].includes(status)).length,
          );
          yield* super.read(document);
        }
      })(house.folder);
      expect(await house.processor(house.database, { documents: watched }).drain()).toBe(4);
      expect(most).toBeLessThanOrEqual(2);
      expect((await house.people()).length).toBe(12);
    });

    test('are each worked on by one of two processors', async () => {
      await using house = await openImportHouse({ dialect });
      for (const name of ['Sales', 'Works', 'Board', 'Lab']) await house.addSource(name, relaxed);
      const everyone = [1, 2, 3, 4, 5];
      for (const sourceId of everyone) await queueFor(house, sourceId, ['a', 'b', 'c']);
      await house.processor().drain();
      // Without anybody new, no run has to wait for another one.
      for (const sourceId of everyone) await queueFor(house, sourceId, ['a', 'b']);
      const other = openDatabase(dialect, house.location);
      try {
        const processors = [house.database, other].map((database) =>
          house.processor(database, { isAlone: false }),
        );
        const together = async () => {
          const ended = await Promise.all(processors.map((processor) => processor.drain()));
          return ended.reduce((sum, count) => sum + count, 0);
        };
        let ended = 0;
        // Whoever finds nothing that is ready ends its round, and the other's end makes the next run ready.
        for (let round = 0; round < 20 && ended < 5; round += 1) ended += await together();
        expect(ended).toBe(5);
      } finally {
        await other.close();
      }
      expect((await house.runs.list()).map(({ status }) => status)).toEqual(Array(10).fill('completed'));
      const claims = await house.database.read
        .selectFrom('import_event')
        .select('run_id')
        .where('kind', '=', 'claimed')
        .where('run_id', '>', 5)
        .execute();
      expect(claims.map((claim) => claim.run_id).toSorted((a, b) => a - b)).toEqual([6, 7, 8, 9, 10]);
      expect((await house.states()).filter((state) => state.endsWith(' active'))).toHaveLength(10);
    });

    test('that bring the same groups and people find what the other has made', async () => {
      await using house = await openImportHouse({ dialect });
      const sales = await house.addSource('Sales', { guardErrorPercent: '100' });
      const groups =
        '<group id="g1" type="company" name="ACME"/><group id="g2" type="security group" name="VPN"/>';
      const places = '<company>g1</company><groups><group ref="g2"/></groups>';
      const document = (from: number, domain: string, ldapid: string) => {
        const numbers = Array.from({ length: 30 }, (_, n) => n + from);
        const users = numbers.map((n) => userXml(`p${n}`, `person${n}`, places));
        return profileXml(users, { groups, domain, ldapid });
      };
      await house.accept(document(0, 'Human Resources', '1'));
      await house.accept(document(20, 'Sales', '2'), { source: sales });
      expect(await house.processor().drain()).toBe(2);
      const runs = await house.runs.list();
      expect(runs.map(({ status, message }) => [status, message])).toEqual([
        ['completed', undefined],
        ['completed', undefined],
      ]);
      expect(runs.map(({ counts }) => counts.created).toSorted()).toEqual([20, 30]);
      expect(runs.map(({ counts }) => counts.groupsCreated).toSorted()).toEqual([0, 2]);
      const everyone = await house.people();
      expect(everyone).toHaveLength(50);
      expect(everyone.filter((person) => person.groups.length === 2)).toHaveLength(50);
    });
  });
}
