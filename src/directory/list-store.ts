import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Reader } from '../storage/database.ts';
import { inNumbers } from '../storage/list-parameter.ts';
import type { ResourceTypeName } from '../storage/schema.ts';
import { statement } from '../storage/statement.ts';
import type { Condition, SortKey } from './filter-sql.ts';
import type { RankedRow, SortValue } from './first-rows.ts';

/** Which rows a list shows. */
export interface Rows {
  readonly condition: Condition | undefined;
  /** Only what this source owns; undefined for all. */
  readonly owner: number | null | undefined;
}

/** Ids from `from` up to, and without, `to`, of which `live` are there. */
export interface IdRange {
  readonly from: number;
  readonly to: number;
  readonly live: number;
}

/** A range of which it is known whether its ids are still those of before. */
export interface BlockRange extends IdRange {
  /** Differs from every value that went with other ids. */
  readonly changes: number;
}

/** All blocks together. Two of these with the same `blocks` and `changes` stand for the same ranges. */
export interface BlockSums {
  readonly blocks: number;
  readonly live: number;
  readonly changes: number;
}

export interface IdSlice {
  readonly from: number;
  /** How many of those from there on to pass over. */
  readonly skip: number;
  readonly count: number;
}

/** The lists of one type of resource, as ids: resources are loaded by whoever shows them. */
export interface ListStore {
  /** The order of ids as the numbers that they are, which costs nothing; RFC 7643 knows them as texts. */
  readonly idKey: SortKey;
  /** How many there are. */
  total(db: Reader): Promise<number>;
  /** All ids in ranges that hold a bounded number of resources each; their order is that of ids. */
  ranges(db: Reader): Promise<IdRange[]>;
  /** The same without waiting; undefined where the engine has to wait. */
  rangesAtOnce(db: Reader): BlockRange[] | undefined;
  /** What tells whether they are still the same, likewise. */
  sumsAtOnce(db: Reader): BlockSums | undefined;
  /** The ids of a range, in order, without waiting; undefined where the engine has to wait. */
  idsAtOnce(db: Reader, range: IdRange): number[] | undefined;
  /** The next range after `after` in which the owner has at most `ownedInRangeMax` resources; undefined at the end. */
  ownedRange(db: Reader, owner: number | null, after: number): Promise<IdRange | undefined>;
  /** Ids in order. `skip` costs what it is, so it should be less than a range holds. */
  ids(db: Reader, rows: Rows, slice: IdSlice): Promise<number[]>;
  /** The ids of `range` that `rows` has, in order. */
  idsWithin(db: Reader, rows: Rows, range: IdRange): Promise<number[]>;
  /** The same, with what they are sorted by. */
  rowsWithin(db: Reader, rows: Rows, range: IdRange, key: SortKey): Promise<RankedRow[]>;
  /** Those of `ids` that `rows` has, with what they are sorted by, if anything. */
  rowsAmong(db: Reader, rows: Rows, ids: readonly number[], key: SortKey | undefined): Promise<RankedRow[]>;
  /** Any `count` that fulfil the condition, in no order. */
  someIds(db: Reader, condition: Condition, count: number): Promise<number[]>;
  /** Whether a subquery has at most `rowsMax` rows; it is asked for no more. */
  isShort(db: Reader, query: RawBuilder<unknown>, rowsMax: number): Promise<boolean>;
  /** All in the order of `key`, which has an index, from behind `after` on. */
  rowsByKey(db: Reader, slice: KeySlice): Promise<RankedRow[]>;
}

export interface KeySlice {
  readonly key: SortKey;
  readonly isDescending: boolean;
  readonly after: RankedRow | undefined;
  readonly count: number;
}

/** As many ids as a block of `resource_block` stands for; a migration knows it too. */
export const blockIds = 2_048;
const ownedInRangeMax = 2_048;

type Table = 'user' | 'group_';

/** Fixed texts, not parameters: SQLite cannot use a partial index for a value that it does not know. */
const isLive = {
  user: sql<SqlBool>`"user".state <> 'archived'`,
  group_: sql<SqlBool>`group_.state = 'existing'`,
} as const;

export const userList: ListStore = listStore('user', 'User');
export const groupList: ListStore = listStore('group_', 'Group');

