import { Database as Sqlite } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { statSync } from 'node:fs';
import type { RequestRecord } from '../../src/requests/record.ts';
import type { RequestLog } from '../../src/requests/request-log.ts';
import type { RequestQuery } from '../../src/requests/request-reader.ts';
import { Retention } from '../../src/requests/retention.ts';
import { LogHouse, requestRecord } from './support.ts';

const daySeconds = 24 * 60 * 60;
const roomy = { days: 30, bodyDays: 7, bytesMax: 1024 ** 4 };

describe('retention of the request log', () => {
  test('removes requests after their days, and bodies after theirs', () => {
    using house = new LogHouse();
    const log = house.open();
    for (const path of ['/old', '/middle', '/new']) {
      write(log, [requestRecord({ path, body: '{}', timeMs: house.clock().getTime() })]);
      house.clock.advance(20 * daySeconds);
    }
    pruneAll(log, roomy);
    const { requests } = house.read((reader) => reader.page({}, { limit: 10, withBodies: true }));
    expect(requests.map(({ path, body }) => [path, body])).toEqual([['/new', null]]);
  });

  test('removes the counts of repairs with the requests', () => {
    using house = new LogHouse();
    const log = house.open();
    const repairs = [{ code: 'dotted-key', attribute: 'a' }];
    write(log, [requestRecord({ repairs, timeMs: house.clock().getTime() })]);
    pruneAll(log, roomy);
    expect(house.read((reader) => reader.repairs(0))).toHaveLength(1);
    house.clock.advance(40 * daySeconds);
    pruneAll(log, roomy);
    expect(house.read((reader) => reader.repairs(0))).toEqual([]);
  });

  test('lets the oldest requests go when the file is too large, and gives the space back', () => {
    using house = new LogHouse();
    const log = house.open();
    const body = 'x'.repeat(5_000);
    write(
      log,
      many(6_000, (number) => ({ path: `/${number}`, body })),
    );
    pruneAll(log, { ...roomy, bytesMax: 8 * 1024 ** 2 });
    const paths = house.paths();
    expect(paths.at(-1)).toBe('/5999');
    log.close();
    expect(statSync(house.path).size).toBeLessThan(20 * 1024 ** 2);
  });

  test('keeps only so many refusals of the gate, and none of the rest goes for them', () => {
    using house = new LogHouse();
    const log = house.open();
    write(log, [requestRecord({ path: '/first' })]);
    write(
      log,
      many(12_000, (number) => ({ path: `/gate/${number}`, sourceId: null, isAtGate: true })),
    );
    pruneAll(log, roomy);
    expect(pathsOf(house, { sourceId: 1 })).toEqual(['/first']);
    expect(count(house)).toBe(10_001);
  });

  test('takes a million rows away in small pieces, between which the log is written', async () => {
    using house = new LogHouse();
    const log = house.open();
    const million = 1_000_000;
    write(log, [requestRecord()]);
    fill(house.path, million - 1);
    house.clock.advance(31 * daySeconds);
    let before = million;
    let pieces = 0;
    while (log.prunePiece(roomy)) {
      pieces += 1;
      if (pieces % 100 !== 0) continue;
      const now = count(house);
      expect(before - now).toBeLessThanOrEqual(100_000);
      before = now;
      write(log, [requestRecord({ path: `/${pieces}` })]);
      before += 1;
    }
    expect(pieces).toBeGreaterThanOrEqual(1_000);
    expect(house.paths().at(0)).toBe('/100');
  }, 60_000);

  test('runs through by itself, with the limits of the moment', async () => {
    using house = new LogHouse();
    const log = house.open();
    write(
      log,
      many(2_500, () => ({})),
    );
    house.clock.advance(2 * daySeconds);
    const retention = new Retention({
      requests: log,
      limits: async () => ({ ...roomy, days: 1 }),
      log: house.log(),
      pauseMs: 0,
    });
    await retention.prune();
    expect(house.paths()).toEqual([]);
  });

  test('says so when it fails, and goes on', async () => {
    using house = new LogHouse();
    const looks: string[] = [];
    const { promise: second, resolve } = Promise.withResolvers<void>();
    const limits = async () => {
      looks.push('look');
      if (looks.length === 1) throw new Error('the settings are away');
      resolve();
      return roomy;
    };
    const retention = new Retention({ requests: house.open(), limits, log: house.log(), lookMs: 1 });
    retention.start();
    await second;
    retention.stop();
    expect(house.said.join('')).toContain('the settings are away');
  });
});

/** Copies the one row that is there so often. */
function fill(path: string, copies: number): void {
  using sqlite = new Sqlite(path);
  const { columns } = sqlite
    .query("select group_concat(name, ', ') as columns from pragma_table_info('request') where name <> 'id'")
    .get() as { columns: string };
  sqlite.run(
    `insert into request (id, ${columns})
     select request.id + numbers.value, ${columns} from request, generate_numbers as numbers`.replace(
      'generate_numbers',
      '(with recursive n(value) as (select 1 union all select value + 1 from n where value < ?) select value from n)',
    ),
    [copies],
  );
}

function write(log: RequestLog, records: readonly RequestRecord[]): void {
  for (let at = 0; at < records.length; at += 1_000) {
    for (const record of records.slice(at, at + 1_000)) log.append(record);
    log.flush();
  }
}

function many(total: number, fields: (number: number) => Partial<RequestRecord>): RequestRecord[] {
  return Array.from({ length: total }, (_, number) => requestRecord(fields(number)));
}

function pruneAll(log: RequestLog, limits: typeof roomy): void {
  for (let piece = 0; piece < 10_000 && log.prunePiece(limits); piece += 1);
}

function count(house: LogHouse): number {
  return pathsOf(house, {}).length;
}

/** Page after page: one looks at so many rows and no more, however few it finds. */
function pathsOf(house: LogHouse, query: RequestQuery): string[] {
  return house.read((reader) => {
    const paths: string[] = [];
    let before: number | undefined = Number.MAX_SAFE_INTEGER;
    while (before !== undefined) {
      const page = reader.page(query, { limit: 1_000, before });
      paths.push(...page.requests.map(({ path }) => path));
      before = page.next;
    }
    return paths;
  });
}
