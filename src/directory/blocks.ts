import type { Reader } from '../storage/database.ts';
import { dataVersionOf } from '../storage/statement.ts';
import { type BlockRange, type BlockSums, userList } from './list-store.ts';

/** A megabyte or two; a list that is longer is read in order, block after block. */
const blocksMax = 64;

interface Ids {
  readonly changes: number;
  readonly ids: readonly number[];
}

/** The blocks of live users, as of one state of the database. */
interface Ranges {
  readonly sums: BlockSums;
  readonly ranges: readonly BlockRange[];
  /** How many users there are before each of `ranges`, and after the last of them. */
  readonly before: readonly number[];
}

/** Where a row of the list is: `skip` rows of its block before it. */
export interface Place {
  readonly range: BlockRange;
  readonly skip: number;
}

/**
 * Where each row of the list of users is, without counting up to it each time, nor reading the counts of all blocks:
 * what was read is kept until something has been committed, and if no block has changed by that, further on. To be used
 * at one moment with what is read by it (`atOneMoment`).
 */
export class Blocks {
  readonly #ids = new Map<number, Ids>();
  #ranges: Ranges | undefined;
  #dataVersion: number | undefined;

  /** How many users there are; undefined where the engine has to wait. */
  total(db: Reader): number | undefined {
    return this.#current(db)?.sums.live;
  }

  /** The place behind `skip` users; undefined when there are no more than that. */
  placeOf(db: Reader, skip: number): Place | undefined {
    const { ranges = [], before = [] } = this.#current(db) ?? {};
    let [low, high] = [0, ranges.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((before[middle + 1] ?? 0) <= skip) low = middle + 1;
      else high = middle;
    }
    const range = ranges[low];
    return range && { range, skip: skip - (before[low] ?? 0) };
  }

  /** The id at a place; undefined where the engine has to wait. */
  idAt(db: Reader, { range, skip }: Place): number | undefined {
    if (skip === 0) return range.from;
    const { from, changes } = range;
    const known = this.#ids.get(from);
    if (known?.changes === changes) return known.ids[skip];
    const ids = userList.idsAtOnce(db, range);
    if (ids === undefined) return undefined;
    if (this.#ids.size >= blocksMax) this.#ids.clear();
    this.#ids.set(from, { changes, ids });
    return ids[skip];
  }

  #current(db: Reader): Ranges | undefined {
    const dataVersion = dataVersionOf(db);
    if (dataVersion === undefined || dataVersion === this.#dataVersion) return this.#ranges;
    const sums = userList.sumsAtOnce(db);
    const isSame = sums?.blocks === this.#ranges?.sums.blocks && sums?.changes === this.#ranges?.sums.changes;
    if (!isSame || this.#ranges === undefined) this.#ranges = sums && rangesOf(db, sums);
    this.#dataVersion = this.#ranges && dataVersion;
    return this.#ranges;
  }
}

function rangesOf(db: Reader, sums: BlockSums): Ranges | undefined {
  const ranges = userList.rangesAtOnce(db);
  if (ranges === undefined) return undefined;
  const before = [0];
  for (const { live } of ranges) before.push((before.at(-1) ?? 0) + live);
  return { sums, ranges, before };
}