function listStore(table: Table, resourceType: ResourceTypeName): ListStore {
  const selectBlocks = statement<{ resourceType: ResourceTypeName }, Block>((db, place) =>
    db
      .selectFrom('resource_block')
      .select(['block', 'live', 'changes'])
      .where('resource_type', '=', place('resourceType'))
      .where('live', '>', 0)
      .orderBy('block'),
  );
  const selectWithin = statement<{ from: number; to: number }, { id: number }>((db, place) =>
    db
      .selectFrom(table)
      .select('id')
      .where(isLive[table])
      .where('id', '>=', place('from'))
      .where('id', '<', place('to'))
      .orderBy('id'),
  );
  const selectTotal = statement<{ resourceType: ResourceTypeName }, { total: number | null }>((db, place) =>
    db
      .selectFrom('resource_block')
      .select(sql<number | null>`sum(live)`.as('total'))
      .where('resource_type', '=', place('resourceType')),
  );
  const selectSums = statement<{ resourceType: ResourceTypeName }, BlockSums>((db, place) =>
    db
      .selectFrom('resource_block')
      .select([
        sql<number>`count(*)`.as('blocks'),
        sql<number>`coalesce(sum(live), 0)`.as('live'),
        sql<number>`coalesce(sum(changes), 0)`.as('changes'),
      ])
      .where('resource_type', '=', place('resourceType')),
  );
  const selectAny = statement<{ from: number; skip: number; count: number }, { id: number }>((db, place) =>
    db
      .selectFrom(table)
      .select('id')
      .where(isLive[table])
      .where('id', '>=', place('from'))
      .orderBy('id')
      .limit(place('count'))
      .offset(place('skip')),
  );
  const live = (db: Reader, { condition, owner }: Rows) =>
    db
      .selectFrom(table)
      .select(`${table}.id`)
      .where(isLive[table])
      .$if(owner !== undefined, (rows) =>
        rows.where('owner_source_id', owner === null ? 'is' : '=', owner ?? null),
      )
      .$if(condition !== undefined, (rows) => rows.where(condition ?? isLive[table]))
      .orderBy(`${table}.id`);

  return {
    idKey: { key: sql.ref(`${table}.id`), isIndexed: true, type: 'number' },
    async total(db) {
      const [row] = await selectTotal(db, { resourceType });
      return Number(row?.total ?? 0);
    },
    async ranges(db) {
      return (await selectBlocks(db, { resourceType })).map(toRange);
    },
    rangesAtOnce: (db) => selectBlocks.atOnce(db, { resourceType })?.map(toRange),
    sumsAtOnce: (db) => selectSums.atOnce(db, { resourceType })?.[0],
    idsAtOnce: (db, { from, to }) => selectWithin.atOnce(db, { from, to })?.map(({ id }) => id),
    async ownedRange(db, owner, after) {
      const owned = live(db, { condition: undefined, owner })
        .where(`${table}.id`, '>', after)
        .limit(ownedInRangeMax);
      const row = await db
        .selectFrom(owned.as('owned'))
        .select(({ fn }) => [fn.countAll<number>().as('live'), fn.max('owned.id').as('last')])
        .executeTakeFirstOrThrow();
      const held = Number(row.live);
      return held === 0 ? undefined : { from: after + 1, to: Number(row.last) + 1, live: held };
    },
    async ids(db, rows, { from, skip, count }) {
      if (count === 0) return [];
      if (rows.condition === undefined && rows.owner === undefined)
        return toIds(await selectAny(db, { from, skip, count }));
      const page = live(db, rows).where(`${table}.id`, '>=', from).limit(count).offset(skip);
      return toIds(await page.execute());
    },
    async idsWithin(db, rows, { from, to }) {
      const within = live(db, rows).where(`${table}.id`, '>=', from).where(`${table}.id`, '<', to);
      return toIds(await within.execute());
    },
    async rowsWithin(db, rows, { from, to }, key) {
      const within = live(db, rows).where(`${table}.id`, '>=', from).where(`${table}.id`, '<', to);
      return toRows(await within.select(shortened(key).as('key')).execute(), key);
    },
    async rowsAmong(db, rows, ids, key) {
      if (ids.length === 0) return [];
      const among = live(db, rows).where(`${table}.id`, 'in', inNumbers(db, JSON.stringify(ids)));
      if (key === undefined) return (await among.execute()).map(({ id }) => ({ id, key: null }));
      return toRows(await among.select(shortened(key).as('key')).execute(), key);
    },
    async someIds(db, condition, count) {
      const some = db.selectFrom(table).select(`${table}.id`).where(isLive[table]).where(condition);
      return toIds(await some.limit(count).execute());
    },
    async isShort(db, query, rowsMax) {
      const some = sql<{ rows: number }>`select count(*) as rows
        from (${query} limit cast(${rowsMax + 1} as integer)) as found`;
      const { rows } = await some.execute(db);
      return Number(rows[0]?.rows) <= rowsMax;
    },
    async rowsByKey(db, { key, isDescending, after, count }) {
      const rows: RankedRow[] = [];
      // Those without a value are a list of their own, behind the others or, descending, before them.
      for (const isMissing of isDescending ? [true, false] : [false, true]) {
        if (rows.length >= count || (after !== undefined && isDone(isMissing, after, isDescending))) continue;
        const behind = after !== undefined && (after.key === null) === isMissing ? after : undefined;
        const part = byKey(db, { key, isDescending, after: behind, count: count - rows.length }, isMissing);
        rows.push(...toRows(await part.execute(), key));
      }
      return rows;
    },
  };

  function byKey(db: Reader, { key: { key }, isDescending, after, count }: KeySlice, isMissing: boolean) {
    const id = sql.ref(`${table}.id`);
    const [sign, direction] = isDescending ? [sql`<`, 'desc' as const] : [sql`>`, 'asc' as const];
    const place = isMissing
      ? sql`${id} ${sign} ${after?.id}`
      : sql`(${key}, ${id}) ${sign} (${after?.key}, ${after?.id})`;
    return db
      .selectFrom(table)
      .select([`${table}.id`, key.as('key')])
      .where(isLive[table])
      .where(sql<SqlBool>`${key} is ${isMissing ? sql`null` : sql`not null`}`)
      .$if(after !== undefined, (rows) => rows.where(place as RawBuilder<SqlBool>))
      .$if(!isMissing, (rows) => rows.orderBy(key, direction))
      .orderBy(`${table}.id`, direction)
      .limit(count);
  }
}

