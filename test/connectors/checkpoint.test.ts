import { describe, expect, test } from 'bun:test';
import { beginning } from '../../src/connectors/runner.ts';
import { findCheckpoint } from '../../src/imports/checkpoint-store.ts';
import {
  decider,
  type ImportHouse,
  openImportHouse,
  profileXml,
  userXml,
  withWrite,
} from '../imports/support.ts';
import { dialects } from '../support/database.ts';
import { minute, openConnectorHouse } from './support.ts';

const people = (count: number) =>
  profileXml(Array.from({ length: count }, (_, index) => userXml(String(index), `person${index}`)));

const checkpoint = (value: number) => async () => ({ kind: 'test', digest: 'd', value: String(value) });

async function inForce({ database, source }: ImportHouse): Promise<string | undefined> {
  return (await findCheckpoint(database.read, source.id, 'test'))?.value;
}

async function waiting({ database }: ImportHouse): Promise<number> {
  return (await database.read.selectFrom('import_checkpoint').selectAll().execute()).length;
}

/** Processes until the nth write, which is committed or not; false when there were fewer. */
async function processUntil(house: ImportHouse, nth: number, isCommitted: boolean): Promise<boolean> {
  let isKilled = false;
  const mortal = withWrite(house.database, async (write, count) => {
    isKilled ||= count === nth && !isCommitted;
    if (isKilled) throw new Error('killed');
    const result = await write();
    isKilled = count === nth;
    if (isKilled) throw new Error('killed');
    return result;
  });
  await house
    .processor(mortal)
    .drain()
    .catch(() => undefined);
  return isKilled;
}

/** What the killed processor had under way may end a moment later, and its lease with it. */
async function complete(house: ImportHouse, importId: number): Promise<void> {
  for (let attempt = 0; attempt < 20; attempt += 1) {
    house.advance(3_600);
    await house.processor().drain();
    if ((await house.runs.get(importId)).status === 'completed') return;
    await Bun.sleep(50);
  }
}

describe.each(dialects())('a checkpoint on %s', (dialect) => {
  test('is in force if and only if its import is completed, wherever the processor is killed', async () => {
    await using house = await openImportHouse({ dialect });
    const statuses = new Set<string>();
    // Every third moment, before or after a write: all of them is what test/imports/resume.test.ts does.
    const step = dialect === 'sqlite' ? 3 : 1;
    for (let turn = 2; !statuses.has('survived'); turn += step) {
      const one = profileXml([userXml('1', 'ann', `<jobtitle>turn ${turn}</jobtitle>`)]);
      const { importId } = await house.accept(one, { checkpoint: checkpoint(turn) });
      const former = await inForce(house);
      const isKilled = await processUntil(house, Math.floor(turn / 2), turn % 2 === 1);
      const { status } = await house.runs.get(importId);
      expect(await inForce(house)).toBe(status === 'completed' ? String(turn) : former);
      statuses.add(isKilled ? status : 'survived');
      await complete(house, importId);
      expect([await inForce(house), await waiting(house)]).toEqual([String(turn), 0]);
    }
    // PostgreSQL does so little in a few large transactions.
    const met = dialect === 'sqlite' ? ['planning', 'applying'] : ['planning'];
    expect([...statuses]).toEqual(expect.arrayContaining(met));
  }, 120_000);

  test('waits with its run for approval, and is forgotten when the run is rejected', async () => {
    await using house = await openImportHouse({
      dialect,
      settings: { guardMinimum: '1', guardPercent: '1' },
    });
    await house.import(people(5), { checkpoint: checkpoint(1) });
    const held = await house.import(people(3), { checkpoint: checkpoint(2) });
    expect(held.status).toBe('awaiting-approval');
    expect(await inForce(house)).toBe('1');
    await house.runs.reject(held.id, decider);
    expect([await inForce(house), await waiting(house)]).toEqual(['1', 0]);
    const again = await house.import(people(3), { checkpoint: checkpoint(3) });
    await house.runs.approve(again.id, decider);
    await house.processor().drain();
    expect([await inForce(house), await waiting(house)]).toEqual(['3', 0]);
  }, 60_000);

  test('is not kept of a dry run, and is kept of a document that is imported already', async () => {
    await using house = await openImportHouse({ dialect });
    await house.import(people(2), { checkpoint: checkpoint(1), dryRun: true });
    expect([await inForce(house), await waiting(house)]).toEqual([undefined, 0]);
    await house.import(people(2), { checkpoint: checkpoint(2) });
    expect((await house.accept(people(2), { checkpoint: checkpoint(3) })).status).toBe('unchanged');
    expect(await inForce(house)).toBe('3');
  }, 60_000);
});

