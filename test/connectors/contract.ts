// What every kind of connector has to hold, each against its own real source: its test file calls this once.

import { describe, expect, test } from 'bun:test';
import type { Config } from '../../src/connectors/connectors.ts';
import { secretsOf } from '../../src/connectors/secrets.ts';
import { type ConnectorHouse, minute, openConnectorHouse } from './support.ts';

/** A real source with what the contract asks of it. */
export interface ContractSource extends AsyncDisposable {
  /** A few people, at least one. */
  readonly config: Config;
  /** The source refuses to answer: a wrong password, token or path. */
  readonly badCredentials: Config;
  /** The source answers with nobody. */
  readonly empty: Config;
  /** 100,000 people. */
  readonly large: Config;
  /** A source that never answers; `reached` resolves once it has been asked. */
  readonly silent: { readonly config: Config; readonly reached: Promise<void> };
}

export interface ContractOptions {
  readonly kind: string;
  readonly open: () => Promise<ContractSource>;
  /** What else the house needs: a connector in its folder. */
  readonly prepare?: (house: ConnectorHouse) => Promise<void>;
}

export const largeCount = 100_000;
/** docs/connectors.md promises this to administrators. */
export const memoryBytesMax = 512 * 1024 * 1024;

export function describeConnectorContract({ kind, open, prepare }: ContractOptions): void {
  const run = (name: string, work: (house: ConnectorHouse, source: ContractSource) => Promise<void>) =>
    test(
      name,
      async () => {
        await using house = await openConnectorHouse();
        await prepare?.(house);
        await using source = await open();
        await work(house, source);
        expect(await secretsSaid(house, kind, source)).toEqual([]);
      },
      5 * minute,
    );

  describe(`the connector ${kind}`, () => {
    run('says what it reaches, shows the first records, and imports them', async (house, { config }) => {
      expect(await house.test(kind, config)).toMatch(/^[^\n]+[.!?]$/);
      const records = await house.preview(kind, config, 2);
      const xml = records.map((record) => record.xml).join('');
      expect(xml).toContain('<user id="');
      const imported = await house.import(kind, config);
      expect(imported.status).toBe('completed');
      expect(imported.counts.created).toBeGreaterThan(0);
    });

    run('fails with one clear sentence when it is refused', async (house, { badCredentials }) => {
      const failures = [
        await house.failure(house.test(kind, badCredentials)),
        await house.failure(house.takeIn(kind, badCredentials)),
      ];
      for (const failure of failures) {
        expect(failure).toMatch(/^The connector failed: [^\n]{10,600}[.!?)]$/);
        expect(failure).not.toMatch(/undefined|\[object|at .*:\d+:\d+/);
      }
      expect(house.leftovers()).toEqual([]);
    });

    run('never disables anybody because the source answers with nobody', async (house, { config, empty }) => {
      await house.import(kind, config);
      const before = await house.imports.states();
      expect(await house.failure(house.takeIn(kind, empty))).toContain('nobody');
      await house.imports.processor().drain();
      expect(await house.imports.states()).toEqual(before);
    });

    run('ends when it is cancelled, before its source has answered', async (house, { silent }) => {
      const cancel = new AbortController();
      const running = house.takeIn(kind, silent.config, { signal: cancel.signal });
      const ended = running.then(
        () => 'went well',
        (error: Error) => error.message,
      );
      await Promise.race([silent.reached, ended]);
      cancel.abort(new Error('cancelled by the test'));
      expect(await ended).toBe('cancelled by the test');
      expect(house.leftovers()).toEqual([]);
    });

    run(`reads ${largeCount} people in flat memory`, async (house, { large }) => {
      const { users, memoryBytesPeak } = await house.countUsers(kind, large);
      expect(users).toBe(largeCount);
      expect(memoryBytesPeak).toBeGreaterThan(0);
      expect(memoryBytesPeak).toBeLessThan(memoryBytesMax);
    });
  });
}

/** The secrets of the source that stand in anything that was logged, answered or shown, as written or in base64. */
async function secretsSaid(house: ConnectorHouse, kind: string, source: ContractSource): Promise<string[]> {
  const { configSchema } = await house.registry.get(kind);
  const { config, badCredentials, empty, large, silent } = source;
  const configs = [config, badCredentials, empty, large, silent.config];
  const secrets = new Set(configs.flatMap((each) => secretsOf(configSchema, each)));
  const said = house.said.join('\n');
  return [...secrets].filter((secret) =>
    [secret, btoa(secret).replaceAll('=', '')].some((form) => said.includes(form)),
  );
}