interface Block {
  readonly block: number;
  readonly live: number;
  readonly changes: number;
}

function toRange({ block, live, changes }: Block): BlockRange {
  return { from: block * blockIds, to: (block + 1) * blockIds, live, changes };
}

/** Whether the part of the list that lacks values, or has them, lies before the place of `after`. */
function isDone(isMissing: boolean, after: RankedRow, isDescending: boolean): boolean {
  const isAfterMissing = after.key === null;
  return isMissing !== isAfterMissing && isAfterMissing !== isDescending;
}

/** Many rows are held at once to be sorted: of a long text the beginning decides. */
const keyCharactersMax = 256;

function shortened({ key, type }: SortKey): RawBuilder<unknown> {
  return type === 'text' ? sql`substr(${key}, 1, cast(${keyCharactersMax} as integer))` : key;
}

function toRows(
  rows: readonly { readonly id: number; readonly key: unknown }[],
  { type }: SortKey,
): RankedRow[] {
  return rows.map(({ id, key }) => ({ id, key: toSortValue(key, type) }));
}

/** PostgreSQL's driver gives some numbers as texts. */
function toSortValue(value: unknown, type: SortKey['type']): SortValue {
  if (value === null || value === undefined) return null;
  return type === 'number' ? Number(value) : String(value);
}

function toIds(rows: readonly { readonly id: number }[]): number[] {
  return rows.map((row) => row.id);
}

/** Block by block of all resources, where the counts that are kept differ from what is there; empty when all is well. */
export async function findMiscounts(db: Reader): Promise<readonly Miscount[]> {
  const found: Miscount[] = [];
  for (const [table, resourceType] of [['user', 'User'] as const, ['group_', 'Group'] as const]) {
    const kept = await db
      .selectFrom('resource_block')
      .select(['block', 'live'])
      .where('resource_type', '=', resourceType)
      .execute();
    const there = await db
      .selectFrom(table)
      .select((select) => [
        sql<number>`id / cast(${blockIds} as integer)`.as('block'),
        select.fn.countAll<number>().as('live'),
      ])
      .where(isLive[table])
      .groupBy('block')
      .execute();
    const counted = new Map(there.map(({ block, live }) => [Number(block), Number(live)]));
    const said = new Map(kept.map(({ block, live }) => [block, live]));
    for (const block of new Set([...counted.keys(), ...said.keys()])) {
      const [actual, counter] = [counted.get(block) ?? 0, said.get(block) ?? 0];
      if (actual !== counter) found.push({ resourceType, block, counted: actual, kept: counter });
    }
  }
  return found;
}

export interface Miscount {
  readonly resourceType: ResourceTypeName;
  readonly block: number;
  readonly counted: number;
  readonly kept: number;
}