const counting = `export const connector = {
  kind: 'counting',
  summary: 'Counts its runs',
  canDelta: true,
  configSchema: { type: 'object', properties: { team: { type: 'string' }, key: { type: 'string', writeOnly: true } } },
  async test() { return 'Fine.'; },
  async *read({ mode, checkpoint, setCheckpoint, log, config }) {
    log.info(mode + ' from ' + JSON.stringify(checkpoint ?? null));
    const run = (checkpoint?.run ?? 0) + 1;
    setCheckpoint({ run });
    if (config.team === 'nobody') return;
    yield { kind: 'group', id: 'g', type: 'company', name: 'ACME' };
    if (config.team === 'groups') return;
    yield { kind: 'user', id: '1', username: 'ann', jobtitle: 'run ' + run };
  },
};`;

test(
  'a connector that can goes on from its checkpoint, unless it is asked something else',
  async () => {
    await using house = await openConnectorHouse();
    await house.add('counting', 'connector.ts', counting);
    const { database, source } = house.imports;
    const run = async (config: object) => {
      const from = await beginning(database.read, source.id, await house.call('counting', { ...config }));
      await house.takeIn('counting', { ...config }, from);
      await house.imports.processor().drain();
      return house.log.at(-1)?.text;
    };
    expect(await run({ team: 'a', key: 'one-secret' })).toBe('full from null');
    expect(await run({ team: 'a', key: 'one-secret' })).toBe('delta from {"run":1}');
    expect(await run({ key: 'another-secret', team: 'a' })).toBe('delta from {"run":2}');
    expect(await run({ team: 'b', key: 'another-secret' })).toBe('full from null');
    expect((await house.imports.person('ann')).resource.title).toBe('run 1');
  },
  2 * minute,
);

test(
  'an empty delta is a quiet success, and moves the checkpoint at once',
  async () => {
    await using house = await openConnectorHouse();
    await house.add('counting', 'connector.ts', counting);
    const config = { team: 'nobody' };
    const taken = await house.takeIn('counting', config, { mode: 'delta', checkpoint: { run: 7 } });
    expect(taken.receipt).toBeUndefined();
    const { database, source } = house.imports;
    const from = await beginning(database.read, source.id, await house.call('counting', config));
    expect(from).toEqual({ mode: 'delta', checkpoint: { run: 8 } });
    expect(await house.failure(house.takeIn('counting', config))).toContain('answered with nobody');
    expect(await house.imports.runs.list({})).toEqual([]);
  },
  2 * minute,
);

test(
  'a delta of groups alone waits for somebody, and leaves the checkpoint where it was',
  async () => {
    await using house = await openConnectorHouse();
    await house.add('counting', 'connector.ts', counting);
    const config = { team: 'groups' };
    const taken = await house.takeIn('counting', config, { mode: 'delta', checkpoint: { run: 7 } });
    expect(taken.receipt).toBeUndefined();
    expect(house.log.at(-1)?.text).toStartWith('Only groups have changed');
    const { database, source } = house.imports;
    const from = await beginning(database.read, source.id, await house.call('counting', config));
    expect(from).toEqual({ mode: 'full', checkpoint: null });
  },
  2 * minute,
);
